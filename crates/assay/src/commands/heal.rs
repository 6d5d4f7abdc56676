//! `assay heal`: undo what a killed run has left behind.

use super::Trouble;
use crate::args::{HealArgs, OutputFormat};
use crate::exit::Exit;
use assay_nemesis::{HealReport, JOURNAL_NAME, JournalError, heal_journal};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// How deep below a directory journals are looked for: DIR/topic/date/run/scenario and some.
const DEPTH_MAX: usize = 8;
/// How many directories are looked at: more is the wrong place to start from.
const DIRECTORIES_MAX: usize = 100_000;

/// Heals every journal that is found; the worst outcome is the exit code.
pub fn run(args: &HealArgs) -> Exit {
    let mut journals = Vec::new();
    let (mut exit, mut visited) = (Exit::Upheld, 0);
    for directory in &args.directories {
        if let Err(trouble) = find(directory, DEPTH_MAX, &mut visited, &mut journals) {
            exit = exit.worse(trouble.report());
        }
    }
    journals.sort();
    journals.dedup();
    let mut healed = 0;
    for journal in &journals {
        let one = match heal_journal(journal) {
            Ok(report) => {
                healed += report.faults.len();
                show(args.output.format, journal, &report)
            }
            Err(error) => cannot_heal(&error).report(),
        };
        exit = exit.worse(one);
    }
    if args.output.format == OutputFormat::Human {
        let word = match (exit, healed) {
            (Exit::Upheld, 0) => "NOTHING TO HEAL",
            (Exit::Upheld, _) => "HEALED",
            _ => "NOT ALL HEALED",
        };
        let count = journals.len();
        anstream::println!("{word}  {healed} faults of killed runs, {count} journals looked at");
    }
    exit
}

/// Journals in a directory and below, without following links.
fn find(
    directory: &Path,
    depth: usize,
    visited: &mut usize,
    found: &mut Vec<PathBuf>,
) -> Result<(), Trouble> {
    *visited += 1;
    if *visited > DIRECTORIES_MAX {
        let message = format!(
            "{}: more than {DIRECTORIES_MAX} directories; name the run directory",
            directory.display()
        );
        return Err(Trouble { message, exit: Exit::MissingCapability });
    }
    let unavailable = |error: std::io::Error| Trouble::unavailable(directory, "look into", &error);
    for entry in std::fs::read_dir(directory).map_err(unavailable)? {
        let entry = entry.map_err(unavailable)?;
        let kind = entry.file_type().map_err(unavailable)?;
        if kind.is_file() && entry.file_name() == JOURNAL_NAME {
            found.push(entry.path());
        } else if kind.is_dir() && depth > 0 {
            // What may not be looked into below is not ours.
            match find(&entry.path(), depth - 1, visited, found) {
                Err(trouble) if *visited > DIRECTORIES_MAX => return Err(trouble),
                _ => {}
            }
        }
    }
    Ok(())
}

fn cannot_heal(error: &JournalError) -> Trouble {
    let exit = match error {
        JournalError::Busy { .. } => Exit::TryLater,
        JournalError::TooLarge { .. } => Exit::BadHistory,
        JournalError::Io { .. } => Exit::MissingCapability,
    };
    Trouble { message: error.to_string(), exit }
}

fn show(format: OutputFormat, journal: &Path, report: &HealReport) -> Exit {
    let shown = journal.display();
    let mut exit = Exit::Upheld;
    for bad in &report.bad_lines {
        let message =
            format!("{shown}:{}: {}; what it announced is unknown", bad.line, bad.message);
        exit = exit.worse(Trouble::bad_history(message).report());
    }
    for fault in &report.faults {
        for trouble in &fault.troubles {
            let message = format!("{shown}: {} of {}: {trouble}", fault.id, fault.target);
            let exit_here = Exit::MissingCapability;
            exit = exit.worse(Trouble { message, exit: exit_here }.report());
        }
    }
    match format {
        OutputFormat::Json => anstream::println!("{}", as_json(journal, report)),
        OutputFormat::Human => {
            for fault in &report.faults {
                anstream::println!("{} of {} ({shown})", fault.id, fault.target);
                fault.undone.iter().for_each(|line| anstream::println!("  {line}"));
            }
        }
    }
    exit
}

fn as_json(journal: &Path, report: &HealReport) -> Value {
    let faults = report.faults.iter().map(|fault| {
        json!({
            "fault": fault.fault,
            "id": fault.id,
            "target": fault.target,
            "undone": fault.undone,
            "troubles": fault.troubles,
        })
    });
    let bad = report.bad_lines.iter();
    let bad = bad.map(|bad| json!({ "line": bad.line, "message": bad.message }));
    json!({
        "journal": journal.display().to_string(),
        "whole": report.is_whole(),
        "faults": faults.collect::<Vec<Value>>(),
        "bad_lines": bad.collect::<Vec<Value>>(),
    })
}
