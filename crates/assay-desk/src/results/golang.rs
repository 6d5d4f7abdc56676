//! `go test -v` and `go test -json`.

use super::{Results, Status};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Line {
    action: String,
    #[serde(default)]
    test: Option<String>,
}

/// `--- PASS: TestA (0.00s)`, or one JSON object a line.
pub(super) fn read(text: &str) -> Results {
    let mut results = Results::default();
    for line in text.lines() {
        let line = line.trim();
        if line.starts_with('{') {
            if let Ok(Line { action, test: Some(test) }) = serde_json::from_str(line)
                && let Some(status) = status(&action.to_uppercase())
            {
                results.add(test, status);
            }
            continue;
        }
        let Some(rest) = line.strip_prefix("--- ") else {
            continue;
        };
        let Some((word, name)) = rest.split_once(": ") else {
            continue;
        };
        if let Some(status) = status(word) {
            results.add(name.split(" (").next().unwrap_or(name), status);
        }
    }
    results
}

fn status(word: &str) -> Option<Status> {
    match word {
        "PASS" => Some(Status::Passed),
        "FAIL" => Some(Status::Failed),
        "SKIP" => Some(Status::Skipped),
        _ => None,
    }
}
