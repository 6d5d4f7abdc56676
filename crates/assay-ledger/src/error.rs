//! What can go wrong: a bad event, a record that was changed, a world that says no.

use crate::digest::Digest;
use crate::event::{KIND_BYTES_MAX, PAYLOAD_BYTES_MAX, Seq};
use crate::lock::LockError;
use crate::store::FORMAT_VERSION;
use std::io;
use std::path::{Path, PathBuf};

/// Why something cannot be an event.
#[derive(Debug, thiserror::Error)]
pub enum EventError {
    /// Not the name of a kind.
    #[error(
        "`{kind}` cannot be the kind of an event: 1 to {KIND_BYTES_MAX} letters, digits, `.`, `_` \
         and `-` can"
    )]
    Kind {
        /// Its beginning.
        kind: String,
    },
    /// Cannot be written as JSON.
    #[error("the payload of `{kind}` cannot be written as JSON: {source}")]
    Payload {
        /// The kind.
        kind: String,
        /// Why not.
        source: serde_json::Error,
    },
    /// Nested too deeply.
    #[error("the payload of `{kind}` is nested too deeply to be written down")]
    Nesting {
        /// The kind.
        kind: String,
    },
    /// Too large.
    #[error(
        "the payload of `{kind}` has {bytes} bytes, more than {PAYLOAD_BYTES_MAX}: put what is \
         large in a blob and name it"
    )]
    Size {
        /// The kind.
        kind: String,
        /// How large.
        bytes: usize,
    },
}

/// The first place where a record is not what was written.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Break {
    /// The database is damaged as a file.
    #[error("the database is damaged: {what}")]
    Database {
        /// What SQLite says.
        what: String,
    },
    /// Tables or triggers are not those that were made.
    #[error("the tables of the database are not those of a ledger: {what}")]
    Schema {
        /// What is different.
        what: String,
    },
    /// Events are missing or doubled.
    #[error("event {expected} is not there: the next one is {found}")]
    Gap {
        /// The place that is empty.
        expected: Seq,
        /// What comes instead.
        found: i64,
    },
    /// A field cannot be read.
    #[error("event {seq} cannot be read: {what}")]
    Row {
        /// Which event.
        seq: Seq,
        /// Which field, and why.
        what: String,
    },
    /// It does not follow what stands before it.
    #[error("event {seq} does not follow the one before it: it names another hash")]
    Link {
        /// Which event.
        seq: Seq,
    },
    /// It is not what was hashed.
    #[error("event {seq} is not what was written: its hash is another")]
    Hash {
        /// Which event.
        seq: Seq,
    },
    /// Events at the end are gone.
    #[error("event {acknowledged} was acknowledged, and the chain ends at {found}")]
    Cut {
        /// The last that was there once.
        acknowledged: Seq,
        /// The last that is there now.
        found: Seq,
    },
    /// The file `head` does not agree.
    #[error("the file `head` {what}")]
    Head {
        /// What is wrong with it.
        what: String,
    },
    /// A byte of the database is another, where no event stands.
    #[error(
        "the database is not, byte by byte, what was put away: a place that holds no event changed"
    )]
    Bytes,
    /// The file `seal` is neither of what a writer writes.
    #[error("the file `seal` cannot be read")]
    Seal,
    /// A blob is gone.
    #[error("the blob {sha256}, which event {seq} names, is not there")]
    BlobMissing {
        /// Who names it.
        seq: Seq,
        /// Which blob.
        sha256: Digest,
    },
    /// A blob is not what was written.
    #[error("the blob {sha256} is not what was written")]
    BlobChanged {
        /// Which blob.
        sha256: Digest,
    },
    /// Something among the blobs is none.
    #[error("`{name}` stands among the blobs and is none")]
    Stranger {
        /// Its name.
        name: String,
    },
}

/// Why a ledger cannot be opened, read or written.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// Somebody else writes, or the lock cannot be had.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// Not what was written. Nothing may be built on it.
    #[error(
        "{}: broken: {broken}. Nothing is appended to it; restore the directory from a copy, or \
         move it away and begin anew", path.display()
    )]
    Broken {
        /// The directory.
        path: PathBuf,
        /// Where it is broken first.
        broken: Break,
    },
    /// There is none.
    #[error("{}: there is no ledger here", path.display())]
    Missing {
        /// The directory.
        path: PathBuf,
    },
    /// Another program's database.
    #[error("{}: is not a ledger (its application id is {application_id})", path.display())]
    Foreign {
        /// The database.
        path: PathBuf,
        /// Who it says it belongs to.
        application_id: i64,
    },
    /// Written by a later Assay.
    #[error(
        "{}: has format {found}, and this Assay knows up to {FORMAT_VERSION}: use a newer one",
        path.display()
    )]
    Newer {
        /// The database.
        path: PathBuf,
        /// Its format.
        found: i64,
    },
    /// An event that cannot be.
    #[error(transparent)]
    Event(#[from] EventError),
    /// An event names a blob that was not put.
    #[error("an event of kind `{kind}` names the blob {sha256}, which is not here: put it first")]
    UnknownBlob {
        /// The kind of event.
        kind: String,
        /// The blob.
        sha256: Digest,
    },
    /// Too much for one event or one call.
    #[error("{what}: {count}, at most {max} are allowed")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many.
        count: u64,
        /// How many may be.
        max: u64,
    },
    /// A write failed before; what is on disk is known only after opening again.
    #[error("{}: an earlier write failed; open the ledger again to go on", path.display())]
    Stopped {
        /// The directory.
        path: PathBuf,
    },
    /// The file system said no.
    #[error("{}: cannot {doing}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What was tried.
        doing: &'static str,
        /// Why not.
        source: io::Error,
    },
    /// The database said no.
    #[error("{}: cannot {doing}: {source}", path.display())]
    Database {
        /// The database.
        path: PathBuf,
        /// What was tried.
        doing: &'static str,
        /// Why not.
        source: sqlx::Error,
    },
}

impl LedgerError {
    pub(crate) fn io(path: &Path, doing: &'static str) -> impl FnOnce(io::Error) -> LedgerError {
        move |source| LedgerError::Io { path: path.to_path_buf(), doing, source }
    }

    pub(crate) fn broken(path: &Path) -> impl FnOnce(Break) -> LedgerError {
        move |broken| LedgerError::Broken { path: path.to_path_buf(), broken }
    }
}
