//! Where records are kept: in a file, or in a database.

#[cfg(feature = "postgres")]
use assay_ledger::keyed::{PostgresAddress, PostgresStore};
use assay_ledger::keyed::{SqliteStore, Store, StoreError};
use std::path::PathBuf;

/// A store of whichever kind.
pub type OpenStore = Box<dyn Store>;

/// A place for a store.
#[derive(Clone, Debug)]
pub enum StorePlace {
    /// A file of SQLite in this directory.
    Directory(PathBuf),
    /// A database of PostgreSQL.
    #[cfg(feature = "postgres")]
    Postgres(Box<PostgresAddress>),
}

impl StorePlace {
    /// Of the address of a database.
    ///
    /// # Errors
    /// If it is none, or this Assay was built without what it takes.
    #[cfg(feature = "postgres")]
    pub fn parse(url: &str) -> Result<StorePlace, StoreError> {
        url.parse().map(|address| StorePlace::Postgres(Box::new(address)))
    }

    /// Of the address of a database.
    ///
    /// # Errors
    /// Always: this Assay was built without databases.
    #[cfg(not(feature = "postgres"))]
    pub fn parse(_url: &str) -> Result<StorePlace, StoreError> {
        let why = "this Assay was built without PostgreSQL (the feature `postgres`)".to_string();
        Err(StoreError::Unfit { place: "--store".to_string(), why })
    }

    /// Opens it for the one server that it may have, for its thread that writes and the one that
    /// reads.
    ///
    /// # Errors
    /// Those of the store.
    pub fn open_server(&self) -> Result<(OpenStore, OpenStore), StoreError> {
        match self {
            // The lock of the directory is this server's.
            StorePlace::Directory(directory) => {
                let (writes, reads) = SqliteStore::open_pair(directory)?;
                Ok((Box::new(writes), Box::new(reads)))
            }
            #[cfg(feature = "postgres")]
            StorePlace::Postgres(address) => {
                Ok((Box::new(PostgresStore::open_server(address)?), self.open_guest()?))
            }
        }
    }

    /// Opens it beside a server, to read and for single writes.
    ///
    /// # Errors
    /// Those of the store.
    pub fn open_guest(&self) -> Result<OpenStore, StoreError> {
        match self {
            StorePlace::Directory(directory) => Ok(Box::new(SqliteStore::open(directory)?)),
            #[cfg(feature = "postgres")]
            StorePlace::Postgres(address) => Ok(Box::new(PostgresStore::open_guest(address)?)),
        }
    }
}
