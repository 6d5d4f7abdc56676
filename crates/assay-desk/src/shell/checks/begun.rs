//! Checks that have no end: each is written down before it begins, so that one that kills the
//! Leader, or that fails for other reasons than the work, does not do so for ever.

use crate::shell::campaign::Recorded;
use crate::shell::leader::LeaderError;
use crate::shell::trees;
use std::fs;
use std::io::Write;
use std::path::Path;

/// How often a check may begin without an end.
pub(super) const BEGUN_MAX: u32 = 3;
/// What is longer was not written here.
const BYTES_MAX: u64 = 100;

/// Writes down that the check after an event begins; how often it was begun, this time included.
/// Whoever changes the file can end a campaign with it, and nothing else.
pub(super) fn note(directory: &Path, last: Option<&Recorded>) -> u32 {
    let (seq, at_ms) = last.map_or((0, 0), |last| (last.seq, last.at_ms));
    let path = directory.join("begun");
    let times = before(&path, (seq, at_ms)).saturating_add(1);
    // A link there would lead to a file of somebody else.
    trees::remove(&path);
    let written = fs::create_dir_all(directory).and_then(|()| {
        let mut file = fs::OpenOptions::new().write(true).create_new(true).open(&path)?;
        write!(file, "{seq} {at_ms} {times}")
    });
    // What cannot be written down cannot be counted, and is no reason not to check.
    written.map_or(1, |()| times)
}

fn before(path: &Path, event: (u64, u64)) -> u32 {
    let meta = fs::symlink_metadata(path);
    if !meta.is_ok_and(|meta| meta.is_file() && meta.len() <= BYTES_MAX) {
        return 0;
    }
    let text = fs::read_to_string(path).unwrap_or_default();
    let numbers: Vec<u64> = text.split(' ').filter_map(|word| word.parse().ok()).collect();
    match numbers[..] {
        [seq, at_ms, times] if (seq, at_ms) == event => u32::try_from(times).unwrap_or(u32::MAX),
        _ => 0,
    }
}

/// Whether a failure can be written down: not that of the record itself.
pub(super) fn can_be_told(error: &LeaderError) -> bool {
    !matches!(error, LeaderError::Campaign(_))
}

#[cfg(test)]
mod tests {
    use super::note;
    use crate::event::Event;
    use crate::shell::campaign::Recorded;

    #[test]
    fn a_check_is_counted_until_something_else_is_written_down() {
        let home = tempfile::tempdir().expect("a directory");
        let runs = home.path().join("runs");
        let after = |seq| Recorded { seq, at_ms: 7, event: Event::Lost { run: 1 } };
        for wanted in 1..=4 {
            assert_eq!(note(&runs, Some(&after(3))), wanted);
        }
        assert_eq!(note(&runs, Some(&after(4))), 1);
        assert_eq!(note(&runs, Some(&after(3))), 1);
        // What others put there is neither followed nor waited for.
        let (file, theirs) = (runs.join("begun"), home.path().join("theirs"));
        std::fs::write(&theirs, "3 7 9").expect("a file");
        std::fs::remove_file(&file).expect("it is there");
        std::os::unix::fs::symlink(&theirs, &file).expect("a link");
        assert_eq!(note(&runs, Some(&after(3))), 1);
        assert_eq!(std::fs::read_to_string(&theirs).expect("a file"), "3 7 9");
    }
}
