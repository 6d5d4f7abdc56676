//! Groups of processes with less of the machine.

use super::support::{Kept, may_mount, wait_until};
use assay_kernel::cgroup::{
    CgroupError, Controller, CoreShare, Group, WriteLimit, clear_probes, leftovers, probe,
};
use assay_kernel::volume::{VOLUME_BYTES_MIN, Volume};
use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use tempfile::TempDir;

const BURN: &str = "while :; do :; done";

/// The directory of a run and a group in it, if this machine has what the test is about.
fn group(controller: Controller) -> Option<(TempDir, Group)> {
    if !may_mount() {
        return None;
    }
    let run = tempfile::tempdir().expect("a temporary directory");
    let group = Group::make(run.path(), "n1").expect("root can make groups");
    if !group.controllers().iter().any(|(found, _)| *found == controller) {
        eprintln!("SKIPPED: no control group can limit {controller} here");
        return None;
    }
    Some((run, group))
}

fn start(group: &Group, program: &str, args: &[&str]) -> Kept {
    let mut command = Command::new(program);
    command.args(args);
    group.join_on_exec(&mut command).expect("it can be joined");
    Kept::start(&mut command)
}

fn share(percent: u32) -> CoreShare {
    CoreShare::percent(percent).expect("more than nothing")
}

#[test]
fn who_wants_more_than_its_share_of_a_core_is_held_back_and_nobody_else() {
    let Some((run, group)) = group(Controller::Cpu) else { return };
    let other = Group::make(run.path(), "n2").expect("another group");
    let burner = start(&other, "sh", &["-c", BURN]);
    group.limit_cpu(share(5)).expect("limited");
    other.limit_cpu(share(1000)).expect("limited");
    wait_until("the other runs", || other.cpu_ticks().expect("readable") > 2);
    assert_eq!(group.cpu_counts().expect("readable").throttled, 0, "nobody is in it");
    group.add(burner.0.id()).expect("it can be moved");
    wait_until("held back", || group.cpu_counts().expect("readable").throttled > 1);
    let counts = group.cpu_counts().expect("readable");
    assert!(counts.throttled_us > 0 && counts.periods >= counts.throttled, "{counts:?}");
    assert_eq!(other.cpu_counts().expect("readable").throttled, 0);
    group.unlimit_cpu().expect("lifted");
    burner.end();
}

#[test]
fn who_takes_more_memory_than_it_may_is_killed_and_counted() {
    let Some((_run, group)) = group(Controller::Memory) else { return };
    group.limit_memory(16 << 20).expect("limited");
    assert_eq!(group.memory_counts().expect("readable").oom_kills, 0);
    // It looks for the last line of an endless one, and keeps all of it.
    let mut eater = start(&group, "tail", &["/dev/zero"]);
    let status = eater.0.wait().expect("our child");
    assert_eq!(status.signal(), Some(libc::SIGKILL));
    let counts = group.memory_counts().expect("readable");
    assert!(counts.oom_kills == 1 && counts.hits > 0, "{counts:?}");
    group.unlimit_memory().expect("lifted");
}

#[test]
fn a_frozen_group_stands_still_with_all_its_children_while_others_run() {
    let Some((run, group)) = group(Controller::Freezer) else { return };
    let outside = Group::make(run.path(), "n2").expect("another group");
    let other = start(&outside, "sh", &["-c", BURN]);
    let two = format!("sh -c '{BURN}' & {BURN}");
    let burners = start(&group, "sh", &["-c", &two]);
    let ticks = |group: &Group| group.cpu_ticks().expect("readable");
    wait_until("both are in it", || group.pids().expect("readable").len() == 2);
    wait_until("they run", || ticks(&group) > 2);
    group.freeze().expect("frozen");
    assert!(group.is_frozen().expect("readable"));
    let (frozen_at, other_at) = (ticks(&group), ticks(&outside));
    wait_until("the other runs on", || ticks(&outside) > other_at + 10);
    assert_eq!(ticks(&group), frozen_at);
    group.thaw().expect("thawed");
    wait_until("they run again", || ticks(&group) > frozen_at);
    for pid in group.pids().expect("readable") {
        if pid != burners.0.id() {
            Command::new("kill").args(["-9", &pid.to_string()]).status().expect("kill");
        }
    }
    burners.end();
    other.end();
}

#[test]
fn writes_to_a_disk_are_limited_and_counted_for_those_who_sync() {
    let Some((run, group)) = group(Controller::Disk) else { return };
    let other = Group::make(run.path(), "n2").expect("another group");
    let (image, point) = (run.path().join("image"), run.path().join("mount"));
    let volume = Volume::make(&image, &point, VOLUME_BYTES_MIN).expect("a volume");
    let device = volume.device().expect("it has one");
    let limit = WriteLimit { bytes_per_s: Some(1 << 20), ios_per_s: None };
    group.limit_writes(device, limit).expect("limited");
    assert_eq!(group.write_limit(device).expect("readable"), limit);
    let target = format!("of={}", point.join("file").display());
    let args = ["if=/dev/zero", &target, "bs=64k", "count=8", "oflag=dsync", "status=none"];
    let mut writer = start(&group, "dd", &args);
    assert!(writer.0.wait().expect("our child").success());
    let counts = group.disk_counts(device).expect("readable");
    assert!(counts.bytes >= 8 << 16 && counts.ios >= 8, "{counts:?}");
    assert_eq!(other.disk_counts(device).expect("readable").bytes, 0);
    group.unlimit_writes(device).expect("lifted");
    assert_eq!(group.write_limit(device).expect("readable"), WriteLimit::default());
}

#[test]
fn a_group_is_removed_only_when_it_is_empty_and_then_without_a_trace() {
    let Some((run, made)) = group(Controller::Freezer) else { return };
    let sleeper = start(&made, "sleep", &["600"]);
    let in_use = made.remove().expect_err("somebody is in it");
    assert!(matches!(&in_use, CgroupError::InUse { pids, .. } if *pids == [sleeper.0.id()]));
    assert!(!leftovers(run.path()).expect("listed").is_empty());
    sleeper.end();
    let again = Group::make(run.path(), "n1").expect("the same group");
    again.remove().expect("it is empty");
    assert!(leftovers(run.path()).expect("listed").is_empty());
}

#[test]
fn trying_tells_what_can_be_limited() {
    if !may_mount() {
        return;
    }
    for probed in probe(None) {
        match probed.result {
            Ok(version) => eprintln!("{}: by {version:?}", probed.controller),
            Err(error @ CgroupError::Absent { .. }) => eprintln!("SKIPPED: {error}"),
            Err(error) => panic!("{}: {error}", probed.controller),
        }
    }
}

/// Every time a probe has made a group and not held it yet, somebody may take it for a leftover.
#[test]
fn probes_and_those_who_clear_up_after_others_do_not_get_in_each_others_way() {
    const ROUNDS: usize = 60;
    if !may_mount() {
        return;
    }
    let works = |results: Vec<assay_kernel::cgroup::Probed>| -> Vec<Controller> {
        let fine = results.into_iter().filter(|probed| probed.result.is_ok());
        fine.map(|probed| probed.controller).collect()
    };
    let alone = works(probe(None));
    let prober = || (0..ROUNDS).map(|_| works(probe(None))).collect::<Vec<_>>();
    let clearer = || (0..4 * ROUNDS).flat_map(|_| clear_probes()).collect::<Vec<_>>();
    let (found, cleared) = std::thread::scope(|scope| {
        let (one, other) = (scope.spawn(prober), scope.spawn(prober));
        let cleared = clearer();
        let found = [one, other].map(|prober| prober.join().expect("no panic"));
        (found.concat(), cleared)
    });
    assert!(found.iter().all(|found| *found == alone), "{alone:?}: {found:?}");
    let complaints: Vec<String> = cleared.into_iter().filter_map(Result::err).collect();
    assert!(complaints.is_empty(), "{complaints:?}");
}
