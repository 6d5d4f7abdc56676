//! Puts in order what a killed run has left behind: faults that are still on, processes that still
//! run.

use crate::directory::{EVENTS_NAME, RunDirectory};
use std::fs::File;
use std::path::{Path, PathBuf};

/// Runs that are looked at before a new one; more have been left for somebody else.
const RUNS_MAX: usize = 1_000;

/// Heals one directory of a trial; says what was done, line by line.
pub fn heal_trial(directory: &Path) -> Vec<String> {
    let mut lines = Vec::new();
    let journal = directory.join(assay_nemesis::JOURNAL_NAME);
    if journal.is_file() {
        match assay_nemesis::heal_journal(&journal) {
            Ok(report) => lines.extend(report.faults.iter().flat_map(|fault| {
                let title = format!("{} of {}", fault.id, fault.target);
                let all = fault.undone.iter().chain(&fault.troubles);
                all.map(move |line| format!("{title}: {line}"))
            })),
            Err(error) => lines.push(format!("{}: {error}", journal.display())),
        }
    }
    let processes = directory.join(assay_sut::PROCESSES_NAME);
    if processes.is_file() {
        match assay_sut::reap_orphans(&processes) {
            Ok(reaped) => lines.extend(reaped),
            Err(error) => lines.push(format!("{}: {error}", processes.display())),
        }
    }
    let directory = std::path::absolute(directory).unwrap_or_else(|_| directory.to_path_buf());
    let cleared = assay_nemesis::clear_below(&directory).into_iter();
    lines.extend(cleared.map(|result| result.unwrap_or_else(|trouble| trouble)));
    lines
}

/// Heals what killed runs below SESSIONS/TOPIC/TIME have left: those without a result that nobody
/// works on any more. Each line with the run it is about.
pub fn heal_sessions(sessions: &Path) -> Vec<(PathBuf, String)> {
    let runs = below(sessions).into_iter().flat_map(|topic| below(&topic));
    let killed = |run: &PathBuf| {
        run.join("run.json").is_file() && !run.join("results.json").exists() && is_abandoned(run)
    };
    let mut lines = Vec::new();
    for run in runs.filter(killed).take(RUNS_MAX) {
        let healed = heal_run(&RunDirectory::at(&run));
        lines.extend(healed.into_iter().map(|line| (run.clone(), line)));
    }
    lines
}

/// Whether a directory with events has nobody who writes them.
pub fn is_abandoned(directory: &Path) -> bool {
    let events = File::open(directory.join(EVENTS_NAME));
    events.is_ok_and(|events| events.try_lock().is_ok())
}

/// The directories in a directory, in order; none if it cannot be looked into.
pub fn below(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let own = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let mut all: Vec<PathBuf> = own.map(|entry| entry.path()).collect();
    all.sort();
    all
}

/// Heals all trials of a run.
pub fn heal_run(directory: &RunDirectory) -> Vec<String> {
    let trials = directory.trials().unwrap_or_default();
    trials.iter().flat_map(|trial| heal_trial(trial)).collect()
}
