//! The log file: votes and entries in the order they were promised.
//!
//! Nothing is ever changed in place. A vote replaces the vote before it, a cut takes entries off
//! the end, and only a purge writes the file anew. The entries are in memory as well: after a purge
//! few are left, and peers that catch up read them from there.

use super::StorageTrouble;
use super::directory::replace;
use super::record::{Next, encode, next};
use crate::raft::{Entry, LogId, Vote};
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::ops::RangeBounds;
use std::path::{Path, PathBuf};

const MAGIC: &[u8] = b"assay-kv log 1\n";

/// Kinds of records.
mod kind {
    pub const VOTE: u8 = 1;
    pub const ENTRY: u8 = 2;
    /// All entries from this index on are gone.
    pub const CUT: u8 = 3;
    /// All entries up to this one are in a snapshot.
    pub const PURGED: u8 = 4;
}

/// Whether what was promised is on disk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Durability {
    /// Synced before anybody is told.
    Synced,
    /// The defect `forget-on-restart`: written when the node stops cleanly, and only then.
    Forgetful,
}

/// An open log.
#[derive(Debug)]
pub struct LogFile {
    path: PathBuf,
    file: File,
    durability: Durability,
    vote: Option<Vote>,
    purged: Option<LogId>,
    entries: BTreeMap<u64, Entry>,
}

impl LogFile {
    /// Opens or makes the log in `directory`; also says how many torn bytes were cut off.
    pub fn open(
        directory: &Path,
        durability: Durability,
    ) -> Result<(LogFile, usize), StorageTrouble> {
        let path = directory.join("log");
        if !path.exists() {
            replace(&path, MAGIC)?;
        }
        let bytes = std::fs::read(&path).map_err(StorageTrouble::io(&path, "read"))?;
        let file = OpenOptions::new().write(true).open(&path);
        let file = file.map_err(StorageTrouble::io(&path, "open"))?;
        let (vote, purged, entries) = (None, None, BTreeMap::new());
        let mut log = LogFile { path, file, durability, vote, purged, entries };
        let whole = log.replay(&bytes)?;
        let torn = bytes.len() - whole;
        let cut = |file: &mut File| {
            if torn > 0 {
                file.set_len(whole as u64)?;
                file.sync_all()?;
            }
            file.seek(SeekFrom::End(0))
        };
        cut(&mut log.file).map_err(StorageTrouble::io(&log.path, "cut a torn record off"))?;
        Ok((log, torn))
    }

    /// Reads the records; gives the length of the part that is whole.
    fn replay(&mut self, bytes: &[u8]) -> Result<usize, StorageTrouble> {
        if !bytes.starts_with(MAGIC) {
            return Err(self.corrupt(0, "this is not a log of assay-kv"));
        }
        let mut offset = MAGIC.len();
        loop {
            match next(&bytes[offset..]) {
                Next::Record { kind, payload, bytes } => {
                    self.replay_record(kind, payload).map_err(|what| self.corrupt(offset, what))?;
                    offset += bytes;
                }
                Next::End | Next::Torn => return Ok(offset),
                Next::Corrupt => {
                    return Err(self.corrupt(offset, "a record does not have its checksum"));
                }
            }
        }
    }

    fn replay_record(&mut self, kind: u8, payload: &[u8]) -> Result<(), String> {
        match kind {
            kind::VOTE => self.vote = Some(decode(payload)?),
            kind::ENTRY => self.push(decode(payload)?)?,
            kind::CUT => drop(self.entries.split_off(&decode(payload)?)),
            kind::PURGED => self.forget_up_to(decode(payload)?),
            other => return Err(format!("there is no record of kind {other}")),
        }
        Ok(())
    }

    fn push(&mut self, entry: Entry) -> Result<(), String> {
        let index = entry.log_id.index;
        if let Some(last) = self.last()
            && index != last.index + 1
        {
            return Err(format!("entry {index} follows entry {}", last.index));
        }
        self.entries.insert(index, entry);
        Ok(())
    }

    fn forget_up_to(&mut self, upto: LogId) {
        self.entries = self.entries.split_off(&(upto.index + 1));
        self.purged = self.purged.max(Some(upto));
    }

    /// The last vote.
    pub fn vote(&self) -> Option<Vote> {
        self.vote
    }

    /// The last entry that a purge took away.
    pub fn purged(&self) -> Option<LogId> {
        self.purged
    }

    /// The last entry there is or was.
    pub fn last(&self) -> Option<LogId> {
        self.entries.values().next_back().map(|entry| entry.log_id).or(self.purged)
    }

    /// The entries of a range, as far as they are there.
    pub fn range(&self, range: impl RangeBounds<u64>) -> Vec<Entry> {
        self.entries.range(range).map(|(_, entry)| entry.clone()).collect()
    }

    /// Keeps a vote. It is on disk when this returns.
    pub fn save_vote(&mut self, vote: &Vote) -> Result<(), StorageTrouble> {
        self.vote = Some(*vote);
        self.write(&record(kind::VOTE, vote))
    }

    /// Keeps entries. They are on disk when this returns.
    pub fn append(
        &mut self,
        entries: impl IntoIterator<Item = Entry>,
    ) -> Result<(), StorageTrouble> {
        let mut bytes = Vec::new();
        for entry in entries {
            bytes.extend(record(kind::ENTRY, &entry));
            self.push(entry).expect("Raft appends without holes");
        }
        self.write(&bytes)
    }

    /// Takes the entries from `index` on off the end.
    pub fn cut(&mut self, index: u64) -> Result<(), StorageTrouble> {
        self.entries.split_off(&index);
        self.write(&record(kind::CUT, &index))
    }

    /// Forgets the entries up to `upto`, which a snapshot holds.
    pub fn purge(&mut self, upto: LogId) -> Result<(), StorageTrouble> {
        self.forget_up_to(upto);
        match self.durability {
            Durability::Synced => self.rewrite(),
            Durability::Forgetful => Ok(()),
        }
    }

    /// A clean stop.
    pub fn close(&mut self) -> Result<(), StorageTrouble> {
        match self.durability {
            Durability::Synced => Ok(()),
            Durability::Forgetful => self.rewrite(),
        }
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), StorageTrouble> {
        // The hook of `forget-on-restart`.
        if self.durability == Durability::Forgetful {
            return Ok(());
        }
        let written = self.file.write_all(bytes).and_then(|()| self.file.sync_data());
        written.map_err(StorageTrouble::io(&self.path, "append"))
    }

    fn rewrite(&mut self) -> Result<(), StorageTrouble> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(self.vote.iter().flat_map(|vote| record(kind::VOTE, vote)));
        bytes.extend(self.purged.iter().flat_map(|purged| record(kind::PURGED, purged)));
        bytes.extend(self.entries.values().flat_map(|entry| record(kind::ENTRY, entry)));
        replace(&self.path, &bytes)?;
        let file = OpenOptions::new().append(true).open(&self.path);
        self.file = file.map_err(StorageTrouble::io(&self.path, "open"))?;
        Ok(())
    }

    fn corrupt(&self, offset: usize, what: impl Into<String>) -> StorageTrouble {
        StorageTrouble::Corrupt { path: self.path.clone(), offset, what: what.into() }
    }
}

fn record(kind: u8, value: &impl serde::Serialize) -> Vec<u8> {
    encode(kind, &serde_json::to_vec(value).expect("records are plain data with string keys"))
}

fn decode<T: DeserializeOwned>(payload: &[u8]) -> Result<T, String> {
    serde_json::from_slice(payload).map_err(|error| format!("a record cannot be read: {error}"))
}

#[cfg(test)]
mod tests;
