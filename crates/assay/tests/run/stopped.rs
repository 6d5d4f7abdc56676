//! A run that is asked to stop: it ends soon, leaves nothing, and can be taken up.

use crate::support::{Running, nothing_is_left_of, pause_plan, run, scratch, text};
use rustix::process::Signal;

/// Sends these one after the other to a run in the middle of a fault.
fn stopped_by(signals: &[Signal], code: i32) {
    let scratch = scratch();
    let mut running = Running::start(scratch.path(), &pause_plan());
    running.until_a_later_fault("pause");
    let busy = run(&["run", "--resume", text(&running.directory)]);
    assert_eq!(busy.code, Some(75), "{busy:#?}");
    assert!(busy.err.contains("still going on"), "{busy:#?}");
    for signal in signals {
        running.signal(*signal);
        running.until_heard();
    }
    assert_eq!(running.end(), Some(code));
    nothing_is_left_of(&running.directory);
    let nothing = run(&["heal", text(&running.directory)]);
    assert!(nothing.out.starts_with("NOTHING TO HEAL"), "{nothing:#?}");
    let resumed = run(&["run", "--resume", text(&running.directory), "--format", "json"]);
    assert_eq!(resumed.code, Some(0), "{resumed:#?}");
    assert_eq!(resumed.json()["scenarios"][0]["verdict"], "PASS-hardening", "{resumed:#?}");
}

#[test]
fn a_run_that_is_interrupted_leaves_nothing_and_can_be_taken_up() {
    stopped_by(&[Signal::INT], 130);
}

#[test]
fn a_run_whose_terminal_is_closed_leaves_nothing_and_can_be_taken_up() {
    // Its shell passes it on, and the kernel tells everybody in front of it.
    stopped_by(&[Signal::HUP, Signal::HUP], 129);
}

#[test]
fn a_run_that_was_told_to_outlive_its_terminal_does() {
    let scratch = scratch();
    let mut running = Running::without_hangups(scratch.path(), &pause_plan());
    assert!(running.until_a_fault("pause"), "a fault came");
    running.signal(Signal::HUP);
    assert_eq!(running.end(), Some(0));
    nothing_is_left_of(&running.directory);
}

#[test]
fn a_run_that_is_terminated_leaves_nothing_and_can_be_taken_up() {
    stopped_by(&[Signal::TERM], 143);
}
