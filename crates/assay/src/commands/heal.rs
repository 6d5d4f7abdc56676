//! `assay heal`: undo what a killed run has left behind.

use super::Trouble;
use crate::args::{HealArgs, OutputFormat};
use crate::exit::Exit;
use assay_nemesis::{HealReport, JOURNAL_NAME, JournalError, heal_journal};
use assay_sut::{PROCESSES_NAME, reap_orphans};
use serde_json::{Value, json};
use std::io;
use std::path::{Path, PathBuf};

/// How deep below a directory journals are looked for: DIR/topic/date/run/scenario and some.
const DEPTH_MAX: usize = 8;
/// How many directories are looked at: more is the wrong place to start from.
const DIRECTORIES_MAX: usize = 100_000;

/// What a run leaves: two journals, of what was done to its nodes and of which processes they are,
/// and directories in which it was looking what a disk costs when it was killed.
#[derive(Default)]
struct Found {
    faults: Vec<PathBuf>,
    processes: Vec<PathBuf>,
    /// Directories with a probe in them.
    probed: Vec<PathBuf>,
}

/// Heals every journal that is found; the worst outcome is the exit code.
pub fn run(args: &HealArgs) -> Exit {
    let (mut exit, mut visited, mut found) = (Exit::Upheld, 0, Found::default());
    for directory in &args.directories {
        if let Err(trouble) = find(directory, DEPTH_MAX, &mut visited, &mut found) {
            exit = exit.worse(trouble.report());
        }
    }
    for paths in [&mut found.faults, &mut found.processes, &mut found.probed] {
        paths.sort();
        paths.dedup();
    }
    let (mut healed, mut ended, mut removed) = (0, 0, 0);
    for journal in &found.faults {
        let one = match heal_journal(journal) {
            Ok(report) => {
                healed += report.faults.len();
                show(args.output.format, journal, &report)
            }
            Err(error) => cannot_heal(&error).report(),
        };
        exit = exit.worse(one);
    }
    // Afterwards: a node that is stopped is let go before it is ended, so that what was undone of
    // its fault is told.
    for journal in &found.processes {
        let one = match reap_orphans(journal) {
            Ok(lines) => {
                ended += lines.iter().filter(|line| line.ends_with(": killed")).count();
                show_ended(args.output.format, journal, &lines);
                Exit::Upheld
            }
            Err(error) => cannot_reap(journal, &error).report(),
        };
        exit = exit.worse(one);
        if one == Exit::Upheld {
            let (count, cleared) = clear(args.output.format, journal);
            removed += count;
            exit = exit.worse(cleared);
        }
    }
    // Looking what this machine allows leaves something as well, if it is killed meanwhile.
    found.probed.push(std::env::temp_dir());
    for place in &found.probed {
        let probes = assay_nemesis::clear_probes(place);
        let (count, cleared) = show_removed(args.output.format, place, probes);
        removed += count;
        exit = exit.worse(cleared);
    }
    if args.output.format == OutputFormat::Human {
        let word = match (exit, healed + ended + removed) {
            (Exit::Upheld, 0) => "NOTHING TO HEAL",
            (Exit::Upheld, _) => "HEALED",
            _ => "NOT ALL HEALED",
        };
        let count = found.faults.len() + found.processes.len();
        let disks = match removed {
            0 => String::new(),
            _ => format!(", {removed} disks and groups"),
        };
        anstream::println!(
            "{word}  {healed} faults and {ended} processes of killed runs{disks}, {count} journals \
             looked at"
        );
    }
    exit
}

/// Journals in a directory and below, without following links.
fn find(
    directory: &Path,
    depth: usize,
    visited: &mut usize,
    found: &mut Found,
) -> Result<(), Trouble> {
    *visited += 1;
    if *visited > DIRECTORIES_MAX {
        let message = format!(
            "{}: more than {DIRECTORIES_MAX} directories; name the run directory",
            directory.display()
        );
        return Err(Trouble { message, exit: Exit::MissingCapability });
    }
    let unavailable = |error: io::Error| Trouble::unavailable(directory, "look into", &error);
    for entry in std::fs::read_dir(directory).map_err(unavailable)? {
        let entry = entry.map_err(unavailable)?;
        let kind = entry.file_type().map_err(unavailable)?;
        if kind.is_file() && entry.file_name() == JOURNAL_NAME {
            found.faults.push(entry.path());
        } else if kind.is_file() && entry.file_name() == PROCESSES_NAME {
            found.processes.push(entry.path());
        } else if kind.is_dir() && assay_nemesis::is_probe(&entry.file_name()) {
            found.probed.push(directory.to_path_buf());
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

/// Removes the disks and control groups that nodes of this directory had.
fn clear(format: OutputFormat, processes: &Path) -> (usize, Exit) {
    let directory = processes.parent().unwrap_or(Path::new("."));
    let directory = std::path::absolute(directory).unwrap_or_else(|_| directory.to_path_buf());
    show_removed(format, &directory, assay_nemesis::clear_below(&directory))
}

/// Says what was removed, and how many things that were.
fn show_removed(
    format: OutputFormat,
    directory: &Path,
    removed: Vec<Result<String, String>>,
) -> (usize, Exit) {
    let (mut exit, mut lines) = (Exit::Upheld, Vec::new());
    for result in removed {
        match result {
            Ok(line) => lines.push(line),
            Err(message) => {
                exit = exit.worse(Trouble { message, exit: Exit::MissingCapability }.report());
            }
        }
    }
    match format {
        OutputFormat::Json if !lines.is_empty() => {
            let directory = directory.display().to_string();
            anstream::println!("{}", json!({ "directory": directory, "removed": lines }));
        }
        OutputFormat::Human if !lines.is_empty() => {
            anstream::println!("disks and groups ({})", directory.display());
            lines.iter().for_each(|line| anstream::println!("  {line}"));
        }
        _ => {}
    }
    (lines.len(), exit)
}

fn cannot_heal(error: &JournalError) -> Trouble {
    let exit = match error {
        JournalError::Busy { .. } => Exit::TryLater,
        JournalError::TooLarge { .. } => Exit::BadHistory,
        JournalError::Io { .. } => Exit::MissingCapability,
    };
    Trouble { message: error.to_string(), exit }
}

fn cannot_reap(journal: &Path, error: &io::Error) -> Trouble {
    let exit = match error.kind() {
        io::ErrorKind::ResourceBusy => Exit::TryLater,
        io::ErrorKind::InvalidData => Exit::BadHistory,
        _ => Exit::MissingCapability,
    };
    let (message, place) = (error.to_string(), journal.display().to_string());
    let named = message.contains(&place);
    let message = if named { message } else { format!("{place}: {message}") };
    Trouble { message, exit }
}

/// What became of the processes of a killed run; nothing if it had left none.
fn show_ended(format: OutputFormat, journal: &Path, lines: &[String]) {
    match format {
        OutputFormat::Json => {
            let journal = journal.display().to_string();
            anstream::println!("{}", json!({ "journal": journal, "processes": lines }));
        }
        OutputFormat::Human if lines.is_empty() => {}
        OutputFormat::Human => {
            anstream::println!("processes ({})", journal.display());
            lines.iter().for_each(|line| anstream::println!("  {line}"));
        }
    }
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
