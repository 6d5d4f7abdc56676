//! Tests that stand beside the code: which lines of the changed Rust files are theirs.

use super::glob;
use assay_guard::{Tree, beside, tree};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

type Lines = Vec<RangeInclusive<usize>>;

/// Lines of tests in changed Rust files that are not files of tests, before and after.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Beside {
    files: BTreeMap<String, (Lines, Lines)>,
}

impl Beside {
    /// Of two trees. `tests` are the globs of test files, which are not looked at.
    pub fn of(before: &Tree, after: &Tree, tests: &[String]) -> Beside {
        let mut files = BTreeMap::new();
        for path in before.keys().chain(after.keys()) {
            if !path.ends_with(".rs") || glob::any(tests, path) || files.contains_key(path) {
                continue;
            }
            if let (Some(old), Some(new)) = (lines(before, path), lines(after, path)) {
                files.insert(path.clone(), (old, new));
            }
        }
        Beside { files }
    }

    /// Whether an old line of a file was one of a test; nothing if that is not known.
    pub fn before(&self, path: &str, line: usize) -> Option<bool> {
        self.files.get(path).map(|(old, _)| old.iter().any(|lines| lines.contains(&line)))
    }

    /// Whether a new line of a file is one of a test; nothing if that is not known.
    pub fn after(&self, path: &str, line: usize) -> Option<bool> {
        self.files.get(path).map(|(_, new)| new.iter().any(|lines| lines.contains(&line)))
    }
}

/// Nothing if the file is there and cannot be read as Rust.
fn lines(tree: &Tree, path: &str) -> Option<Lines> {
    if !tree.contains_key(path) {
        return Some(Vec::new());
    }
    if beside::is_test_file(path) {
        return Some(vec![1..=usize::MAX]);
    }
    beside::lines(tree::text(tree, path)?)
}
