//! A disk that takes only so much at a time.

use crate::journal::Undo;
use crate::means::{Means, Reading};
use crate::resources::{frees, said, somebody};
use assay_kernel::Device;
use assay_kernel::cgroup::{DiskCounts, Group, WriteLimit};
use std::sync::Arc;

/// Throttling deals out its budget in slices of about this part of a second: who has written more
/// than one slice allows had to wait.
const SLICES_PER_S: u64 = 5;

/// Nodes write to their disks only so fast. Felt by those who sync.
#[derive(Debug)]
pub struct SlowDisk {
    disks: Vec<(Arc<Group>, Device)>,
    limit: WriteLimit,
}

impl SlowDisk {
    /// Each of these groups on the device of its volume.
    pub fn of(disks: Vec<(Arc<Group>, Device)>, limit: WriteLimit) -> SlowDisk {
        SlowDisk { disks, limit }
    }

    fn groups(&self) -> impl Iterator<Item = &Arc<Group>> {
        self.disks.iter().map(|(group, _)| group)
    }
}

impl Means for SlowDisk {
    fn preflight(&self) -> Result<(), String> {
        if self.limit == WriteLimit::default() {
            return Err("no limit was given: say how many bytes or writes a second".to_string());
        }
        somebody(self.groups())
    }

    fn undo_steps(&self) -> Vec<Undo> {
        frees(self.groups())
    }

    fn begin(&self) -> Result<(), String> {
        self.disks.iter().try_for_each(|(group, device)| {
            group.limit_writes(*device, self.limit).map_err(|error| said(group, &error))
        })
    }

    fn undo(&self) -> Vec<Result<String, String>> {
        let one = |(group, device): &(Arc<Group>, Device)| {
            group.unlimit_writes(*device).map_err(|error| said(group, &error))?;
            Ok(format!("{}: writes to {device} are not limited", group.node()))
        };
        self.disks.iter().map(one).collect()
    }

    fn counted(&self) -> &'static str {
        match self.limit.bytes_per_s {
            Some(_) => "bytes written under the limit",
            None => "writes under the limit",
        }
    }

    /// More than the limit lets pass at once.
    fn moves_by_min(&self) -> u64 {
        let per_s = self.limit.bytes_per_s.or(self.limit.ios_per_s).unwrap_or(0);
        (per_s / SLICES_PER_S).max(1)
    }

    fn read(&self) -> Vec<Reading> {
        let one = |(group, device): &(Arc<Group>, Device)| {
            let counts = group.disk_counts(*device).ok();
            let number = |counts: DiskCounts| match self.limit.bytes_per_s {
                Some(_) => counts.bytes,
                None => counts.ios,
            };
            (format!("{} {device}", group.node()), counts.map(number))
        };
        self.disks.iter().map(one).collect()
    }

    fn proof(&self) -> Vec<Result<String, String>> {
        let one = |(group, device): &(Arc<Group>, Device)| match group
            .write_limit(*device)
            .map_err(|error| said(group, &error))?
        {
            limit if limit == WriteLimit::default() => {
                Ok(format!("{}: the kernel has no limit on writes to {device}", group.node()))
            }
            _ => Err(format!("{}: writes to {device} are still limited", group.node())),
        };
        self.disks.iter().map(one).collect()
    }
}
