//! What a node keeps on disk, and how it survives `kill -9` at any moment.
//!
//! A data directory holds four files:
//! - `node.json`: whose directory this is ([`directory`]).
//! - `lock`: held while the node runs, so that two processes never write the same log.
//! - `log`: votes and entries, appended and synced before anybody is told ([`log_file`]).
//! - `snapshot`: the state as of some entry, replaced whole or not at all ([`snapshot_file`]).
//!
//! Both data files are made of checksummed [`record`]s. The state machine itself lives in memory;
//! at start it is the snapshot, and the log brings it up to date.

#[cfg(test)]
mod conformance;
pub mod directory;
pub mod log_file;
mod log_store;
mod machine;
pub mod record;
pub mod snapshot_file;

pub use log_file::Durability;
pub(crate) use log_store::LogStore;
pub(crate) use machine::Machine;

use std::path::{Path, PathBuf};

/// Why a data directory cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StorageTrouble {
    /// The file system said no.
    #[error("{path}: cannot {doing}: {source}")]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// What was tried.
        doing: &'static str,
        /// Why it did not work.
        source: std::io::Error,
    },
    /// A file is damaged where no crash can damage it.
    #[error(
        "{path}: corrupt at byte {offset}: {what}. A crash does not do this: restore the directory \
         from a copy, or empty it and let the other nodes send the data again"
    )]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// Where the damage begins.
        offset: usize,
        /// What is wrong there.
        what: String,
    },
    /// The directory belongs to another node or cluster.
    #[error("{path}: {what}")]
    Foreign {
        /// The directory.
        path: PathBuf,
        /// Whose it is, and whose it should be.
        what: String,
    },
    /// Another process uses the directory.
    #[error(
        "{path}: another process uses this data directory; stop it, or name another with --data"
    )]
    Held {
        /// The directory.
        path: PathBuf,
    },
}

impl StorageTrouble {
    fn io(
        path: &Path,
        doing: &'static str,
    ) -> impl FnOnce(std::io::Error) -> StorageTrouble + use<> {
        let path = path.to_path_buf();
        move |source| StorageTrouble::Io { path, doing, source }
    }
}
