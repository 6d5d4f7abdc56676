//! All regular files below a directory, in the order of their names. Links are not followed.

use super::path::ToolPath;
use crate::job::Places;
use crate::workspace::open_below;
use rustix::fs::{Dir, FileType, OFlags, ResolveFlags};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// How many names are looked at.
const ENTRIES_MAX: usize = 500_000;
/// How deep.
const DEPTH_MAX: usize = 64;

/// What is still to be looked at.
pub(super) struct Walk {
    top: File,
    /// The path that was asked for, below the top.
    start: PathBuf,
    /// What comes next is last.
    waiting: Vec<(PathBuf, FileType)>,
    entries: usize,
    pub is_cut: bool,
}

impl Walk {
    /// Begins at a file or a directory.
    pub(super) fn new(seen: &Places, path: &ToolPath) -> Result<Walk, String> {
        let top = path.top(seen)?;
        let flags = OFlags::RDONLY | OFlags::NONBLOCK;
        let start = path.within(seen).1;
        let first = open_below(&top, start, flags, ResolveFlags::empty());
        let facts = first.and_then(|file| file.metadata()).map_err(|error| path.says(&error))?;
        let kind = if facts.is_dir() { FileType::Directory } else { FileType::RegularFile };
        let waiting = vec![(PathBuf::new(), kind)];
        Ok(Walk { top, start: start.to_path_buf(), waiting, entries: 0, is_cut: false })
    }

    /// Opens a file the walk has named.
    pub(super) fn open(&self, below: &Path) -> Option<File> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK;
        let file = open_below(&self.top, &self.full(below), flags, ResolveFlags::empty()).ok()?;
        file.metadata().ok()?.is_file().then_some(file)
    }

    fn full(&self, below: &Path) -> PathBuf {
        if below.as_os_str().is_empty() { self.start.clone() } else { self.start.join(below) }
    }

    /// The names in a directory; what cannot be read has none.
    fn names(&mut self, below: &Path) -> Vec<(OsString, FileType)> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let directory = open_below(&self.top, &self.full(below), flags, ResolveFlags::empty());
        let Some(entries) = directory.ok().and_then(|directory| Dir::new(directory).ok()) else {
            return Vec::new();
        };
        let mut names = Vec::new();
        for entry in entries.flatten() {
            let name = OsStr::from_bytes(entry.file_name().to_bytes()).to_os_string();
            if name == "." || name == ".." {
                continue;
            }
            self.entries += 1;
            if self.entries > ENTRIES_MAX {
                self.is_cut = true;
                break;
            }
            names.push((name, entry.file_type()));
        }
        names.sort_by(|(one, _), (other, _)| other.cmp(one));
        names
    }
}

impl Iterator for Walk {
    type Item = PathBuf;

    /// The next file, below where the walk began; empty if it began at a file.
    fn next(&mut self) -> Option<PathBuf> {
        loop {
            let (below, kind) = self.waiting.pop()?;
            match kind {
                FileType::RegularFile => return Some(below),
                FileType::Directory if below.components().count() < DEPTH_MAX => {
                    let names = self.names(&below);
                    let all = names.into_iter().map(|(name, kind)| (below.join(name), kind));
                    self.waiting.extend(all);
                }
                FileType::Directory => self.is_cut = true,
                _ => {}
            }
        }
    }
}
