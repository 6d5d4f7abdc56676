//! `jest --json` and `vitest run --reporter=json`, which speak the same language.

use super::{Results, Status};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    test_results: Vec<Suite>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Suite {
    #[serde(default)]
    name: String,
    #[serde(default)]
    status: String,
    #[serde(default)]
    assertion_results: Vec<Assertion>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Assertion {
    full_name: String,
    status: String,
}

/// The report may stand between lines that other tools print. What is tested can print one, too: of
/// several all count, so that none hides another.
pub(super) fn read(text: &str) -> Results {
    let mut results = Results::default();
    for suite in find(text).into_iter().flat_map(|report| report.test_results) {
        if suite.assertion_results.is_empty() && suite.status == "failed" {
            // A file that cannot be loaded has no tests and is a failure all the same.
            results.add(suite.name, Status::Failed);
        }
        for assertion in suite.assertion_results {
            let status = match assertion.status.as_str() {
                "passed" => Status::Passed,
                "failed" => Status::Failed,
                _ => Status::Skipped,
            };
            results.add(assertion.full_name.trim(), status);
        }
    }
    results
}

fn find(text: &str) -> Vec<Report> {
    if let Ok(whole) = serde_json::from_str(text.trim()) {
        return vec![whole];
    }
    let lines = text.lines().filter_map(|line| serde_json::from_str(line.trim()).ok());
    let mut all: Vec<Report> = lines.collect();
    let spread = || {
        let (start, end) = (text.find("\n{")?, text.rfind("}")?);
        serde_json::from_str(text.get(start + 1..=end)?).ok()
    };
    if all.is_empty() {
        all.extend(spread());
    }
    all
}
