//! The file `seal`: what every byte of the database was when it was last put away.
//!
//! The chain covers what events say, and SQLite's own check covers how its pages hang together.
//! Neither covers bytes that hold nothing: free space in a page, counters in the header. A change
//! there does no harm, and whoever is told that nothing changed wants to know it all the same. So
//! the last thing a writer does is to write down the SHA-256 of the whole file, and the first thing
//! the next one does is to take that back, before it changes a byte. A killed writer leaves no
//! seal: then bytes that hold nothing are not covered until the next one has closed.
//!
//! One line: `sealed` or `opened`, a space, the length in 20 digits, a space, the hash, a line
//! feed; of an opened one both are zeros. Both are of one length and in one page, so a kill tears
//! neither, and no single byte makes one of the other.

use crate::blobs::sync_directory;
use crate::digest::Digest;
use crate::error::{Break, LedgerError};
use crate::store::{DATABASE_NAME, LOG_NAME};
use sha2::{Digest as _, Sha256};
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::FileExt;
use std::path::Path;

const SEAL_NAME: &str = "seal";
const SEALED: &str = "sealed";
const OPENED: &str = "opened";
const LENGTH_DIGITS: usize = 20;
/// How much of the database is in memory while it is hashed.
const CHUNK_BYTES: usize = 1 << 20;

/// What a whole file is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Content {
    bytes: u64,
    sha256: Digest,
}

/// What an opened line says.
const NOTHING: Content = Content { bytes: 0, sha256: Digest::ZERO };

/// Whether every byte is covered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Seal {
    /// The database is, byte by byte, what the last writer left.
    Whole,
    /// A writer has it open, or was killed: what events say is covered, and nothing else.
    Open,
}

/// Compares the database with its seal. What is sealed has nothing in its log: that is applied by
/// whoever opens the database, and the seal says nothing of it.
pub(crate) fn check(directory: &Path) -> Result<Seal, LedgerError> {
    let Some(sealed) = read(directory)? else { return Ok(Seal::Open) };
    if !has_log(directory) && content(directory)? == sealed {
        return Ok(Seal::Whole);
    }
    // A writer may have come meanwhile; it has taken back the seal before it changed anything.
    match read(directory)? == Some(sealed) {
        true => Err(LedgerError::broken(directory)(Break::Bytes)),
        false => Ok(Seal::Open),
    }
}

/// A seal that was taken off.
pub(crate) struct TakenOff(Option<Content>);

/// Takes the seal back, durably: from now on the database may change.
pub(crate) fn take_off(directory: &Path) -> Result<TakenOff, LedgerError> {
    let sealed = read(directory)?;
    write(directory, &line(OPENED, NOTHING))?;
    sync_directory(directory)?;
    Ok(TakenOff(sealed))
}

impl TakenOff {
    /// Puts it on again, if nothing was changed meanwhile.
    pub(crate) fn put_back(self, directory: &Path) {
        let Some(sealed) = self.0.filter(|_| !has_log(directory)) else { return };
        if content(directory).is_ok_and(|content| content == sealed) {
            // Whoever comes next is told why it could not be opened, and that it is open.
            let _is_sealed = write(directory, &line(SEALED, sealed));
        }
    }
}

/// Whether the log of a database has anything in it.
pub(crate) fn has_log(directory: &Path) -> bool {
    std::fs::metadata(directory.join(LOG_NAME)).is_ok_and(|log| log.len() > 0)
}

/// Seals a database that is closed and has all of its events. One that another program still reads
/// keeps events in its log, and stays open.
pub(crate) fn put_on(directory: &Path) -> Result<(), LedgerError> {
    if has_log(directory) {
        return Ok(());
    }
    let content = content(directory)?;
    write(directory, &line(SEALED, content))
}

fn write(directory: &Path, line: &str) -> Result<(), LedgerError> {
    let path = directory.join(SEAL_NAME);
    let written = || -> std::io::Result<()> {
        let file = File::options().write(true).create(true).truncate(false).open(&path)?;
        file.write_all_at(line.as_bytes(), 0)?;
        file.sync_all()
    };
    written().map_err(LedgerError::io(&path, "write"))
}

/// The content that was sealed, if it is sealed. A ledger of an earlier Assay never was.
fn read(directory: &Path) -> Result<Option<Content>, LedgerError> {
    let path = directory.join(SEAL_NAME);
    match std::fs::read(&path) {
        Ok(bytes) => parse(&bytes).map_err(LedgerError::broken(directory)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(LedgerError::io(&path, "read")(error)),
    }
}

fn line(state: &str, content: Content) -> String {
    format!("{state} {:0LENGTH_DIGITS$} {}\n", content.bytes, content.sha256)
}

fn parse(bytes: &[u8]) -> Result<Option<Content>, Break> {
    // A writer that was killed as it made the file.
    if bytes.is_empty() {
        return Ok(None);
    }
    let content = || {
        let text = std::str::from_utf8(bytes).ok()?;
        let (state, rest) = text.strip_suffix('\n')?.split_once(' ')?;
        let (length, hash) = rest.split_once(' ')?;
        let content = Content { bytes: length.parse().ok()?, sha256: hash.parse().ok()? };
        match state {
            SEALED => (line(SEALED, content) == text).then_some(Some(content)),
            OPENED => (line(OPENED, NOTHING) == text).then_some(None),
            _ => None,
        }
    };
    content().ok_or(Break::Seal)
}

fn content(directory: &Path) -> Result<Content, LedgerError> {
    let path = directory.join(DATABASE_NAME);
    let hashed = || -> std::io::Result<Content> {
        let mut file = File::open(&path)?;
        let (mut hasher, mut chunk) = (Sha256::new(), vec![0; CHUNK_BYTES]);
        let mut bytes = 0;
        loop {
            match file.read(&mut chunk)? {
                0 => return Ok(Content { bytes, sha256: Digest::finish(hasher) }),
                read => {
                    hasher.update(&chunk[..read]);
                    bytes += read as u64;
                }
            }
        }
    };
    hashed().map_err(LedgerError::io(&path, "read"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_byte_of_a_seal_can_be_another() {
        let content = Content { bytes: 8192, sha256: Digest::of(b"x") };
        let (sealed, opened) = (line(SEALED, content), line(OPENED, NOTHING));
        assert_eq!(parse(sealed.as_bytes()), Ok(Some(content)));
        assert_eq!(parse(opened.as_bytes()), Ok(None));
        assert_eq!(sealed.len(), opened.len(), "written over each other");
        for (at, mask) in (0..opened.len()).flat_map(|at| (1..=255).map(move |mask| (at, mask))) {
            let mut changed = opened.clone().into_bytes();
            changed[at] ^= mask;
            assert_eq!(parse(&changed), Err(Break::Seal), "{at} {mask}");
            let mut changed = sealed.clone().into_bytes();
            changed[at] ^= mask;
            assert_ne!(parse(&changed), Ok(Some(content)), "{at} {mask}");
            assert_ne!(parse(&changed), Ok(None), "{at} {mask}");
        }
    }
}
