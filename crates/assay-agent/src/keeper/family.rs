//! The children of this process, found and ended, until there are none.

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, wait};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// How long ending may take. What a process forks while it is being ended becomes a child here and
/// is ended in the next round.
const END_TIME_MAX: Duration = Duration::from_secs(10);
/// Between two rounds.
const ROUND_STEP: Duration = Duration::from_millis(2);

/// Kills every child, and every child that comes from that, and collects them. Gives how many
/// different ones there were.
pub(super) fn end_all() -> u32 {
    let until = Instant::now() + END_TIME_MAX;
    let mut ended = BTreeSet::new();
    // Almost always: then there is no need to look through all processes.
    if !collect() {
        return 0;
    }
    loop {
        for child in children() {
            ended.insert(child.as_raw_pid());
            // Gone meanwhile, and then a zombie that is collected below.
            let _gone = kill_process(child, Signal::KILL);
        }
        if !collect() || Instant::now() >= until {
            return u32::try_from(ended.len()).unwrap_or(u32::MAX);
        }
        std::thread::sleep(ROUND_STEP);
    }
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

/// The children that have not ended yet.
fn children() -> Vec<Pid> {
    let own = getpid().as_raw_pid();
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pid = |entry: std::fs::DirEntry| entry.file_name().to_str()?.parse::<i32>().ok();
    let is_child = |pid: &i32| {
        std::fs::read(format!("/proc/{pid}/stat"))
            .is_ok_and(|stat| state_and_parent(&stat).is_some_and(|(s, p)| s != b'Z' && p == own))
    };
    entries.filter_map(pid).filter(is_child).filter_map(Pid::from_raw).collect()
}

/// Fields 3 and 4. The name in field 2 may hold anything: fields count from its last parenthesis.
fn state_and_parent(stat: &[u8]) -> Option<(u8, i32)> {
    let end = stat.iter().rposition(|byte| *byte == b')')?;
    let mut fields = std::str::from_utf8(&stat[end + 1..]).ok()?.split_ascii_whitespace();
    Some((*fields.next()?.as_bytes().first()?, fields.next()?.parse().ok()?))
}
