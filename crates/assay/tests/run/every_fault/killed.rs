//! `kill -9` of Assay while a fault is on, for every fault: after `assay heal` no process, mount,
//! loop device, control group, interface or network is left of the run.

use super::{CASES, Case, is_not_to_be_had, laid_out, problems_of};
use crate::support::{PATIENCE, Running, run, text, wait_for};
use rustix::process::Signal;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// What there is of a run on this machine. Other tests have theirs meanwhile.
#[derive(PartialEq, Eq, Debug, Default)]
struct Left {
    /// Processes that name its directory or stand in it, frozen and traced ones, too.
    processes: Vec<String>,
    /// Networks those are in, beside the one of this test.
    networks: BTreeSet<u64>,
    /// Mounts and loop devices.
    disks: Vec<String>,
    groups: Vec<String>,
}

fn left_of(directory: &Path) -> Left {
    let directory = directory.canonicalize().expect("the run has begun");
    let scratch = directory.parent().expect("a directory of its own");
    let own_network = fs::metadata("/proc/self/ns/net").expect("a network").ino();
    let mut left = Left::default();
    for entry in fs::read_dir("/proc").expect("readable").flatten() {
        let command = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let command = String::from_utf8_lossy(&command).replace('\0', " ");
        let stands = fs::read_link(entry.path().join("cwd")).unwrap_or_default();
        if command.contains(text(scratch)) || stands.starts_with(scratch) {
            left.processes.push(format!("{:?} {command}", entry.file_name()));
            let network = fs::metadata(entry.path().join("ns/net")).map(|net| net.ino());
            left.networks.extend(network.ok().filter(|&network| network != own_network));
        }
    }
    let disks = assay_kernel::volume::leftovers(&directory).expect("readable");
    left.disks = disks.iter().map(|disk| format!("{disk:?}")).collect();
    for trial in fs::read_dir(directory.join("artifacts/S1")).into_iter().flatten().flatten() {
        let groups = assay_kernel::cgroup::leftovers(&trial.path()).expect("readable");
        left.groups.extend(groups.iter().map(|group| format!("{group:?}")));
    }
    left
}

fn interfaces() -> BTreeSet<String> {
    let all = fs::read_dir("/sys/class/net").expect("readable").flatten();
    all.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// Kills a run in the middle of a fault and heals it; what is wrong, if anything is.
fn problem(case: &Case) -> Option<String> {
    let (scratch, plan) = laid_out(case);
    let mut running = Running::of(scratch.path(), &plan, &["--tier", "smoke"]);
    if !running.until_a_fault(case.fault) {
        let result = fs::read_to_string(running.directory.join("results.json"));
        let result = result.unwrap_or_default().parse::<serde_json::Value>().unwrap_or_default();
        let lacks = is_not_to_be_had(case, &result["scenarios"][0]["verdict"]);
        let events = crate::support::events(&running.directory);
        return (!lacks).then(|| format!("{} never began: {result:#} {events:#?}", case.fault));
    }
    let during = left_of(&running.directory);
    running.signal(Signal::KILL);
    let ended = running.end();
    let before = left_of(&running.directory);
    if case.network != "proxies" {
        // Namespaces end with the process that made them, and everything in them: the kernel sees
        // to that, in its own time.
        wait_for("the end of the namespaces", PATIENCE, || {
            left_of(&running.directory).processes.is_empty().then_some(())
        });
    }
    let healed = run(&["heal", text(&running.directory)]);
    let after = left_of(&running.directory);
    let seen = was_seen(case, &during, &before);
    let fine = ended.is_none() && seen && healed.code == Some(0) && after == Left::default();
    let name = format!("{} on {}", case.fault, case.network);
    eprintln!(
        "{name}: {} processes, {} disks, {} groups before healing",
        before.processes.len(),
        before.disks.len(),
        before.groups.len()
    );
    let all = || format!("{ended:?} {during:#?} {before:#?} {healed:#?} {after:#?}");
    (!fine).then(|| format!("{name}: {}", all()))
}

/// Whether there was something to be left of everything the fault has: whoever looks and sees
/// nothing would find nothing afterwards, either.
fn was_seen(case: &Case, during: &Left, before: &Left) -> bool {
    let gear = match case.fault {
        "fsync-loss" | "fs-readonly" | "disk-full" => !before.disks.is_empty(),
        "cg-freeze" | "cpu-quota" | "memory-limit" => !before.groups.is_empty(),
        "slow-disk" => !before.disks.is_empty() && !before.groups.is_empty(),
        _ => true,
    };
    let others = match case.network {
        // Nodes may end with the harness, too: nobody answers their system calls any more, or the
        // fault had ended them all.
        "proxies" => !during.processes.is_empty(),
        // Namespaces end with the harness, and rules with them: they were there until then, one for
        // each node, with the harness and the nodes.
        _ => during.networks.len() >= 3 && during.processes.len() > 3,
    };
    gear && others
}

#[test]
fn whatever_fault_was_on_nothing_is_left_after_a_kill_and_heal() {
    let interfaces_before = interfaces();
    let problems = problems_of(&CASES, problem);
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
    assert_eq!(interfaces(), interfaces_before);
}
