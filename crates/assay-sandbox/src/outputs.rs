//! What a turn leaves in the outputs directory: all of it within limits, or nothing.

use crate::workspace::{Workspace, open_below};
use rustix::fs::{Dir, FileType, OFlags, ResolveFlags};
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// How many files there may be.
pub const OUTPUT_FILES_MAX: usize = 100;
/// How large each may be.
pub const OUTPUT_BYTES_MAX: u64 = 25 << 20;
/// How large all may be together.
pub const OUTPUTS_BYTES_MAX: u64 = 100 << 20;
/// How deep directories are looked into.
const DEPTH_MAX: usize = 16;
/// How many names are looked at, of whatever kind.
const ENTRIES_MAX: usize = 10_000;

/// A file that a turn left, open.
#[derive(Debug)]
pub struct Output {
    /// Its name, without directories.
    pub name: String,
    /// Where it is, below the outputs directory.
    pub path: PathBuf,
    /// How large it is.
    pub bytes: u64,
    /// Its content.
    pub file: File,
}

/// Why outputs were not collected. The set is taken as a whole or not at all.
#[derive(Debug, thiserror::Error)]
pub enum OutputsError {
    /// There are too many.
    #[error("more than {0} outputs; put them into one archive")]
    TooMany(usize),
    /// One is too large.
    #[error("output {}: {bytes} bytes, {OUTPUT_BYTES_MAX} are allowed", path.display())]
    TooLarge {
        /// Which.
        path: PathBuf,
        /// How large.
        bytes: u64,
    },
    /// All together are too large.
    #[error("outputs have more than {OUTPUTS_BYTES_MAX} bytes together")]
    TooLargeTogether,
    /// Two have the same name.
    #[error("outputs {} and {} have the same name; rename one", first.display(), second.display())]
    SameName {
        /// One of them.
        first: PathBuf,
        /// The other.
        second: PathBuf,
    },
    /// A name that is not text.
    #[error("output {}: the name is not UTF-8", .0.display())]
    Name(PathBuf),
    /// Directories in directories.
    #[error("outputs are more than {DEPTH_MAX} directories deep")]
    TooDeep,
    /// They cannot be read.
    #[error("output {}: {source}", path.display())]
    Io {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// Collects the regular files below the outputs directory, in the order of their names. Links and
/// everything else that is no file are passed over. To be called when no call runs.
///
/// # Errors
/// If they exceed a limit, or two have the same name.
pub fn collect_outputs(workspace: &Workspace) -> Result<Vec<Output>, OutputsError> {
    let top = workspace.outputs();
    let directory = match workspace.lent() {
        Some(lent) => lent.outputs.open(),
        None => File::open(&top),
    };
    let directory = directory.map_err(|source| OutputsError::Io { path: top, source })?;
    let mut walk = Walk { top: directory, found: BTreeMap::new(), entries: 0, bytes: 0 };
    walk.look(Path::new(""), 0)?;
    Ok(walk.found.into_values().collect())
}

struct Walk {
    top: File,
    found: BTreeMap<String, Output>,
    entries: usize,
    bytes: u64,
}

fn failed(path: &Path) -> impl Fn(io::Error) -> OutputsError + '_ {
    move |source| OutputsError::Io { path: path.to_path_buf(), source }
}

impl Walk {
    fn open(&self, path: &Path, flags: OFlags) -> Result<File, OutputsError> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | flags;
        let opened = open_below(&self.top, path, flags, ResolveFlags::NO_SYMLINKS);
        opened.map_err(failed(path))
    }

    fn look(&mut self, path: &Path, depth: usize) -> Result<(), OutputsError> {
        if depth > DEPTH_MAX {
            return Err(OutputsError::TooDeep);
        }
        let directory = self.open(path, OFlags::DIRECTORY)?;
        let entries = Dir::new(directory).map_err(|error| failed(path)(error.into()))?;
        let mut names = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|error| failed(path)(error.into()))?;
            let name = std::ffi::OsStr::from_bytes(entry.file_name().to_bytes()).to_os_string();
            if name == "." || name == ".." {
                continue;
            }
            self.entries += 1;
            if self.entries > ENTRIES_MAX {
                return Err(OutputsError::TooMany(ENTRIES_MAX));
            }
            names.push((name, entry.file_type()));
        }
        names.sort_by(|(one, _), (other, _)| one.cmp(other));
        for (name, kind) in names {
            let below = path.join(name);
            match kind {
                FileType::Directory => self.look(&below, depth + 1)?,
                FileType::RegularFile => self.take(below)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn take(&mut self, path: PathBuf) -> Result<(), OutputsError> {
        let file = self.open(&path, OFlags::empty())?;
        let facts = file.metadata().map_err(failed(&path))?;
        if !facts.is_file() {
            return Ok(());
        }
        let bytes = facts.len();
        if bytes > OUTPUT_BYTES_MAX {
            return Err(OutputsError::TooLarge { path, bytes });
        }
        self.bytes += bytes;
        if self.bytes > OUTPUTS_BYTES_MAX {
            return Err(OutputsError::TooLargeTogether);
        }
        let name = path.file_name().and_then(|name| name.to_str()).map(str::to_string);
        let Some(name) = name else { return Err(OutputsError::Name(path)) };
        if let Some(first) = self.found.get(&name) {
            return Err(OutputsError::SameName { first: first.path.clone(), second: path });
        }
        self.found.insert(name.clone(), Output { name, path, bytes, file });
        if self.found.len() > OUTPUT_FILES_MAX {
            return Err(OutputsError::TooMany(OUTPUT_FILES_MAX));
        }
        Ok(())
    }
}
