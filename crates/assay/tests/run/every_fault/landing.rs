//! Every fault lands, with numbers of both sides; and when the injector hits a decoy instead, the
//! same plan proves nothing.

use super::{CASES, Case, is_not_to_be_had, laid_out, problems_of};
use crate::support::{events, run, text};
use assay_nemesis::{CATALOG, Carried};
use serde_json::Value;

/// One fault for each means by which faults are carried out.
const ONE_OF_A_KIND: [&str; 16] = [
    "kill9",
    "pause",
    "cg-freeze",
    "cpu-quota",
    "memory-limit",
    "fd-exhaustion",
    "leader-iso",
    "reset",
    "disk-full",
    "fsync-loss",
    "slow-disk",
    "torn-tail",
    "slow-fsync",
    "skew",
    "loss",
    "dns-out",
];

/// Runs a plan; what is wrong with it, if anything is.
fn problem(case: &Case, misses: bool) -> Option<String> {
    let (scratch, plan) = laid_out(case);
    let directory = scratch.path().join("run");
    let mut words = vec!["run", text(&plan), "--directory", text(&directory)];
    words.extend(["--tier", "smoke", "--format", "json"]);
    if misses {
        words.extend(["--sabotage", "injector-misses"]);
    }
    let ended = run(&words);
    let result = ended.out.parse::<Value>().unwrap_or_default();
    let verdict = &result["scenarios"][0]["verdict"];
    if is_not_to_be_had(case, verdict) {
        return None;
    }
    let ours = |event: &Value| {
        let id = event["id"].as_str().unwrap_or_default();
        event["event"] == "fault-closed" && id.starts_with(&format!("{}-", case.fault))
    };
    let closed = events(&directory).into_iter().find(ours).unwrap_or_default();
    let fine = match misses {
        true => *verdict == "INCONCLUSIVE-fault-not-proven" && closed["landing"] != "landed",
        false => closed["landing"] == "landed",
    };
    let name = format!("{} on {}, misses: {misses}", case.fault, case.network);
    eprintln!("{name}: {} {}", closed["landing"], closed["evidence"]);
    (!fine).then(|| format!("{name}: {closed:#} {ended:#?}"))
}

#[test]
fn every_fault_lands_and_an_injector_that_misses_proves_nothing() {
    for row in CATALOG.iter().filter(|row| matches!(row.carried, Carried::Here { .. })) {
        // A sequence of other faults, which a plan writes as such.
        let is_sequence = row.id == "roll-wrong";
        let is_tried = CASES.iter().any(|case| case.fault == row.id);
        assert!(is_tried || is_sequence, "{} is tried by nobody", row.id);
    }
    // That it misses is tried once for every means; `ASSAY_ALL_FAULTS=1` tries it for every fault.
    let all = std::env::var_os("ASSAY_ALL_FAULTS").is_some();
    let missed = CASES.iter().filter(|case| all || ONE_OF_A_KIND.contains(&case.fault));
    let cases: Vec<(&Case, bool)> =
        CASES.iter().map(|case| (case, false)).chain(missed.map(|case| (case, true))).collect();
    let problems = problems_of(&cases, |(case, misses)| problem(case, *misses));
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
}
