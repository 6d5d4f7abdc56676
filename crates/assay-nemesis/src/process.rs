//! Processes, told apart from others that have had the same number.
//!
//! Process ids are used again. A harness that remembers a number and sends SIGKILL to it an hour
//! later may hit something that has nothing to do with the test. So a [`Process`] is a number *and*
//! the moment it started, as the kernel tells it, and nothing is ever sent to a number whose moment
//! is another. Between looking and sending nothing can slip in, because the signal goes through a
//! file descriptor of the process that was looked at.
//!
//! ```
//! use assay_nemesis::{Process, ProcessState};
//!
//! let me = Process::of(std::process::id())?;
//! assert_ne!(me.state()?, ProcessState::Gone);
//! let another = Process { start_ticks: me.start_ticks + 1, ..me };
//! assert_eq!(another.state()?, ProcessState::Gone);
//! # Ok::<(), assay_nemesis::ProcessError>(())
//! ```

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use serde::{Deserialize, Serialize};
use std::io;
use std::time::{Duration, Instant};

/// How long a process may take to show that it was stopped, resumed or killed. A process in the
/// middle of a system call that cannot be interrupted takes as long as that call.
pub const SIGNAL_TIME_MAX: Duration = Duration::from_secs(10);
/// How often to look whether it does.
const LOOK_STEP: Duration = Duration::from_micros(500);

/// One process, for as long as it lives.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Process {
    /// Its number.
    pub pid: u32,
    /// When it started, in clock ticks since the machine did: field 22 of `/proc/PID/stat`.
    pub start_ticks: u64,
}

/// A process among others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ListedProcess {
    /// Which.
    pub process: Process,
    /// The number of its process group.
    pub group: u32,
    /// The number of its parent.
    pub parent: u32,
}

/// What the kernel says about a process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ProcessState {
    /// It runs or could: any state but those below.
    Alive,
    /// It is stopped (`T`), and does nothing until it is resumed.
    Stopped,
    /// It has ended, and at most its parent does not know yet.
    Gone,
}

/// What kept a process from being looked at or signalled.
#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    /// There is no such process.
    #[error("there is no process {pid}")]
    NoSuchProcess {
        /// The number.
        pid: u32,
    },
    /// What the kernel says about it cannot be read.
    #[error("cannot read /proc/{pid}/stat: {source}")]
    Unreadable {
        /// The number.
        pid: u32,
        /// Why.
        source: io::Error,
    },
    /// The signal was not taken.
    #[error("cannot send {signal} to process {pid}: {source}")]
    NotSent {
        /// The number.
        pid: u32,
        /// The signal.
        signal: &'static str,
        /// Why.
        source: io::Error,
    },
    /// The signal was sent, and nothing came of it in [`SIGNAL_TIME_MAX`].
    #[error("process {pid} got {signal} and is still {state:?} after {SIGNAL_TIME_MAX:?}")]
    NoEffect {
        /// The number.
        pid: u32,
        /// The signal.
        signal: &'static str,
        /// What it is instead.
        state: ProcessState,
    },
}

impl Process {
    /// The process that has this number now.
    pub fn of(pid: u32) -> Result<Process, ProcessError> {
        match read_stat(pid)? {
            Some(Stat { start_ticks, .. }) => Ok(Process { pid, start_ticks }),
            None => Err(ProcessError::NoSuchProcess { pid }),
        }
    }

    /// The processes that are in a process group now, those that have ended aside.
    pub fn of_group(group: u32) -> Result<Vec<Process>, ProcessError> {
        let all = Process::list()?.into_iter();
        Ok(all.filter(|listed| listed.group == group).map(|listed| listed.process).collect())
    }

    /// All processes there are now, those that have ended aside.
    pub fn list() -> Result<Vec<ListedProcess>, ProcessError> {
        let unreadable = |source| ProcessError::Unreadable { pid: std::process::id(), source };
        let mut all = Vec::new();
        for entry in std::fs::read_dir("/proc").map_err(unreadable)?.flatten() {
            let name = entry.file_name();
            let Some(pid) = name.to_str().and_then(|name| name.parse().ok()) else { continue };
            if let Some(Stat { state, parent, group, start_ticks, .. }) = read_stat(pid)?
                && !matches!(state, b'Z' | b'X' | b'x')
            {
                all.push(ListedProcess { process: Process { pid, start_ticks }, group, parent });
            }
        }
        Ok(all)
    }

    /// How it is. Somebody else under the same number does not count: then it is gone.
    pub fn state(&self) -> Result<ProcessState, ProcessError> {
        let Some(stat) = read_stat(self.pid)? else { return Ok(ProcessState::Gone) };
        Ok(match stat.state {
            _ if stat.start_ticks != self.start_ticks => ProcessState::Gone,
            b'T' | b't' => ProcessState::Stopped,
            b'Z' | b'X' | b'x' => ProcessState::Gone,
            _ => ProcessState::Alive,
        })
    }

    /// The processor time it has used, all its threads together, in clock ticks; `None` once it is
    /// gone.
    pub fn cpu_ticks(&self) -> Result<Option<u64>, ProcessError> {
        let stat = read_stat(self.pid)?.filter(|stat| stat.start_ticks == self.start_ticks);
        Ok(stat.map(|stat| stat.cpu_ticks))
    }

    /// Stops it (SIGSTOP) and waits until the kernel says so.
    pub fn pause(&self) -> Result<(), ProcessError> {
        self.send(Signal::STOP, "SIGSTOP")?;
        self.wait("SIGSTOP", |state| state != ProcessState::Alive)
    }

    /// Resumes it (SIGCONT) and waits until the kernel says so; one that is gone needs nothing.
    pub fn resume(&self) -> Result<(), ProcessError> {
        match self.send(Signal::CONT, "SIGCONT") {
            Err(ProcessError::NoSuchProcess { .. }) => return Ok(()),
            sent => sent?,
        }
        self.wait("SIGCONT", |state| state != ProcessState::Stopped)
    }

    /// Kills it (SIGKILL) and waits until it is gone.
    pub fn kill(&self) -> Result<(), ProcessError> {
        self.send(Signal::KILL, "SIGKILL")?;
        self.wait("SIGKILL", |state| state == ProcessState::Gone)
    }

    /// Kills several (SIGKILL), those that began first before the others, and waits until all are
    /// gone: a server that sees what it has started end one by one would have time to say so, to
    /// write, and to answer. Those that have ended are no matter.
    pub fn kill_all(all: &[Process]) -> Result<(), ProcessError> {
        let mut oldest_first = all.to_vec();
        oldest_first.sort_by_key(|process| process.start_ticks);
        let or_gone = |done: Result<(), ProcessError>| match done {
            Err(ProcessError::NoSuchProcess { .. }) => Ok(()),
            done => done,
        };
        for process in &oldest_first {
            or_gone(process.send(Signal::KILL, "SIGKILL"))?;
        }
        let is_gone = |state| state == ProcessState::Gone;
        oldest_first.iter().try_for_each(|process| or_gone(process.wait("SIGKILL", is_gone)))
    }

    /// Asks it to end (SIGTERM). When it does is its own affair: [`Process::state`] tells.
    pub fn terminate(&self) -> Result<(), ProcessError> {
        self.send(Signal::TERM, "SIGTERM")
    }

    fn send(&self, signal: Signal, name: &'static str) -> Result<(), ProcessError> {
        let gone = ProcessError::NoSuchProcess { pid: self.pid };
        let pid = i32::try_from(self.pid).ok().and_then(Pid::from_raw);
        let Some(pid) = pid else { return Err(gone) };
        let not_sent = |error: rustix::io::Errno| match error {
            rustix::io::Errno::SRCH => ProcessError::NoSuchProcess { pid: self.pid },
            error => ProcessError::NotSent { pid: self.pid, signal: name, source: error.into() },
        };
        // First the descriptor, then the look: what is looked at is what the descriptor means, or
        // the descriptor's process is gone and the signal goes nowhere.
        let descriptor = pidfd_open(pid, PidfdFlags::empty()).map_err(not_sent)?;
        if self.state()? == ProcessState::Gone {
            return Err(gone);
        }
        pidfd_send_signal(&descriptor, signal).map_err(not_sent)
    }

    fn wait(
        &self,
        signal: &'static str,
        done: impl Fn(ProcessState) -> bool,
    ) -> Result<(), ProcessError> {
        let until = Instant::now() + SIGNAL_TIME_MAX;
        loop {
            let state = self.state()?;
            if done(state) {
                return Ok(());
            }
            if Instant::now() > until {
                return Err(ProcessError::NoEffect { pid: self.pid, signal, state });
            }
            std::thread::sleep(LOOK_STEP);
        }
    }
}

/// Of what the kernel says of a process, what counts here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Stat {
    state: u8,
    parent: u32,
    group: u32,
    cpu_ticks: u64,
    start_ticks: u64,
}

/// What the kernel says of the process with this number; `None` if there is none.
fn read_stat(pid: u32) -> Result<Option<Stat>, ProcessError> {
    let text = match std::fs::read(format!("/proc/{pid}/stat")) {
        Ok(text) => text,
        // ESRCH: it ended while the file was read.
        Err(error)
            if error.kind() == io::ErrorKind::NotFound
                || error.raw_os_error() == Some(rustix::io::Errno::SRCH.raw_os_error()) =>
        {
            return Ok(None);
        }
        Err(source) => return Err(ProcessError::Unreadable { pid, source }),
    };
    parse_stat(&text).map(Some).ok_or_else(|| {
        let source = io::Error::new(io::ErrorKind::InvalidData, "fields are missing");
        ProcessError::Unreadable { pid, source }
    })
}

/// Fields 3, 4, 5, 14 with 15, and 22. The name in field 2 may hold spaces and parentheses, so
/// fields count from its last parenthesis.
fn parse_stat(text: &[u8]) -> Option<Stat> {
    let end = text.iter().rposition(|byte| *byte == b')')?;
    let rest = std::str::from_utf8(&text[end + 1..]).ok()?;
    let mut fields = rest.split_ascii_whitespace();
    let state = *fields.next()?.as_bytes().first()?;
    // A process that is just being taken away has the group -1.
    let (parent, group) = (fields.next()?.parse().ok()?, fields.next()?.parse().unwrap_or(0));
    let (user, system): (u64, u64) = (fields.nth(8)?.parse().ok()?, fields.next()?.parse().ok()?);
    let start_ticks = fields.nth(6)?.parse().ok()?;
    Some(Stat { state, parent, group, cpu_ticks: user.saturating_add(system), start_ticks })
}

/// What tells this start of the machine from others: after it, all process ids mean nothing.
pub(crate) fn boot_id() -> Option<String> {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(id.trim().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stat_lines_are_read_from_behind_the_name() {
        let stat =
            |state| Stat { state, parent: 1, group: 2, cpu_ticks: 11 + 12, start_ticks: 4711 };
        let fields = "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 20";
        let cases = [
            (format!("12 (sleep) S {fields}"), Some(stat(b'S'))),
            (format!("12 (a) T 9 (b) c) T {fields}"), Some(stat(b'T'))),
            ("12 (sleep) S 1 2 3".to_string(), None),
            ("12 sleep S".to_string(), None),
            (String::new(), None),
        ];
        for (text, expected) in cases {
            assert_eq!(parse_stat(text.as_bytes()), expected, "{text}");
        }
    }
}
