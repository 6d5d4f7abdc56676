//! The library's own tests of what it expects from a storage, run against ours.

use super::log_file::LogFile;
use super::{Durability, LogStore, Machine};
use crate::raft::{NodeId, StorageError, TypeConfig};
use openraft::StorageIOError;
use openraft::testing::{StoreBuilder, Suite};
use std::sync::Arc;
use tempfile::TempDir;

struct InTemporaryDirectories;

impl StoreBuilder<TypeConfig, LogStore, Machine, TempDir> for InTemporaryDirectories {
    async fn build(&self) -> Result<(TempDir, LogStore, Machine), StorageError> {
        let scratch = tempfile::tempdir().expect("a temporary directory");
        let opened = LogFile::open(scratch.path(), Durability::Synced);
        let (log, _) = opened.map_err(|error| StorageIOError::<NodeId>::read_logs(&error))?;
        let machine = Machine::open(scratch.path());
        let machine = machine.map_err(|error| StorageIOError::<NodeId>::read(&error))?;
        Ok((scratch, LogStore::new(log, Arc::default()), machine))
    }
}

type Tests = Suite<TypeConfig, LogStore, Machine, InTemporaryDirectories, TempDir>;

/// Runs tests of the suite at the same time, each in a directory and a runtime of its own.
macro_rules! pass {
    ($($test:ident),* $(,)?) => {
        std::thread::scope(|scope| {
            $(scope.spawn(|| {
                let runtime = tokio::runtime::Runtime::new().expect("a runtime");
                runtime.block_on(async {
                    let built = InTemporaryDirectories.build().await;
                    let (_scratch, log, machine) = built.expect("the storage opens");
                    Tests::$test(log, machine).await.expect(stringify!($test));
                });
            });)*
        });
    };
}

/// Left out are the tests that append with holes or out of order, which Raft never does and our log
/// refuses.
#[test]
fn log_and_machine_are_what_raft_expects() {
    pass!(
        get_initial_state_without_init,
        get_initial_state_with_state,
        get_initial_state_log_ids,
        get_membership_initial,
        save_vote,
        get_log_entries,
        limited_get_log_entries,
        try_get_log_entry,
        initial_logs,
        get_log_state,
        get_log_id,
        last_id_in_log,
        last_applied_state,
        purge_logs_upto_0,
        purge_logs_upto_5,
        purge_logs_upto_20,
        delete_logs_since_11,
        delete_logs_since_0,
        append_to_log,
        snapshot_meta,
        apply_single,
        apply_multiple,
    );
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let transferred = runtime.block_on(Tests::transfer_snapshot(&InTemporaryDirectories));
    transferred.expect("a snapshot goes from one machine to another");
}
