//! Healing what a killed Assay left behind, from nothing but its journal.

use crate::clock::set_right;
use crate::descriptors::raised;
use crate::files::remove_junk;
use crate::journal::{BadLine, Contents, Create, Entry, Journal, JournalError, Undo, unix_ms};
use crate::process::{Process, ProcessError, ProcessState, boot_id};
use assay_kernel::{cgroup, volume};
use std::collections::BTreeMap;
use std::path::Path;

/// What became of one fault that was not healed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HealedFault {
    /// Its number in the journal.
    pub fault: u64,
    /// Its name in the catalogue.
    pub id: String,
    /// Whom it hit.
    pub target: String,
    /// What was undone, line by line.
    pub undone: Vec<String>,
    /// What could not be undone, and why.
    pub troubles: Vec<String>,
}

/// What was done about a journal.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct HealReport {
    /// The faults that were not healed, last first.
    pub faults: Vec<HealedFault>,
    /// Lines of the journal that cannot be read: what they announced may still be in the world.
    pub bad_lines: Vec<BadLine>,
}

impl HealReport {
    /// Whether all is well now.
    pub fn is_whole(&self) -> bool {
        self.bad_lines.is_empty() && self.faults.iter().all(|fault| fault.troubles.is_empty())
    }
}

/// Undoes every fault of a journal that is not marked as healed, the last one first, and marks it.
/// What could not be undone stays unmarked, and can be tried again.
pub fn heal_journal(path: &Path) -> Result<HealReport, JournalError> {
    let (mut journal, contents) = Journal::lock(path, Create::Never)?;
    let mut report = HealReport { bad_lines: contents.bad.clone(), ..HealReport::default() };
    let boot_now = boot_id();
    for open in unhealed(&contents).into_iter().rev() {
        let same_boot = open.boot.is_some() && open.boot == boot_now;
        let mut healed = HealedFault {
            fault: open.fault,
            id: open.id.clone(),
            target: open.target.clone(),
            undone: Vec::new(),
            troubles: Vec::new(),
        };
        for undo in open.undo.iter().rev() {
            match undone(undo, same_boot) {
                Ok(line) => healed.undone.push(line),
                Err(trouble) => healed.troubles.push(trouble),
            }
        }
        if healed.troubles.is_empty() {
            let (fault, undone) = (healed.fault, healed.undone.clone());
            journal.append(&Entry::Heal { fault, at_unix_ms: unix_ms(), undone })?;
        }
        report.faults.push(healed);
    }
    Ok(report)
}

/// Removes the control groups and the volumes that a killed run left below its directory, and says
/// line by line what was undone. Needs no journal: they are found by their place. Processes are not
/// ended; end those of the run first, or a volume they use is only taken out of sight.
pub fn clear_below(run: &Path) -> Vec<Result<String, String>> {
    // What is frozen cannot let go of a volume.
    let mut lines = cgroup::clear(run);
    lines.extend(volume::clear(run));
    lines
}

/// Removes what was left of looking what this machine allows, by somebody who was killed meanwhile:
/// groups, and volumes below `directory`.
pub fn clear_probes(directory: &Path) -> Vec<Result<String, String>> {
    let mut lines = cgroup::clear_probes();
    lines.extend(volume::clear_probes(directory));
    lines
}

struct OpenFault {
    fault: u64,
    id: String,
    target: String,
    undo: Vec<Undo>,
    boot: Option<String>,
}

/// The faults that were announced and not healed, in their order.
fn unhealed(contents: &Contents) -> Vec<OpenFault> {
    let mut open = BTreeMap::new();
    let mut boot_then = None;
    for entry in &contents.entries {
        match entry {
            Entry::Open { boot, .. } => boot_then.clone_from(boot),
            Entry::Inject { fault, id, target, undo, .. } => {
                let (id, target, undo) = (id.clone(), target.clone(), undo.clone());
                let boot = boot_then.clone();
                open.insert(*fault, OpenFault { fault: *fault, id, target, undo, boot });
            }
            Entry::Heal { fault, .. } => {
                open.remove(fault);
            }
        }
    }
    open.into_values().collect()
}

fn undone(undo: &Undo, same_boot: bool) -> Result<String, String> {
    match undo {
        Undo::Lift { rules } => {
            Ok(format!("{rules} link rules: ended with the process that held them"))
        }
        Undo::Restart { pid, .. } => {
            Ok(format!("process {pid}: was ended; start the node again if it is needed"))
        }
        Undo::Resume { pid, .. }
        | Undo::EndUnanswered { pid, .. }
        | Undo::SetDescriptors { pid, .. }
            if !same_boot =>
        {
            Ok(format!("process {pid}: the machine was started anew since"))
        }
        Undo::Resume { pid, start_ticks } => {
            resumed(&Process { pid: *pid, start_ticks: *start_ticks })
        }
        Undo::EndUnanswered { pid, start_ticks } => {
            ended_unanswered(&Process { pid: *pid, start_ticks: *start_ticks })
        }
        Undo::Restore { corruption } => match corruption.undo() {
            Ok(restored) => Ok(restored.undone),
            Err(error) => Err(error.to_string()),
        },
        Undo::Remove { path } => remove_junk(path).map_err(|error| error.to_string()),
        Undo::SetClock { path } => set_right(path).map_err(|error| error.to_string()),
        Undo::FreeGroup { run, node } => match cgroup::free(run, node) {
            Ok(0) => Ok(format!("{node}: its group is gone")),
            Ok(_) => Ok(format!("{node}: its group is thawed and without limits")),
            Err(error) => Err(format!("{node}: {error}")),
        },
        Undo::SetDescriptors { pid, start_ticks, soft } => {
            raised(&Process { pid: *pid, start_ticks: *start_ticks }, *soft)
        }
    }
}

/// Ends a process that nobody answers, and says what was found. Whoever holds the journal of a run
/// knows that the run has ended, and with it whoever answered.
fn ended_unanswered(process: &Process) -> Result<String, String> {
    let pid = process.pid;
    match process.state().map_err(|error| error.to_string())? {
        ProcessState::Gone => Ok(format!("process {pid}: is gone")),
        _ => match process.kill() {
            Ok(()) | Err(ProcessError::NoSuchProcess { .. }) => Ok(format!(
                "process {pid}: was killed: nobody was left to answer its system calls; start the \
                 node again if it is needed"
            )),
            Err(error) => Err(error.to_string()),
        },
    }
}

/// Resumes a process and says what was found.
pub(crate) fn resumed(process: &Process) -> Result<String, String> {
    let pid = process.pid;
    let before = process.state().map_err(|error| error.to_string())?;
    process.resume().map_err(|error| error.to_string())?;
    Ok(match before {
        ProcessState::Stopped => format!("process {pid}: resumed"),
        ProcessState::Alive => format!("process {pid}: was running"),
        ProcessState::Gone => format!("process {pid}: is gone, nobody to resume"),
    })
}
