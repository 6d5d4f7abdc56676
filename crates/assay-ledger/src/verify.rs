//! Is this still what was written? Asked offline, of a directory, by whoever wants to know.

use crate::blobs::Blobs;
use crate::digest::Digest;
use crate::error::LedgerError;
use crate::event::Entry;
use crate::head;
use crate::header;
use crate::ledger::{check_blobs, check_head, hash_at};
use crate::reader::Reader;
use crate::seal::{self, Seal};
use std::collections::BTreeSet;
use std::path::Path;

/// What was found to be as it was written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Verified {
    /// Events in the chain.
    pub events: u64,
    /// The hash of the last, or [`Digest::ZERO`]: it stands for all of them.
    pub head: Digest,
    /// Blobs that events name.
    pub blobs: u64,
    /// Blobs that no event names, as a writer leaves them that was killed before it appended.
    pub unnamed_blobs: u64,
    /// Whether every byte of the database counts, or what the events say alone.
    pub seal: Seal,
    /// The events, to be asked further.
    pub entries: Vec<Entry>,
}

/// Reads all of a ledger, pages, chain, blobs and seal, and says where it is broken first. Changes
/// nothing, and needs no lock: what a writer appends meanwhile is not looked at.
///
/// # Errors
/// [`LedgerError::Broken`] if it is not what was written; else if it cannot be read.
pub fn verify(directory: &Path) -> Result<Verified, LedgerError> {
    // A number in the header that says "newer" may be a byte that was changed: the seal knows, or
    // the rest of the header.
    let damage = || {
        let header = || header::check(directory, head::read(directory).ok()?.as_ref()).err();
        let found = seal::check(directory).err().or_else(header);
        found.filter(|error| matches!(error, LedgerError::Broken { .. }))
    };
    examine(directory).map_err(|error| match error {
        LedgerError::Broken { .. } => error,
        other => damage().unwrap_or(other),
    })
}

fn examine(directory: &Path) -> Result<Verified, LedgerError> {
    let broken = || LedgerError::broken(directory);
    // Before the events: a writer notes an event after it has appended it.
    let noted = head::read(directory)?;
    let mut reader = Reader::open(directory)?;
    reader.check_integrity()?;
    let entries = reader.more()?;
    let tip = reader.tip();
    check_head(noted.clone(), tip, |seq| hash_at(&entries, seq)).map_err(broken())?;
    let blobs = Blobs::of(directory);
    check_blobs(&blobs, &entries, directory)?;
    let named = entries.iter().flat_map(|entry| &entry.blobs).map(|blob| blob.sha256);
    let named: BTreeSet<Digest> = named.collect();
    let mut unnamed_blobs = 0;
    for sha256 in blobs.all()? {
        blobs.check(sha256)?;
        unnamed_blobs += u64::from(!named.contains(&sha256));
    }
    // Last: what stands above says more exactly what is wrong.
    let seal = seal::check(directory)?;
    if seal == Seal::Open {
        header::check(directory, noted.as_ref())?;
    }
    let (events, head) = (tip.seq.0, tip.hash);
    Ok(Verified { events, head, blobs: named.len() as u64, unnamed_blobs, seal, entries })
}
