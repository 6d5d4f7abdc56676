//! `cargo test` and `cargo nextest run`.

use super::{Results, Status};
use std::collections::BTreeSet;

/// `test name ... ok`. A name that stands in several binaries has its worst outcome.
pub(super) fn read(text: &str) -> Results {
    let mut results = Results::default();
    for line in text.lines() {
        let Some(rest) = line.trim_end().strip_prefix("test ") else {
            continue;
        };
        let Some((name, outcome)) = rest.rsplit_once(" ... ") else {
            continue;
        };
        let name = name.strip_suffix(" - should panic").unwrap_or(name);
        let status = match outcome.split([',', ' ', '<']).next().unwrap_or("") {
            "ok" => Status::Passed,
            "ignored" => Status::Skipped,
            "FAILED" => Status::Failed,
            _ => continue,
        };
        results.add(name, status);
    }
    results
}

/// `PASS [ 0.004s] (1/2) package::binary name`: the name is the last word. What did not pass is
/// said again at the end.
pub(super) fn read_nextest(text: &str) -> Results {
    let (mut results, mut seen) = (Results::default(), BTreeSet::new());
    for line in text.lines() {
        let line = line.trim();
        let word = line.split_whitespace().next().unwrap_or("");
        let status = match word {
            "PASS" => Status::Passed,
            "SKIP" => Status::Skipped,
            "FAIL" | "TIMEOUT" | "ABORT" | "SIGABRT" | "SIGSEGV" | "SIGKILL" => Status::Failed,
            _ => continue,
        };
        let has_time = line.contains('[') && line.contains(']');
        let mut words = line.split_whitespace();
        if let Some(name) = words.next_back().filter(|_| has_time) {
            match seen.insert((words.next_back(), name)) {
                true => results.add(name, status),
                false => results.again(name, status),
            }
        }
    }
    results
}
