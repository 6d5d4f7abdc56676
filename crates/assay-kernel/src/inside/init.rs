//! Process 1 inside: mounts its own /proc, starts the program, reaps orphans, passes signals on.
//!
//! It runs in a copy of a process that may have had several threads, so it makes system calls and
//! nothing else: whoever held the lock of the allocator is not here to release it.
#![allow(unsafe_code)] // fork, execve, signals and waitpid between clone and exec.

use super::door::{PASSED, next_signal};
use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};
use std::ffi::CStr;

/// What process 1 needs to know, all of it made before it was.
pub(super) struct Errand<'a> {
    /// Says that the user is mapped, or by its end that nobody waits outside.
    pub go: libc::c_int,
    /// The other end, which has to be closed here for that.
    pub go_write: libc::c_int,
    /// Where trouble is told: the number of a step and an error of the system.
    pub tell: libc::c_int,
    /// The program; none if only the way in is tried.
    pub path: Option<&'a CStr>,
    /// Its arguments, ended by a null pointer.
    pub args: Option<&'a [*const libc::c_char]>,
    /// Its environment, ended by a null pointer.
    pub env: Option<&'a [*const libc::c_char]>,
    /// The signals to wait for, all of them blocked.
    pub waited: &'a libc::sigset_t,
    /// The mask that the program gets back.
    pub mask_before: &'a libc::sigset_t,
}

/// What can go wrong in here, by number.
pub(super) const STEPS: [&str; 4] =
    ["keeping mounts private", "mounting /proc", "a process inside", "starting the program"];

/// How a process that ended would have to exit to say the same.
pub(super) fn code(status: libc::c_int) -> i32 {
    if libc::WIFSIGNALED(status) { 128 + libc::WTERMSIG(status) } else { libc::WEXITSTATUS(status) }
}

/// Is process 1 until its program ends, and then ends itself.
pub(super) fn be_init(errand: &Errand) -> ! {
    // SAFETY: system calls only, on descriptors and memory that this process has a copy of.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        // In a group of its own signals of a terminal reach it once, through the one who waits.
        libc::setpgid(0, 0);
        libc::close(errand.go_write);
        let mut go = 0_u8;
        // Nobody waits outside, or not any longer: the order to die may have come too late.
        if libc::read(errand.go, (&raw mut go).cast(), 1) != 1 {
            libc::_exit(1);
        }
    }
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    if let Err(error) = mount_change(c"/", private) {
        fail(errand, 0, error.raw_os_error());
    }
    let safe = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    if let Err(error) = mount(c"proc", c"/proc", c"proc", safe, None) {
        fail(errand, 1, error.raw_os_error());
    }
    let program = start(errand);
    // SAFETY: a descriptor of this process that is not used again.
    unsafe { libc::close(errand.tell) };
    serve(errand, program)
}

fn fail(errand: &Errand, step: u8, errno: i32) -> ! {
    let mut told = [step; 5];
    told[1..].copy_from_slice(&errno.to_ne_bytes());
    // SAFETY: writes from this stack, then ends.
    unsafe {
        libc::write(errand.tell, told.as_ptr().cast(), told.len());
        libc::_exit(1)
    }
}

fn errno() -> i32 {
    std::io::Error::last_os_error().raw_os_error().unwrap_or(0)
}

/// The process id of the program.
fn start(errand: &Errand) -> libc::pid_t {
    let (Some(path), Some(args), Some(env)) = (errand.path, errand.args, errand.env) else {
        // SAFETY: ends this process.
        unsafe { libc::_exit(0) }
    };
    // SAFETY: a fork, as in `door`; the child makes system calls until it is another program.
    let pid =
        unsafe { libc::syscall(libc::SYS_clone, libc::c_long::from(libc::SIGCHLD), 0, 0, 0, 0) };
    if pid == -1 {
        fail(errand, 2, errno());
    }
    if pid == 0 {
        // SAFETY: the arrays end with null pointers, and their strings outlive the call.
        unsafe {
            libc::signal(libc::SIGPIPE, libc::SIG_DFL);
            libc::sigprocmask(libc::SIG_SETMASK, errand.mask_before, std::ptr::null_mut());
            libc::execve(path.as_ptr(), args.as_ptr(), env.as_ptr());
        }
        fail(errand, 3, errno());
    }
    libc::pid_t::try_from(pid).expect("a process id")
}

/// Passes signals on and reaps whoever ends, until the program does.
fn serve(errand: &Errand, program: libc::pid_t) -> ! {
    loop {
        let passed = next_signal(errand.waited).filter(|signal| PASSED.contains(signal));
        if let Some(signal) = passed {
            // SAFETY: the program is a child that has not been reaped yet.
            unsafe { libc::kill(program, signal) };
        }
        loop {
            let mut status = 0;
            // SAFETY: a plain system call.
            let ended = unsafe { libc::waitpid(-1, &mut status, libc::WNOHANG) };
            if ended <= 0 {
                break;
            }
            if ended == program {
                // SAFETY: ends process 1, and with it all that is left in here.
                unsafe { libc::_exit(code(status)) };
            }
        }
    }
}
