//! Making the namespaces, and waiting outside.
#![allow(unsafe_code)] // clone(2) with namespaces, signal masks and waitpid have no safe wrapper.

use super::init::{Errand, be_init};
use super::{MARK, pid_namespace};
use rustix::pipe::{PipeFlags, pipe_with};
use std::ffi::{CString, OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

/// Why there are no namespaces.
#[derive(Debug, thiserror::Error)]
pub enum InsideError {
    /// The system does not allow it.
    #[error("cannot make namespaces ({doing}): {source}; {remedy}")]
    Denied {
        /// What failed.
        doing: &'static str,
        /// Why.
        source: io::Error,
        /// What to do.
        remedy: String,
    },
    /// The program cannot be started.
    #[error("{}: cannot be started inside namespaces: {source}", program.display())]
    Program {
        /// The program.
        program: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Inside, nobody can be reached over loopback.
    #[error("cannot raise the loopback interface inside namespaces: {0}")]
    Loopback(io::Error),
}

/// A program to run inside.
#[derive(Clone, Debug)]
pub struct Program {
    /// Where it is.
    pub path: PathBuf,
    /// What it is told, without its name.
    pub args: Vec<OsString>,
    /// What is added to the environment.
    pub env: Vec<(OsString, OsString)>,
}

impl Program {
    /// This program, with its arguments.
    pub fn again() -> Result<Program, InsideError> {
        let path = std::env::current_exe().map_err(|source| InsideError::Program {
            program: PathBuf::from("/proc/self/exe"),
            source,
        })?;
        Ok(Program { path, args: std::env::args_os().skip(1).collect(), env: Vec::new() })
    }

    fn command(&self) -> Option<Command> {
        let text = |text: &OsStr| CString::new(text.as_bytes()).ok();
        let args = std::iter::once(self.path.as_os_str()).chain(self.args.iter().map(|a| &**a));
        let mark = (OsString::from(MARK), pid_namespace()?.into_os_string());
        let env = std::env::vars_os().filter(|(name, _)| name != MARK);
        let pair = |(name, value): (OsString, OsString)| {
            CString::new([name.as_bytes(), b"=", value.as_bytes()].concat()).ok()
        };
        Some(Command {
            path: CString::new(self.path.clone().into_os_string().into_vec()).ok()?,
            args: args.map(text).collect::<Option<_>>()?,
            env: env.chain(self.env.clone()).chain([mark]).map(pair).collect::<Option<_>>()?,
        })
    }
}

/// A program in the words of execve.
struct Command {
    path: CString,
    args: Vec<CString>,
    env: Vec<CString>,
}

fn pointers(texts: &[CString]) -> Vec<*const libc::c_char> {
    texts.iter().map(|text| text.as_ptr()).chain([std::ptr::null()]).collect()
}

/// With which rights the namespaces are made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Way {
    /// With those of root.
    Root,
    /// In a user namespace, where everybody is root.
    UserNamespace,
}

impl Way {
    /// Those to be tried, the better one first.
    pub(super) fn ways() -> Vec<Way> {
        let root = rustix::process::geteuid().is_root();
        let ways = [Way::Root, Way::UserNamespace];
        ways.into_iter().filter(|way| root || *way == Way::UserNamespace).collect()
    }

    fn flags(self) -> libc::c_int {
        let own = libc::CLONE_NEWNET | libc::CLONE_NEWNS | libc::CLONE_NEWPID;
        match self {
            Way::Root => own,
            Way::UserNamespace => own | libc::CLONE_NEWUSER,
        }
    }
}

/// Signals that are passed on; the last one says that a child has ended.
pub(super) const PASSED: [libc::c_int; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

/// How long to wait for a signal before looking without one.
const LOOK_STEP_NS: libc::c_long = 100_000_000;

/// What waits for a signal: those that are passed on, and SIGCHLD.
fn waited_for() -> libc::sigset_t {
    // SAFETY: the set is filled by sigemptyset before it is read, and lives on this stack.
    unsafe {
        let mut set = std::mem::zeroed();
        libc::sigemptyset(&mut set);
        PASSED.iter().for_each(|signal| _ = libc::sigaddset(&mut set, *signal));
        libc::sigaddset(&mut set, libc::SIGCHLD);
        set
    }
}

/// The signals of this thread are blocked as long as this lives.
struct Mask {
    waited: libc::sigset_t,
    before: libc::sigset_t,
}

impl Mask {
    fn new() -> Mask {
        let waited = waited_for();
        // SAFETY: both sets are valid for the call. SIGCHLD goes back to its default, because
        // where it is ignored children are never reported.
        let before = unsafe {
            let mut before = std::mem::zeroed();
            libc::pthread_sigmask(libc::SIG_BLOCK, &waited, &mut before);
            libc::signal(libc::SIGCHLD, libc::SIG_DFL);
            before
        };
        Mask { waited, before }
    }
}

impl Drop for Mask {
    fn drop(&mut self) {
        // SAFETY: restores a mask that the kernel has given us.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &self.before, std::ptr::null_mut()) };
    }
}

/// Runs a program (or nothing, to see whether it would work) inside; its exit code.
pub(super) fn run(program: Option<&Program>, ways: &[Way]) -> Result<i32, InsideError> {
    let command = match program {
        None => None,
        Some(program) => Some(program.command().ok_or_else(|| InsideError::Program {
            program: program.path.clone(),
            source: io::Error::new(io::ErrorKind::InvalidInput, "a NUL in its command line"),
        })?),
    };
    let mut failed = None;
    for way in ways {
        match run_by(*way, command.as_ref()) {
            Ok(code) => return Ok(code),
            Err(("starting the program", source)) => {
                let program = program.map_or_else(PathBuf::new, |program| program.path.clone());
                return Err(InsideError::Program { program, source });
            }
            Err(trouble) => failed = Some(trouble),
        }
    }
    let (doing, source) = failed.expect("there is always a way to try");
    Err(InsideError::Denied { doing, source, remedy: super::facts::remedy() })
}

type Trouble = (&'static str, io::Error);

fn run_by(way: Way, command: Option<&Command>) -> Result<i32, Trouble> {
    let by = |doing: &'static str| move |error: rustix::io::Errno| (doing, io::Error::from(error));
    let (go_read, go_write) = pipe_with(PipeFlags::CLOEXEC).map_err(by("a pipe"))?;
    let (told, tell) = pipe_with(PipeFlags::CLOEXEC).map_err(by("a pipe"))?;
    let args = command.map(|command| pointers(&command.args));
    let env = command.map(|command| pointers(&command.env));
    let mask = Mask::new();
    let errand = Errand {
        go: go_read.as_raw_fd(),
        go_write: go_write.as_raw_fd(),
        tell: tell.as_raw_fd(),
        path: command.map(|command| command.path.as_c_str()),
        args: args.as_deref(),
        env: env.as_deref(),
        waited: &mask.waited,
        mask_before: &mask.before,
    };
    let flags = libc::c_long::from(way.flags() | libc::SIGCHLD);
    // SAFETY: without CLONE_VM and a stack this is a fork: the child has its own copy of memory.
    // It calls `be_init` only, which makes system calls only, never allocates and never returns.
    let pid = unsafe { libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) };
    match pid {
        -1 => return Err(("new namespaces", io::Error::last_os_error())),
        0 => be_init(&errand),
        _ => {}
    }
    let pid = libc::pid_t::try_from(pid).expect("a process id");
    drop((go_read, tell));
    let let_in = let_in(pid, way, go_write, told);
    if let Err(trouble) = let_in {
        // SAFETY: kills and reaps the child made above, which nobody else can have reaped.
        unsafe {
            libc::kill(pid, libc::SIGKILL);
            libc::waitpid(pid, std::ptr::null_mut(), 0);
        }
        return Err(trouble);
    }
    Ok(wait(pid, &mask))
}

/// Maps the user, lets the child go on and hears how it went until its program runs.
fn let_in(pid: libc::pid_t, way: Way, go: OwnedFd, told: OwnedFd) -> Result<(), Trouble> {
    if way == Way::UserNamespace {
        let user = rustix::process::geteuid().as_raw();
        let group = rustix::process::getegid().as_raw();
        let maps = [
            ("setgroups", "deny".to_string()),
            ("uid_map", format!("0 {user} 1")),
            ("gid_map", format!("0 {group} 1")),
        ];
        for (file, text) in maps {
            std::fs::write(format!("/proc/{pid}/{file}"), text)
                .map_err(|error| ("mapping the user", error))?;
        }
    }
    File::from(go).write_all(b"g").map_err(|error| ("letting it in", error))?;
    let mut trouble = Vec::new();
    File::from(told).read_to_end(&mut trouble).map_err(|error| ("hearing of it", error))?;
    match <[u8; 5]>::try_from(trouble.as_slice()) {
        Err(_) if trouble.is_empty() => Ok(()),
        Err(_) => Err(("hearing of it", io::ErrorKind::InvalidData.into())),
        Ok([step, errno @ ..]) => {
            let error = io::Error::from_raw_os_error(i32::from_ne_bytes(errno));
            Err((super::init::STEPS[usize::from(step)], error))
        }
    }
}

/// Passes signals on until the child has ended; its exit code.
fn wait(pid: libc::pid_t, mask: &Mask) -> i32 {
    loop {
        let (signal, mut status) = (next_signal(&mask.waited), 0);
        // SAFETY: plain system calls with a pointer to this stack; the child is ours.
        unsafe {
            if let Some(signal) = signal.filter(|signal| PASSED.contains(signal)) {
                libc::kill(pid, signal);
            }
            if libc::waitpid(pid, &mut status, libc::WNOHANG) == pid {
                return super::init::code(status);
            }
        }
    }
}

/// The next of these signals, if one comes within a moment. Whoever waits for the end of a child
/// looks for himself as often: the signal that tells of it was seen to be missing, and then a wait
/// for nothing but the signal is one for ever. Makes system calls only.
pub(super) fn next_signal(waited: &libc::sigset_t) -> Option<libc::c_int> {
    let moment = libc::timespec { tv_sec: 0, tv_nsec: LOOK_STEP_NS };
    // SAFETY: the set is filled, and the time is on this stack.
    let signal = unsafe { libc::sigtimedwait(waited, std::ptr::null_mut(), &moment) };
    (signal > 0).then_some(signal)
}
