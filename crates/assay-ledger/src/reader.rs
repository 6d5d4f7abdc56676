//! Reading while somebody else may be writing.

use crate::blobs::Blobs;
use crate::chain::Tip;
use crate::digest::Digest;
use crate::error::{Break, LedgerError};
use crate::event::Entry;
use crate::head;
use crate::store::{Access, DATABASE_NAME, Store};
use std::path::{Path, PathBuf};
use tokio::runtime::Runtime;

/// A ledger, to be read. Needs no lock and changes nothing; what a writer appends meanwhile is seen
/// by the next call.
#[derive(Debug)]
pub struct Reader {
    directory: PathBuf,
    runtime: Runtime,
    /// There until it is dropped.
    store: Option<Store>,
    tip: Tip,
}

impl Reader {
    /// Opens the ledger in a directory.
    ///
    /// # Errors
    /// If there is none, or its format is unknown.
    pub fn open(directory: &Path) -> Result<Reader, LedgerError> {
        if !directory.join(DATABASE_NAME).exists() {
            return Err(match head::read(directory)? {
                None => LedgerError::Missing { path: directory.to_path_buf() },
                Some(_) => {
                    let what = format!("{DATABASE_NAME} is not there");
                    LedgerError::broken(directory)(Break::Database { what })
                }
            });
        }
        let runtime = runtime(directory)?;
        let store = runtime.block_on(Store::open(directory, Access::Read))?;
        let store = Some(store);
        Ok(Reader { directory: directory.to_path_buf(), runtime, store, tip: Tip::START })
    }

    /// The events that were not given yet: first all of them, then what is new. Each was checked to
    /// follow the one before.
    ///
    /// # Errors
    /// If it cannot be read, or is broken.
    pub fn more(&mut self) -> Result<Vec<Entry>, LedgerError> {
        let mut entries = Vec::new();
        let store = self.store.as_mut().expect(OPEN);
        self.runtime.block_on(store.read(&mut self.tip, |entry| entries.push(entry)))?;
        Ok(entries)
    }

    /// The content of a blob, if it is still what its name says.
    ///
    /// # Errors
    /// If it is not there, or was changed.
    pub fn blob(&self, sha256: Digest) -> Result<Vec<u8>, LedgerError> {
        Blobs::of(&self.directory).read(sha256)
    }

    pub(crate) fn tip(&self) -> Tip {
        self.tip
    }

    pub(crate) fn check_integrity(&mut self) -> Result<(), LedgerError> {
        self.runtime.block_on(self.store.as_mut().expect(OPEN).check_integrity())
    }
}

/// Why the store is there.
const OPEN: &str = "it is closed when the reader is dropped";

impl Drop for Reader {
    /// Waits until the database is closed: one that is still open while its files are changed would
    /// have the next reader believe what they no longer hold.
    fn drop(&mut self) {
        if let Some(store) = self.store.take() {
            // Nothing was written.
            let _is_closed = self.runtime.block_on(store.close());
        }
    }
}

/// The database speaks to an async library; one thread of it is enough, and it is this one.
pub(crate) fn runtime(directory: &Path) -> Result<Runtime, LedgerError> {
    let built = tokio::runtime::Builder::new_current_thread().enable_time().build();
    built.map_err(LedgerError::io(directory, "start a runtime for"))
}
