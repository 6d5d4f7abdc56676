//! What can go wrong with a store.

use super::{KEY_BYTES_MAX, VALUE_BYTES_MAX};

/// Why a store does not do what it is asked. A place is a file, or the address of a database
/// without its password.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The database says no. Nothing was written.
    #[error("{place}: cannot {doing}: {source}")]
    Database {
        /// Where.
        place: String,
        /// What was tried.
        doing: &'static str,
        /// Why not.
        source: sqlx::Error,
    },
    /// Somebody else's data.
    #[error("{place}: what is here is not a store of Assay; choose another place for it")]
    Foreign {
        /// Where.
        place: String,
    },
    /// Written by a later version.
    #[error("{place}: format {found} is of a later Assay than this one; use that")]
    Newer {
        /// Where.
        place: String,
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
    /// A key that is too long.
    #[error("the key `{start}…` has {bytes} bytes, more than {KEY_BYTES_MAX}")]
    KeySize {
        /// How it begins.
        start: String,
        /// How long it is.
        bytes: usize,
    },
    /// The machine gives no runtime.
    #[error("cannot start the database: {0}")]
    Start(#[source] std::io::Error),
    /// Not an address of a database.
    #[error("not an address of a store: {0}")]
    Address(String),
    /// The database cannot promise what a store promises.
    #[error("{place}: cannot be a store: {why}")]
    Unfit {
        /// Where.
        place: String,
        /// What it lacks, and what to do.
        why: String,
    },
    /// Another server has it.
    #[error("{place}: another server has this store ({by}); wait until it has ended, or end it")]
    Held {
        /// Where.
        place: String,
        /// Who, as far as it is known.
        by: String,
    },
    /// Another server took it while this one was cut off from it.
    #[error("{place}: another server has taken this store over; this one writes nothing any more")]
    Fenced {
        /// Where.
        place: String,
    },
    /// The database is away, and has been for as long as anybody waits.
    #[error("{place}: the database is away: {source}")]
    Away {
        /// Where.
        place: String,
        /// What was tried last.
        source: sqlx::Error,
    },
    /// Whether the last commit was written cannot be found out.
    #[error("{place}: a commit broke off in the middle, and whether it was written is unknown")]
    Unknown {
        /// Where.
        place: String,
        /// What broke, last.
        source: Option<Box<StoreError>>,
    },
}

impl StoreError {
    /// The same for others who ask, if it [is final](StoreError::is_final): they need not wait for
    /// it again.
    pub fn echo(&self) -> Option<StoreError> {
        use StoreError::{Away, Fenced, Unknown};
        match self {
            Away { place, source } => {
                let source = sqlx::Error::Io(std::io::Error::other(source.to_string()));
                Some(Away { place: place.clone(), source })
            }
            Fenced { place } => Some(Fenced { place: place.clone() }),
            Unknown { place, .. } => Some(Unknown { place: place.clone(), source: None }),
            _ => None,
        }
    }

    /// Whether a server should end: another one has the store, what it holds is known only after
    /// opening it again, or it is not there.
    pub fn is_final(&self) -> bool {
        use StoreError::{Away, Fenced, Unknown};
        matches!(self, Away { .. } | Fenced { .. } | Unknown { .. })
    }
}
