//! The first bytes of the database, as far as they are always the same.
//!
//! SQLite reads them and believes most of them. A record that is not sealed has nothing else that
//! says what they were.

use crate::chain::Tip;
use crate::error::{Break, LedgerError};
use crate::store::{APPLICATION_ID, DATABASE_NAME};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// How long the header is.
const HEADER_BYTES: usize = 100;
/// Places in the header and what stands there: how SQLite writes any database of ours.
const FIXED: [(usize, &[u8]); 6] = [
    (0, b"SQLite format 3\0"),
    // Pages of 4096 bytes, a write-ahead log, nothing reserved, and three constants.
    (16, &[0x10, 0, 2, 2, 0, 64, 32, 32]),
    (44, &[0; 3]),
    // Neither a size of the cache nor vacuuming.
    (48, &[0; 11]),
    (64, &[0, 0, 0, 0]),
    (72, &[0; 20]),
];
/// The format of the tables and the encoding of text, which are zero until there is a table: a
/// first page that its log replaces may be from before that.
const LATER: [(usize, u8); 2] = [(47, 4), (59, 1)];
/// Where the application id stands.
const ID_PLACE: usize = 68;

/// Whether the file begins as every database of a ledger does that has events; `noted` is what its
/// head says. One without may be half made.
pub(crate) fn check(
    directory: &Path,
    noted: Option<&Result<Tip, Break>>,
) -> Result<(), LedgerError> {
    let has_events = noted.is_some_and(|noted| noted.as_ref().is_ok_and(|tip| *tip != Tip::START));
    if !has_events {
        return Ok(());
    }
    let path = directory.join(DATABASE_NAME);
    let mut header = Vec::new();
    let read =
        File::open(&path).and_then(|file| file.take(HEADER_BYTES as u64).read_to_end(&mut header));
    read.map_err(LedgerError::io(&path, "read"))?;
    let broken = |place: usize| {
        let what = format!("byte {place} of its header is not what SQLite writes for a ledger");
        LedgerError::broken(directory)(Break::Database { what })
    };
    for (place, expected) in FIXED {
        let found = header.get(place..place + expected.len()).unwrap_or_default();
        let differs = expected.iter().enumerate().find(|(at, byte)| found.get(*at) != Some(*byte));
        if let Some((at, _)) = differs {
            return Err(broken(place + at));
        }
    }
    for (place, later) in LATER {
        if !header.get(place).is_some_and(|byte| [0, later].contains(byte)) {
            return Err(broken(place));
        }
    }
    let id = header.get(ID_PLACE..ID_PLACE + 4).unwrap_or_default();
    let ours = i32::try_from(APPLICATION_ID).unwrap_or_default().to_be_bytes();
    if id != ours && id != [0; 4] {
        return Err(broken(ID_PLACE));
    }
    Ok(())
}
