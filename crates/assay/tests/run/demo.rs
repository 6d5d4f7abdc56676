//! What `make demo` runs, and what everybody sees first: both verdicts, and a finding that can be
//! acted on.

use crate::support::{run, scratch, text};
use serde_json::{Value, json};
use std::path::Path;

fn read(path: &Path) -> Value {
    let content = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{path:?}: {e}"));
    serde_json::from_str(&content).expect("JSON")
}

#[test]
fn the_demonstration_upholds_one_claim_and_shows_where_another_breaks() {
    let directory = scratch();
    let ended = run(&["demo", "--sessions", text(directory.path()), "--format", "json"]);
    let result = ended.json();
    assert_eq!((ended.code, &result["verdict"]), (Some(0), &json!("DONE")), "{result:#}");
    let verdicts: Vec<&str> = result["scenarios"]
        .as_array()
        .expect("scenarios")
        .iter()
        .filter_map(|scenario| scenario["verdict"].as_str())
        .collect();
    assert_eq!(verdicts, ["PASS-hardening", "FAIL-reproducible"], "{result:#}");
    let [finding] = &result["findings"].as_array().expect("findings")[..] else {
        panic!("one finding: {result:#}")
    };
    assert_eq!((&finding["scenario"], &finding["blame"]), (&json!("S2"), &json!("SUT")));

    let root = Path::new(result["directory"].as_str().expect("a directory"));
    let found = read(&root.join("artifacts/S2/investigation.json"));
    let witness = found["first"]["judged"]["anomalies"][0]["ops"].as_array().expect("a witness");
    assert!((2..=10).contains(&witness.len()), "{} operations", witness.len());
    let events: Vec<u64> = (0..2).filter_map(|i| found["events"][i].as_u64()).collect();
    assert!(events[0] > 100 && events[1] <= 20, "{events:?}");
    assert_eq!(found["tells"]["known_good_passes"], true, "{:#}", found["tells"]);
    assert_eq!(found["tells"]["certificate_verified"], true, "{:#}", found["tells"]);

    // What was planted, and what of it was caught, is there kind by kind.
    let results = read(&root.join("results.json"));
    let planted = results["scenarios"][0]["arms"][0]["planted"].as_array().expect("rows");
    assert!(planted.len() >= 4, "{planted:#?}");
    assert!(planted.iter().all(|row| row["certain"] == row["certain_caught"]), "{planted:#?}");
    let report = std::fs::read_to_string(root.join("findings/report.md")).expect("a report");
    let page = std::fs::read_to_string(root.join("report.html")).expect("a page");
    // A clean run leaves open what its plan does.
    assert!(page.contains("five nodes and more. The plan leaves it open"), "7c is on the page");
    for kind in planted.iter().filter_map(|row| row["kind"].as_str()) {
        assert!(report.contains(kind) && page.contains(kind), "{kind}");
    }
    for file in ["README.md", "session-log.md", "findings/F1.repro.json"] {
        assert!(root.join(file).is_file(), "{file}");
    }
    let figures = std::fs::read_to_string(root.join("metrics/S1/hardening-seed-1.csv"));
    let figures = figures.expect("figures of a trial");
    assert!(figures.lines().count() >= 9, "a line a second: {figures}");
    assert!(figures.contains("leader-iso-1"), "{figures}");
    // In an open loop latency counts from when an operation was due.
    let recorded = root.join("artifacts/S1/hardening-seed-1/history.jsonl.zst");
    let recorded = std::fs::File::open(recorded).expect("a history");
    let history = assay_history::read(recorded, &Default::default()).expect("a history");
    let first = history.ops().find(|op| history.due_ts(op.index).is_some());
    assert!(first.is_some(), "no operation was due at a time");
}
