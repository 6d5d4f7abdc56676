//! No more descriptors for a running process.
//!
//! The kernel gives a new descriptor the lowest number that is free, and refuses with EMFILE when
//! that number is not below the soft limit. So a soft limit of just that number refuses the next
//! one, whatever else is open. Only the soft limit is ever changed: the hard one could not be
//! raised again. No privilege is needed for processes of the same user.
//!
//! What a process has open stays open; when it closes something it may open as much again. A
//! process that waits with `poll` for more descriptors than the limit gets EINVAL: with gaps among
//! its numbers it may meet that, too.

use rustix::process::{Pid, Resource, Rlimit, prlimit};
use std::collections::BTreeSet;
use std::io;
use std::time::Duration;

/// How often to look what a process has open: a file that is opened and closed all the time would
/// leave it one descriptor if it happened to be open at the only look.
const LOOKS: u32 = 30;
/// How long to wait between two looks.
const LOOK_STEP: Duration = Duration::from_millis(1);

/// How many numbers a process may use for its descriptors; `None` is no limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DescriptorLimit {
    /// What it is held to now.
    pub soft: Option<u64>,
    /// What it could raise that to.
    pub hard: Option<u64>,
}

/// Why a limit was not read or changed.
#[derive(Debug, thiserror::Error)]
pub enum LimitError {
    /// There is no such process.
    #[error("there is no process {pid}")]
    NoSuchProcess {
        /// The number.
        pid: u32,
    },
    /// The operating system said no.
    #[error(
        "process {pid}: cannot {doing}: {source}. It has to belong to the same user, or to be \
             handled by root"
    )]
    Io {
        /// The process.
        pid: u32,
        /// What was tried.
        doing: &'static str,
        /// Why not.
        source: io::Error,
    },
    /// The kernel says it in a form that is not known.
    #[error("/proc/{pid}/limits: has no line on open files that can be read")]
    Unreadable {
        /// The process.
        pid: u32,
    },
}

/// The limit of a process.
pub fn descriptor_limit(pid: u32) -> Result<DescriptorLimit, LimitError> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/limits"));
    let text = text.map_err(failed(pid, "read its limits"))?;
    parse(&text).ok_or(LimitError::Unreadable { pid })
}

/// How many descriptors a process has open.
pub fn open_descriptors(pid: u32) -> Result<u64, LimitError> {
    Ok(open_numbers(pid)?.len() as u64)
}

/// The lowest number a new descriptor could have.
pub fn lowest_free_descriptor(pid: u32) -> Result<u64, LimitError> {
    let open = open_numbers(pid)?;
    Ok((0..).find(|number| !open.contains(number)).expect("no process has all of them open"))
}

/// Leaves a process no descriptor beyond those it keeps; says what its limit was. What it opens and
/// closes again while this looks is not kept.
pub fn exhaust_descriptors(pid: u32) -> Result<DescriptorLimit, LimitError> {
    let before = descriptor_limit(pid)?;
    let mut soft = before.soft.unwrap_or(u64::MAX);
    for _look in 0..LOOKS {
        let free = lowest_free_descriptor(pid)?;
        if free < soft {
            set_soft_limit(pid, Some(free))?;
            soft = free;
        }
        std::thread::sleep(LOOK_STEP);
    }
    Ok(before)
}

/// Sets the soft limit, at most to the hard one.
pub fn set_soft_limit(pid: u32, soft: Option<u64>) -> Result<(), LimitError> {
    let maximum = descriptor_limit(pid)?.hard;
    let current = match (soft, maximum) {
        (Some(soft), Some(hard)) => Some(soft.min(hard)),
        (soft, hard) => soft.or(hard),
    };
    let number = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let number = number.ok_or(LimitError::NoSuchProcess { pid })?;
    prlimit(Some(number), Resource::Nofile, Rlimit { current, maximum })
        .map_err(|error| failed(pid, "change its limit on open files")(error.into()))?;
    Ok(())
}

fn open_numbers(pid: u32) -> Result<BTreeSet<u64>, LimitError> {
    let entries = std::fs::read_dir(format!("/proc/{pid}/fd"));
    let entries = entries.map_err(failed(pid, "list its open files"))?;
    let number = |entry: std::fs::DirEntry| entry.file_name().to_str()?.parse().ok();
    Ok(entries.flatten().filter_map(number).collect())
}

fn failed(pid: u32, doing: &'static str) -> impl FnOnce(io::Error) -> LimitError {
    move |source| match (source.kind(), source.raw_os_error()) {
        (io::ErrorKind::NotFound, _) | (_, Some(libc::ESRCH)) => LimitError::NoSuchProcess { pid },
        _ => LimitError::Io { pid, doing, source },
    }
}

/// `Max open files            1024                 524288               files`
fn parse(text: &str) -> Option<DescriptorLimit> {
    let rest = text.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    let number = |word: &str| match word {
        "unlimited" => Some(None),
        word => word.parse().ok().map(Some),
    };
    let mut words = rest.split_whitespace();
    Some(DescriptorLimit { soft: number(words.next()?)?, hard: number(words.next()?)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_from_their_line() {
        let line =
            "Max cpu time  unlimited unlimited seconds\nMax open files  8  unlimited files\n";
        assert_eq!(parse(line), Some(DescriptorLimit { soft: Some(8), hard: None }));
        for broken in ["", "Max open files", "Max open files 8", "Max open files x 9 files"] {
            assert_eq!(parse(broken), None, "{broken}");
        }
    }

    #[test]
    fn nobody_has_no_limit() {
        let nobody = u32::MAX;
        assert!(matches!(descriptor_limit(nobody), Err(LimitError::NoSuchProcess { .. })));
        assert!(matches!(exhaust_descriptors(nobody), Err(LimitError::NoSuchProcess { .. })));
    }
}
