//! Journals as killed, torn or tampered with.

use super::support::{Sleeper, fault, injector};
use assay_nemesis::{
    Action, Contents, Entry, JournalError, ProcessState, Undo, Victim, heal_journal,
};
use std::path::Path;

fn boot() -> String {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").expect("Linux");
    id.trim().to_string()
}

/// A journal as somebody who was killed has left it.
fn left(directory: &Path, boot: &str, undo: &str, tail: &str) -> std::path::PathBuf {
    let path = directory.join("nemesis.jsonl");
    let text = format!(
        "{{\"event\":\"open\",\"version\":1,\"boot\":\"{boot}\"}}\n\
         {{\"event\":\"inject\",\"fault\":1,\"id\":\"pause\",\"target\":\"n1\",\"at_unix_ms\":1,\
         \"undo\":[{undo}]}}\n{tail}"
    );
    std::fs::write(&path, text).expect("a file");
    path
}

fn resume(sleeper: &Sleeper) -> String {
    let process = sleeper.process();
    format!("{{\"do\":\"resume\",\"pid\":{},\"start_ticks\":{}}}", process.pid, process.start_ticks)
}

#[test]
fn a_paused_process_is_resumed_once_and_a_torn_last_line_is_no_obstacle() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let sleeper = Sleeper::start();
    sleeper.process().pause().expect("it can be stopped");
    let torn = "{\"event\":\"inject\",\"fault\":2,\"id\":\"pau";
    let journal = left(directory.path(), &boot(), &resume(&sleeper), torn);
    let report = heal_journal(&journal).expect("readable");
    assert!(report.is_whole(), "{report:?}");
    let pid = sleeper.0.id();
    assert_eq!(report.faults[0].undone, [format!("process {pid}: resumed")]);
    assert_eq!(sleeper.process().state().expect("readable"), ProcessState::Alive);
    assert!(heal_journal(&journal).expect("readable").faults.is_empty(), "a second time: nothing");
    let contents = Contents::parse(&std::fs::read(&journal).expect("a file"));
    assert!(contents.bad.is_empty(), "{:?}", contents.bad);
    assert!(matches!(contents.entries.last(), Some(Entry::Heal { fault: 1, .. })));
}

#[test]
fn a_process_of_another_time_is_left_alone() {
    let sleeper = Sleeper::start();
    let process = sleeper.process();
    process.pause().expect("it can be stopped");
    let directory = tempfile::tempdir().expect("a temporary directory");
    let other_start = format!("{{\"do\":\"resume\",\"pid\":{},\"start_ticks\":1}}", process.pid);
    for (boot, undo) in [(boot(), other_start), ("another".to_string(), resume(&sleeper))] {
        let journal = left(directory.path(), &boot, &undo, "");
        let report = heal_journal(&journal).expect("readable");
        assert!(report.is_whole(), "{report:?}");
        assert_eq!(process.state().expect("readable"), ProcessState::Stopped, "{report:?}");
    }
}

#[test]
fn a_line_that_cannot_be_read_is_named_and_the_others_are_healed() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let sleeper = Sleeper::start();
    sleeper.process().pause().expect("it can be stopped");
    let tail = "not JSON\n{\"event\":\"heal\",\"fault\":7,\"at_unix_ms\":1,\"undone\":[]}\n";
    let journal = left(directory.path(), &boot(), &resume(&sleeper), tail);
    let report = heal_journal(&journal).expect("readable");
    assert_eq!(report.bad_lines.iter().map(|bad| bad.line).collect::<Vec<_>>(), [3]);
    assert!(!report.is_whole());
    assert_eq!(sleeper.process().state().expect("readable"), ProcessState::Alive);
}

#[test]
fn a_tampered_journal_removes_nothing_that_is_not_junk() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let precious = directory.path().join("precious");
    std::fs::write(&precious, b"data").expect("a file");
    let undo = format!("{{\"do\":\"remove\",\"path\":{:?}}}", precious.display().to_string());
    let journal = left(directory.path(), &boot(), &undo, "");
    for _ in 0..2 {
        let report = heal_journal(&journal).expect("readable");
        assert_eq!(report.faults[0].troubles.len(), 1, "refused, and not marked as healed");
    }
    assert!(precious.exists());
    let junk = directory.path().join(".assay-junk-1");
    std::fs::write(&junk, b"junk").expect("a file");
    let undo = format!("{{\"do\":\"remove\",\"path\":{:?}}}", junk.display().to_string());
    let report = heal_journal(&left(directory.path(), &boot(), &undo, "")).expect("readable");
    assert!(report.is_whole() && !junk.exists(), "{report:?}");
}

#[test]
fn a_journal_in_use_is_not_healed_under_the_feet_of_its_writer() {
    let (_directory, journal, injector) = injector(None);
    let sleeper = Sleeper::start();
    let pause = fault("pause", Action::Pause(vec![sleeper.process()]));
    let guard = injector.inject(pause, Victim::unasked()).expect("on");
    assert!(matches!(heal_journal(&journal), Err(JournalError::Busy { .. })));
    assert_eq!(sleeper.process().state().expect("readable"), ProcessState::Stopped);
    drop((guard, injector));
    assert!(heal_journal(&journal).expect("free now").faults.is_empty());
}

#[test]
fn faults_are_announced_before_they_are_done_and_numbered_across_runs() {
    let (_directory, journal, first) = injector(None);
    let sleeper = Sleeper::start();
    let process = sleeper.process();
    let pause = || fault("pause", Action::Pause(vec![process]));
    let mut guard = first.inject(pause(), Victim::unasked()).expect("on");
    let announced = Contents::parse(&std::fs::read(&journal).expect("a file"));
    let undo = Undo::Resume { pid: process.pid, start_ticks: process.start_ticks };
    let Entry::Inject { fault: 1, undo: steps, .. } = &announced.entries[1] else {
        panic!("not announced: {announced:?}");
    };
    assert_eq!(*steps, [undo]);
    guard.heal().expect("healed");
    drop((guard, first));
    let second = assay_nemesis::Injector::new(&journal, None).expect("continued");
    drop(second.inject(pause(), Victim::unasked()).expect("on"));
    let contents = Contents::parse(&std::fs::read(&journal).expect("a file"));
    let heals = contents.entries.iter().filter_map(|entry| match entry {
        Entry::Heal { fault, .. } => Some(*fault),
        _ => None,
    });
    assert_eq!(heals.collect::<Vec<_>>(), [1, 2]);
}
