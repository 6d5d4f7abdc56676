//! Every fault lands, with numbers of both sides.

use super::{Beside, CASES, Case, all_cases, is_not_to_be_had, laid_out, problems_of};
use crate::support::{events, run, text};
use assay_nemesis::{CATALOG, Carried};
use rustix::process::geteuid;
use serde_json::Value;
use std::path::Path;

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
    let untold = cost_not_told(&directory, case);
    if untold.is_some() {
        return untold;
    }
    let closed = closed(&events(&directory), case);
    let name = format!("{} on {}", case.fault, case.network);
    eprintln!("{name}: {} {}", closed["landing"], closed["evidence"]);
    if closed["landing"] != "landed" {
        return Some(format!("{name}: {closed:#} {ended:#?}"));
    }
    let trial = std::fs::read_to_string(directory.join("artifacts/S1/smoke-seed-1/trial.json"));
    let trial: Value = trial.unwrap_or_default().parse().unwrap_or_default();
    not_healed(&trial, case).map(|why| format!("{name}: {why}: {:#}", trial["windows"]))
}

/// Faults that make a node of the embedded system give up: it has to be started again.
const GIVES_UP: [&str; 4] = ["fsync-fail", "disk-readonly", "disk-enospc", "disk-full"];

/// What a trial does not prove of the healing of its faults, if it leaves something out.
fn not_healed(trial: &Value, case: &Case) -> Option<String> {
    let windows = trial["windows"].as_array().filter(|windows| !windows.is_empty());
    let Some(windows) = windows else { return Some("it has no windows".to_string()) };
    for window in windows {
        // Who is down while its file is damaged does not come back before that is healed, and then
        // by that.
        if case.beside == Beside::Downtime && window["fault"] != case.fault {
            continue;
        }
        let proof = window["proof"].as_array().cloned().unwrap_or_default();
        let says =
            |words: &str| proof.iter().any(|p| p.as_str().is_some_and(|p| p.contains(words)));
        if window["end_ns"].is_null() || !window["unhealed"].is_null() {
            return Some(format!("unhealed: {}", window["unhealed"]));
        }
        if proof.is_empty() {
            return Some("nothing proves that it was healed".to_string());
        }
        if GIVES_UP.contains(&case.fault) && !says("had ended by themselves: started again") {
            return Some("its node was not started again".to_string());
        }
    }
    let down = trial["down"].as_array().cloned().unwrap_or_default();
    (!down.is_empty()).then(|| format!("{down:?} do not run at the end"))
}

/// What the report does not say of what this way of testing costs, if it leaves something out.
fn cost_not_told(directory: &Path, case: &Case) -> Option<String> {
    let results = std::fs::read_to_string(directory.join("results.json")).unwrap_or_default();
    let results: Value = results.parse().unwrap_or_default();
    let of_network = match case.network {
        "proxies" => "A proxy adds to a round trip",
        "bridge" => "Namespaces and their bridge add to a round trip",
        _ => "Namespaces and their switch add to a round trip",
    };
    let watched = ["fsync-fail", "slow-fsync", "disk-readonly", "disk-enospc", "skew", "slowclock"];
    let is_watched = watched.contains(&case.fault) && !case.with.contains("preload");
    let of_calls = is_watched.then_some("Looking at a system call adds to it");
    let disks = ["fsync-loss", "fs-readonly", "slow-disk", "disk-full"];
    let of_disks = disks.contains(&case.fault).then_some(match geteuid().is_root() {
        true => "A disk of its own, an ext4 on a loop device, adds to a synced write",
        false => "A disk of its own, a directory by FUSE that forgets, adds to a synced write",
    });
    let rows = results["environment"].as_array().cloned().unwrap_or_default();
    let is_told = |wanted: &&str| {
        let row = rows.iter().find(|row| row["requirement"] == **wanted);
        row.is_some_and(|row| row["version"].as_str().is_some_and(|said| said.contains(" us more")))
    };
    let missing: Vec<&str> = [of_network]
        .into_iter()
        .chain(of_calls)
        .chain(of_disks)
        .filter(|wanted| !is_told(wanted))
        .collect();
    let name = format!("{} on {}", case.fault, case.network);
    (!missing.is_empty()).then(|| format!("{name}: the report lacks {missing:?}: {rows:#?}"))
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
    let problems = problems_of(&all_cases(), |case| problem(case));
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
}
