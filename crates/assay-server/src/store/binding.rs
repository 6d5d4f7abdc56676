//! Records in a database and files in a directory belong together.
//!
//! What no record names is swept from the directory when a server starts: with the records of
//! another store that would be everything. So a database and a directory get the same mark when
//! they first meet, and neither takes another partner.

use super::place::StorePlace;
use super::records::folder;
use crate::names::Names;
use assay_ledger::keyed::{KeyRange, Order, STORE_NAME, Store, StoreError, Writes};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// The mark of a directory whose records are in a database.
const MARK_NAME: &str = "store.id";

/// Why a store and a directory do not go together.
#[derive(Debug, thiserror::Error)]
pub enum BindingError {
    /// One of them belongs to another one.
    #[error("{}: {why}", path.display())]
    Other {
        /// The directory.
        path: PathBuf,
        /// Which, and what to do.
        why: &'static str,
    },
    /// The mark cannot be read or written.
    #[error("{}: cannot read or write the mark of the store: {source}", path.display())]
    Mark {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// The store says no.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Sees that they belong together, from now on if they are both new.
///
/// # Errors
/// If they do not, or the marks cannot be had.
pub fn bind(place: &StorePlace, store: &mut dyn Store, data: &Path) -> Result<(), BindingError> {
    let other = |why| Err(BindingError::Other { path: data.to_path_buf(), why });
    let path = data.join(MARK_NAME);
    let ours = read_mark(&path)?;
    if matches!(place, StorePlace::Directory(_)) {
        return match ours {
            None => Ok(()),
            Some(_) => other("its records are in a database: name that with --store"),
        };
    }
    let at = format!("{}/objects", folder::BINDING);
    let theirs = store.get(&at)?;
    match (theirs, ours) {
        (Some(theirs), Some(ours)) if theirs == ours => Ok(()),
        (_, Some(_)) => other("it belongs to another store; name that, or another directory"),
        (Some(theirs), None) => {
            for folder in [folder::FILES, folder::SKILLS, folder::SESSIONS] {
                let range = KeyRange::below(folder, Order::Ascending);
                if !store.scan(&range, 1)?.is_empty() {
                    return other("the store has its files in another directory; name that");
                }
            }
            write_mark(&path, &theirs)
        }
        (None, None) if data.join(STORE_NAME).exists() => {
            other("it has a store of its own; leave --store out, or name another directory")
        }
        (None, None) => {
            let mark = Names::default().next("store_").into_bytes();
            store.commit(&Writes::from([(at, Some(mark.clone()))]))?;
            write_mark(&path, &mark)
        }
    }
}

fn read_mark(path: &Path) -> Result<Option<Vec<u8>>, BindingError> {
    match std::fs::read(path) {
        Ok(mark) => Ok(Some(mark.trim_ascii().to_vec())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(source) => Err(BindingError::Mark { path: path.to_path_buf(), source }),
    }
}

/// Whole or not at all.
fn write_mark(path: &Path, mark: &[u8]) -> Result<(), BindingError> {
    let draft = path.with_extension("draft");
    let written = std::fs::File::create(&draft).and_then(|mut file| {
        file.write_all(mark)?;
        file.sync_all()?;
        std::fs::rename(&draft, path)
    });
    written.map_err(|source| BindingError::Mark { path: path.to_path_buf(), source })
}
