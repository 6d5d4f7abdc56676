//! Nodes with less processor, memory, disk or descriptors, and frozen ones.

use super::machine::{Worker, by, group, run, volume};
use super::support::{PATIENCE, SILENCE, Sleeper, injector, wait_until};
use assay_kernel::cgroup::{CoreShare, Group, WriteLimit, free, leftovers};
use assay_kernel::limits::descriptor_limit;
use assay_nemesis::{
    CpuQuota, Fault, FewDescriptors, Freeze, Healed, InjectError, Injector, MemoryLimit, Process,
    ProcessState, SlowDisk, Victim, clear_below, heal_journal,
};
use assay_verdict::LandingState;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

/// Slow enough for each sync of 16 KiB to take a quarter of a second.
const SLOW: WriteLimit = WriteLimit { bytes_per_s: Some(64 << 10), ios_per_s: None };

#[track_caller]
fn lands(injector: &Injector, fault: Fault, victim: Victim) -> Healed {
    let mut guard = injector.inject(fault, victim).expect("on");
    assert_eq!(guard.wait_landed(PATIENCE), LandingState::Landed, "{}", guard.sample().evidence());
    guard.heal().expect("healed")
}

/// Nothing of it is felt, or nothing is counted.
#[track_caller]
fn misses(injector: &Injector, fault: Fault, victim: Victim) {
    let mut guard = injector.inject(fault, victim).expect("on");
    assert_eq!(guard.wait_landed(SILENCE), LandingState::Missed, "{}", guard.sample().evidence());
    guard.heal().expect("healed");
}

fn tenth() -> CoreShare {
    CoreShare::percent(10).expect("more than nothing")
}

#[test]
fn less_processor_time_lands_on_who_needs_it_and_misses_who_sleeps() {
    let Some((directory, injector)) = run() else { return };
    let (spins, sleeps) = (group(directory.path(), "n1"), group(directory.path(), "n2"));
    let worker = Worker::start("spin", &directory.path().join("file"), Some(&spins));
    let sleeper = Sleeper::start();
    sleeps.add(sleeper.0.id()).expect("it can be moved");
    let healed = lands(
        &injector,
        by("cpu-quota", CpuQuota::of(vec![spins.clone()], tenth())),
        worker.victim(),
    );
    assert!(healed.proof[0].contains("no limit"), "{healed:?}");
    misses(&injector, by("cpu-quota", CpuQuota::of(vec![sleeps], tenth())), worker.victim());
}

/// A program that takes all memory it can get, once it is told to.
fn eater(group: &Group, order: &Path) -> Child {
    let mut command = Command::new("sh");
    let wait = "until [ -e \"$0\" ]; do sleep 0.01; done; exec tail /dev/zero";
    command.args(["-c", wait]).arg(order);
    group.join_on_exec(&mut command).expect("it can be joined");
    command.spawn().expect("sh can be started")
}

#[test]
fn less_memory_lands_on_who_takes_it_and_misses_who_does_not() {
    let Some((directory, injector)) = run() else { return };
    let (eats, fasts) = (group(directory.path(), "n1"), group(directory.path(), "n2"));
    let order = directory.path().join("eat");
    let mut hungry = eater(&eats, &order);
    let sleeper = Sleeper::start();
    fasts.add(sleeper.0.id()).expect("it can be moved");
    let process = Process::of(hungry.id()).expect("it has been started");
    let gone = move || Some(u64::from(process.state().ok()? == ProcessState::Gone));
    let fault = by("memory-limit", MemoryLimit::of(vec![fasts], 32 << 20));
    misses(&injector, fault, Victim::new("processes gone", gone));
    let fault = by("memory-limit", MemoryLimit::of(vec![eats], 32 << 20));
    let mut guard = injector.inject(fault, Victim::new("processes gone", gone)).expect("on");
    std::fs::write(&order, b"").expect("a file");
    assert_eq!(guard.wait_landed(PATIENCE), LandingState::Landed, "{}", guard.sample().evidence());
    guard.heal().expect("healed");
    hungry.wait().expect("our child");
}

#[test]
fn a_slow_disk_lands_on_who_syncs_in_its_group_and_misses_others() {
    let Some((directory, injector)) = run() else { return };
    let (syncs, other) = (group(directory.path(), "n1"), group(directory.path(), "n2"));
    let volume = volume(directory.path(), "disk");
    let device = volume.device().expect("it has one");
    let worker = Worker::start("slow", &volume.mount_point().join("file"), Some(&syncs));
    let sleeper = Sleeper::start();
    other.add(sleeper.0.id()).expect("it can be moved");
    let disk = vec![(other, device)];
    misses(&injector, by("slow-disk", SlowDisk::of(disk, SLOW)), worker.victim());
    let disk = vec![(syncs, device)];
    let healed = lands(&injector, by("slow-disk", SlowDisk::of(disk, SLOW)), worker.victim());
    assert!(healed.proof[0].contains("no limit"), "{healed:?}");
    drop(worker);
}

/// How long it takes to be sure that a disk is not held back, and much more.
const UNTHROTTLED: std::time::Duration = std::time::Duration::from_secs(3);

#[test]
fn a_disk_that_is_asked_for_less_than_it_may_was_not_slowed() {
    let Some((directory, injector)) = run() else { return };
    let group = group(directory.path(), "n1");
    let volume = volume(directory.path(), "disk");
    let device = volume.device().expect("it has one");
    let worker = Worker::start("calm", &volume.mount_point().join("file"), Some(&group));
    let fault = by("slow-disk", SlowDisk::of(vec![(group, device)], SLOW));
    let mut guard = injector.inject(fault, worker.victim()).expect("on");
    let state = guard.wait_landed(UNTHROTTLED);
    let landing = guard.sample();
    assert_eq!(state, LandingState::Missed, "{}", landing.evidence());
    assert_eq!(landing.victim.state(), LandingState::Landed, "it works: {}", landing.evidence());
    guard.heal().expect("healed");
    drop(worker);
}

#[test]
fn a_frozen_node_says_nothing_until_it_is_thawed() {
    let Some((directory, injector)) = run() else { return };
    let (beats, other) = (group(directory.path(), "n1"), group(directory.path(), "n2"));
    let worker = Worker::start("beat", &directory.path().join("file"), Some(&beats));
    let sleeper = Sleeper::start();
    other.add(sleeper.0.id()).expect("it can be moved");
    misses(&injector, by("cg-freeze", Freeze::of(vec![other])), worker.silence());
    let healed = lands(&injector, by("cg-freeze", Freeze::of(vec![beats])), worker.silence());
    assert_eq!(healed.landing.injector.after, Some(0), "{healed:?}");
    let now = worker.troubles();
    wait_until("it goes on", || worker.troubles() > now);
}

#[test]
fn without_descriptors_nothing_is_opened_and_the_wrong_process_is_no_proof() {
    let (directory, _, injector) = injector(None);
    let worker = Worker::start("open", &directory.path().join("file"), None);
    let (process, sleeper) = (worker.process(), Sleeper::start());
    let before = descriptor_limit(process.pid).expect("it runs");
    let wrong = FewDescriptors::of(vec![sleeper.process()]);
    misses(&injector, by("fd-exhaustion", wrong), worker.victim());
    let right = FewDescriptors::of(vec![process]);
    lands(&injector, by("fd-exhaustion", right), worker.victim());
    assert_eq!(descriptor_limit(process.pid).expect("it runs"), before);
}

#[test]
fn a_child_that_has_ended_is_not_waited_for_and_a_node_that_has_is() {
    let (directory, _, injector) = injector(None);
    let worker = Worker::start("open", &directory.path().join("file"), None);
    let fault = |all: &[&Process]| {
        by("fd-exhaustion", FewDescriptors::of(all.iter().map(|p| **p).collect()))
    };
    let (process, mut before, mut meanwhile) =
        (worker.process(), Sleeper::start(), Sleeper::start());
    let (gone, going) = (before.process(), meanwhile.process());
    before.0.kill().expect("it is ours");
    wait_until("it has ended", || gone.state().is_ok_and(|now| now == ProcessState::Gone));
    lands(&injector, fault(&[&process, &gone]), worker.victim());
    let mut guard = injector.inject(fault(&[&process, &going]), worker.victim()).expect("on");
    meanwhile.0.kill().expect("it is ours");
    wait_until("it has ended", || going.state().is_ok_and(|now| now == ProcessState::Gone));
    assert_eq!(guard.wait_landed(PATIENCE), LandingState::Landed, "{}", guard.sample().evidence());
    guard.heal().expect("healed");
    let refused = injector.inject(fault(&[&gone, &process]), Victim::unasked()).err();
    assert!(matches!(refused, Some(InjectError::Means { .. })), "{refused:?}");
}

#[test]
fn who_ended_without_descriptors_needs_none_back_although_nobody_has_taken_note() {
    let (_directory, _, injector) = injector(None);
    let mut sleeper = Sleeper::start();
    let process = sleeper.process();
    let fault = by("fd-exhaustion", FewDescriptors::of(vec![process]));
    let mut guard = injector.inject(fault, Victim::unasked()).expect("on");
    sleeper.0.kill().expect("it is ours");
    wait_until("it has ended", || process.state().is_ok_and(|now| now == ProcessState::Gone));
    let error = guard.heal().expect_err("a node that has ended is not well");
    assert!(error.to_string().contains("nobody starts it again"), "{error}");
    let again = Sleeper::start();
    let new = again.process();
    guard.restart_with(move || Ok(vec![new]));
    let healed = guard.heal().expect("it runs again, with descriptors of its own");
    assert!(healed.proof.iter().any(|line| line.contains("is gone")), "{healed:?}");
}

#[test]
fn a_group_without_processes_is_refused() {
    let Some((directory, injector)) = run() else { return };
    let empty = vec![group(directory.path(), "n1")];
    let volume = volume(directory.path(), "disk");
    let device = volume.device().expect("it has one");
    let faults = [
        by("cpu-quota", CpuQuota::of(empty.clone(), tenth())),
        by("memory-limit", MemoryLimit::of(empty.clone(), 32 << 20)),
        by("slow-disk", SlowDisk::of(vec![(empty[0].clone(), device)], SLOW)),
        by("cg-freeze", Freeze::of(empty)),
        by("cg-freeze", Freeze::of(Vec::new())),
        by("fd-exhaustion", FewDescriptors::of(Vec::new())),
    ];
    for fault in faults {
        let title = fault.title();
        let refused = injector.inject(fault, Victim::unasked()).err();
        assert!(matches!(refused, Some(InjectError::Means { .. })), "{title}: {refused:?}");
    }
}

/// The journal alone is enough to free a node, and the directory alone to remove the rest.
#[test]
fn what_was_frozen_or_limited_is_freed_from_the_journal() {
    let Some((directory, injector)) = run() else { return };
    let journal = directory.path().join("nemesis.jsonl");
    let beats = group(directory.path(), "n1");
    let worker = Worker::start("beat", &directory.path().join("file"), Some(&beats));
    let process = worker.process();
    let before = descriptor_limit(process.pid).expect("it runs");
    let inject = |fault| injector.inject(fault, Victim::unasked()).expect("on");
    let guards = [
        inject(by("cg-freeze", Freeze::of(vec![beats.clone()]))),
        inject(by("fd-exhaustion", FewDescriptors::of(vec![process]))),
        inject(by("cpu-quota", CpuQuota::of(vec![beats.clone()], tenth()))),
    ];
    // As if this process had been killed: nobody undoes anything.
    guards.into_iter().for_each(std::mem::forget);
    std::mem::forget(beats);
    drop(injector);
    let report = heal_journal(&journal_copy(&journal)).expect("readable");
    assert!(report.is_whole() && report.faults.len() == 3, "{report:?}");
    let now = worker.troubles();
    wait_until("it goes on", || worker.troubles() > now);
    assert_eq!(descriptor_limit(process.pid).expect("it runs"), before);
    assert!(free(directory.path(), "n1").expect("it is there") > 0);
    let lines = clear_below(directory.path());
    assert!(!lines.is_empty() && lines.iter().all(Result::is_ok), "{lines:?}");
    assert_eq!(leftovers(directory.path()).expect("listed"), Vec::<PathBuf>::new());
    assert_eq!(process.state().expect("readable"), ProcessState::Alive);
}

/// The guards that were forgotten hold the lock of the journal for ever.
fn journal_copy(journal: &Path) -> PathBuf {
    let copy = journal.with_extension("copy");
    std::fs::copy(journal, &copy).expect("a copy");
    copy
}
