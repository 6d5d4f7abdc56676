//! The writer.

use crate::anew;
use crate::blobs::{BlobRef, Blobs, sync_directory};
use crate::chain::Tip;
use crate::digest::Digest;
use crate::error::{Break, LedgerError};
use crate::event::{BLOBS_MAX, Entry, NewEvent, Seq, UnixMillis};
use crate::head::{self, Head};
use crate::header;
use crate::lock::Lock;
use crate::reader::runtime;
use crate::seal::{self, Seal};
use crate::store::{Access, DATABASE_NAME, Store};
use crate::verify::verify;
use std::io::Read;
use std::path::{Path, PathBuf};
use tokio::runtime::Runtime;

/// Events that one call may append.
pub const EVENTS_AT_ONCE_MAX: usize = 1000;
const LOCK_NAME: &str = "lock";

/// A ledger, to be written. There is one writer at a time.
#[derive(Debug)]
pub struct Ledger {
    directory: PathBuf,
    runtime: Runtime,
    /// `None` only while it is dropped.
    store: Option<Store>,
    blobs: Blobs,
    head: Head,
    tip: Tip,
    state: State,
    /// It was taken up without a seal.
    unsealed: bool,
    /// Given up last, after the database was closed.
    _lock: Lock,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Good,
    /// A write failed: whether it is on disk is not known here.
    Stopped,
}

/// A ledger that was opened, and all that stands in it.
#[derive(Debug)]
pub struct Opened {
    /// To go on writing.
    pub ledger: Ledger,
    /// The events so far, each checked to follow the one before.
    pub entries: Vec<Entry>,
}

impl Ledger {
    /// Opens the ledger in a directory, and makes it if there is none. The whole chain is checked,
    /// and that every blob is there and has its length; their content is left to
    /// [`verify`](crate::verify) and to [`Ledger::blob`].
    ///
    /// # Errors
    /// [`LedgerError::Lock`] if somebody else writes, [`LedgerError::Broken`] if the record is not
    /// what was written, [`LedgerError::Newer`] if it is of a later Assay; or the file system.
    pub fn open(directory: &Path) -> Result<Opened, LedgerError> {
        std::fs::create_dir_all(directory).map_err(LedgerError::io(directory, "make"))?;
        let lock = Lock::take(&directory.join(LOCK_NAME))?;
        let blobs = Blobs::of(directory);
        blobs.prepare()?;
        anew::clear(directory)?;
        let is_new = !directory.join(DATABASE_NAME).exists();
        let noted = noted_or_new(directory)?;
        let runtime = runtime(directory)?;
        // All of it says where it is broken; the seal alone says only that it is.
        let sealed =
            seal::check(directory).map_err(|error| verify(directory).err().unwrap_or(error))?;
        let check = |tip: Tip, entries: &[Entry]| {
            check_head(noted.clone(), tip, |seq| hash_at(entries, seq))
                .map_err(LedgerError::broken(directory))?;
            check_blobs(&blobs, entries, directory)
        };
        // What is sealed stays sealed unless it can be written: everything is looked at before.
        let before = match sealed {
            Seal::Whole => {
                let mut store = runtime.block_on(Store::open(directory, Access::Read))?;
                let read = runtime.block_on(read_all(&mut store));
                runtime.block_on(store.close())?;
                let (tip, entries) = read?;
                check(tip, &entries)?;
                Some((tip, entries))
            }
            Seal::Open => {
                header::check(directory, noted.as_ref())?;
                None
            }
        };
        let unsealed = sealed == Seal::Open && !is_new;
        // Before the database is opened to write: whoever closes it may move its log.
        let taken_off = seal::take_off(directory)?;
        let written = || -> Result<(Store, Tip, Vec<Entry>, Head), LedgerError> {
            let mut store = runtime.block_on(Store::open(directory, Access::Write))?;
            sync_directory(directory)?;
            // Nobody else has written since.
            let (tip, entries) = match before {
                Some(before) => before,
                None => {
                    let (tip, entries) = runtime.block_on(read_all(&mut store))?;
                    check(tip, &entries)?;
                    (tip, entries)
                }
            };
            let head = Head::open(directory)?;
            head.note(directory, tip)?;
            head.sync(directory)?;
            Ok((store, tip, entries, head))
        };
        let (store, tip, entries, head) = match written() {
            Ok(opened) => opened,
            Err(error) => {
                taken_off.put_back(directory);
                return Err(error);
            }
        };
        let (store, state) = (Some(store), State::Good);
        let directory = directory.to_path_buf();
        let ledger =
            Ledger { directory, runtime, store, blobs, head, tip, state, unsealed, _lock: lock };
        Ok(Opened { ledger, entries })
    }

    /// Appends one event. It is durable when this returns.
    ///
    /// # Errors
    /// If a blob it names was not put, or it cannot be written; then nothing was appended that will
    /// be acknowledged, and the ledger has to be opened again.
    pub fn append(&mut self, at: UnixMillis, event: NewEvent) -> Result<Seq, LedgerError> {
        self.append_all(at, vec![event])
    }

    /// Appends several events, all or none of them; gives the place of the last. No events are no
    /// mistake: then it is the last there was.
    ///
    /// # Errors
    /// As [`Ledger::append`].
    pub fn append_all(
        &mut self,
        at: UnixMillis,
        events: Vec<NewEvent>,
    ) -> Result<Seq, LedgerError> {
        if self.state == State::Stopped {
            return Err(LedgerError::Stopped { path: self.directory.clone() });
        }
        self.check_events(&events)?;
        let (mut tip, mut entries) = (self.tip, Vec::with_capacity(events.len()));
        for event in events {
            let entry = Entry::link(Seq(tip.seq.0 + 1), tip.hash, at, event);
            tip = Tip { seq: entry.seq, hash: entry.hash };
            entries.push(entry);
        }
        if entries.is_empty() {
            return Ok(tip.seq);
        }
        // Stopped until it is known to be durable and noted.
        self.state = State::Stopped;
        let store = self.store.as_mut().expect("a ledger that is not being dropped has a store");
        self.runtime.block_on(store.append(&entries))?;
        self.head.note(&self.directory, tip)?;
        self.tip = tip;
        self.state = State::Good;
        Ok(tip.seq)
    }

    /// Puts evidence beside the events, for events to name. It is durable when this returns; the
    /// same content again is the same blob.
    ///
    /// # Errors
    /// If it is longer than [`BLOB_BYTES_MAX`](crate::BLOB_BYTES_MAX), or cannot be written.
    pub fn put_blob(&mut self, content: impl Read) -> Result<BlobRef, LedgerError> {
        self.blobs.put(content)
    }

    /// The content of a blob, if it is still what its name says.
    ///
    /// # Errors
    /// If it is not there, or was changed.
    pub fn blob(&self, sha256: Digest) -> Result<Vec<u8>, LedgerError> {
        self.blobs.read(sha256)
    }

    /// The last event: its place (0 if there is none) and its hash.
    pub fn last(&self) -> (Seq, Digest) {
        (self.tip.seq, self.tip.hash)
    }

    /// Where it is.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    fn check_events(&self, events: &[NewEvent]) -> Result<(), LedgerError> {
        let limit = |what, count: usize, max: usize| match count > max {
            true => Err(LedgerError::TooMany { what, count: count as u64, max: max as u64 }),
            false => Ok(()),
        };
        limit("events appended at once", events.len(), EVENTS_AT_ONCE_MAX)?;
        for event in events {
            limit("blobs of one event", event.blobs.len(), BLOBS_MAX)?;
            for blob in &event.blobs {
                if self.blobs.length(blob.sha256)? != Some(blob.bytes) {
                    let (kind, sha256) = (event.kind.clone(), blob.sha256);
                    return Err(LedgerError::UnknownBlob { kind, sha256 });
                }
            }
        }
        Ok(())
    }
}

impl Drop for Ledger {
    fn drop(&mut self) {
        let Some(store) = self.store.take() else { return };
        let closed = self.runtime.block_on(store.close());
        if closed.is_err() || self.state != State::Good {
            return;
        }
        let built = || anew::build(&self.directory, &self.runtime, self.tip);
        if !self.unsealed || matches!(built(), Ok(true)) {
            // What was acknowledged is durable already; without a seal it is open, which is true.
            let _is_sealed = seal::put_on(&self.directory);
        }
    }
}

pub(crate) async fn read_all(store: &mut Store) -> Result<(Tip, Vec<Entry>), LedgerError> {
    let (mut tip, mut entries) = (Tip::START, Vec::new());
    store.read(&mut tip, |entry| entries.push(entry)).await?;
    Ok((tip, entries))
}

/// What `head` says. A ledger begins with it: so a database without one has lost it, and one
/// without a database that is said to have events has lost those.
fn noted_or_new(directory: &Path) -> Result<Option<Result<Tip, Break>>, LedgerError> {
    let noted = head::read(directory)?;
    if directory.join(DATABASE_NAME).exists() {
        return Ok(noted);
    }
    match noted {
        Some(Ok(tip)) if tip != Tip::START => {
            let broken = Break::Cut { acknowledged: tip.seq, found: Seq(0) };
            Err(LedgerError::broken(directory)(broken))
        }
        _ => {
            let head = Head::open(directory)?;
            head.note(directory, Tip::START)?;
            head.sync(directory)?;
            sync_directory(directory)?;
            Ok(Some(Ok(Tip::START)))
        }
    }
}

/// Whether the chain still has the event that was noted last.
pub(crate) fn check_head(
    noted: Option<Result<Tip, Break>>,
    tip: Tip,
    hash_at: impl Fn(Seq) -> Option<Digest>,
) -> Result<(), Break> {
    let missing = || Break::Head { what: "is not there".to_string() };
    let noted = noted.ok_or_else(missing)??;
    match hash_at(noted.seq) {
        None => Err(Break::Cut { acknowledged: noted.seq, found: tip.seq }),
        Some(hash) if hash == noted.hash => Ok(()),
        Some(_) => Err(Break::Head { what: format!("names another hash for event {}", noted.seq) }),
    }
}

/// The hash of an event; of what is before the first, too.
pub(crate) fn hash_at(entries: &[Entry], seq: Seq) -> Option<Digest> {
    match usize::try_from(seq.0).ok()? {
        0 => Some(Digest::ZERO),
        place => entries.get(place - 1).map(|entry| entry.hash),
    }
}

/// Whether every blob is there and has its length.
pub(crate) fn check_blobs(
    blobs: &Blobs,
    entries: &[Entry],
    directory: &Path,
) -> Result<(), LedgerError> {
    for entry in entries {
        for blob in &entry.blobs {
            let broken = match blobs.length(blob.sha256)? {
                Some(bytes) if bytes == blob.bytes => continue,
                Some(_) => Break::BlobChanged { sha256: blob.sha256 },
                None => Break::BlobMissing { seq: entry.seq, sha256: blob.sha256 },
            };
            return Err(LedgerError::broken(directory)(broken));
        }
    }
    Ok(())
}
