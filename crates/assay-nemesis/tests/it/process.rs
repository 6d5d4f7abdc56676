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
