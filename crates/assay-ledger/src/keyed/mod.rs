//! Records that change: pairs of a key and a value, in order of their keys, written together.
//!
//! The chain of a [`Ledger`](crate::Ledger) only grows. What a server serves also changes and
//! goes, and must do so together: events, the state they lead to and the answer that was given for
//! them are one commit, or none of them is there. A [`Store`] is exactly that much of a database,
//! so that there can be several. A [`Transaction`] collects what is to be written together, reads
//! through what it has collected, and can forget the latest part of it.

mod sqlite;
mod transaction;

pub use sqlite::{STORE_NAME, SqliteStore};
pub use transaction::{Savepoint, Transaction};

use std::collections::BTreeMap;
use std::path::PathBuf;

/// The largest value.
pub const VALUE_BYTES_MAX: usize = 16 * 1024 * 1024;

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

/// Why a store does not do what it is asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The database says no.
    #[error("{}: cannot {doing}: {source}", path.display())]
    Database {
        /// The file.
        path: PathBuf,
        /// What was tried.
        doing: &'static str,
        /// Why not.
        source: sqlx::Error,
    },
    /// The file is none of ours.
    #[error("{}: this is not a store of Assay; choose another directory", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// Written by a later version.
    #[error("{}: format {found} is of a later Assay than this one; use that", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: i64,
    },
    /// A value that is too large.
    #[error("the value of `{key}` has {bytes} bytes, more than {VALUE_BYTES_MAX}")]
    Size {
        /// Its key.
        key: String,
        /// How large it is.
        bytes: usize,
    },
    /// The machine gives no runtime.
    #[error("cannot start the database: {0}")]
    Start(#[source] std::io::Error),
}

/// Keeps pairs. All calls block.
pub trait Store: Send {
    /// What stands at a key.
    ///
    /// # Errors
    /// If the database says no.
    fn get(&mut self, key: &str) -> Result<Option<Vec<u8>>, StoreError>;

    /// The first pairs of a range.
    ///
    /// # Errors
    /// If the database says no.
    fn scan(&mut self, range: &KeyRange, limit: usize) -> Result<Vec<Pair>, StoreError>;

    /// Writes all or nothing. It is durable when this returns.
    ///
    /// # Errors
    /// If the database says no; then nothing was written, as far as it is known.
    fn commit(&mut self, writes: &Writes) -> Result<(), StoreError>;
}
