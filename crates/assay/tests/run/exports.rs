//! Results for other programs, by the run itself and later from its record.

use crate::support::{pause_plan, replaced, run, scratch, text, write};
use serde_json::Value;
use std::path::Path;

/// A plan of a system that nobody has: it is over before anything starts.
fn absent() -> String {
    replaced(&pause_plan(), "name = \"kv\"", "name = \"absent\"")
}

fn content(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path:?}: {error}"))
}

#[track_caller]
fn check(directory: &Path, names: [&str; 3], plan: &str) {
    let [junit, sarif, summary] = names.map(|name| content(&directory.join(name)));
    assert!(junit.contains("<testsuite") && junit.contains("<skipped"), "{junit}");
    let sarif: Value = serde_json::from_str(&sarif).expect("SARIF is JSON");
    let place = &sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
    let line = plan.lines().position(|line| line.starts_with("### Scenario S1")).expect("S1") + 1;
    assert_eq!(place["region"]["startLine"], line, "{sarif:#}");
    assert!(summary.starts_with("before\n"), "it is appended: {summary}");
    assert!(summary.contains("INCONCLUSIVE-env"), "{summary}");
}

#[test]
fn a_run_and_its_record_give_the_same_exports() {
    let directory = scratch();
    let at = |name: &str| directory.path().join(name);
    let plan = write(directory.path(), "plan.md", &absent());
    let root = at("run");
    for name in ["summary.md", "later.md"] {
        write(directory.path(), name, "before\n");
    }
    let (junit, sarif, summary) = (at("run.xml"), at("run.sarif"), at("summary.md"));
    let mut words = vec!["run", text(&plan), "--directory", text(&root)];
    words.extend(["--junit", text(&junit), "--sarif", text(&sarif)]);
    words.extend(["--step-summary", text(&summary)]);
    let ended = run(&words);
    assert_eq!(ended.code, Some(2), "{ended:#?}");
    check(directory.path(), ["run.xml", "run.sarif", "summary.md"], &absent());

    let (junit, sarif, summary) = (at("later.xml"), at("later.sarif"), at("later.md"));
    let (page, results) = (at("later.html"), root.join("results.json"));
    let mut words = vec!["report", text(&results), "--junit", text(&junit)];
    words.extend(["--sarif", text(&sarif), "--step-summary", text(&summary)]);
    words.extend(["--html", text(&page)]);
    let ended = run(&words);
    assert_eq!(ended.code, Some(2), "{ended:#?}");
    check(directory.path(), ["later.xml", "later.sarif", "later.md"], &absent());
    for name in [".xml", ".sarif", ".md"] {
        let first = if name == ".md" { "summary" } else { "run" };
        let (first, later) = (at(&format!("{first}{name}")), at(&format!("later{name}")));
        assert_eq!(content(&first), content(&later), "{name}");
    }
    assert_eq!(content(&page), content(&root.join("report.html")));
}

#[test]
fn a_result_that_cannot_be_exported_is_shown_all_the_same() {
    let directory = scratch();
    let plan = write(directory.path(), "plan.md", &absent());
    let root = directory.path().join("run");
    let words = ["run", text(&plan), "--directory", text(&root)];
    // It can be opened, and has no room.
    let full = run(&[&words[..], &["--step-summary", "/dev/full"]].concat());
    assert_eq!(full.code, Some(69), "{full:#?}");
    assert!(full.out.contains("INCONCLUSIVE"), "{full:#?}");
    assert!(full.err.contains("/dev/full"), "{full:#?}");
    // What can be known before is told before.
    let nowhere = directory.path().join("nowhere/run.xml");
    let other = directory.path().join("other");
    let words = ["run", text(&plan), "--directory", text(&other), "--junit", text(&nowhere)];
    let refused = run(&words);
    assert_eq!(refused.code, Some(69), "{refused:#?}");
    assert!(refused.err.contains("nowhere/run.xml"), "{refused:#?}");
    assert!(!other.exists(), "nothing was begun");
}

#[test]
fn an_operator_without_a_name_gets_a_report() {
    let directory = scratch();
    let plan = write(directory.path(), "plan.md", &absent());
    let root = directory.path().join("run");
    let mut nobody = crate::support::assay(&["run", text(&plan), "--directory", text(&root)]);
    let ended = nobody.env("USER", "").output().expect("assay runs");
    assert_eq!(ended.status.code(), Some(2), "{ended:#?}");
    let results: Value = serde_json::from_str(&content(&root.join("results.json"))).expect("JSON");
    assert_eq!(results["operator"], "not named");
}
