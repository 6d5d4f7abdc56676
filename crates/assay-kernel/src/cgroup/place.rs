//! The files of a group: written to steer it, read to count.

use super::error::{CgroupError, at};
use super::hierarchy::Version;
use std::path::{Path, PathBuf};

/// Files that limit, with what lifts the limit, in an order in which they can be written: the limit
/// of memory with swap may never be below the one without.
const LIFTS: [(&str, &str); 6] = [
    ("cpu.cfs_quota_us", "-1"),
    ("cpu.max", "max"),
    ("memory.memsw.limit_in_bytes", "-1"),
    ("memory.limit_in_bytes", "-1"),
    ("memory.max", "max"),
    ("memory.swap.max", "max"),
];
/// The same for files with a line for each device.
const LIFTS_OF_DEVICES: [(&str, &str); 3] = [
    ("blkio.throttle.write_bps_device", "0"),
    ("blkio.throttle.write_iops_device", "0"),
    ("io.max", "wbps=max wiops=max"),
];

/// Where a controller of a group is steered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Place {
    pub(super) version: Version,
    pub(super) directory: PathBuf,
}

impl Place {
    pub(super) fn write(&self, file: &str, text: &str) -> Result<(), CgroupError> {
        let path = self.directory.join(file);
        std::fs::write(&path, text).map_err(at(&path, "write to"))
    }

    /// For what a kernel may have been built without.
    pub(super) fn write_if_there(&self, file: &str, text: &str) -> Result<(), CgroupError> {
        if self.directory.join(file).exists() { self.write(file, text) } else { Ok(()) }
    }

    pub(super) fn read(&self, file: &str) -> Result<String, CgroupError> {
        let path = self.directory.join(file);
        std::fs::read_to_string(&path).map_err(at(&path, "read"))
    }

    /// The number in the line that begins with a name; without one, the only number there is.
    pub(super) fn number(&self, file: &str, name: &'static str) -> Result<u64, CgroupError> {
        let text = self.read(file)?;
        named(&text, name).ok_or_else(|| CgroupError::Unreadable {
            path: self.directory.join(file),
            wanted: if name.is_empty() { "a number" } else { name },
            text,
        })
    }
}

fn named(text: &str, name: &str) -> Option<u64> {
    let number = |line: &str| match (name, line.split_once(' ')) {
        ("", None) => line.trim().parse().ok(),
        (name, Some((found, number))) if name == found => number.trim().parse().ok(),
        _ => None,
    };
    text.lines().find_map(number)
}

/// Lifts every limit that a group may have.
pub(super) fn lift(directory: &Path) -> Result<(), CgroupError> {
    let there = |file: &str| Some(directory.join(file)).filter(|path| path.exists());
    for (file, text) in LIFTS {
        if let Some(path) = there(file) {
            std::fs::write(&path, text).map_err(at(&path, "write to"))?;
        }
    }
    for (file, text) in LIFTS_OF_DEVICES {
        let Some(path) = there(file) else { continue };
        let lines = std::fs::read_to_string(&path).map_err(at(&path, "read"))?;
        for device in lines.lines().filter_map(|line| line.split_whitespace().next()) {
            std::fs::write(&path, format!("{device} {text}")).map_err(at(&path, "write to"))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_by_their_whole_name() {
        let text = "oom_kill_disable 0\nunder_oom 1\noom_kill 2\n";
        assert_eq!(named(text, "oom_kill"), Some(2));
        assert_eq!(named(text, "oom"), None);
        assert_eq!(named("17\n", ""), Some(17));
        assert_eq!(named("", ""), None);
    }

    #[test]
    fn every_limit_of_both_versions_is_lifted() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let file = |name: &str| directory.path().join(name);
        std::fs::write(file("cpu.max"), "1000 100000").expect("a file");
        std::fs::write(file("io.max"), "7:0 rbps=max wbps=1 riops=max wiops=max").expect("a file");
        lift(directory.path()).expect("writable");
        let read = |name| std::fs::read_to_string(file(name)).expect("a file");
        assert_eq!(read("cpu.max"), "max");
        assert_eq!(read("io.max"), "7:0 wbps=max wiops=max");
        assert!(!file("memory.max").exists(), "what is not there is not made");
    }
}
