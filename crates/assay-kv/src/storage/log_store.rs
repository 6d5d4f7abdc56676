//! The log as Raft sees it.

use super::StorageTrouble;
use super::log_file::LogFile;
use crate::counters::Counters;
use crate::raft::{Entry, LogId, StorageError, TypeConfig, Vote};
use openraft::storage::{LogFlushed, RaftLogStorage};
use openraft::{LogState, OptionalSend, RaftLogReader, StorageIOError};
use std::fmt::Debug;
use std::ops::RangeBounds;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// A log shared by Raft's core and the tasks that replicate it.
///
/// Raft's core waits for each append in any case, so the file is written right here; the runtime is
/// told that this thread will be busy.
#[derive(Clone, Debug)]
pub(crate) struct LogStore {
    log: Arc<Mutex<LogFile>>,
    counters: Arc<Counters>,
}

impl LogStore {
    pub fn new(log: LogFile, counters: Arc<Counters>) -> LogStore {
        LogStore { log: Arc::new(Mutex::new(log)), counters }
    }

    fn log(&self) -> MutexGuard<'_, LogFile> {
        // A panic while the lock is held ends the node anyway.
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(
        &self,
        act: impl FnOnce(&mut LogFile) -> Result<(), StorageTrouble>,
    ) -> Result<(), StorageTrouble> {
        let began = Instant::now();
        let written = tokio::task::block_in_place(|| act(&mut self.log()));
        self.counters.slow_writes.add_slow(began);
        written
    }

    /// A clean stop.
    pub fn close(&self) -> Result<(), StorageTrouble> {
        self.log().close()
    }
}

impl RaftLogReader<TypeConfig> for LogStore {
    async fn try_get_log_entries<RB: RangeBounds<u64> + Clone + Debug + OptionalSend>(
        &mut self,
        range: RB,
    ) -> Result<Vec<Entry>, StorageError> {
        Ok(self.log().range(range))
    }
}

impl RaftLogStorage<TypeConfig> for LogStore {
    type LogReader = LogStore;

    async fn get_log_state(&mut self) -> Result<LogState<TypeConfig>, StorageError> {
        let log = self.log();
        Ok(LogState { last_purged_log_id: log.purged(), last_log_id: log.last() })
    }

    async fn get_log_reader(&mut self) -> LogStore {
        self.clone()
    }

    async fn save_vote(&mut self, vote: &Vote) -> Result<(), StorageError> {
        let saved = self.write(|log| log.save_vote(vote));
        saved.map_err(|error| StorageIOError::write_vote(&error).into())
    }

    async fn read_vote(&mut self) -> Result<Option<Vote>, StorageError> {
        Ok(self.log().vote())
    }

    async fn append<I>(
        &mut self,
        entries: I,
        callback: LogFlushed<TypeConfig>,
    ) -> Result<(), StorageError>
    where
        I: IntoIterator<Item = Entry> + OptionalSend,
        I::IntoIter: OptionalSend,
    {
        let appended = self.write(|log| log.append(entries));
        appended.map_err(|error| StorageIOError::write_logs(&error))?;
        callback.log_io_completed(Ok(()));
        Ok(())
    }

    async fn truncate(&mut self, log_id: LogId) -> Result<(), StorageError> {
        let cut = self.write(|log| log.cut(log_id.index));
        cut.map_err(|error| StorageIOError::write_logs(&error).into())
    }

    async fn purge(&mut self, log_id: LogId) -> Result<(), StorageError> {
        let purged = self.write(|log| log.purge(log_id));
        purged.map_err(|error| StorageIOError::write_logs(&error).into())
    }
}
