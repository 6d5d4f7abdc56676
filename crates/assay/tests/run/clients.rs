//! Faults on clients: they are processes of their own then, are frozen and killed as nodes are, and
//! the system notices that they are gone, and come back.

use crate::support::{
    PATIENCE, Running, cut_off_plan, events, nothing_is_left_of, replaced, run, scratch, text,
    wait_for, write,
};
use rustix::process::Signal;
use serde_json::Value;
use std::path::{Path, PathBuf};

// Longer than the second that a call may take: whoever asks a frozen client waits in vain.
const FROZEN: &str = "[[nemesis]]\nfault = \"pause\"\ntarget = \"some-clients\"\nat = \"500ms\"\n\
                      for = \"1300ms\"\nevery = \"3s\"\n\
                      landing = { injector = \"stopped >= 1\", \
                      victim = \"timeouts >= 1 within 3s\" }\n\n";
// Each of the six comes back by a connection of its own, whether or not it was asked something when
// it was killed; and nobody else makes as many.
const KILLED: &str = "[[nemesis]]\nfault = \"kill9\"\ntarget = \"clients\"\nat = \"2s\"\n\
                      for = \"300ms\"\nevery = \"3s\"\nlanding = { injector = \"killed >= 1\", \
                      victim = \"reconnects >= 6 within 3s\" }\n\n";

/// A plan in which clients are frozen and killed.
fn plan(directory: &Path, faults: &str) -> PathBuf {
    let plan = cut_off_plan();
    let from = plan.find("[[nemesis]]").expect("faults");
    let to = plan.find("[model]").expect("and what comes after them");
    let plan = format!("{}{faults}{}", &plan[..from], &plan[to..]);
    let plan = replaced(&plan, "faults = 3", "faults = 2");
    let plan = replaced(&plan, "duration = \"6s\"", "duration = \"7s\"");
    write(directory, "plan.md", &plan)
}

fn smoke(plan: &Path, directory: &Path, more: &[&str]) -> (Value, Vec<Value>) {
    let mut words = vec!["run", text(plan), "--directory", text(directory), "--tier", "smoke"];
    words.extend(["--format", "json"]);
    words.extend(more);
    let ended = run(&words);
    let result = ended.json()["scenarios"][0].clone();
    let closed = |event: &Value| event["event"] == "fault-closed";
    (result, events(directory).into_iter().filter(closed).collect())
}

#[test]
fn clients_are_frozen_and_killed_and_what_they_saw_is_judged() {
    let scratch = scratch();
    let (plan, directory) = (plan(scratch.path(), &format!("{FROZEN}{KILLED}")), "run");
    let directory = scratch.path().join(directory);
    let (result, closed) = smoke(&plan, &directory, &[]);
    assert_eq!(result["verdict"], "PASS-smoke", "{result:#} {closed:#?}");
    let of = |fault: &str| closed.iter().find(|event| event["id"] == *fault).expect("it closed");
    let words = |event: &Value| event["target"].as_str().unwrap_or_default().to_string();
    assert_eq!(of("pause-1")["landing"], "landed", "{closed:#?}");
    assert_eq!(of("kill9-1")["landing"], "landed", "{closed:#?}");
    assert_eq!(words(of("pause-1")), "some-clients (3 of 6)");
    assert_eq!(words(of("kill9-1")), "clients (6 of 6)");
    nothing_is_left_of(&directory);
}

#[test]
fn an_injector_that_hits_a_bystander_instead_of_a_client_proves_nothing() {
    let scratch = scratch();
    for (name, faults) in [("frozen", FROZEN), ("killed", KILLED)] {
        let plan = plan(scratch.path(), faults);
        // No call takes so long because a machine is busy: whatever times out was frozen.
        let patient = std::fs::read_to_string(&plan).expect("it was just written");
        let patient = replaced(&patient, "timeout = \"1s\"", "timeout = \"10s\"");
        let plan = write(scratch.path(), "plan.md", &patient);
        let directory = scratch.path().join(name);
        let (result, closed) = smoke(&plan, &directory, &["--sabotage", "injector-misses"]);
        assert_eq!(result["verdict"], "INCONCLUSIVE-fault-not-proven", "{result:#} {closed:#?}");
        assert_eq!(closed[0]["landing"], "missed", "{closed:#?}");
    }
}

#[test]
fn frozen_clients_of_a_run_that_was_killed_end_with_it() {
    let scratch = scratch();
    let plan = plan(scratch.path(), FROZEN);
    let mut running = Running::of(scratch.path(), &plan, &["--tier", "smoke"]);
    assert!(running.until_a_fault("pause"), "clients are frozen");
    assert!(clients_of(&running.directory).len() >= 6, "each is a process");
    running.signal(Signal::KILL);
    assert_eq!(running.end(), None, "it was killed");
    let healed = run(&["heal", text(&running.directory)]);
    assert_eq!(healed.code, Some(0), "{healed:#?}");
    wait_for("the end of the clients", PATIENCE, || {
        clients_of(&running.directory).is_empty().then_some(())
    });
    nothing_is_left_of(&running.directory);
}

/// Clients of a run that are still there, stopped or not: they write what they have to say below
/// its directory.
fn clients_of(directory: &Path) -> Vec<PathBuf> {
    let directory = directory.canonicalize().expect("the run has begun");
    let entries = std::fs::read_dir("/proc").expect("readable").flatten();
    let writes = |process: &PathBuf| {
        let log = std::fs::read_link(process.join("fd/2")).unwrap_or_default();
        log.starts_with(&directory) && log.to_string_lossy().contains("/client-")
    };
    entries.map(|entry| entry.path()).filter(writes).collect()
}

#[test]
fn what_cannot_hit_clients_is_told_before_the_run() {
    let scratch = scratch();
    let rows = [
        (FROZEN.replace("\"pause\"", "\"part-full\""), "only kill9, term and pause hit them"),
        (
            KILLED.replace("\"kill9\"", "\"ctr-restart\""),
            "ctr-restart needs nodes and nobody beside",
        ),
        (KILLED.replace("\"clients\"", "\"n1, clients\""), "kill9 needs nodes and nobody beside"),
        (FROZEN.replace("some-clients", "n1, some-clients"), "only kill9, term and pause hit them"),
        (KILLED.replace("\"kill9\"", "\"roll\""), "roll needs nodes and nobody beside"),
        (KILLED.replace("\"kill9\"", "\"roll-wrong\""), "roll-wrong needs nodes and nobody beside"),
        (KILLED.replace("killed >= 1", "restarted >= 1"), "does not count `restarted`"),
    ];
    for (number, (faults, why)) in rows.iter().enumerate() {
        let plan = plan(scratch.path(), faults);
        let directory = scratch.path().join(number.to_string());
        let (result, _) = smoke(&plan, &directory, &[]);
        let sentence = result["sentence"].as_str().unwrap_or_default();
        assert!(sentence.contains(why), "{result:#}");
        assert!(!directory.join("artifacts/S1").exists(), "{why}: a trial has begun");
    }
}
