//! For critical work without a mutation tool: take each change back, one at a time, and see whether
//! a test notices.

use super::beside::Beside;
use super::diff::{FileDiff, Hunk};
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

/// What came of taking changes back.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TakenBack {
    /// Changes that some command noticed.
    pub noticed: usize,
    /// Places of those that none did.
    pub unnoticed: Vec<String>,
    /// Places of those that could not be taken back.
    pub stuck: Vec<String>,
}

/// The changes of sources; tests, also those beside the code, comments and blank lines are not
/// taken back. A file that is not text has no lines, and is a change all the same.
pub fn changes(files: &[FileDiff], tests: &[String], beside: &Beside) -> Vec<Change> {
    let mut all = Vec::new();
    for file in files {
        if glob::any(tests, &file.path) {
            continue;
        }
        if file.binary {
            all.push(Change { place: file.path.clone(), patch: file.header.clone() });
        }
        for hunk in &file.hunks {
            let lines = hunk.removed.iter().chain(&hunk.added);
            if lines.map(|line| line.trim()).all(|line| line.is_empty() || is_comment(line)) {
                continue;
            }
            if is_of_tests(&file.path, hunk, beside) {
                continue;
            }
            let place = format!("{}:{}", file.path, hunk.line);
            all.push(Change { place, patch: format!("{}{}", file.header, hunk.text) });
        }
    }
    all
}

/// Whether all lines of a change are those of tests.
fn is_of_tests(path: &str, hunk: &Hunk, beside: &Beside) -> bool {
    let was = |(i, _)| beside.before(path, hunk.old_line + i) == Some(true);
    let is = |(i, _)| beside.after(path, hunk.line + i) == Some(true);
    hunk.removed.iter().enumerate().all(was) && hunk.added.iter().enumerate().all(is)
}

fn is_comment(line: &str) -> bool {
    line.starts_with("//") || line.starts_with("# ") || line == "#"
}

/// What to say about it. Evidence that is empty shows nothing, and neither does what was not tried.
pub fn judged(story: &str, taken: &TakenBack) -> Vec<Finding> {
    let finding = |text: String| Finding::new(format!("{story}/mutation"), Severity::Major, text);
    let mut findings = Vec::new();
    for place in &taken.unnoticed {
        let text = format!("{place}: no test fails without this change: test it or remove it");
        findings.push(finding(text));
    }
    for place in &taken.stuck {
        let text = format!(
            "{place}: this change cannot be taken back by itself, so nothing shows that a test \
             needs it: leave it out, or let a person name a tool (`mutation`)"
        );
        findings.push(finding(text));
    }
    if taken.noticed == 0 && findings.is_empty() {
        let text = "no source was changed, so no change could be taken back: a CRITICAL story \
                    needs mutation evidence; let a person name a tool (`mutation`)";
        findings.push(finding(text.to_string()));
    }
    findings
}
