//! `kill -9` of Assay while a fault is on, for every fault: after `assay heal` no process, mount,
//! loop device, control group, interface or network is left of the run.
//!
//! What is left is looked for without Assay: in /proc, in the mounts of every namespace, in /sys.
//! Who asks the code that heals would be told what it knows of.

use super::{CASES, Case, is_not_to_be_had, laid_out, problems_of};
use crate::support::{MARK, PATIENCE, Running, run, text, wait_for};
use rustix::process::Signal;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// What there is of a run on this machine. Other tests have theirs meanwhile.
#[derive(PartialEq, Eq, Debug, Default)]
pub(super) struct Left {
    /// Processes that have its mark, name its directory or stand in it; how they are: `T` is
    /// stopped, `D` may be frozen.
    pub(super) processes: Vec<String>,
    /// Those of them that somebody traces.
    traced: Vec<String>,
    /// Networks those are in, beside the one of this test.
    networks: BTreeSet<u64>,
    /// Mounts, of every mount namespace there is, and loop devices.
    pub(super) disks: BTreeSet<String>,
    /// Control groups that its processes are in, or were in before.
    groups: BTreeSet<PathBuf>,
}

impl Left {
    /// Looks for what is left of a run in this directory of a test; `before`: what was seen before.
    pub(super) fn of(directory: &Path, before: &Left) -> Left {
        let directory = std::path::absolute(directory).expect("a path");
        let scratch = directory.parent().expect("a directory of its own");
        let own_network = fs::metadata("/proc/self/ns/net").expect("a network").ino();
        let mut left = Left { disks: loop_devices(scratch), ..Left::default() };
        let mut namespaces = BTreeSet::new();
        for entry in fs::read_dir("/proc").expect("readable").flatten() {
            let place = entry.path();
            let namespace = fs::read_link(place.join("ns/mnt")).unwrap_or_default();
            if namespaces.insert(namespace) {
                left.disks.extend(mounts(&place, scratch));
            }
            let Some(shown) = process(&place, &directory) else { continue };
            let status = fs::read_to_string(place.join("status")).unwrap_or_default();
            let is_traced = |line: &str| line.starts_with("TracerPid:") && !line.ends_with("\t0");
            if status.lines().any(is_traced) {
                left.traced.push(shown.clone());
            }
            left.processes.push(shown);
            let network = fs::metadata(place.join("ns/net")).map(|net| net.ino());
            left.networks.extend(network.ok().filter(|&network| network != own_network));
            left.groups.extend(groups(&place));
        }
        left.groups.extend(before.groups.iter().filter(|group| group.exists()).cloned());
        left
    }
}

/// A process of a run, in a line; `None` if it is none.
fn process(place: &Path, directory: &Path) -> Option<String> {
    let scratch = directory.parent()?;
    let read = |name: &str| fs::read(place.join(name)).unwrap_or_default();
    let command = String::from_utf8_lossy(&read("cmdline")).replace('\0', " ");
    let mark = format!("{MARK}={}", directory.display());
    let has_mark = read("environ").split(|byte| *byte == 0).any(|one| one == mark.as_bytes());
    let stands = fs::read_link(place.join("cwd")).unwrap_or_default();
    let is_ours = has_mark || command.contains(text(scratch)) || stands.starts_with(scratch);
    let stat = String::from_utf8_lossy(&read("stat")).into_owned();
    let state = stat.rsplit(')').next()?.trim_start().chars().next()?;
    (is_ours && state != 'Z').then(|| format!("{} {state} {command}", place.display()))
}

/// Mounts that a process sees below a directory, or of images there.
fn mounts(place: &Path, scratch: &Path) -> Vec<String> {
    let all = fs::read_to_string(place.join("mountinfo")).unwrap_or_default();
    let ours = all.lines().filter(|line| line.contains(text(scratch)));
    ours.map(|line| format!("mount {line}")).collect()
}

/// Loop devices whose image lies below a directory, or lay there before it was removed.
fn loop_devices(scratch: &Path) -> BTreeSet<String> {
    let devices = fs::read_dir("/sys/block").into_iter().flatten().flatten();
    let images = devices.filter_map(|device| {
        let image = fs::read_to_string(device.path().join("loop/backing_file")).ok()?;
        Some(format!("loop {} {}", device.path().display(), image.trim()))
    });
    images.filter(|image| image.contains(text(scratch))).collect()
}

/// The control groups of Assay's making that a process is in, in all hierarchies.
fn groups(place: &Path) -> Vec<PathBuf> {
    let of = fs::read_to_string(place.join("cgroup")).unwrap_or_default();
    let names = of.lines().filter_map(|line| line.splitn(3, ':').nth(2));
    let own =
        names.filter(|name| name.split('/').any(is_ours)).map(|name| name.trim_start_matches('/'));
    let own: Vec<&str> = own.collect();
    let top = PathBuf::from("/sys/fs/cgroup");
    let hierarchies = fs::read_dir(&top).into_iter().flatten().flatten().map(|entry| entry.path());
    let tops: Vec<PathBuf> = hierarchies.chain([top.clone()]).collect();
    let places = own.iter().flat_map(|name| tops.iter().map(move |top| top.join(name)));
    places.filter(|place| place.is_dir()).collect()
}

/// Whether a group on this machine is called as Assay calls those of a run, `assay-` and 16
/// hexadecimal digits, or of a probe. Others have groups here, too, and some may be called alike.
fn is_ours(name: &str) -> bool {
    let digits = name.strip_prefix("assay-").unwrap_or_default();
    let of_a_run = digits.len() == 16 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    of_a_run || digits.starts_with("probe-")
}

/// Interfaces and networks with a name: runs make none that others could see.
fn interfaces() -> BTreeSet<String> {
    let names = |directory: &str| {
        let all = fs::read_dir(directory).into_iter().flatten().flatten();
        all.map(|entry| entry.path().display().to_string()).collect::<Vec<String>>()
    };
    [names("/sys/class/net"), names("/run/netns")].concat().into_iter().collect()
}

/// Kills a run in the middle of a fault and heals it; what is wrong, if anything is.
fn problem(case: &Case) -> Option<String> {
    problem_with(case, &[])
}

/// The same of a run with more options.
fn problem_with(case: &Case, options: &[&str]) -> Option<String> {
    let (scratch, plan) = laid_out(case);
    let options = [&["--tier", "smoke"], options].concat();
    let mut running = Running::of(scratch.path(), &plan, &options);
    if !running.until_a_fault(case.fault) {
        let result = fs::read_to_string(running.directory.join("results.json"));
        let result = result.unwrap_or_default().parse::<serde_json::Value>().unwrap_or_default();
        let lacks = is_not_to_be_had(case, &result["scenarios"][0]["verdict"]);
        let events = crate::support::events(&running.directory);
        return (!lacks).then(|| format!("{} never counted: {result:#} {events:#?}", case.fault));
    }
    let directory = running.directory.clone();
    let look = |before: &Left| Left::of(&directory, before);
    let during = look(&Left::default());
    running.signal(Signal::KILL);
    let ended = running.end();
    let before = look(&during);
    if case.network != "proxies" {
        // Namespaces end with the process that made them, and everything in them: the kernel sees
        // to that, in its own time.
        wait_for("the end of the namespaces", PATIENCE, || {
            look(&during).processes.is_empty().then_some(())
        });
    }
    let healed = run(&["heal", text(&running.directory)]);
    let after = look(&during);
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
    let is_stopped = |shown: &String| shown.split(' ').nth(1) == Some("T");
    let gear = match case.fault {
        "fsync-loss" | "fs-readonly" | "disk-full" => !before.disks.is_empty(),
        "cg-freeze" | "cpu-quota" | "memory-limit" => !before.groups.is_empty(),
        "slow-disk" => !before.disks.is_empty() && !before.groups.is_empty(),
        // The kernel may hang up on them when the harness is gone.
        "pause" => during.processes.iter().any(is_stopped),
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
    let new: Vec<String> = interfaces().difference(&interfaces_before).cloned().collect();
    assert!(new.is_empty(), "{new:?}");
}

#[test]
fn a_bystander_that_was_hit_instead_of_a_node_is_ended_as_well() {
    let hits_a_disk = CASES.iter().find(|case| case.fault == "fs-readonly");
    let case = hits_a_disk.expect("it has a case");
    assert_eq!(problem_with(case, &["--sabotage", "injector-misses"]), None);
}
