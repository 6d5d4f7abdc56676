//! Every fault lands, with numbers of both sides.

use super::{CASES, Case, is_not_to_be_had, laid_out, problems_of};
use crate::support::{events, run, text};
use assay_nemesis::{CATALOG, Carried};
use serde_json::Value;

/// Runs a plan; what is wrong with it, if anything is.
fn problem(case: &Case) -> Option<String> {
    let (scratch, plan) = laid_out(case);
    let directory = scratch.path().join("run");
    let mut words = vec!["run", text(&plan), "--directory", text(&directory)];
    words.extend(["--tier", "smoke", "--format", "json"]);
    let ended = run(&words);
    let result = ended.out.parse::<Value>().unwrap_or_default();
    if is_not_to_be_had(case, &result["scenarios"][0]["verdict"]) {
        return None;
    }
    let closed = closed(&events(&directory), case);
    let name = format!("{} on {}", case.fault, case.network);
    eprintln!("{name}: {} {}", closed["landing"], closed["evidence"]);
    (closed["landing"] != "landed").then(|| format!("{name}: {closed:#} {ended:#?}"))
}

/// How the window of a case ended.
pub fn closed(events: &[Value], case: &Case) -> Value {
    let ours = |event: &&Value| {
        let id = event["id"].as_str().unwrap_or_default();
        event["event"] == "fault-closed" && id == format!("{}-1", case.fault)
    };
    events.iter().find(ours).cloned().unwrap_or_default()
}

#[test]
fn every_fault_lands() {
    for row in CATALOG.iter().filter(|row| matches!(row.carried, Carried::Here { .. })) {
        let is_tried = CASES.iter().any(|case| case.fault == row.id);
        assert!(is_tried, "{} is tried by nobody", row.id);
    }
    let problems = problems_of(&CASES, problem);
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
}
