//! `kill -9` in the middle of a fault: what is left is undone, and the run is taken up.

use crate::support::{
    Running, assay, cut_off_plan, events, in_state, nothing_is_left_of, pause_plan, replaced, run,
    scratch, text, write,
};
use assay_nemesis::ProcessState;
use rustix::process::Signal;
use std::path::{Path, PathBuf};

/// Kills a run when a fault is on in its second trial.
fn killed_in_a(fault: &str, plan: &str, scratch: &Path) -> Running {
    let mut running = Running::start(scratch, plan);
    running.until_a_later_fault(fault);
    running.signal(Signal::KILL);
    assert_eq!(running.end(), None, "it was killed");
    assert!(in_state(&running.directory, ProcessState::Gone) >= 3, "the first trial is over");
    running
}

/// Goes on with a run, and compares with one that nobody has disturbed.
fn resumed_as_if_nothing_had_happened(directory: &Path) {
    let resumed = run(&["run", "--resume", text(directory)]);
    assert_eq!(resumed.code, Some(0), "{resumed:#?}");
    assert!(resumed.out.contains("PASS-hardening"), "{resumed:#?}");
    assert!(resumed.err.contains("(kept)"), "{resumed:#?}");
    let kept = events(directory).into_iter().filter(|event| event["reused"] == true).count();
    assert_eq!(kept, 1, "the trial that was finished is not run again, and only that one");
    let trials = directory.join("artifacts/S1");
    for finished in ["smoke-seed-1", "hardening-seed-1", "hardening-seed-3"] {
        assert!(trials.join(finished).join("trial.json").is_file(), "{finished}");
    }
    let aside = trials.join("hardening-seed-1.unfinished-1");
    assert!(aside.join("history.jsonl").is_file(), "what was not finished is kept beside");
    assert!(!aside.join("trial.json").exists());
    nothing_is_left_of(directory);
}

#[test]
fn after_a_kill_in_a_partition_heal_ends_the_nodes_and_the_run_goes_on() {
    let scratch = scratch();
    let running = killed_in_a("leader-iso", &cut_off_plan(), scratch.path());
    assert_eq!(in_state(&running.directory, ProcessState::Alive), 3, "they outlive the harness");
    let healed = run(&["heal", text(&running.directory)]);
    assert_eq!(healed.code, Some(0), "{healed:#?}");
    assert!(healed.out.contains("leader-iso of leader"), "{healed:#?}");
    assert_eq!(healed.out.matches(": killed\n").count(), 3, "{healed:#?}");
    let last = healed.out.lines().last().unwrap_or_default();
    assert!(last.starts_with("HEALED  1 faults and 3 processes of killed runs"), "{healed:#?}");
    nothing_is_left_of(&running.directory);
    let again = run(&["heal", text(&running.directory)]);
    assert!(again.out.starts_with("NOTHING TO HEAL"), "{again:#?}");
    resumed_as_if_nothing_had_happened(&running.directory);
}

#[test]
fn after_a_kill_in_a_pause_heal_says_in_json_who_was_resumed_and_who_ended() {
    let scratch = scratch();
    let running = killed_in_a("pause", &pause_plan(), scratch.path());
    // The kernel hangs up on a stopped process whose group has lost its parent: the frozen one is
    // gone or goes on, and the two others outlive the harness.
    assert!(in_state(&running.directory, ProcessState::Alive) >= 2);
    let healed = run(&["heal", text(&running.directory), "--format", "json"]);
    assert_eq!(healed.code, Some(0), "{healed:#?}");
    let lines: Vec<serde_json::Value> =
        healed.out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let paused = |line: &&serde_json::Value| line["faults"][0]["id"] == "pause";
    let paused = lines.iter().find(paused).expect("the fault that was on");
    let undone = paused["faults"][0]["undone"][0].as_str().unwrap_or_default();
    assert!(undone.starts_with("process "), "{lines:#?}");
    let ended = |line: &serde_json::Value| line["processes"].as_array().map_or(0, Vec::len);
    assert_eq!(lines.iter().map(ended).sum::<usize>(), 3, "{lines:#?}");
    nothing_is_left_of(&running.directory);
    resumed_as_if_nothing_had_happened(&running.directory);
}

#[test]
fn a_killed_run_is_taken_up_without_healing_first() {
    let scratch = scratch();
    let running = killed_in_a("pause", &pause_plan(), scratch.path());
    resumed_as_if_nothing_had_happened(&running.directory);
    let events = events(&running.directory);
    let healed = |words: &str| {
        let said = |event: &&serde_json::Value| {
            event["event"] == "healed" && event["what"].as_str().is_some_and(|w| w.contains(words))
        };
        events.iter().filter(said).count()
    };
    assert_eq!(healed("pause of follower"), 1, "{events:#?}");
    // The frozen one may have ended when its parent did, see above.
    assert_eq!(healed(": killed") + healed(": had ended"), 3, "{events:#?}");
    assert!(healed(": killed") >= 2, "{events:#?}");
}

/// A run that was killed in a pause, and the directory of the sessions it is one of.
fn killed_in_a_session(scratch: &Path) -> (Running, PathBuf) {
    let sessions = scratch.join("sessions");
    let mut running = Running::start(&sessions.join("topic"), &pause_plan());
    assert!(running.until_a_fault("pause"), "somebody is frozen");
    running.signal(Signal::KILL);
    assert_eq!(running.end(), None, "it was killed");
    (running, sessions)
}

#[test]
fn the_next_run_undoes_what_a_killed_one_has_left_beside_it() {
    let scratch = scratch();
    let (running, sessions) = killed_in_a_session(scratch.path());
    // A plan of a system that nobody has: it is over before anything starts.
    let absent = replaced(&pause_plan(), "name = \"kv\"", "name = \"absent\"");
    let absent = write(scratch.path(), "absent.md", &absent);
    let next = run(&["run", text(&absent), "--sessions", text(&sessions)]);
    assert_eq!(next.code, Some(2), "{next:#?}");
    assert!(next.err.contains("healed what a killed run left, "), "{next:#?}");
    nothing_is_left_of(&running.directory);
}

#[test]
fn a_run_that_goes_into_namespaces_undoes_before_what_it_could_not_see_from_in_there() {
    let scratch = scratch();
    let (running, sessions) = killed_in_a_session(scratch.path());
    let bridged =
        replaced(&pause_plan(), "name = \"kv\"", "name = \"absent\"\nnetwork = \"bridge\"");
    let bridged = write(scratch.path(), "bridged.md", &bridged);
    let next = run(&["run", text(&bridged), "--sessions", text(&sessions)]);
    assert_eq!(next.code, Some(2), "{next:#?}");
    assert_eq!(next.err.matches("healed what a killed run left, ").count(), 4, "{next:#?}");
    nothing_is_left_of(&running.directory);
}

#[test]
fn a_run_of_the_gallery_undoes_what_a_killed_one_has_left_beside_it() {
    let scratch = scratch();
    let (running, sessions) = killed_in_a_session(scratch.path());
    // Nothing can be fetched: it is over before anything starts.
    let nowhere = scratch.path().join("nowhere");
    let words = ["gallery", "run", "etcd-lost-writes", "--sessions", text(&sessions)];
    let mut next = assay(&words);
    let next = next.env("PATH", &nowhere).env("ASSAY_CACHE", &nowhere).output().expect("it runs");
    let said = String::from_utf8_lossy(&next.stderr);
    assert!(said.contains("healed what a killed run left, "), "{next:#?}");
    nothing_is_left_of(&running.directory);
}
