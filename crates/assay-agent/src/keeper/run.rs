//! Being a keeper.

use super::family::end_all;
use super::{End, PLAN_NAME, Plan, REPORT_NAME, Report};
use crate::hiding::hide;
use crate::sandbox::{Protection, Sandbox, restrict};
use crate::task::ProcessLimits;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Resource, Rlimit, Signal, getpid, getppid, getrlimit, kill_process_group,
    pidfd_open, set_child_subreaper, setrlimit, setsid,
};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command};
use std::thread::JoinHandle;

/// Keeps the agent that a plan in this directory describes, until it has ended, or is told to end
/// (SIGTERM), or its parent is gone. Says how it went in the same directory. To be called by a
/// process that does nothing else.
///
/// # Errors
/// If the plan cannot be read, or the report not be written; the agent has ended in any case.
pub fn keep(log: &Path) -> io::Result<()> {
    // First of all. In a session of its own nothing has the terminal of whoever runs this: nobody
    // here can type into it, and its signals are for whoever is there. The group gets the number of
    // this process, as that of a group of its own would.
    setsid()?;
    let plan: Plan = serde_json::from_slice(&std::fs::read(log.join(PLAN_NAME))?)?;
    set_child_subreaper(Some(getpid()))?;
    let end = EndSignals::listen()?;
    let parent = parent(plan.parent)?;
    limit(&plan.each)?;
    let report = match start(&plan) {
        Ok((child, protection)) => wait(child, &end, &parent, protection)?,
        Err((why, protection)) => Report { end: End::SpawnFailed(why), protection, stragglers: 0 },
    };
    std::fs::write(log.join(REPORT_NAME), serde_json::to_vec(&report)?)
}

/// Limits this process, and with it all that it starts. Where anything is limited, programs that
/// fail leave no picture of their memory either.
fn limit(each: &ProcessLimits) -> io::Result<()> {
    let ProcessLimits { memory_bytes, file_bytes, open_files } = *each;
    let core = [memory_bytes, file_bytes, open_files].iter().any(Option::is_some).then_some(0);
    let limits = [
        (Resource::Core, core),
        (Resource::Data, memory_bytes),
        (Resource::Fsize, file_bytes),
        (Resource::Nofile, open_files),
    ];
    for (resource, most) in limits {
        let Some(most) = most else { continue };
        // What is less already stays so.
        let most = getrlimit(resource).maximum.map_or(most, |now| now.min(most));
        setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })?;
    }
    Ok(())
}

/// Signals that ask to end, as something to wait for.
struct EndSignals {
    heard: UnixStream,
}

impl EndSignals {
    fn listen() -> io::Result<EndSignals> {
        let (heard, tell) = UnixStream::pair()?;
        for signal in [SIGTERM, SIGINT, SIGHUP] {
            signal_hook::low_level::pipe::register(signal, tell.try_clone()?)?;
        }
        Ok(EndSignals { heard })
    }
}

/// The parent, as something that ends. First the descriptor, then the look: if it is the parent
/// now, it was when the descriptor was made.
fn parent(expected: u32) -> io::Result<OwnedFd> {
    let gone = || io::Error::other("whoever started this keeper is gone");
    let pid = i32::try_from(expected).ok().and_then(Pid::from_raw).ok_or_else(gone)?;
    let descriptor = pidfd_open(pid, PidfdFlags::empty())?;
    match getppid() == Some(pid) {
        true => Ok(descriptor),
        false => Err(gone()),
    }
}

type Started = Result<(Child, Protection), (String, Protection)>;

/// Starts the agent from a thread that has restricted itself.
fn start(plan: &Plan) -> Started {
    let plan = plan.clone();
    let thread: io::Result<JoinHandle<Started>> =
        std::thread::Builder::new().name("restricted".to_string()).spawn(move || {
            let protection = match plan.sandbox {
                Sandbox::Off => Protection::None { why: "it was not asked for".to_string() },
                Sandbox::Required | Sandbox::WhenAvailable => restrict(&plan.writable),
            };
            if plan.sandbox == Sandbox::Required
                && let Protection::None { why } = &protection
            {
                return Err((format!("a sandbox is required, and {why}"), protection));
            }
            // What is to be hidden is hidden, or there is no agent: it would be silent about it.
            if plan.sandbox != Sandbox::Off
                && let Err(why) = hide(&plan.hidden)
            {
                return Err((format!("it must not read everything, and {why}"), protection));
            }
            let Some((program, args)) = plan.argv.split_first() else {
                return Err(("no program is named".to_string(), protection));
            };
            match Command::new(program).args(args).process_group(0).spawn() {
                Ok(child) => Ok((child, protection)),
                Err(error) => Err((explain(program, &error), protection)),
            }
        });
    let none = |why: String| Protection::None { why };
    match thread.map(JoinHandle::join) {
        Ok(Ok(started)) => started,
        Ok(Err(_)) => Err(("starting it failed".to_string(), none("it was not started".into()))),
        Err(error) => Err((format!("no thread: {error}"), none("it was not started".into()))),
    }
}

fn explain(program: &str, error: &io::Error) -> String {
    let remedy = match error.kind() {
        io::ErrorKind::NotFound => "; install it, or name it by its whole path",
        io::ErrorKind::PermissionDenied => "; it has to be executable",
        _ => "",
    };
    format!("cannot start `{program}`: {error}{remedy}")
}

/// Waits until the agent has ended or has to, and ends everything it left.
fn wait(
    mut child: Child,
    end: &EndSignals,
    parent: &OwnedFd,
    protection: Protection,
) -> io::Result<Report> {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let pid = pid.ok_or_else(|| io::Error::other("a child without a number"))?;
    let agent = pidfd_open(pid, PidfdFlags::empty())?;
    let by_itself = watch(&agent, end, parent);
    let ended = if matches!(by_itself, Ok(true)) {
        let status = child.wait()?;
        match (status.code(), status.signal()) {
            (Some(code), _) => End::Exited(code),
            (None, signal) => End::Signalled(signal.unwrap_or(0)),
        }
    } else {
        // Its number is its own until it is collected, and so is that of its group.
        let _nobody = kill_process_group(pid, Signal::KILL);
        child.wait()?;
        End::Ended
    };
    Ok(Report { end: ended, protection, stragglers: end_all() })
}

/// Waits for whatever comes first; whether it was the agent's own end.
fn watch(agent: &OwnedFd, end: &EndSignals, parent: &OwnedFd) -> io::Result<bool> {
    let mut waiting = [
        PollFd::from_borrowed_fd(agent.as_fd(), PollFlags::IN),
        PollFd::from_borrowed_fd(end.heard.as_fd(), PollFlags::IN),
        PollFd::from_borrowed_fd(parent.as_fd(), PollFlags::IN),
    ];
    loop {
        match poll(&mut waiting, None) {
            Ok(_) if waiting.iter().all(|one| one.revents().is_empty()) => {}
            Ok(_) => {
                let told = waiting[1..].iter().any(|one| !one.revents().is_empty());
                return Ok(!told);
            }
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}
