//! The state machine as Raft sees it: applies entries, makes snapshots, takes them in.

use super::StorageTrouble;
use super::snapshot_file::{self, StoredSnapshot};
use crate::raft::{Entry, LogId, SnapshotMeta, StorageError, StoredMembership, TypeConfig};
use crate::state::{Op, Outcome, State};
use openraft::storage::RaftStateMachine;
use openraft::{
    EmptyNode, EntryPayload, OptionalSend, RaftSnapshotBuilder, Snapshot, StorageIOError,
};
use serde_json::{Value, json};
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The applied part of the log.
#[derive(Default, Debug)]
struct Applied {
    last: Option<LogId>,
    membership: StoredMembership,
    state: State,
}

/// The state with its snapshots, shared by Raft and the requests that read.
#[derive(Clone, Debug)]
pub(crate) struct Machine {
    applied: Arc<Mutex<Applied>>,
    /// The last entry of the snapshot on disk.
    saved: Arc<Mutex<Option<LogId>>>,
    directory: PathBuf,
}

impl Machine {
    /// The state of the last snapshot in `directory`, or the empty one.
    pub fn open(directory: &Path) -> Result<Machine, StorageTrouble> {
        let (applied, saved) = (Arc::default(), Arc::default());
        let machine = Machine { applied, saved, directory: directory.to_path_buf() };
        if let Some(StoredSnapshot { meta, state }) = snapshot_file::load(directory)? {
            machine.restore(&meta, &state).map_err(|error| StorageTrouble::Corrupt {
                path: directory.join("snapshot"),
                offset: 0,
                what: format!("the state cannot be read: {error}"),
            })?;
            *machine.saved.lock().unwrap_or_else(PoisonError::into_inner) = meta.last_log_id;
        }
        Ok(machine)
    }

    /// Saves a snapshot unless a newer one is there. One can be under way to disk when a leader
    /// sends a newer one; the log is cut by the newer one, so the older must not replace it.
    fn save(&self, snapshot: &StoredSnapshot) -> Result<(), StorageTrouble> {
        tokio::task::block_in_place(|| {
            let mut saved = self.saved.lock().unwrap_or_else(PoisonError::into_inner);
            if snapshot.meta.last_log_id < *saved {
                return Ok(());
            }
            snapshot_file::save(&self.directory, snapshot)?;
            *saved = snapshot.meta.last_log_id;
            Ok(())
        })
    }

    fn applied(&self) -> MutexGuard<'_, Applied> {
        // A panic while the lock is held ends the node anyway.
        self.applied.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn restore(&self, meta: &SnapshotMeta, state: &[u8]) -> Result<(), serde_json::Error> {
        let state = serde_json::from_slice(state)?;
        let (last, membership) = (meta.last_log_id, meta.last_membership.clone());
        *self.applied() = Applied { last, membership, state };
        Ok(())
    }

    /// Answers a read from what is applied here; with it, the index of the last entry applied.
    pub fn read(&self, op: &Op) -> (Outcome, Option<u64>) {
        let applied = self.applied();
        let voters: Vec<u64> = applied.membership.voter_ids().collect();
        (applied.state.read(op, &voters), applied.last.map(|last| last.index))
    }

    /// Everything that is applied here.
    pub fn dump(&self) -> Value {
        let applied = self.applied();
        json!({ "applied": applied.last.map(|last| last.index), "state": applied.state.dump() })
    }
}

impl RaftStateMachine<TypeConfig> for Machine {
    type SnapshotBuilder = Machine;

    async fn applied_state(&mut self) -> Result<(Option<LogId>, StoredMembership), StorageError> {
        let applied = self.applied();
        Ok((applied.last, applied.membership.clone()))
    }

    async fn apply<I>(&mut self, entries: I) -> Result<Vec<Vec<Outcome>>, StorageError>
    where
        I: IntoIterator<Item = Entry> + OptionalSend,
        I::IntoIter: OptionalSend,
    {
        let mut applied = self.applied();
        let mut outcomes = Vec::new();
        for entry in entries {
            applied.last = Some(entry.log_id);
            outcomes.push(match entry.payload {
                EntryPayload::Blank => Vec::new(),
                EntryPayload::Normal(batch) => applied.state.apply(&batch),
                EntryPayload::Membership(membership) => {
                    applied.membership = StoredMembership::new(Some(entry.log_id), membership);
                    Vec::new()
                }
            });
        }
        Ok(outcomes)
    }

    async fn get_snapshot_builder(&mut self) -> Machine {
        self.clone()
    }

    async fn begin_receiving_snapshot(&mut self) -> Result<Box<Cursor<Vec<u8>>>, StorageError> {
        Ok(Box::default())
    }

    async fn install_snapshot(
        &mut self,
        meta: &openraft::SnapshotMeta<u64, EmptyNode>,
        snapshot: Box<Cursor<Vec<u8>>>,
    ) -> Result<(), StorageError> {
        let stored = StoredSnapshot { meta: meta.clone(), state: snapshot.into_inner() };
        let failed = |error| StorageIOError::read_snapshot(Some(meta.signature()), &error);
        // On disk first: a node that answers from a snapshot must still have it after a crash.
        let saved = self.save(&stored);
        saved.map_err(|error| StorageIOError::write_snapshot(Some(meta.signature()), &error))?;
        self.restore(meta, &stored.state).map_err(failed)?;
        Ok(())
    }

    async fn get_current_snapshot(&mut self) -> Result<Option<Snapshot<TypeConfig>>, StorageError> {
        let loaded = tokio::task::block_in_place(|| snapshot_file::load(&self.directory));
        let loaded = loaded.map_err(|error| StorageIOError::read_snapshot(None, &error))?;
        Ok(loaded.map(|StoredSnapshot { meta, state }| Snapshot {
            meta,
            snapshot: Box::new(Cursor::new(state)),
        }))
    }
}

impl RaftSnapshotBuilder<TypeConfig> for Machine {
    async fn build_snapshot(&mut self) -> Result<Snapshot<TypeConfig>, StorageError> {
        let stored = {
            let applied = self.applied();
            let state = serde_json::to_vec(&applied.state).expect("the state is plain data");
            let index = applied.last.map_or(0, |last| last.index);
            let meta = SnapshotMeta {
                last_log_id: applied.last,
                last_membership: applied.membership.clone(),
                snapshot_id: index.to_string(),
            };
            StoredSnapshot { meta, state }
        };
        let saved = self.save(&stored);
        let signature = stored.meta.signature();
        saved.map_err(|error| StorageIOError::write_snapshot(Some(signature), &error))?;
        let StoredSnapshot { meta, state } = stored;
        Ok(Snapshot { meta, snapshot: Box::new(Cursor::new(state)) })
    }
}
