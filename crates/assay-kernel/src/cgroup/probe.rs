//! What can be limited here, found out by doing it to a group that nobody needs.

use super::Controller;
use super::disk::WriteLimit;
use super::error::{CgroupError, at};
use super::group::Group;
use super::hierarchy::{Hierarchies, Version};
use super::leftovers::{clear_probes, one_at_a_time};
use super::limits::CoreShare;
use crate::device::Device;
use crate::hold::{Hold, hold_directory, own_name};
use std::fs::File;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// More than any machine has, so that trying it is never what fails.
const PROBE_MEMORY_BYTES: u64 = 1 << 40;

/// How the groups of probes begin, by which they are found again.
pub(super) const PROBE_PREFIX: &str = "assay-probe-";
/// How often a group is made anew that somebody took for a leftover before it was held.
const ATTEMPTS_MAX: usize = 8;

/// What became of trying one controller.
#[derive(Debug)]
pub struct Probed {
    /// What it limits.
    pub controller: Controller,
    /// The version that does it, or the sentence that says why it cannot be done.
    pub result: Result<Version, CgroupError>,
}

/// Tries every controller. Limits on writes are tried on `device`; without one on a disk of this
/// machine. What earlier probes left that were killed is removed first.
pub fn probe(device: Option<Device>) -> Vec<Probed> {
    for _line in clear_probes() {}
    let one = |controller| {
        let tried = held_group().and_then(|(group, _held)| attempt(&group, controller, device));
        Probed { controller, result: tried }
    };
    Controller::ALL.into_iter().map(one).collect()
}

/// A new group, with locks that show that somebody uses it.
fn held_group() -> Result<(Group, Vec<File>), CgroupError> {
    /// Probes of one process do not meet.
    static PROBES: AtomicU32 = AtomicU32::new(0);
    let mut attempts = 0;
    loop {
        let number = PROBES.fetch_add(1, Ordering::Relaxed);
        let _alone = one_at_a_time(&Hierarchies::here()?);
        let group = Group::of_probe(&format!("{PROBE_PREFIX}{}-{number}", own_name()))?;
        let mut held = Vec::new();
        let directories = group.directories();
        for directory in &directories {
            match hold_directory(directory).map_err(at(directory, "lock"))? {
                Hold::Ours(file) => held.push(file),
                Hold::Theirs | Hold::Gone => break,
            }
        }
        attempts += 1;
        if held.len() == directories.len() || attempts >= ATTEMPTS_MAX {
            return Ok((group, held));
        }
    }
}

/// The disks of this machine, which are told apart from their partitions.
fn disks() -> Vec<Device> {
    let entries = std::fs::read_dir("/sys/block").into_iter().flatten().flatten();
    let mut disks: Vec<Device> = entries.filter_map(|entry| number(&entry.path())).collect();
    disks.sort();
    disks
}

fn number(disk: &Path) -> Option<Device> {
    let text = std::fs::read_to_string(disk.join("dev")).ok()?;
    let (major, minor) = text.trim().split_once(':')?;
    Some(Device { major: major.parse().ok()?, minor: minor.parse().ok()? })
}

/// Limits writes of nobody to one of these disks.
fn try_writes(group: &Group, disks: &[Device]) -> Result<(), CgroupError> {
    let limit = WriteLimit { bytes_per_s: Some(1 << 30), ios_per_s: None };
    let one = |device: Device| {
        group.limit_writes(device, limit)?;
        group.unlimit_writes(device)?;
        group.disk_counts(device).map(drop)
    };
    let controller = Controller::Disk;
    let why = "there is no disk to try it on".to_string();
    let mut tried = Err(CgroupError::Absent { controller, why });
    for &device in disks {
        tried = one(device);
        if tried.is_ok() {
            break;
        }
    }
    tried
}

/// What a process that was put into the group says of where it is.
fn words_of_one_inside(group: &Group, controller: Controller) -> Result<String, CgroupError> {
    let said = |program: &str| {
        let mut command = Command::new(program);
        group.join_on_exec(command.arg("/proc/self/cgroup").stdin(Stdio::null()))?;
        let why = |error: io::Error| {
            let why = format!("no process can be put into a group to try it: {program}: {error}");
            CgroupError::Absent { controller, why }
        };
        let output = command.output().map_err(why)?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    };
    // A PATH without it is no reason to go without groups.
    said("cat").or_else(|_: CgroupError| said("/bin/cat"))
}

/// A limit binds nobody if processes are put elsewhere than where it is written: so one that was
/// put into the group has to be found where the controller is steered.
fn is_in(group: &Group, controller: Controller, words: &str) -> Result<(), CgroupError> {
    let place = group.place(controller)?;
    let all = Hierarchies::as_seen_by(words)?;
    let found = &all.with(controller)?.own;
    if *found == place.directory {
        return Ok(());
    }
    let (wanted, found) = (place.directory.display(), found.display());
    let why = format!("a process that was put into {wanted} is in {found}");
    Err(CgroupError::Absent { controller, why })
}

fn attempt(
    group: &Group,
    controller: Controller,
    device: Option<Device>,
) -> Result<Version, CgroupError> {
    let version = group.place(controller)?.version;
    is_in(group, controller, &words_of_one_inside(group, controller)?)?;
    match controller {
        Controller::Cpu => {
            group.limit_cpu(CoreShare::percent(100).expect("it is more than nothing"))?;
            group.cpu_counts()?;
            group.unlimit_cpu()?;
        }
        Controller::Memory => {
            group.limit_memory(PROBE_MEMORY_BYTES)?;
            group.memory_counts()?;
            group.unlimit_memory()?;
        }
        Controller::Disk => match device {
            Some(device) => try_writes(group, &[device])?,
            None => try_writes(group, &disks())?,
        },
        Controller::Freezer => {
            group.freeze()?;
            group.thaw()?;
        }
    }
    Ok(version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_is_elsewhere_is_not_taken_for_one_in_the_group() {
        let group = match held_group() {
            Ok((group, _held)) => group,
            Err(error) => {
                eprintln!("SKIPPED: no control groups here: {error}");
                return;
            }
        };
        let own = std::fs::read_to_string("/proc/self/cgroup").expect("readable");
        for (controller, _) in group.controllers() {
            let inside = words_of_one_inside(&group, controller).expect("it can be started");
            is_in(&group, controller, &inside).expect("it was put there");
            let error = is_in(&group, controller, &own).expect_err("this process was not");
            assert!(error.to_string().contains("a process that was put into"), "{error}");
        }
    }
}
