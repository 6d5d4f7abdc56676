//! Directories that are still there when the power was gone.
//!
//! A file that was synced is there afterwards only if its name is, and so are the names of all
//! directories above it: each of them stands in another directory, which has to be synced, too.

use std::io::{ErrorKind, Result};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Held while directories are made: who finds one that somebody else has just made must not go on
/// before it is durable.
static MAKING: Mutex<()> = Mutex::new(());

/// Makes a directory and those above it; each that is new is durable when this returns.
///
/// # Errors
/// If one cannot be made or synced.
pub fn make_dirs_synced(path: &Path) -> Result<()> {
    let _one_at_a_time = MAKING.lock().unwrap_or_else(PoisonError::into_inner);
    make(path)
}

fn make(path: &Path) -> Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    let above = path.parent().filter(|above| !above.as_os_str().is_empty());
    let above = above.unwrap_or(Path::new("."));
    make(above)?;
    match std::fs::create_dir(path) {
        // Another program may have made it meanwhile.
        Err(error) if error.kind() == ErrorKind::AlreadyExists && path.is_dir() => {}
        made => made?,
    }
    sync_directory(path)?;
    sync_directory(above)
}

/// Makes durable what stands in a directory, and what does no longer.
///
/// # Errors
/// If it cannot be synced.
pub fn sync_directory(path: &Path) -> Result<()> {
    std::fs::File::open(path)?.sync_all()
}

/// What is gone already need not be removed.
///
/// # Errors
/// Any other one.
pub fn absent_is_fine(done: Result<()>) -> Result<()> {
    match done {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        done => done,
    }
}
