//! Records that change: pairs of a key and a value, in order of their keys, written together.
//!
//! The chain of a [`Ledger`](crate::Ledger) only grows. What a server serves also changes and
//! goes, and must do so together: events, the state they lead to and the answer that was given for
//! them are one commit, or none of them is there. A [`Store`] is exactly that much of a database,
//! so that there can be several: a file of SQLite ([`SqliteStore`]), or a database of PostgreSQL
//! (`PostgresStore`, a feature). A [`Transaction`] collects what is to be written together, reads
//! through what it has collected, and can forget the latest part of it.

mod error;
#[cfg(feature = "postgres")]
mod postgres;
mod sqlite;
mod transaction;

pub use error::StoreError;
#[cfg(feature = "postgres")]
pub use postgres::{PostgresAddress, PostgresStore};
pub use sqlite::{STORE_NAME, SqliteStore, StoreSizes};
pub use transaction::{Savepoint, Transaction};

use std::collections::{BTreeMap, HashMap};

/// The largest value.
pub const VALUE_BYTES_MAX: usize = 16 * 1024 * 1024;

/// The longest key. PostgreSQL finds no longer ones.
pub const KEY_BYTES_MAX: usize = 2048;

/// A key and what stands there.
pub type Pair = (String, Vec<u8>);

/// What is to be written together; `None` takes a key away.
pub type Writes = BTreeMap<String, Option<Vec<u8>>>;

/// Which keys, in which order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeyRange {
    /// The first key that counts.
    pub from: String,
    /// The first behind them.
    pub to: String,
    /// Which come first.
    pub order: Order,
}

/// The order of a scan.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// The smallest first.
    Ascending,
    /// The largest first.
    Descending,
}

impl Order {
    /// The other one.
    pub fn reversed(self) -> Order {
        match self {
            Order::Ascending => Order::Descending,
            Order::Descending => Order::Ascending,
        }
    }
}

impl KeyRange {
    /// All keys below a folder: `a/b` holds `a/b/c`, not `a/b` and not `a/bc`.
    pub fn below(folder: &str, order: Order) -> KeyRange {
        // `0` is what follows `/`.
        KeyRange { from: format!("{folder}/"), to: format!("{folder}0"), order }
    }

    /// Those behind a key, in the order of the range.
    pub fn after(mut self, key: &str) -> KeyRange {
        match self.order {
            Order::Ascending => self.from = self.from.max(format!("{key}\0")),
            Order::Descending => self.to = self.to.min(key.to_string()),
        }
        self
    }
}

/// Keeps pairs. All calls block.
pub trait Store: Send {
    /// What stands at a key.
    ///
    /// # Errors
    /// If the database says no.
    fn get(&mut self, key: &str) -> Result<Option<Vec<u8>>, StoreError>;

    /// What stands at several keys, in their order. Asked together they take one journey to the
    /// database instead of many.
    ///
    /// # Errors
    /// If the database says no.
    fn get_many(&mut self, keys: &[String]) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
        keys.iter().map(|key| self.get(key)).collect()
    }

    /// The first pairs of a range.
    ///
    /// # Errors
    /// If the database says no.
    fn scan(&mut self, range: &KeyRange, limit: usize) -> Result<Vec<Pair>, StoreError>;

    /// Writes all or nothing. It is durable when this returns. Nothing at all is no commit, but
    /// tells whether the store could still be written.
    ///
    /// # Errors
    /// If the database says no; then nothing was written. If that is not known, or another writer
    /// has taken the store, the error [is final](StoreError::is_final).
    fn commit(&mut self, writes: &Writes) -> Result<(), StoreError>;
}

/// What was found, in the order of the keys that were asked for.
fn in_order(keys: &[String], found: Vec<Pair>) -> Vec<Option<Vec<u8>>> {
    let found: HashMap<String, Vec<u8>> = found.into_iter().collect();
    keys.iter().map(|key| found.get(key).cloned()).collect()
}

/// What no store takes.
fn check_sizes(writes: &Writes) -> Result<(), StoreError> {
    writes.iter().try_for_each(|(key, value)| check_size(key, value.as_deref()))
}

fn check_size(key: &str, value: Option<&[u8]>) -> Result<(), StoreError> {
    if key.len() > KEY_BYTES_MAX {
        let start = key.chars().take(64).collect();
        return Err(StoreError::KeySize { start, bytes: key.len() });
    }
    let bytes = value.map_or(0, <[u8]>::len);
    if bytes > VALUE_BYTES_MAX {
        return Err(StoreError::Size { key: key.to_string(), bytes });
    }
    Ok(())
}
