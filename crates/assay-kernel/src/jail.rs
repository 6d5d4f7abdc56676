//! Pieces of a jail: leaving the namespaces of the machine, and limits that begin with a program.
//!
//! What a jail is made of otherwise (mounts, users, capabilities) has safe calls of its own.
#![allow(unsafe_code)] // unshare(2), sethostname(2), and a hook between fork and exec.

use rustix::process::{
    Resource, Rlimit, Signal, getppid, set_parent_process_death_signal, setrlimit,
};
use rustix::thread::{UnshareFlags, unshare_unsafe};
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Which namespaces are left. Mounts, processes, host name and messages always are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Leave {
    /// The users of the machine; without the rights of root there is no other way.
    pub users: bool,
    /// The network of the machine.
    pub network: bool,
}

/// Moves this process out of namespaces of the machine into new ones; the first process it starts
/// afterwards is process 1 of a new PID namespace, and with that one all others in it end.
///
/// # Errors
/// If this process has more than one thread, or the system does not allow it.
pub fn leave(what: Leave) -> io::Result<()> {
    let threads = std::fs::read_dir("/proc/self/task")?.count();
    if threads != 1 {
        let why = format!("namespaces are left before threads are started, here are {threads}");
        return Err(io::Error::other(why));
    }
    let mut flags =
        UnshareFlags::NEWNS | UnshareFlags::NEWPID | UnshareFlags::NEWIPC | UnshareFlags::NEWUTS;
    flags.set(UnshareFlags::NEWUSER, what.users);
    flags.set(UnshareFlags::NEWNET, what.network);
    // SAFETY: the table of descriptors stays what it is, and there is no other thread to notice.
    Ok(unsafe { unshare_unsafe(flags) }?)
}

/// Raises the loopback interface of the network this process is in: in a new one it is down.
pub fn raise_loopback() -> io::Result<()> {
    crate::net::raise_loopback()
}

/// Names the host of the namespace this process is in.
pub fn name_host(name: &str) -> io::Result<()> {
    // SAFETY: the kernel reads as many bytes as the text has.
    match unsafe { libc::sethostname(name.as_ptr().cast(), name.len()) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Limits what a command starts, from its first instruction on and for good, and not us.
pub fn limit_on_exec(command: &mut Command, limits: Vec<(Resource, u64)>) {
    let limit = move || {
        for (resource, most) in &limits {
            let most = Rlimit { current: Some(*most), maximum: Some(*most) };
            setrlimit(*resource, most)?;
        }
        Ok(())
    };
    // SAFETY: between fork and exec it makes system calls on memory allocated before, no more.
    unsafe { command.pre_exec(limit) };
}

/// Ends what a command starts when the thread that starts it ends, however hard: the kernel sends
/// SIGKILL. So the thread that starts it has to wait for it. What the program starts itself is not
/// bound.
pub fn end_with_us(command: &mut Command) {
    let parent = i32::try_from(std::process::id()).ok();
    let bind = move || {
        set_parent_process_death_signal(Some(Signal::KILL))?;
        // Whoever started it may have died before that, and then nobody sends a signal any more.
        match getppid().map(|pid| pid.as_raw_nonzero().get()) == parent {
            true => Ok(()),
            false => Err(rustix::io::Errno::SRCH.into()),
        }
    };
    // SAFETY: between fork and exec it makes two system calls on memory allocated before.
    unsafe { command.pre_exec(bind) };
}
