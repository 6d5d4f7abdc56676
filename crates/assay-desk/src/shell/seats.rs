//! One place where everybody works, one after the other.
//!
//! A program that knew by its path whether it is the Worker who runs it, the Verifier or the Leader
//! could do its best for one of them only. So all trees are at the same place while something runs
//! in them, and elsewhere before and after.
//!
//! What an agent leaves in its tree and its drop box was taken in when it came back; the rest is no
//! evidence, and a check that finds it would rest on it. It is gone before a check runs. What git
//! ignores in a Worker's tree is worth keeping for the next one: where the kernel hides the desk
//! from commands, its tree only gets a name that nobody can know, and elsewhere it is removed.

use super::desk::Desk;
use super::trees::{self, TreeError};
use crate::event::Role;
use std::fs;
use std::path::{Path, PathBuf};

/// How trees are called that wait for the next agent of their role.
const KEPT: &str = "kept-";
/// In the directory of runs: what is not of one dispatch, but of the Leader.
const OWN: [&str; 2] = ["begun", LOG];
/// In the directory of runs: where commands of the contract print to.
const LOG: &str = "log";
const ROLES: [Role; 3] = [Role::Worker, Role::Verifier, Role::Second];

impl Desk {
    /// Where everybody works.
    pub(super) fn seat(&self) -> PathBuf {
        self.tree("work")
    }

    /// Where commands of the contract print to.
    pub(super) fn command_log(&self) -> PathBuf {
        self.home().join("runs").join(LOG)
    }

    /// Puts a tree where everybody works.
    pub(super) fn sit(&self, tree: &Path) -> Result<PathBuf, TreeError> {
        let seat = self.seat();
        // A Leader that was killed left it there.
        trees::put_aside(&seat)?;
        moved(tree, &seat)?;
        Ok(seat)
    }

    /// Puts it back where it was.
    pub(super) fn rise(&self, tree: &Path) -> Result<(), TreeError> {
        moved(&self.seat(), tree)
    }

    /// Whatever agents left is out of reach of what runs next. `hidden`: the kernel keeps that from
    /// looking around in the desk.
    pub(super) fn put_away(&self, hidden: bool) -> Result<(), TreeError> {
        self.nowhere_else();
        let runs = self.home().join("runs");
        for path in entries(&runs) {
            let is_own = path.file_name().is_some_and(|name| OWN.iter().any(|own| name == *own));
            if !is_own {
                trees::remove(&path);
            }
        }
        trees::remove(&self.tree("lost"));
        for role in ROLES {
            let tree = self.tree(role.word());
            if hidden && fs::symlink_metadata(&tree).is_ok() {
                self.kept(role).iter().for_each(|path| trees::remove(path));
                let name = format!("{KEPT}{}-", role.word());
                moved(&tree, &trees::unknown(&tree, &name)?)?;
            } else if !hidden {
                trees::remove(&tree);
                self.kept(role).iter().for_each(|path| trees::remove(path));
            }
        }
        Ok(())
    }

    /// Where it stands how often a check was begun. If a person stops the Leader, that file is
    /// removed: the check that is under way does not count as one without an end.
    pub fn begun(&self) -> PathBuf {
        self.home().join("runs").join(OWN[0])
    }

    /// Removes all trees and what belongs to dispatches, also what is closed to its owner. Gives
    /// what is still there.
    pub fn clear(&self) -> Option<PathBuf> {
        self.nowhere_else();
        let all = ["trees", "runs"].map(|name| self.home().join(name));
        all.iter().for_each(|path| trees::remove(path));
        all.into_iter().find(|path| fs::symlink_metadata(path).is_ok())
    }

    /// The tree of a role is where it was, if it was kept.
    pub(super) fn bring_back(&self, role: Role) -> Result<(), TreeError> {
        let tree = self.tree(role.word());
        match self.kept(role).pop() {
            Some(kept) if fs::symlink_metadata(&tree).is_err() => moved(&kept, &tree),
            _ => Ok(()),
        }
    }

    fn kept(&self, role: Role) -> Vec<PathBuf> {
        let begin = format!("{KEPT}{}-", role.word());
        let is_of = |path: &PathBuf| {
            let name = path.file_name().and_then(|name| name.to_str());
            name.is_some_and(|name| name.starts_with(&begin))
        };
        entries(&self.home().join("trees")).into_iter().filter(is_of).collect()
    }
}

fn entries(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

fn moved(from: &Path, to: &Path) -> Result<(), TreeError> {
    let stuck = |why: String| TreeError::Stuck { path: from.to_path_buf(), why };
    fs::rename(from, to).map_err(|error| stuck(error.to_string()))
}
