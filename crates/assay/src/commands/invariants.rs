//! `assay invariants`: which places hold each invariant.

use super::Trouble;
use crate::args::{InvariantsCommand, ScanArgs, ScanFormat};
use crate::exit::Exit;
use assay_guard::Tree;
use assay_guard::scan::{markdown, scan, text};
use assay_guard::tree::{FILE_BYTES_MAX, extension};
use std::path::Path;

/// Files that are looked into at most; a directory with more is not what was meant.
const FILES_MAX: usize = 100_000;

/// Runs it.
pub fn run(command: &InvariantsCommand) -> Exit {
    let InvariantsCommand::Scan(args) = command;
    show(args).unwrap_or_else(Trouble::report)
}

fn show(args: &ScanArgs) -> Result<Exit, Trouble> {
    let mut tree = Tree::new();
    collect(&args.path, "", &mut tree)?;
    let matrix = scan(&tree);
    match args.format {
        ScanFormat::Text => anstream::print!("{}", text(&matrix)),
        ScanFormat::Json => anstream::println!("{}", serde_json::json!(matrix)),
        ScanFormat::Markdown => anstream::print!("{}", markdown(&matrix)),
    }
    Ok(match (matrix.rows.is_empty(), matrix.holes.is_empty()) {
        (true, _) => Exit::NothingChecked,
        (false, true) => Exit::Upheld,
        (false, false) => Exit::Refuted,
    })
}

/// Reads what matters below a directory; follows no links, and leaves out what is hidden or built.
fn collect(directory: &Path, below: &str, tree: &mut Tree) -> Result<(), Trouble> {
    let unreadable = |error: &std::io::Error| Trouble::unavailable(directory, "read", error);
    let entries = std::fs::read_dir(directory).map_err(|error| unreadable(&error))?;
    for entry in entries {
        let entry = entry.map_err(|error| unreadable(&error))?;
        let kind = entry.file_type().map_err(|error| unreadable(&error))?;
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        let path = if below.is_empty() { name.to_string() } else { format!("{below}/{name}") };
        let hidden = name.starts_with('.') || matches!(name, "target" | "node_modules");
        if kind.is_dir() && !hidden {
            collect(&entry.path(), &path, tree)?;
        }
        if !kind.is_file() || !matches!(extension(name).as_str(), "rs" | "md" | "tla" | "cfg") {
            continue;
        }
        let size = entry.metadata().map_err(|error| unreadable(&error))?.len();
        if size > FILE_BYTES_MAX as u64 {
            let place = entry.path();
            anstream::eprintln!("{}: too large, not looked into", place.display());
            continue;
        }
        if tree.len() >= FILES_MAX {
            let message = format!("more than {FILES_MAX} files: name the directory of a project");
            return Err(Trouble { message, exit: Exit::Usage });
        }
        let read = std::fs::read(entry.path());
        let bytes = read.map_err(|error| Trouble::unavailable(&entry.path(), "read", &error))?;
        tree.insert(path, bytes);
    }
    Ok(())
}
