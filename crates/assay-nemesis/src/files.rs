//! Faults in a node's own directory: a damaged file, and a disk with no room left.
//!
//! Both leave something behind that tells how to undo them, so a harness that was killed can be
//! cleaned up after: the undamaged file stands beside the damaged one as `NAME.assay-original`, the
//! junk that fills a disk is called `.assay-junk-…`. Undoing refuses any other name: a journal is a
//! file, and a file may have been tampered with.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use serde::{Deserialize, Serialize};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

/// The largest file that is damaged: its original is kept in memory for a moment.
pub const FILE_BYTES_MAX: u64 = 256 << 20;
/// The most junk that is written.
pub const JUNK_BYTES_MAX: u64 = 1 << 40;
/// The most bits that are turned over in one file.
pub const FLIPS_MAX: u32 = 10_000;
const ORIGINAL: &str = ".assay-original";
const UNFINISHED: &str = ".assay-unfinished";
const JUNK: &str = ".assay-junk-";
/// Room for junk is taken down to this size; then junk is written in blocks of it, and in ever
/// smaller ones until not a byte fits.
const BLOCK_BYTES: usize = 64 << 10;

/// What is done to a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Damage {
    /// Single bits are turned over, at places drawn from the seed.
    FlipBits {
        /// How many.
        count: u32,
        /// Where.
        seed: u64,
    },
    /// The end is cut off.
    Truncate {
        /// How many bytes of it.
        bytes: u64,
    },
    /// The last bytes that are not zero become zero, as when a write was torn: in a file that was
    /// allocated beforehand the end of what was written is not the end of the file.
    TearTail {
        /// How many bytes.
        bytes: u64,
    },
}

/// A file, and what is done to it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Corruption {
    /// The file.
    pub path: PathBuf,
    /// What is done.
    pub damage: Damage,
}

/// What undoing a damage came to, in the words of the report.
pub(crate) struct Restored {
    /// What was done.
    pub(crate) undone: String,
    /// What was read afterwards; nothing if there was nothing to be undone.
    pub(crate) proof: Option<String>,
}

/// A directory, and how much junk may be put there.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fill {
    /// The directory of a node.
    pub directory: PathBuf,
    /// How many bytes of junk are acceptable.
    pub quota_bytes: u64,
}

/// Why a file fault was not injected or not undone.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The operating system said no.
    #[error("{}: cannot {doing}: {source}", path.display())]
    Io {
        /// Where.
        path: PathBuf,
        /// What was tried.
        doing: &'static str,
        /// Why not.
        source: io::Error,
    },
    /// There is nothing to damage, or too much to keep a copy of.
    #[error("{}: {bytes} bytes; from 1 to {FILE_BYTES_MAX} can be damaged", path.display())]
    Size {
        /// The file.
        path: PathBuf,
        /// Its size.
        bytes: u64,
    },
    /// An earlier fault on the same file was not undone.
    #[error("{}: is damaged already; heal that first", path.display())]
    Already {
        /// The file.
        path: PathBuf,
    },
    /// The directory is not on a file system that can be filled.
    #[error(
        "{}: {free_bytes} bytes are free and only {quota_bytes} may be used: the disk would not be \
         full. Put the directory on a small file system of its own, or raise the quota",
        directory.display()
    )]
    Unbounded {
        /// The directory.
        directory: PathBuf,
        /// What is free there.
        free_bytes: u64,
        /// What may be used.
        quota_bytes: u64,
    },
    /// It was put back, and reads otherwise.
    #[error("{}: was put back, and what is read there is not the original", path.display())]
    NotRestored {
        /// The file.
        path: PathBuf,
    },
    /// A path that no fault of ours has made.
    #[error("{}: is not a file that a fault has left; it is not touched", path.display())]
    NotOurs {
        /// The path.
        path: PathBuf,
    },
}

fn at<'a>(path: &'a Path, doing: &'static str) -> impl FnOnce(io::Error) -> FileError + 'a {
    move |source| FileError::Io { path: path.to_path_buf(), doing, source }
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

impl Corruption {
    /// Damages the file; says how many bits or bytes of it are different now.
    pub(crate) fn inflict(&self) -> Result<u64, FileError> {
        let (path, original) = (&self.path, beside(&self.path, ORIGINAL));
        if original.exists() {
            return Err(FileError::Already { path: path.clone() });
        }
        let bytes = read_bounded(path)?;
        // The copy is whole before it has its name: what has the name can be restored from.
        let unfinished = beside(path, UNFINISHED);
        write_synced(&unfinished, &bytes)?;
        fs::rename(&unfinished, &original).map_err(at(path, "keep the original of"))?;
        let damaged = self.damaged(&bytes);
        overwrite(path, &damaged)?;
        Ok(difference(&bytes, &damaged))
    }

    /// Puts the original back and reads it again.
    ///
    /// Only if the file is still as the damage left it. A system that has written to it since would
    /// lose what it wrote, and that would be our doing: then the file stays as it is, and the
    /// original stays beside it.
    pub(crate) fn undo(&self) -> Result<Restored, FileError> {
        let (path, original) = (&self.path, beside(&self.path, ORIGINAL));
        let shown = path.display();
        let unfinished = beside(path, UNFINISHED);
        if unfinished.exists() {
            fs::remove_file(&unfinished).map_err(at(&unfinished, "remove"))?;
        }
        if !original.exists() {
            return Ok(Restored {
                undone: format!("{shown}: was not damaged, or is restored already"),
                proof: None,
            });
        }
        let bytes = read_bounded(&original)?;
        let kept = |what: &str| Restored {
            undone: format!("{shown}: was {what} since; {} is kept", original.display()),
            proof: Some(format!("{shown}: not undone: the node has {what} it since")),
        };
        let Some(now) = read_if_there(path)? else { return Ok(kept("removed")) };
        if !is_mix(&now, &bytes, &self.damaged(&bytes)) {
            return Ok(kept("rewritten"));
        }
        overwrite(path, &bytes)?;
        let whole = bytes.len();
        let Some(now) = read_if_there(path)? else { return Ok(kept("removed")) };
        let added = match now.strip_prefix(bytes.as_slice()) {
            None => return Err(FileError::NotRestored { path: path.clone() }),
            Some([]) => String::new(),
            Some(more) => format!(", and {} more behind them", more.len()),
        };
        fs::remove_file(&original).map_err(at(&original, "remove"))?;
        Ok(Restored {
            undone: format!("{shown}: restored, {whole} bytes"),
            proof: Some(format!("{shown}: {whole} bytes are as before{added}")),
        })
    }

    /// By how much the file differs from its original; nothing if there is no original.
    pub(crate) fn measure(&self) -> Option<u64> {
        let original = beside(&self.path, ORIGINAL);
        if !original.exists() {
            return Some(0);
        }
        Some(difference(&fs::read(original).ok()?, &fs::read(&self.path).ok()?))
    }

    fn damaged(&self, bytes: &[u8]) -> Vec<u8> {
        let mut damaged = bytes.to_vec();
        match self.damage {
            Damage::Truncate { bytes } => {
                let cut = usize::try_from(bytes).unwrap_or(usize::MAX).min(damaged.len());
                damaged.truncate(damaged.len() - cut);
            }
            Damage::TearTail { bytes } => {
                let end = damaged.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
                let torn = usize::try_from(bytes).unwrap_or(usize::MAX).min(end);
                damaged[end - torn..end].fill(0);
            }
            Damage::FlipBits { count, seed } => {
                let mut rng = ChaCha20Rng::seed_from_u64(seed);
                let bits = damaged.len() * 8;
                // Different bits: one that is turned over twice would be whole again.
                let mut flipped = std::collections::BTreeSet::new();
                while flipped.len() < (count.min(FLIPS_MAX) as usize).min(bits) {
                    flipped.insert(rng.random_range(0..bits));
                }
                for bit in flipped {
                    damaged[bit / 8] ^= 1 << (bit % 8);
                }
            }
        }
        damaged
    }
}

/// Whether each byte is the original's or the damaged one's: so it is after a kill in the middle of
/// the damage, too.
fn is_mix(now: &[u8], original: &[u8], damaged: &[u8]) -> bool {
    let known =
        |(i, byte): (usize, &u8)| original.get(i) == Some(byte) || damaged.get(i) == Some(byte);
    [original.len(), damaged.len()].contains(&now.len()) && now.iter().enumerate().all(known)
}

/// Bits that differ, and bytes that are missing.
fn difference(a: &[u8], b: &[u8]) -> u64 {
    let bits: u64 = a.iter().zip(b).map(|(a, b)| u64::from((a ^ b).count_ones())).sum();
    bits + a.len().abs_diff(b.len()) as u64
}

fn read_bounded(path: &Path) -> Result<Vec<u8>, FileError> {
    let file = File::open(path).map_err(at(path, "open"))?;
    let bytes = file.metadata().map_err(at(path, "look at"))?.len();
    if !(1..=FILE_BYTES_MAX).contains(&bytes) {
        return Err(FileError::Size { path: path.to_path_buf(), bytes });
    }
    let mut all = Vec::new();
    file.take(FILE_BYTES_MAX).read_to_end(&mut all).map_err(at(path, "read"))?;
    Ok(all)
}

fn read_if_there(path: &Path) -> Result<Option<Vec<u8>>, FileError> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(at(path, "read")(error)),
    }
}

fn write_synced(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    let mut file = File::create(path).map_err(at(path, "create"))?;
    file.write_all(bytes).and_then(|()| file.sync_all()).map_err(at(path, "write"))
}

/// In place: a process that has the file open sees it too.
fn overwrite(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    let mut file = OpenOptions::new().write(true).open(path).map_err(at(path, "open"))?;
    let write = |file: &mut File| {
        file.rewind()?;
        file.write_all(bytes)?;
        file.set_len(bytes.len() as u64)?;
        file.sync_all()
    };
    write(&mut file).map_err(at(path, "write"))
}

impl Fill {
    /// Refuses what would not fill anything.
    pub(crate) fn preflight(&self) -> Result<(), FileError> {
        let free_bytes = self.free_bytes()?;
        let quota_bytes = self.quota_bytes.min(JUNK_BYTES_MAX);
        if free_bytes > quota_bytes {
            let directory = self.directory.clone();
            return Err(FileError::Unbounded { directory, free_bytes, quota_bytes });
        }
        Ok(())
    }

    fn free_bytes(&self) -> Result<u64, FileError> {
        let stat = rustix::fs::statvfs(&self.directory)
            .map_err(|error| at(&self.directory, "ask for free space")(error.into()))?;
        Ok(stat.f_bavail.saturating_mul(stat.f_frsize))
    }

    /// Where the junk of a fault goes.
    pub(crate) fn junk(&self, number: u64) -> PathBuf {
        self.directory.join(format!("{JUNK}{number}"))
    }

    /// Takes room for junk until nothing fits any more; says how many bytes it took.
    pub(crate) fn inflict(&self, junk: &Path) -> Result<u64, FileError> {
        self.preflight()?;
        let mut file = File::create(junk).map_err(at(junk, "create"))?;
        let quota = self.quota_bytes.min(JUNK_BYTES_MAX);
        let mut written = reserve(&file, quota);
        file.seek(io::SeekFrom::End(0)).map_err(at(junk, "write"))?;
        let mut size = BLOCK_BYTES;
        let block = vec![0xA5; BLOCK_BYTES];
        while written < quota {
            let left = usize::try_from(quota - written).unwrap_or(usize::MAX);
            match file.write(&block[..size.min(left)]) {
                Ok(0) => return Ok(written),
                Ok(count) => written += count as u64,
                Err(error) if error.kind() == io::ErrorKind::StorageFull => match size {
                    1 => return Ok(written),
                    _ => size = (size / 8).max(1),
                },
                Err(error) => return Err(at(junk, "write")(error)),
            }
        }
        // The quota is used up, and there was still room: nobody will meet a full disk.
        let (directory, free_bytes) = (self.directory.clone(), self.free_bytes()?);
        if free_bytes == 0 {
            return Ok(written);
        }
        fs::remove_file(junk).map_err(at(junk, "remove"))?;
        Err(FileError::Unbounded { directory, free_bytes, quota_bytes: self.quota_bytes })
    }
}

/// Takes room for a file without writing to it, as much as there is; says how many bytes. Writing
/// them would keep the whole disk busy on which a small file system lies as an image, so that not
/// only its node would feel it. Nothing where the file system does not do that.
fn reserve(file: &File, quota: u64) -> u64 {
    let (mut reserved, mut size) = (0, quota);
    while reserved < quota && size >= BLOCK_BYTES as u64 {
        let flags = rustix::fs::FallocateFlags::empty();
        match rustix::fs::fallocate(file, flags, reserved, size.min(quota - reserved)) {
            Ok(()) | Err(rustix::io::Errno::INTR) => {}
            Err(rustix::io::Errno::NOSPC | rustix::io::Errno::FBIG) => size /= 2,
            Err(_) => break,
        }
        // What did not fit as a whole may have been given in part.
        reserved = file.metadata().map_or(reserved, |meta| meta.len());
    }
    reserved
}

/// How large the junk is; nothing if there is none.
pub(crate) fn junk_bytes(junk: &Path) -> Option<u64> {
    match fs::metadata(junk) {
        Ok(meta) => Some(meta.len()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Some(0),
        Err(_) => None,
    }
}

/// Removes junk, and nothing that is not.
pub(crate) fn remove_junk(junk: &Path) -> Result<String, FileError> {
    let name = junk.file_name().and_then(|name| name.to_str()).unwrap_or("");
    if !name.starts_with(JUNK) {
        return Err(FileError::NotOurs { path: junk.to_path_buf() });
    }
    match fs::remove_file(junk) {
        Ok(()) => Ok(format!("{}: removed", junk.display())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Ok(format!("{}: is removed already", junk.display()))
        }
        Err(error) => Err(at(junk, "remove")(error)),
    }
}
