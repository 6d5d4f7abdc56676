//! Values that a test runner wrote down and compares with: snapshots of Jest, Vitest and insta.
//!
//! Who runs the tests with `-u` accepts whatever the program does now. The test reads the same, so
//! it is the file with the values that tells.

use crate::finding::{Finding, Side, Verdict, finding};
use crate::rules::id;
use crate::tree::{Tree, extension, text};
use std::collections::{BTreeMap, BTreeSet};

/// A value that was written down, and its line.
type Entry<'s> = (&'s str, usize);

/// The most entries of one file that are looked at.
const ENTRIES_MAX: usize = 20_000;

/// R05: values that tests are compared with and that are others now.
pub fn compare(before: &Tree, after: &Tree, findings: &mut Vec<Finding>) {
    let changed =
        |path: &&String| extension(path) == "snap" && before.get(*path) != after.get(*path);
    // What moved to another name or file is still compared.
    let known: BTreeSet<&str> = after
        .keys()
        .filter(changed)
        .filter_map(|path| text(after, path))
        .flat_map(|source| entries(source).into_values().map(|(value, _)| value))
        .collect();
    for path in before.keys().filter(changed) {
        let Some(old) = text(before, path) else { continue };
        let now = text(after, path).map_or(BTreeMap::new(), entries);
        for (name, (value, line)) in entries(old) {
            let is = now.get(name);
            if is.is_some_and(|(is, _)| *is == value) || known.contains(value) {
                continue;
            }
            let was = Side { file: path, line, text: value };
            let is = is.map(|(text, line)| Side { file: path, line: *line, text });
            let (verdict, reason) = match is {
                Some(_) => (Verdict::Changed, "the value that is compared with is another"),
                None => (Verdict::Weaker, "a value that was compared with is gone"),
            };
            let object = format!("{path}::{name}");
            findings.push(finding(id("R05"), object, verdict, (Some(was), is), reason));
        }
    }
}

/// The values of a file by name: those of Jest one by one, that of insta as a whole.
fn entries(source: &str) -> BTreeMap<&str, Entry<'_>> {
    match source.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n")) {
        Some((head, value)) => {
            let line = head.lines().count() + 3;
            BTreeMap::from([("snapshot", (value.trim_end(), line))])
        }
        None => exported(source),
    }
}

/// ``exports[`name 1`] = `value`;``
fn exported(source: &str) -> BTreeMap<&str, Entry<'_>> {
    let mut found = BTreeMap::new();
    let starts: Vec<usize> = source.match_indices("exports[`").map(|(at, _)| at).collect();
    for (index, start) in starts.iter().enumerate().take(ENTRIES_MAX) {
        let end = starts.get(index + 1).copied().unwrap_or(source.len());
        let Some((name, value)) = source[*start..end].split_once("`] = ") else { continue };
        let line = 1 + source[..*start].matches('\n').count();
        let name = name.trim_start_matches("exports[`");
        found.insert(name, (value.trim_end().trim_end_matches(';'), line));
    }
    found
}
