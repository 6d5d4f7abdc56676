//! Processes are stopped, resumed and killed, and never the wrong ones.

use super::support::Sleeper;
use assay_nemesis::{Process, ProcessError, ProcessState};

#[test]
fn a_process_is_stopped_and_resumed() {
    let sleeper = Sleeper::start();
    let process = sleeper.process();
    assert_eq!(process.state().expect("readable"), ProcessState::Alive);
    process.pause().expect("it can be stopped");
    assert_eq!(process.state().expect("readable"), ProcessState::Stopped);
    process.pause().expect("twice is no mistake");
    process.resume().expect("it can be resumed");
    assert_eq!(process.state().expect("readable"), ProcessState::Alive);
    process.resume().expect("twice is no mistake");
}

#[test]
fn a_killed_process_is_gone_before_its_parent_knows() {
    let sleeper = Sleeper::start();
    let process = sleeper.process();
    process.kill().expect("it can be killed");
    assert_eq!(process.state().expect("readable"), ProcessState::Gone);
    let again = process.kill().expect_err("there is nobody left");
    assert!(matches!(again, ProcessError::NoSuchProcess { .. }), "{again}");
    process.resume().expect("nobody needs to be resumed");
}

#[test]
fn whoever_is_killed_with_its_children_does_not_see_them_end() {
    let directory = tempfile::tempdir().expect("a directory");
    let (begun, seen) = (directory.path().join("begun"), directory.path().join("seen"));
    // The child begins later than its parent by more than a tick of the clock that tells.
    let script =
        "sleep 0.1; sleep 600 & echo $! > \"$1.new\"; mv \"$1.new\" \"$1\"; wait; : > \"$2\"";
    let mut command = std::process::Command::new("sh");
    command.args(["-c", script, "parent"]).args([&begun, &seen]);
    let mut parent = command.spawn().expect("sh runs");
    super::support::wait_until("it has a child", || begun.exists());
    let child = std::fs::read_to_string(&begun).expect("a number");
    let child = Process::of(child.trim().parse().expect("a number")).expect("it runs");
    let all = [child, Process::of(parent.id()).expect("it runs")];
    Process::kill_all(&all).expect("they can be killed");
    for process in all {
        assert_eq!(process.state().expect("readable"), ProcessState::Gone);
    }
    assert!(!seen.exists(), "the parent was left to see its child end");
    Process::kill_all(&all).expect("those that are gone are no matter");
    parent.wait().expect("our child");
}

#[test]
fn a_process_that_is_asked_to_end_does() {
    let sleeper = Sleeper::start();
    let process = sleeper.process();
    process.terminate().expect("it can be asked");
    super::support::wait_until("it ends", || {
        process.state().expect("readable") == ProcessState::Gone
    });
}

#[test]
fn nobody_else_under_the_same_number_is_signalled() {
    let sleeper = Sleeper::start();
    let process = sleeper.process();
    let other = Process { start_ticks: process.start_ticks + 1, ..process };
    assert_eq!(other.state().expect("readable"), ProcessState::Gone);
    for refused in [other.pause(), other.kill(), other.terminate()] {
        let error = refused.expect_err("that process is not this one");
        assert!(matches!(error, ProcessError::NoSuchProcess { .. }), "{error}");
    }
    assert_eq!(process.state().expect("readable"), ProcessState::Alive, "it was spared");
    process.pause().expect("it can be stopped");
    other.resume().expect("nobody needs to be resumed");
    assert_eq!(process.state().expect("readable"), ProcessState::Stopped, "it was left alone");
}

#[test]
fn numbers_that_no_process_can_have_are_errors() {
    for pid in [0, u32::MAX] {
        assert!(Process::of(pid).is_err(), "{pid}");
        assert!(Process { pid, start_ticks: 0 }.kill().is_err(), "{pid}");
    }
}
