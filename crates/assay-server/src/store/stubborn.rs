//! A store for tests of what happens when nothing can be written.

use assay_ledger::keyed::{KeyRange, Pair, SqliteStore, Store, StoreError, Writes};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A disk that takes nothing while it is told to.
pub struct Stubborn {
    /// What takes it otherwise.
    pub store: SqliteStore,
    /// Whether it is told to.
    pub refuses: Arc<AtomicBool>,
}

impl Store for Stubborn {
    fn get(&mut self, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
        self.store.get(key)
    }

    fn scan(&mut self, range: &KeyRange, limit: usize) -> Result<Vec<Pair>, StoreError> {
        self.store.scan(range, limit)
    }

    fn commit(&mut self, writes: &Writes) -> Result<(), StoreError> {
        match self.refuses.load(Ordering::SeqCst) {
            true => Err(StoreError::Size { key: "any".into(), bytes: 0 }),
            false => self.store.commit(writes),
        }
    }
}
