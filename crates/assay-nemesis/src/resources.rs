//! Less of the machine for the control groups of nodes, or none of it.
//!
//! All of these act on a [`Group`] that a node was started in, need root, and are counted by the
//! kernel: a limit that nobody met moves no counter. A group without processes is refused.

use crate::journal::Undo;
use crate::means::{Means, Reading};
use assay_kernel::cgroup::{CgroupError, CoreShare, Group};
use std::sync::{Arc, Mutex, PoisonError};

type Groups = Vec<Arc<Group>>;

pub(crate) fn said(group: &Group, error: &CgroupError) -> String {
    format!("{}: {error}", group.node())
}

pub(crate) fn somebody<'g>(groups: impl IntoIterator<Item = &'g Arc<Group>>) -> Result<(), String> {
    let mut none = true;
    for group in groups {
        none = false;
        if group.pids().map_err(|error| said(group, &error))?.is_empty() {
            return Err(format!("nobody is in the group of {}: start it there", group.node()));
        }
    }
    if none { Err("no group of a node was given".to_string()) } else { Ok(()) }
}

pub(crate) fn frees<'g>(groups: impl IntoIterator<Item = &'g Arc<Group>>) -> Vec<Undo> {
    groups.into_iter().map(|group| Undo::free(group)).collect()
}

fn begin(groups: &Groups, act: impl Fn(&Group) -> Result<(), CgroupError>) -> Result<(), String> {
    groups.iter().try_for_each(|group| act(group).map_err(|error| said(group, &error)))
}

fn undo(
    groups: &Groups,
    done: &str,
    act: impl Fn(&Group) -> Result<(), CgroupError>,
) -> Vec<Result<String, String>> {
    let one = |group: &Arc<Group>| match act(group) {
        Ok(()) => Ok(format!("{}: {done}", group.node())),
        Err(error) => Err(said(group, &error)),
    };
    groups.iter().map(one).collect()
}

fn read(groups: &Groups, count: impl Fn(&Group) -> Result<u64, CgroupError>) -> Vec<Reading> {
    groups.iter().map(|group| (group.node().to_string(), count(group).ok())).collect()
}

/// Nodes get no more than a share of one core.
#[derive(Debug)]
pub struct CpuQuota {
    groups: Groups,
    share: CoreShare,
}

impl CpuQuota {
    /// Each of these gets so much.
    pub fn of(groups: Vec<Arc<Group>>, share: CoreShare) -> CpuQuota {
        CpuQuota { groups, share }
    }
}

impl Means for CpuQuota {
    fn preflight(&self) -> Result<(), String> {
        somebody(&self.groups)
    }

    fn undo_steps(&self) -> Vec<Undo> {
        frees(&self.groups)
    }

    fn begin(&self) -> Result<(), String> {
        begin(&self.groups, |group| group.limit_cpu(self.share))
    }

    fn undo(&self) -> Vec<Result<String, String>> {
        undo(&self.groups, "processor time is not limited", Group::unlimit_cpu)
    }

    fn counted(&self) -> &'static str {
        "periods held back"
    }

    fn moves_by_min(&self) -> u64 {
        self.groups.len() as u64
    }

    fn read(&self) -> Vec<Reading> {
        read(&self.groups, |group| Ok(group.cpu_counts()?.throttled))
    }

    fn proof(&self) -> Vec<Result<String, String>> {
        gone(&self.groups, "processor time", Group::cpu_limit)
    }
}

/// Nodes get no more than so much memory.
#[derive(Debug)]
pub struct MemoryLimit {
    groups: Groups,
    bytes: u64,
}

impl MemoryLimit {
    /// Each of these gets so much.
    pub fn of(groups: Vec<Arc<Group>>, bytes: u64) -> MemoryLimit {
        MemoryLimit { groups, bytes }
    }
}

impl Means for MemoryLimit {
    fn preflight(&self) -> Result<(), String> {
        somebody(&self.groups)
    }

    fn undo_steps(&self) -> Vec<Undo> {
        frees(&self.groups)
    }

    fn begin(&self) -> Result<(), String> {
        begin(&self.groups, |group| group.limit_memory(self.bytes))
    }

    fn undo(&self) -> Vec<Result<String, String>> {
        undo(&self.groups, "memory is not limited", Group::unlimit_memory)
    }

    fn counted(&self) -> &'static str {
        "times memory was refused or a process killed for it"
    }

    fn moves_by_min(&self) -> u64 {
        self.groups.len() as u64
    }

    fn read(&self) -> Vec<Reading> {
        read(&self.groups, |group| {
            let counts = group.memory_counts()?;
            Ok(counts.hits.saturating_add(counts.oom_kills))
        })
    }

    fn proof(&self) -> Vec<Result<String, String>> {
        gone(&self.groups, "memory", Group::memory_limit)
    }
}

fn gone<T>(
    groups: &Groups,
    what: &str,
    limit: impl Fn(&Group) -> Result<Option<T>, CgroupError>,
) -> Vec<Result<String, String>> {
    let one = |group: &Arc<Group>| match limit(group) {
        Ok(None) => Ok(format!("{}: the kernel has no limit on {what}", group.node())),
        Ok(Some(_)) => Err(format!("{}: {what} is still limited", group.node())),
        Err(error) => Err(said(group, &error)),
    };
    groups.iter().map(one).collect()
}

/// Nodes are frozen with all their children.
#[derive(Debug)]
pub struct Freeze {
    groups: Groups,
    /// The processor time each had used when it was frozen.
    ticks: Mutex<Vec<u64>>,
}

impl Freeze {
    /// All of these.
    pub fn of(groups: Vec<Arc<Group>>) -> Freeze {
        Freeze { groups, ticks: Mutex::new(Vec::new()) }
    }
}

impl Means for Freeze {
    fn preflight(&self) -> Result<(), String> {
        somebody(&self.groups)
    }

    fn undo_steps(&self) -> Vec<Undo> {
        frees(&self.groups)
    }

    fn begin(&self) -> Result<(), String> {
        begin(&self.groups, Group::freeze)?;
        let ticks = |group: &Arc<Group>| group.cpu_ticks().map_err(|error| said(group, &error));
        let all: Vec<u64> = self.groups.iter().map(ticks).collect::<Result<_, String>>()?;
        *self.ticks.lock().unwrap_or_else(PoisonError::into_inner) = all;
        Ok(())
    }

    fn undo(&self) -> Vec<Result<String, String>> {
        undo(&self.groups, "thawed", Group::thaw)
    }

    fn counted(&self) -> &'static str {
        "groups frozen that use no processor time"
    }

    fn moves_by_min(&self) -> u64 {
        self.groups.len() as u64
    }

    fn read(&self) -> Vec<Reading> {
        let ticks = self.ticks.lock().unwrap_or_else(PoisonError::into_inner);
        let one = |(i, group): (usize, &Arc<Group>)| {
            let still = || {
                let frozen = group.is_frozen()?;
                Ok::<bool, CgroupError>(frozen && ticks.get(i) == Some(&group.cpu_ticks()?))
            };
            (group.node().to_string(), still().ok().map(u64::from))
        };
        self.groups.iter().enumerate().map(one).collect()
    }

    fn proof(&self) -> Vec<Result<String, String>> {
        let one = |group: &Arc<Group>| match group.is_frozen() {
            Ok(false) => Ok(format!("{}: is not frozen", group.node())),
            Ok(true) => Err(format!("{}: is still frozen", group.node())),
            Err(error) => Err(said(group, &error)),
        };
        self.groups.iter().map(one).collect()
    }
}
