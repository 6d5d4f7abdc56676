//! Processes that cannot open anything more: no file, no connection.
//!
//! No privilege is needed for processes of the same user. What a process has open stays open. A
//! node is hit with all its processes, because the one that was started may be a shell that keeps
//! the server; a child that ends by itself meanwhile was not hit, and nobody waits for it.

use crate::journal::Undo;
use crate::means::{Means, Reading};
use crate::process::{Process, ProcessState};
use assay_kernel::limits::{
    DescriptorLimit, LimitError, descriptor_limit, exhaust_descriptors, lowest_free_descriptor,
    set_soft_limit,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Processes are left no descriptor beyond those they have.
#[derive(Debug)]
pub struct FewDescriptors {
    processes: Vec<Process>,
    /// Those that must be there: the first of each node.
    leaders: BTreeSet<Process>,
    known: Mutex<Known>,
}

/// What became of the processes.
#[derive(Default, Debug)]
struct Known {
    /// The limits before, of those that were there; known since the preflight.
    before: BTreeMap<Process, DescriptorLimit>,
    /// Children that ended by themselves before they were hit.
    ended: BTreeSet<Process>,
    /// Those that were seen without a descriptor left.
    hit: BTreeSet<Process>,
}

/// What was found of a process.
enum Found<T> {
    Here(T),
    Gone,
}

impl FewDescriptors {
    /// The processes of one node, the one that was started first.
    pub fn of(processes: Vec<Process>) -> FewDescriptors {
        FewDescriptors::of_nodes(vec![processes])
    }

    /// The processes of several nodes.
    pub fn of_nodes(nodes: Vec<Vec<Process>>) -> FewDescriptors {
        let leaders = nodes.iter().filter_map(|node| node.first().copied()).collect();
        let processes = nodes.into_iter().flatten().collect();
        FewDescriptors { processes, leaders, known: Mutex::default() }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does something to a process. That a child is gone is noted, that a node is gone an error.
    fn of_living<T>(
        &self,
        known: &mut Known,
        process: &Process,
        act: impl FnOnce(u32) -> Result<T, LimitError>,
    ) -> Result<Option<T>, String> {
        match living(process, act)? {
            Found::Here(done) => Ok(Some(done)),
            Found::Gone if self.leaders.contains(process) => {
                Err(format!("there is no process {}", process.pid))
            }
            Found::Gone => {
                known.ended.insert(*process);
                Ok(None)
            }
        }
    }

    fn with_limits<T>(&self, one: impl Fn(&Process, DescriptorLimit) -> T) -> Vec<T> {
        let known = self.known();
        let with = |process: &Process| Some(one(process, *known.before.get(process)?));
        self.processes.iter().filter_map(with).collect()
    }
}

/// Does something to a process, if it is still the one that is meant. One that has ended keeps its
/// limit until its parent has taken note.
fn living<T>(
    process: &Process,
    act: impl FnOnce(u32) -> Result<T, LimitError>,
) -> Result<Found<T>, String> {
    let is_gone = || matches!(process.state(), Ok(ProcessState::Gone));
    if is_gone() {
        return Ok(Found::Gone);
    }
    match act(process.pid) {
        Ok(done) => Ok(Found::Here(done)),
        Err(LimitError::NoSuchProcess { .. }) => Ok(Found::Gone),
        // What a process that is just ending has open cannot be read.
        Err(_) if is_gone() => Ok(Found::Gone),
        Err(error) => Err(error.to_string()),
    }
}

impl Means for FewDescriptors {
    fn preflight(&self) -> Result<(), String> {
        if self.processes.is_empty() {
            return Err("no process was given".to_string());
        }
        let mut known = Known::default();
        for process in &self.processes {
            if let Some(limit) = self.of_living(&mut known, process, descriptor_limit)? {
                known.before.insert(*process, limit);
            }
        }
        *self.known() = known;
        Ok(())
    }

    fn undo_steps(&self) -> Vec<Undo> {
        self.with_limits(|process, limit| Undo::SetDescriptors {
            pid: process.pid,
            start_ticks: process.start_ticks,
            soft: limit.soft,
        })
    }

    fn begin(&self) -> Result<(), String> {
        let mut known = self.known();
        let there: Vec<Process> = known.before.keys().copied().collect();
        there.iter().try_for_each(|process| {
            self.of_living(&mut known, process, exhaust_descriptors).map(drop)
        })
    }

    fn undo(&self) -> Vec<Result<String, String>> {
        self.with_limits(|process, limit| raised(process, limit.soft))
    }

    fn counted(&self) -> &'static str {
        "processes without a descriptor left"
    }

    fn moves_by_min(&self) -> u64 {
        (self.processes.len() - self.known().ended.len()).max(1) as u64
    }

    fn read(&self) -> Vec<Reading> {
        let mut known = self.known();
        let one = |process: &Process| {
            let exhausted = |pid| {
                let free = lowest_free_descriptor(pid)?;
                let soft = descriptor_limit(pid)?.soft;
                Ok::<bool, LimitError>(soft.is_some_and(|soft| free >= soft))
            };
            let number = match living(process, exhausted) {
                Ok(Found::Here(exhausted)) => {
                    if exhausted {
                        known.hit.insert(*process);
                    }
                    Some(u64::from(exhausted))
                }
                Ok(Found::Gone) => {
                    let was_hit = known.hit.contains(process);
                    if !was_hit && !self.leaders.contains(process) {
                        known.ended.insert(*process);
                    }
                    Some(u64::from(was_hit))
                }
                Err(_) => None,
            };
            (format!("process {}", process.pid), number)
        };
        self.processes.iter().map(one).collect()
    }

    fn proof(&self) -> Vec<Result<String, String>> {
        self.with_limits(|process, limit| {
            let pid = process.pid;
            match living(process, descriptor_limit)? {
                Found::Gone => Ok(format!("process {pid}: is gone")),
                Found::Here(now) if now.soft == limit.soft => {
                    Ok(format!("process {pid}: has its limit back"))
                }
                Found::Here(now) => {
                    Err(format!("process {pid}: its limit is still {:?}", now.soft))
                }
            }
        })
    }

    /// Children come and go; the first process of a node is the node.
    fn ended(&self) -> Vec<String> {
        let gone = |node: &&Process| matches!(node.state(), Ok(ProcessState::Gone));
        let said = |node: &Process| format!("process {} has ended", node.pid);
        self.leaders.iter().filter(gone).map(said).collect()
    }
}

/// Gives a process its soft limit back and says what was found.
pub(crate) fn raised(process: &Process, soft: Option<u64>) -> Result<String, String> {
    let pid = process.pid;
    match living(process, |pid| set_soft_limit(pid, soft))? {
        Found::Here(()) => Ok(format!("process {pid}: may open files again")),
        Found::Gone => Ok(format!("process {pid}: is gone, nobody to give descriptors to")),
    }
}
