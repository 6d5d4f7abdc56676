//! Processes that cannot open anything more: no file, no connection.
//!
//! No privilege is needed for processes of the same user. What a process has open stays open.

use crate::journal::Undo;
use crate::means::{Means, Reading};
use crate::process::{Process, ProcessState};
use assay_kernel::limits::{
    DescriptorLimit, LimitError, descriptor_limit, exhaust_descriptors, lowest_free_descriptor,
    set_soft_limit,
};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Processes are left no descriptor beyond those they have.
#[derive(Debug)]
pub struct FewDescriptors {
    processes: Vec<Process>,
    /// The limits before, in the same order; known since the preflight.
    before: Mutex<Vec<DescriptorLimit>>,
}

impl FewDescriptors {
    /// Each of these.
    pub fn of(processes: Vec<Process>) -> FewDescriptors {
        FewDescriptors { processes, before: Mutex::new(Vec::new()) }
    }

    fn before(&self) -> MutexGuard<'_, Vec<DescriptorLimit>> {
        self.before.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Means for FewDescriptors {
    fn preflight(&self) -> Result<(), String> {
        if self.processes.is_empty() {
            return Err("no process was given".to_string());
        }
        let limit = |process: &Process| match process.state() {
            Ok(ProcessState::Gone) => Err(format!("there is no process {}", process.pid)),
            Ok(_) => descriptor_limit(process.pid).map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        let limits = self.processes.iter().map(limit).collect::<Result<_, String>>()?;
        *self.before() = limits;
        Ok(())
    }

    fn undo_steps(&self) -> Vec<Undo> {
        let before = self.before();
        let step = |(process, limit): (&Process, &DescriptorLimit)| Undo::SetDescriptors {
            pid: process.pid,
            start_ticks: process.start_ticks,
            soft: limit.soft,
        };
        self.processes.iter().zip(before.iter()).map(step).collect()
    }

    fn begin(&self) -> Result<(), String> {
        self.processes.iter().try_for_each(|process| {
            exhaust_descriptors(process.pid).map(drop).map_err(|error| error.to_string())
        })
    }

    fn undo(&self) -> Vec<Result<String, String>> {
        let before = self.before();
        let one = |(process, limit): (&Process, &DescriptorLimit)| raised(process, limit.soft);
        self.processes.iter().zip(before.iter()).map(one).collect()
    }

    fn counted(&self) -> &'static str {
        "processes without a descriptor left"
    }

    fn moves_by_min(&self) -> u64 {
        self.processes.len() as u64
    }

    fn read(&self) -> Vec<Reading> {
        let one = |process: &Process| {
            let exhausted = || {
                let free = lowest_free_descriptor(process.pid)?;
                let soft = descriptor_limit(process.pid)?.soft;
                Ok::<bool, LimitError>(soft.is_some_and(|soft| free >= soft))
            };
            (format!("process {}", process.pid), exhausted().ok().map(u64::from))
        };
        self.processes.iter().map(one).collect()
    }

    fn proof(&self) -> Vec<Result<String, String>> {
        let before = self.before();
        let one = |(process, limit): (&Process, &DescriptorLimit)| {
            let pid = process.pid;
            // One that has ended keeps its limit until its parent has taken note.
            if matches!(process.state(), Ok(ProcessState::Gone)) {
                return Ok(format!("process {pid}: is gone"));
            }
            match descriptor_limit(pid) {
                Ok(now) if now.soft == limit.soft => {
                    Ok(format!("process {pid}: has its limit back"))
                }
                Ok(now) => Err(format!("process {pid}: its limit is still {:?}", now.soft)),
                Err(LimitError::NoSuchProcess { .. }) => Ok(format!("process {pid}: is gone")),
                Err(error) => Err(error.to_string()),
            }
        };
        self.processes.iter().zip(before.iter()).map(one).collect()
    }
}

/// Gives a process its soft limit back and says what was found.
pub(crate) fn raised(process: &Process, soft: Option<u64>) -> Result<String, String> {
    let pid = process.pid;
    let gone = format!("process {pid}: is gone, nobody to give descriptors to");
    if process.state().map_err(|error| error.to_string())? == ProcessState::Gone {
        return Ok(gone);
    }
    match set_soft_limit(pid, soft) {
        Ok(()) => Ok(format!("process {pid}: may open files again")),
        Err(LimitError::NoSuchProcess { .. }) => Ok(gone),
        Err(error) => Err(error.to_string()),
    }
}
