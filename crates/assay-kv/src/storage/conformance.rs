//! The library's own tests of what it expects from a storage, run against ours.

use super::log_file::LogFile;
use super::{Durability, LogStore, Machine};
use crate::raft::{NodeId, StorageError, TypeConfig};
use openraft::StorageIOError;
use openraft::testing::{StoreBuilder, Suite};
use tempfile::TempDir;

struct InTemporaryDirectories;

impl StoreBuilder<TypeConfig, LogStore, Machine, TempDir> for InTemporaryDirectories {
    async fn build(&self) -> Result<(TempDir, LogStore, Machine), StorageError> {
        let scratch = tempfile::tempdir().expect("a temporary directory");
        let opened = LogFile::open(scratch.path(), Durability::Synced);
        let (log, _) = opened.map_err(|error| StorageIOError::<NodeId>::read_logs(&error))?;
        let machine = Machine::open(scratch.path());
        let machine = machine.map_err(|error| StorageIOError::<NodeId>::read(&error))?;
        Ok((scratch, LogStore::new(log), machine))
    }
}

#[test]
fn log_and_machine_are_what_raft_expects() {
    Suite::test_all(InTemporaryDirectories).expect("the storage works");
}
