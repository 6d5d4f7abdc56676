//! Freezing a group as a whole, and looking whether it stands still.

use super::error::{CgroupError, at};
use super::group::Group;
use super::hierarchy::Version;
use super::{Controller, FREEZE_TIME_MAX};
use crate::wait::wait_for;
use std::path::Path;

impl Group {
    /// Freezes all processes of the group, and waits until the kernel says that all are frozen. If
    /// that takes too long it is thawed again.
    pub fn freeze(&self) -> Result<(), CgroupError> {
        self.order(true)?;
        let settled = self.settle(true);
        if settled.is_err() {
            let _first_error_counts = self.order(false);
        }
        settled
    }

    /// Thaws it; one that is not frozen needs nothing.
    pub fn thaw(&self) -> Result<(), CgroupError> {
        self.order(false)?;
        self.settle(false)
    }

    /// Whether the kernel says that every process of the group is frozen.
    pub fn is_frozen(&self) -> Result<bool, CgroupError> {
        let place = self.place(Controller::Freezer)?;
        frozen(&place.directory, place.version)
    }

    /// The processor time that all threads of the group have used, in clock ticks: it stands still
    /// while the group is frozen.
    pub fn cpu_ticks(&self) -> Result<u64, CgroupError> {
        let of_thread = |path: &Path| {
            let stat = std::fs::read(path.join("stat")).ok()?;
            ticks(&stat)
        };
        let mut sum = 0;
        for pid in self.pids()? {
            // A thread that ends while it is looked at has used nothing since.
            let threads = std::fs::read_dir(format!("/proc/{pid}/task"));
            for thread in threads.into_iter().flatten().flatten() {
                sum += of_thread(&thread.path()).unwrap_or(0);
            }
        }
        Ok(sum)
    }

    fn order(&self, freeze: bool) -> Result<(), CgroupError> {
        let place = self.place(Controller::Freezer)?;
        order(&place.directory, place.version, freeze)
    }

    fn settle(&self, wanted: bool) -> Result<(), CgroupError> {
        let place = self.place(Controller::Freezer)?;
        settle(&place.directory, place.version, wanted)
    }
}

pub(super) fn order(directory: &Path, version: Version, freeze: bool) -> Result<(), CgroupError> {
    let (file, text) = match (version, freeze) {
        (Version::V1, true) => ("freezer.state", "FROZEN"),
        (Version::V1, false) => ("freezer.state", "THAWED"),
        (Version::V2, true) => ("cgroup.freeze", "1"),
        (Version::V2, false) => ("cgroup.freeze", "0"),
    };
    let path = directory.join(file);
    std::fs::write(&path, text).map_err(at(&path, "write to"))
}

pub(super) fn settle(directory: &Path, version: Version, wanted: bool) -> Result<(), CgroupError> {
    let word = if wanted { "frozen" } else { "thawed" };
    let looked = wait_for(FREEZE_TIME_MAX, || match frozen(directory, version) {
        Ok(now) if now != wanted => None,
        result => Some(result.map(|_| ())),
    });
    let stuck = || CgroupError::Stuck { path: directory.to_path_buf(), wanted: word };
    looked.unwrap_or_else(|| Err(stuck()))
}

pub(super) fn frozen(directory: &Path, version: Version) -> Result<bool, CgroupError> {
    let (file, word) = match version {
        Version::V1 => ("freezer.state", "FROZEN"),
        Version::V2 => ("cgroup.events", "frozen 1"),
    };
    let path = directory.join(file);
    let text = std::fs::read_to_string(&path).map_err(at(&path, "read"))?;
    Ok(text.lines().any(|line| line.trim() == word))
}

/// Fields 14 and 15 of a stat file, counted from behind the name, which may hold anything.
fn ticks(stat: &[u8]) -> Option<u64> {
    let end = stat.iter().rposition(|byte| *byte == b')')?;
    let rest = std::str::from_utf8(&stat[end + 1..]).ok()?;
    let mut fields = rest.split_ascii_whitespace().skip(11);
    let (user, system): (u64, u64) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    Some(user + system)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_read_from_behind_the_name() {
        let stat = b"7 (a) b) S 1 2 3 4 5 6 7 8 9 10 40 2 13";
        assert_eq!(ticks(stat), Some(42));
        assert_eq!(ticks(b"7 (a) S 1 2"), None);
    }
}
