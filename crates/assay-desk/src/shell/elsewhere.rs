//! Where commands run at the end: somewhere else, under names that nobody can know.
//!
//! While a story is worked on everybody works at one place, below the desk. A program could work
//! there and nowhere else. So what COMPLETE rests on is seen outside of the repository, with a home
//! and a place for temporary files there, too. The place is written down before it is made, so that
//! the next Leader removes it if this one dies.

use super::desk::Desk;
use super::dispatch::nonce;
use super::git::GitError;
use super::trees::{self, TreeError};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// In the directory of runs: where that is.
const NOTE: &str = "elsewhere";
/// What is longer was not written here.
const BYTES_MAX: u64 = 8 << 10;
/// How long a name is that nobody can know, in letters.
const NAME_LETTERS: usize = 32;

/// A place for one command.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Elsewhere {
    all: PathBuf,
    /// Where it works.
    pub work: PathBuf,
    /// Where it prints to, and has its temporary files.
    pub log: PathBuf,
    /// Its home directory.
    pub home: PathBuf,
}

impl Desk {
    /// Makes a place, and puts a tree there.
    pub(super) fn leave(&self, tree: &Path) -> Result<Elsewhere, TreeError> {
        let stuck = |path: &Path, why: &dyn std::fmt::Display| TreeError::Stuck {
            path: path.to_path_buf(),
            why: why.to_string(),
        };
        let name = || nonce().map_err(|error| GitError::file(Path::new("/dev/urandom"), &error));
        let mut why = None;
        for around in self.around() {
            let all = around.join(name()?);
            let runs = self.home().join("runs");
            fs::create_dir_all(&runs).map_err(|error| stuck(&runs, &error))?;
            let note = runs.join(NOTE);
            trees::remove(&note);
            let text = all.display().to_string();
            fs::write(&note, text).map_err(|error| stuck(&note, &error))?;
            if let Err(error) = fs::create_dir(&all) {
                why = Some(stuck(&all, &error));
                continue;
            }
            let [work, log, home] = [all.join(name()?), all.join(name()?), all.join(name()?)];
            let place = Elsewhere { all, work, log, home };
            carried(tree, &place.work)?;
            return Ok(place);
        }
        Err(why.unwrap_or_else(|| stuck(self.home(), &"there is no place outside of it")))
    }

    /// Puts a tree back where it was, and leaves nothing elsewhere.
    pub(super) fn return_from(&self, place: &Elsewhere, tree: &Path) -> Result<(), TreeError> {
        let back = carried(&place.work, tree);
        trees::remove(&place.all);
        self.nowhere_else();
        back
    }

    /// What a Leader left elsewhere that died meanwhile.
    pub(super) fn nowhere_else(&self) {
        let note = self.home().join("runs").join(NOTE);
        let Ok(meta) = fs::symlink_metadata(&note) else { return };
        if meta.is_file() && meta.len() <= BYTES_MAX {
            let place = PathBuf::from(fs::read_to_string(&note).unwrap_or_default());
            // Whoever writes the note must not have anything else removed.
            let name = place.file_name().and_then(|name| name.to_str()).unwrap_or("");
            let is_ours = name.len() == NAME_LETTERS
                && name.chars().all(|c| c.is_ascii_hexdigit())
                && self.around().iter().any(|around| place.parent() == Some(around));
            if is_ours {
                trees::remove(&place);
            }
        }
        trees::remove(&note);
    }

    /// Where it can be: beside the repository, where files need only be renamed, or where temporary
    /// files are.
    fn around(&self) -> Vec<PathBuf> {
        let beside = self.git.root().parent().map(Path::to_path_buf);
        beside.into_iter().chain([std::env::temp_dir()]).collect()
    }
}

/// Renames a directory, or copies it to another disk.
fn carried(from: &Path, to: &Path) -> Result<(), TreeError> {
    if fs::rename(from, to).is_ok() {
        return Ok(());
    }
    let stuck = |why: String| TreeError::Stuck { path: from.to_path_buf(), why };
    let copied = Command::new("cp").arg("-a").arg("--").arg(from).arg(to).output();
    let copied = copied.map_err(|error| stuck(format!("cp: {error}")))?;
    if !copied.status.success() {
        return Err(stuck(String::from_utf8_lossy(&copied.stderr).trim().to_string()));
    }
    trees::remove(from);
    Ok(())
}
