//! The process between whoever asks for a call and the process inside.
//!
//! It leaves the namespaces of the machine, starts the process inside, and waits: for its word, for
//! the end of the time it has, or for the asker to let go of the line between them, which happens
//! also when the asker is killed. Then it ends everybody who is left, and says how it went when
//! nobody is.

use crate::gate;
use crate::job::{Inside, Job, Report, Tier, Wires, receive, send};
use assay_kernel::jail::{Leave, leave};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, WaitOptions, getegid, geteuid, getpid,
    kill_process, pidfd_open, pidfd_send_signal, set_child_subreaper, wait, waitid,
};
use rustix::thread::{
    CapabilitySet, CapabilitySets, configure_capability_in_ambient_set, set_capabilities,
};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How long ending everybody may take.
const END_TIME_MAX: Duration = Duration::from_secs(10);
/// Between two rounds of it.
const ROUND_STEP: Duration = Duration::from_millis(2);
/// The user and group inside a user namespace.
pub(crate) const USER_INSIDE: u32 = 1000;

/// Keeps one call: reads what it is from standard input, which has to be a socket, and says how it
/// went over the same. To be called by a process that does nothing else, before it has threads.
///
/// # Errors
/// If standard input is no such socket.
pub fn keep() -> io::Result<()> {
    let line = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let job: Job = receive(&line)?;
    let report = match kept(&job, &line) {
        Ok(report) => report,
        Err((doing, error)) => {
            let (doing, why) = (doing.to_string(), error.to_string());
            Report::Inside(Inside::Failed { doing, why })
        }
    };
    // Who let go does not listen.
    let _unheard = send(&line, &report);
    Ok(())
}

type Trouble = (&'static str, io::Error);

fn by(doing: &'static str) -> impl FnOnce(io::Error) -> Trouble {
    move |error| (doing, error)
}

fn kept(job: &Job, line: &UnixStream) -> Result<Report, Trouble> {
    let until = Instant::now() + job.limits.wall;
    set_child_subreaper(Some(getpid())).map_err(|e| ("adopting orphans", e.into()))?;
    match job.tier {
        Tier::RootNamespaces => {
            leave(Leave { users: false, network: has_own_network(job) })
                .map_err(by("namespaces"))?;
        }
        Tier::UserNamespaces => leave_users(job)?,
        Tier::Landlock | Tier::Open => {}
    }
    if job.network == Wires::Gate {
        gate::build(line).map_err(by("a gate"))?;
    }
    let (ours, theirs) = UnixStream::pair().map_err(by("a line"))?;
    let child = Command::new("/proc/self/exe")
        .args(&job.enter)
        .env_clear()
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .spawn()
        .map_err(by("starting the process inside"))?;
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let pid = pid.ok_or_else(|| ("the process inside", io::Error::other("it has no number")))?;
    // It is not collected before the end, so this is nobody else.
    let first = pidfd_open(pid, PidfdFlags::empty()).map_err(|e| ("watching it", e.into()))?;
    let watched = watch(job, line, &ours, &first, until);
    match end_all(&first) {
        true => watched,
        false => Ok(Report::Stuck),
    }
}

fn has_own_network(job: &Job) -> bool {
    job.network != Wires::Whole
}

/// Leaves the users of the machine as well; what the process inside needs to put its root together
/// is kept for it.
fn leave_users(job: &Job) -> Result<(), Trouble> {
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    leave(Leave { users: true, network: has_own_network(job) }).map_err(by("user namespaces"))?;
    let maps = [
        ("setgroups", "deny".to_string()),
        ("gid_map", format!("{USER_INSIDE} {group} 1")),
        ("uid_map", format!("{USER_INSIDE} {user} 1")),
    ];
    for (file, text) in maps {
        std::fs::write(format!("/proc/self/{file}"), text).map_err(by("mapping the user"))?;
    }
    let kept = CapabilitySet::SYS_ADMIN | CapabilitySet::NET_ADMIN | CapabilitySet::SETPCAP;
    let sets = CapabilitySets { effective: kept, permitted: kept, inheritable: kept };
    let capabilities = |error: Errno| ("keeping capabilities", error.into());
    set_capabilities(None, sets).map_err(capabilities)?;
    for one in kept.iter() {
        configure_capability_in_ambient_set(one, true).map_err(capabilities)?;
    }
    Ok(())
}

/// Waits for the first thing that ends the call.
fn watch(
    job: &Job,
    line: &UnixStream,
    inside: &UnixStream,
    first: &OwnedFd,
    until: Instant,
) -> Result<Report, Trouble> {
    // If it is gone already, that is seen below.
    let _gone = send(inside, job);
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(Report::TimeLimit);
        }
        let wait = Timespec::try_from(left).ok();
        let mut events = [
            PollFd::new(line, PollFlags::IN),
            PollFd::new(inside, PollFlags::IN),
            PollFd::new(first, PollFlags::IN),
        ];
        match poll(&mut events, wait.as_ref()) {
            Err(Errno::INTR) => continue,
            Err(error) => return Err(("waiting", error.into())),
            Ok(_) => {}
        }
        let [let_go, said, gone] = events.map(|event| !event.revents().is_empty());
        if let_go {
            return Ok(Report::LetGo);
        }
        if said && let Ok(said) = receive::<Inside>(inside) {
            return Ok(Report::Inside(said));
        }
        if gone || said {
            // A line without a word is its end, or has to be.
            let _killed = pidfd_send_signal(first, Signal::KILL);
            let status = waitid(WaitId::PidFd(first.as_fd()), WaitIdOptions::EXITED);
            let signal = status.ok().flatten().and_then(|status| status.terminating_signal());
            return Ok(Report::Silent { signal });
        }
    }
}

/// Kills all children, and those that come from that, and collects them. Whether all are gone: the
/// process 1 of a namespace is gone only when all others in it are.
///
/// Where there are namespaces the first is the only child, and cannot be found by looking: by now
/// this process has the root directory, and the /proc, of the inside.
fn end_all(first: &OwnedFd) -> bool {
    let until = Instant::now() + END_TIME_MAX;
    let _gone = pidfd_send_signal(first, Signal::KILL);
    while collect() {
        if Instant::now() >= until {
            return false;
        }
        for child in children() {
            let _gone = kill_process(child, Signal::KILL);
        }
        if !collect() {
            break;
        }
        std::thread::sleep(ROUND_STEP);
    }
    true
}

/// Collects those that have ended. Whether there are others.
fn collect() -> bool {
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some(_)) | Err(Errno::INTR) => {}
            Ok(None) => return true,
            Err(_no_children) => return false,
        }
    }
}

/// The children that are there.
fn children() -> Vec<Pid> {
    let own = getpid().as_raw_pid();
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pid = |entry: std::fs::DirEntry| entry.file_name().to_str()?.parse::<i32>().ok();
    let is_child = |pid: &i32| {
        std::fs::read(format!("/proc/{pid}/stat")).is_ok_and(|stat| parent(&stat) == Some(own))
    };
    entries.filter_map(pid).filter(is_child).filter_map(Pid::from_raw).collect()
}

/// Field 4. The name in field 2 may hold anything: fields count from its last parenthesis.
fn parent(stat: &[u8]) -> Option<i32> {
    let end = stat.iter().rposition(|byte| *byte == b')')?;
    std::str::from_utf8(&stat[end + 1..]).ok()?.split_ascii_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::parent;

    #[test]
    fn a_parent_is_found_behind_any_name() {
        assert_eq!(parent(b"12 (a) S 1 (b) R 7 12 12"), Some(7));
        assert_eq!(parent(b"12 (sh) S 4 12 12"), Some(4));
        assert_eq!(parent(b"12 (sh"), None);
    }
}
