//! Evidence on disk, under the name of its content: `blobs/ab/abcdef…`.
//!
//! A blob gets its name only when it is whole and durable: it is written under another name,
//! synced, renamed, and the directory synced. So a name that is there stands for its content,
//! whenever the machine stopped.

use crate::digest::Digest;
use crate::error::{Break, LedgerError};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// The largest blob, in bytes.
pub const BLOB_BYTES_MAX: u64 = 256 << 20;
const BLOBS_NAME: &str = "blobs";
/// Below `blobs`: what is being written.
const UNFINISHED_NAME: &str = "unfinished";
const READ_BYTES: usize = 64 << 10;

/// A blob that is durable.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BlobRef {
    /// How long it is.
    pub bytes: u64,
    /// Its content, by hash.
    pub sha256: Digest,
}

/// The blobs of a ledger.
#[derive(Clone, Debug)]
pub(crate) struct Blobs {
    root: PathBuf,
}

impl Blobs {
    pub(crate) fn of(directory: &Path) -> Blobs {
        Blobs { root: directory.join(BLOBS_NAME) }
    }

    /// Makes the directories, and removes what a killed writer had not finished.
    pub(crate) fn prepare(&self) -> Result<(), LedgerError> {
        let unfinished = self.root.join(UNFINISHED_NAME);
        match fs::remove_dir_all(&unfinished) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(LedgerError::io(&unfinished, "clear")(error));
            }
            _ => {}
        }
        fs::create_dir_all(&unfinished).map_err(LedgerError::io(&unfinished, "make"))?;
        sync_directory(&self.root)
    }

    /// Writes a blob. It is durable when this returns.
    pub(crate) fn put(&self, mut content: impl Read) -> Result<BlobRef, LedgerError> {
        let unfinished = self.root.join(UNFINISHED_NAME).join("blob");
        let mut file = File::create(&unfinished).map_err(LedgerError::io(&unfinished, "create"))?;
        let copied = copy(&mut content, &mut file);
        let (bytes, hasher) = copied.map_err(LedgerError::io(&unfinished, "write"))?;
        if bytes > BLOB_BYTES_MAX {
            let what = "bytes of one blob";
            return Err(LedgerError::TooMany { what, count: bytes, max: BLOB_BYTES_MAX });
        }
        let blob = BlobRef { bytes, sha256: Digest::finish(hasher) };
        if self.length(blob.sha256)? == Some(bytes) {
            // The same evidence again: it must still be what its name says.
            fs::remove_file(&unfinished).map_err(LedgerError::io(&unfinished, "remove"))?;
            return self.check(blob.sha256).map(|()| blob);
        }
        file.sync_all().map_err(LedgerError::io(&unfinished, "sync"))?;
        let path = self.path(blob.sha256);
        let shelf = path.parent().expect("a blob stands on a shelf");
        if !shelf.exists() {
            fs::create_dir(shelf).map_err(LedgerError::io(shelf, "make"))?;
            sync_directory(&self.root)?;
        }
        fs::rename(&unfinished, &path).map_err(LedgerError::io(&path, "rename to"))?;
        sync_directory(shelf)?;
        Ok(blob)
    }

    /// How long a blob is; `None` if it is not there.
    pub(crate) fn length(&self, sha256: Digest) -> Result<Option<u64>, LedgerError> {
        let path = self.path(sha256);
        match fs::symlink_metadata(&path) {
            Ok(meta) if meta.is_file() => Ok(Some(meta.len())),
            Ok(_) => Ok(None),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(LedgerError::io(&path, "look at")(error)),
        }
    }

    /// The content, if it is still what its name says.
    pub(crate) fn read(&self, sha256: Digest) -> Result<Vec<u8>, LedgerError> {
        let path = self.path(sha256);
        let mut content = Vec::new();
        File::open(&path)
            .and_then(|file| file.take(BLOB_BYTES_MAX + 1).read_to_end(&mut content))
            .map_err(LedgerError::io(&path, "read"))?;
        match Digest::of(&content) == sha256 {
            true => Ok(content),
            false => Err(self.broken(Break::BlobChanged { sha256 })),
        }
    }

    /// Reads it through, keeping nothing.
    pub(crate) fn check(&self, sha256: Digest) -> Result<(), LedgerError> {
        let path = self.path(sha256);
        let copied = File::open(&path).and_then(|mut file| copy(&mut file, &mut io::sink()));
        let (_, hasher) = copied.map_err(LedgerError::io(&path, "read"))?;
        match Digest::finish(hasher) == sha256 {
            true => Ok(()),
            false => Err(self.broken(Break::BlobChanged { sha256 })),
        }
    }

    /// Every blob that is there, sorted; something else among them is a break.
    pub(crate) fn all(&self) -> Result<Vec<Digest>, LedgerError> {
        let mut all = Vec::new();
        for shelf in names(&self.root)?.into_iter().filter(|name| name != UNFINISHED_NAME) {
            for name in names(&self.root.join(&shelf))? {
                match name.parse::<Digest>() {
                    Ok(sha256) if name.starts_with(&shelf) && shelf.len() == 2 => all.push(sha256),
                    _ => return Err(self.broken(Break::Stranger { name })),
                }
            }
        }
        all.sort_unstable();
        Ok(all)
    }

    fn path(&self, sha256: Digest) -> PathBuf {
        let name = sha256.to_string();
        self.root.join(&name[..2]).join(name)
    }

    fn broken(&self, broken: Break) -> LedgerError {
        LedgerError::broken(self.root.parent().unwrap_or(&self.root))(broken)
    }
}

/// Copies at most one byte more than a blob may have.
fn copy(from: &mut impl Read, to: &mut impl Write) -> io::Result<(u64, Sha256)> {
    let (mut from, mut hasher, mut bytes) = (from.take(BLOB_BYTES_MAX + 1), Sha256::new(), 0);
    let mut buffer = vec![0; READ_BYTES];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return Ok((bytes, hasher)),
            Ok(count) => {
                hasher.update(&buffer[..count]);
                to.write_all(&buffer[..count])?;
                bytes += count as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// What stands in a directory; nothing if there is none.
fn names(directory: &Path) -> Result<Vec<String>, LedgerError> {
    let failed = LedgerError::io(directory, "list");
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(error)),
    };
    let name = |entry: io::Result<fs::DirEntry>| {
        entry.map(|entry| entry.file_name().to_string_lossy().into_owned())
    };
    entries.map(name).collect::<io::Result<Vec<_>>>().map_err(failed)
}

/// Makes names in a directory durable.
pub(crate) fn sync_directory(directory: &Path) -> Result<(), LedgerError> {
    let synced = File::open(directory).and_then(|directory| directory.sync_all());
    synced.map_err(LedgerError::io(directory, "sync"))
}
