//! Puts in order what a killed run has left behind: faults that are still on, processes that still
//! run.

use crate::directory::RunDirectory;
use std::path::Path;

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

/// Heals all trials of a run.
pub fn heal_run(directory: &RunDirectory) -> Vec<String> {
    let trials = directory.trials().unwrap_or_default();
    trials.iter().flat_map(|trial| heal_trial(trial)).collect()
}
