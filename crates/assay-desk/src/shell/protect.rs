//! Files that nobody may change while an agent is out: hashed before, hashed after.

use super::desk::Desk;
use super::git::GitError;
use super::settings;
use crate::contract::sha256;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Files and their hashes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Snapshot {
    files: BTreeMap<PathBuf, String>,
    /// What the Leader's own commands are run with.
    pub(super) toolchain: BTreeMap<PathBuf, String>,
}

/// More files than this are not looked at one by one.
const FILES_MAX: usize = 20_000;
const HASHED_BYTES_MAX: u64 = 4 << 20;
const LISTED_MAX: usize = 10;

/// Hashes what is protected: the desk without working trees and outputs of runs (those that matter
/// are evidence in the record), git's settings and hooks, settings of agents in the home directory,
/// the toolchain, and, where the kernel does not keep the agent in its place, what is changed in
/// the user's own working tree.
pub(super) fn snapshot(desk: &Desk, with_checkout: bool) -> Result<Snapshot, GitError> {
    let mut snapshot = Snapshot::default();
    let skip = [desk.home().join("trees"), desk.home().join("runs")];
    snapshot.directory(desk.home(), &skip);
    snapshot.file(&desk.git.directory().join("config"));
    snapshot.directory(&desk.git.directory().join("hooks"), &[]);
    snapshot.directory(&desk.git.directory().join("info"), &[]);
    let places = places();
    snapshot.files.extend(settings::hashes(&places));
    snapshot.toolchain = settings::toolchain(&places);
    if with_checkout {
        let status = desk.git.status()?;
        for line in status.lines() {
            let path = desk.git.root().join(line.get(3..).unwrap_or("").trim_matches('"'));
            snapshot.file(&path);
        }
        snapshot.files.insert(PathBuf::from("the checkout"), sha256(status.as_bytes()));
    }
    Ok(snapshot)
}

fn places() -> settings::Places {
    settings::places(|name| std::env::var_os(name).map(PathBuf::from))
}

/// What the Leader's own commands are run with, as it is now.
pub(super) fn toolchain() -> BTreeMap<PathBuf, String> {
    settings::toolchain(&places())
}

impl Snapshot {
    /// The toolchain alone.
    pub(super) fn of_toolchain(toolchain: BTreeMap<PathBuf, String>) -> Snapshot {
        Snapshot { toolchain, ..Snapshot::default() }
    }

    fn file(&mut self, path: &Path) {
        if self.files.len() >= FILES_MAX {
            return;
        }
        let hash = match std::fs::symlink_metadata(path) {
            Err(_) => "absent".to_string(),
            Ok(meta) if meta.is_symlink() => format!("{:?}", std::fs::read_link(path)),
            // A pipe that is opened waits for a writer.
            Ok(meta) if !meta.is_file() => "no file".to_string(),
            // Large files are outputs and evidence: those have a hash of their own in the record.
            Ok(meta) if meta.len() > HASHED_BYTES_MAX => settings::outside(&meta),
            Ok(_) => std::fs::read(path).map_or("unreadable".to_string(), |b| sha256(&b)),
        };
        self.files.insert(path.to_path_buf(), hash);
    }

    fn directory(&mut self, path: &Path, skip: &[PathBuf]) {
        let Ok(entries) = std::fs::read_dir(path) else {
            return;
        };
        for entry in entries.flatten() {
            let path = entry.path();
            // Readers of the record leave marks in its shared memory.
            let shared =
                path.extension().is_some_and(|end| end.to_string_lossy().ends_with("-shm"));
            if skip.contains(&path) || shared {
                continue;
            }
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => self.directory(&path, skip),
                _ => self.file(&path),
            }
        }
    }

    /// What is different now, in words.
    pub(super) fn changes(&self, now: &Snapshot, root: &Path) -> Vec<String> {
        let mut changes = Vec::new();
        let before: BTreeMap<&PathBuf, &String> =
            self.files.iter().chain(&self.toolchain).collect();
        let after: BTreeMap<&PathBuf, &String> = now.files.iter().chain(&now.toolchain).collect();
        let all: BTreeSet<&PathBuf> = before.keys().chain(after.keys()).copied().collect();
        for path in all {
            let what = match (before.get(path), after.get(path)) {
                (before, after) if before == after => continue,
                (None, _) => "was made",
                (_, None) => "is gone",
                _ => "was changed",
            };
            let shown = path.strip_prefix(root).unwrap_or(path);
            changes.push(format!("{} {what}", shown.display()));
        }
        if changes.len() > LISTED_MAX {
            let more = changes.len() - LISTED_MAX;
            changes.truncate(LISTED_MAX);
            changes.push(format!("and {more} more"));
        }
        changes
    }
}
