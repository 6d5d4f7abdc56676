//! A run that is asked to stop: it ends soon, leaves nothing, and can be taken up.

use crate::support::{Running, nothing_is_left_of, pause_plan, run, scratch, text};
use rustix::process::Signal;

fn stopped_by(signal: Signal, code: i32) {
    let scratch = scratch();
    let mut running = Running::start(scratch.path(), &pause_plan());
    running.until_a_later_fault("pause");
    let busy = run(&["run", "--resume", text(&running.directory)]);
    assert_eq!(busy.code, Some(75), "{busy:#?}");
    assert!(busy.err.contains("still going on"), "{busy:#?}");
    running.signal(signal);
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
    stopped_by(Signal::INT, 130);
}

#[test]
fn a_run_that_is_terminated_leaves_nothing_and_can_be_taken_up() {
    stopped_by(Signal::TERM, 143);
}
