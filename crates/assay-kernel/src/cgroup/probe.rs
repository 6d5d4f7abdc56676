//! What can be limited here, found out by doing it to a group that is empty.

use super::Controller;
use super::disk::WriteLimit;
use super::error::CgroupError;
use super::group::Group;
use super::hierarchy::Version;
use super::limits::CoreShare;
use crate::device::Device;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

/// More than any machine has, so that trying it is never what fails.
const PROBE_MEMORY_BYTES: u64 = 1 << 40;

/// What became of trying one controller.
#[derive(Debug)]
pub struct Probed {
    /// What it limits.
    pub controller: Controller,
    /// The version that does it, or the sentence that says why it cannot be done.
    pub result: Result<Version, CgroupError>,
}

/// Tries every controller. Limits on writes are tried on `device`; without one only whether there
/// is a place for them.
pub fn probe(device: Option<Device>) -> Vec<Probed> {
    /// Probes of one process do not meet.
    static PROBES: AtomicU32 = AtomicU32::new(0);
    let number = PROBES.fetch_add(1, Ordering::Relaxed);
    let run = PathBuf::from(format!("/assay-probe/{}/{number}", std::process::id()));
    let one = |controller| {
        let result =
            Group::make(&run, "probe").and_then(|group| attempt(&group, controller, device));
        Probed { controller, result }
    };
    Controller::ALL.into_iter().map(one).collect()
}

fn attempt(
    group: &Group,
    controller: Controller,
    device: Option<Device>,
) -> Result<Version, CgroupError> {
    let version = group.place(controller)?.version;
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
        Controller::Disk => {
            if let Some(device) = device {
                let limit = WriteLimit { bytes_per_s: Some(1 << 30), ios_per_s: None };
                group.limit_writes(device, limit)?;
                group.unlimit_writes(device)?;
                group.disk_counts(device)?;
            }
        }
        Controller::Freezer => {
            group.freeze()?;
            group.thaw()?;
        }
    }
    Ok(version)
}
