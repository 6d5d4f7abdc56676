//! For critical work without a mutation tool: take each change back, one at a time, and see whether
//! a test notices.

use super::diff::FileDiff;
use super::{Finding, Severity, glob};

/// More changes than this are too many to take back one by one.
pub const HUNKS_MAX: usize = 60;

/// One change of a source, as a patch of its own.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change {
    /// Where: `path:line`.
    pub place: String,
    /// The patch, to be applied in reverse.
    pub patch: String,
}

/// The changes of sources; tests, comments and blank lines are not taken back.
pub fn changes(files: &[FileDiff], tests: &[String]) -> Vec<Change> {
    let mut all = Vec::new();
    for file in files.iter().filter(|file| !glob::any(tests, &file.path)) {
        for hunk in &file.hunks {
            let lines = hunk.removed.iter().chain(&hunk.added);
            if lines.map(|line| line.trim()).all(|line| line.is_empty() || is_comment(line)) {
                continue;
            }
            let place = format!("{}:{}", file.path, hunk.line);
            all.push(Change { place, patch: format!("{}{}", file.header, hunk.text) });
        }
    }
    all
}

fn is_comment(line: &str) -> bool {
    line.starts_with("//") || line.starts_with("# ") || line == "#"
}

/// What to say about changes whose absence no test noticed.
pub fn unnoticed(story: &str, places: &[String]) -> Vec<Finding> {
    let finding = |place: &String| {
        let text = format!("{place}: no test fails without this change: test it or remove it");
        Finding::new(format!("{story}/mutation"), Severity::Major, text)
    };
    places.iter().map(finding).collect()
}
