//! `cargo test` and `cargo nextest run`.

use super::{Results, Status};

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

/// `PASS [ 0.004s] (1/2) package::binary name`: the name is the last word.
pub(super) fn read_nextest(text: &str) -> Results {
    let mut results = Results::default();
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
        if let Some(name) = line.split_whitespace().next_back().filter(|_| has_time) {
            results.add(name, status);
        }
    }
    results
}
