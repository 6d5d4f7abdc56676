//! A database built anew from its events.
//!
//! A writer that is killed leaves no seal: until somebody seals what it left, bytes that hold
//! nothing (pages that the log replaced, free space, counters) can be changed, and nobody could
//! tell. Whoever takes such a record up does not seal them: the events are checked once more and
//! written to a new file, which takes the place of the old one. So every byte of what is sealed
//! follows from an event.

use crate::blobs::sync_directory;
use crate::chain::Tip;
use crate::error::LedgerError;
use crate::ledger::{EVENTS_AT_ONCE_MAX, read_all};
use crate::seal::has_log;
use crate::store::{Access, DATABASE_NAME, Store};
use std::fs;
use std::io;
use std::path::Path;
use tokio::runtime::Runtime;

/// Where the new file grows.
const PLACE_NAME: &str = "anew";

/// Builds the database of a closed ledger anew, if it ends with this event. Whether it was done:
/// one that another program still reads keeps its log, and is left alone.
pub(crate) fn build(directory: &Path, runtime: &Runtime, end: Tip) -> Result<bool, LedgerError> {
    if has_log(directory) {
        return Ok(false);
    }
    let (tip, entries) = runtime.block_on(async {
        let mut store = Store::open(directory, Access::Read).await?;
        let read = read_all(&mut store).await;
        store.close().await?;
        read
    })?;
    if tip != end {
        return Ok(false);
    }
    let place = directory.join(PLACE_NAME);
    clear(directory)?;
    fs::create_dir(&place).map_err(LedgerError::io(&place, "make"))?;
    runtime.block_on(async {
        let mut store = Store::open(&place, Access::Write).await?;
        for some in entries.chunks(EVENTS_AT_ONCE_MAX) {
            store.append(some).await?;
        }
        store.close().await
    })?;
    let (new, old) = (place.join(DATABASE_NAME), directory.join(DATABASE_NAME));
    let synced = fs::File::open(&new).and_then(|file| file.sync_all());
    synced.map_err(LedgerError::io(&new, "sync"))?;
    // Before this the old file is there, after it the new one; both have all events and no log.
    if has_log(directory) || has_log(&place) {
        return Ok(false);
    }
    fs::rename(&new, &old).map_err(LedgerError::io(&old, "replace"))?;
    sync_directory(directory)?;
    clear(directory)?;
    Ok(true)
}

/// Removes what a writer left that was killed meanwhile.
pub(crate) fn clear(directory: &Path) -> Result<(), LedgerError> {
    let place = directory.join(PLACE_NAME);
    match fs::remove_dir_all(&place) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(LedgerError::io(&place, "clear")(error))
        }
        _ => Ok(()),
    }
}
