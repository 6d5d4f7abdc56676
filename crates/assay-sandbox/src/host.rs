//! Directories of the host that are given to a session: the ones that were meant, and none that
//! somebody puts in their places.
//!
//! A path says where a directory stood once. Whoever may write beside it, or above it, can put a
//! link or another directory there at any time, also between two calls. So a [`HostPlace`] knows
//! which directory it was; each call opens it without following a link, looks whether it is the
//! same, and goes on with what it opened: the path is not looked up a second time.

use crate::workspace::{WorkspaceError, open_whole};
use serde::{Deserialize, Serialize};
use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// What is said when something else stands there.
const ANOTHER: &str = "another directory stands there now";

/// A directory of the host (or a file, if it is only to be read), whatever stands at its path
/// later.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct HostPlace {
    path: PathBuf,
    device: u64,
    inode: u64,
    /// Numbers of files are used again; the moment one was made is not, where it is known.
    born_ns: Option<u64>,
}

impl HostPlace {
    /// What stands at a whole path without links.
    ///
    /// # Errors
    /// If nothing does, or the path is none.
    pub fn find(path: &Path) -> Result<HostPlace, WorkspaceError> {
        let no = |why: String| WorkspaceError::Lent { path: path.to_path_buf(), why };
        if !path.is_absolute() || path.components().count() < 2 {
            let why = "only a whole path can, and not the root directory as a whole";
            return Err(no(why.to_string()));
        }
        let file = open_whole(path).map_err(|error| no(said(&error)))?;
        let facts = file.metadata().map_err(|error| no(error.to_string()))?;
        let (device, inode, born_ns) = node(&facts);
        Ok(HostPlace { path: path.to_path_buf(), device, inode, born_ns })
    }

    /// Where it stood.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Says which one it was to somebody who keeps that for long. The number of a device may be
    /// another one after a start of the machine, so it is part of it only where nothing else tells
    /// two of the same number apart.
    pub fn mark(&self) -> String {
        match self.born_ns {
            Some(born) => format!("{}.{born}", self.inode),
            None => format!("{}.on.{}", self.inode, self.device),
        }
    }

    /// Opens it as a place, without a right to read it.
    ///
    /// # Errors
    /// If it is not there, or something else is.
    pub(crate) fn open(&self) -> io::Result<File> {
        let named = |why: &str| io::Error::other(format!("{}: {why}", self.path.display()));
        let file = open_whole(&self.path).map_err(|error| match error.raw_os_error() {
            Some(libc::ELOOP | libc::ENOTDIR | libc::ENOENT) => named(ANOTHER),
            _ => named(&error.to_string()),
        })?;
        match node(&file.metadata()?) == (self.device, self.inode, self.born_ns) {
            true => Ok(file),
            false => Err(named(ANOTHER)),
        }
    }

    /// Whether one of the two is, or holds, the other.
    pub fn overlaps(&self, other: &HostPlace) -> bool {
        let is_same = (self.device, self.inode) == (other.device, other.inode);
        is_same || self.path.starts_with(&other.path) || other.path.starts_with(&self.path)
    }
}

fn said(error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(libc::ENOENT) => "it has to exist".to_string(),
        Some(libc::ELOOP) => "it is no directory but a link, or lies behind one".to_string(),
        _ => error.to_string(),
    }
}

fn node(facts: &Metadata) -> (u64, u64, Option<u64>) {
    let born = facts.created().ok().and_then(|at| at.duration_since(SystemTime::UNIX_EPOCH).ok());
    let born = born.and_then(|since| u64::try_from(since.as_nanos()).ok());
    (facts.dev(), facts.ino(), born)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_meant_is_opened_and_nothing_in_its_place() {
        let root = tempfile::tempdir().expect("a directory");
        let root = root.path().canonicalize().expect("it is there");
        let path = root.join("a/b");
        std::fs::create_dir_all(&path).expect("ours");
        let place = HostPlace::find(&path).expect("it is there");
        place.open().expect("it is the same");
        std::fs::rename(root.join("a"), root.join("c")).expect("ours");
        let open = || place.open().map(drop).expect_err("it is elsewhere").to_string();
        assert!(open().ends_with(ANOTHER), "{}", open());
        std::os::unix::fs::symlink("c", root.join("a")).expect("ours");
        assert!(open().ends_with(ANOTHER), "{}", open());
        assert!(HostPlace::find(&path).is_err(), "it lies behind a link");
        std::fs::remove_file(root.join("a")).expect("ours");
        std::fs::create_dir_all(&path).expect("ours");
        assert!(open().ends_with(ANOTHER), "{}", open());
        let other = HostPlace::find(&path).expect("it is there");
        assert_ne!(place.mark(), other.mark());
        let above = HostPlace::find(&root).expect("it is there");
        assert!(above.overlaps(&other) && other.overlaps(&above) && other.overlaps(&other));
        let beside = HostPlace::find(&root.join("c")).expect("it is there");
        assert!(!beside.overlaps(&other));
    }
}
