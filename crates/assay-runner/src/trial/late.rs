//! Operations that were sent after they were due.
//!
//! A history says when an operation was sent. In an open loop it may have been due before: the time
//! in between belongs to its latency, or a system that keeps clients waiting looks faster than it
//! is. The file beside the history has a line for each operation that was late: its id and by how
//! much, in nanoseconds. Where no operation was due at a time there is no such file.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::Path;

/// The name of the file in the directory of a trial.
pub const LATE_NAME: &str = "late.csv";
const HEAD: &str = "op_id,late_ns\n";
/// The largest file that is read back.
const BYTES_MAX: u64 = 1 << 28;

/// Writes the file.
pub fn write(path: &Path, late: &[(u64, u64)]) -> io::Result<()> {
    let lines = late.iter().map(|(id, ns)| format!("{id},{ns}\n"));
    fs::write(path, std::iter::once(HEAD.to_string()).chain(lines).collect::<String>())
}

/// By how much operations were late, by id; `None` if none was ever due at a time, or nobody can
/// read it any more.
pub fn read(path: &Path) -> Option<HashMap<i64, u64>> {
    if fs::metadata(path).ok()?.len() > BYTES_MAX {
        return None;
    }
    let text = fs::read_to_string(path).ok()?;
    let line = |line: &str| {
        let (id, ns) = line.split_once(',')?;
        Some((id.parse().ok()?, ns.parse().ok()?))
    };
    Some(text.strip_prefix(HEAD)?.lines().filter_map(line).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_late_is_read_back_and_nothing_else() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join(LATE_NAME);
        assert_eq!(read(&path), None);
        write(&path, &[(3, 1_000), (9, 5)]).expect("written");
        assert_eq!(read(&path), Some([(3, 1_000), (9, 5)].into()));
        write(&path, &[]).expect("written");
        assert_eq!(read(&path), Some(HashMap::new()));
        fs::write(&path, "something else").expect("written");
        assert_eq!(read(&path), None);
    }
}
