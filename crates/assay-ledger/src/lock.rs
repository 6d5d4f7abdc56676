//! One writer at a time, decided by the kernel.
//!
//! A lock that is a file with a number in it has to guess whether its owner lives. This one is held
//! by an open file: it ends with its process, whatever ends that. What stands in the file is for
//! the message only.

use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// What stands in a lock file is short; the rest is somebody else's.
const OWNER_BYTES_MAX: u64 = 4096;

/// A lock, held until it is dropped or the process ends.
#[derive(Debug)]
pub struct Lock {
    // Closing it is giving it up.
    _file: File,
}

/// Who holds a lock.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Owner {
    /// The number of the process.
    pub pid: u32,
    /// When it started, in ticks since the machine did: with `pid` it is one process only.
    pub start_ticks: Option<u64>,
    /// Which start of the machine that was.
    pub boot_id: Option<String>,
}

impl Owner {
    /// This process.
    pub fn this() -> Owner {
        let stat = std::fs::read_to_string("/proc/self/stat").ok();
        // The name in field 2 may hold spaces: fields count from its last parenthesis.
        let start = stat.as_deref().and_then(|stat| {
            stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(19)?.parse().ok()
        });
        let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok();
        Owner {
            pid: std::process::id(),
            start_ticks: start,
            boot_id: boot.map(|id| id.trim().to_string()),
        }
    }
}

/// Why a lock is not held.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Somebody else has it.
    #[error("{}: held by {}; wait until it has ended, or end it", path.display(), who(owner))]
    Held {
        /// The file.
        path: PathBuf,
        /// Who, if the file says it.
        owner: Option<Owner>,
    },
    /// The file cannot be opened or locked.
    #[error("{}: cannot lock: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

fn who(owner: &Option<Owner>) -> String {
    match owner {
        Some(owner) => format!("process {}", owner.pid),
        None => "another process".to_string(),
    }
}

impl Lock {
    /// Takes the lock, or says who has it. Never waits.
    ///
    /// # Errors
    /// If another process, or another `Lock` of this one, holds it, or the file cannot be made.
    pub fn take(path: &Path) -> Result<Lock, LockError> {
        let failed = |source| LockError::Io { path: path.to_path_buf(), source };
        let mut options = OpenOptions::new();
        let mut file = options
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::Error(source)) => return Err(failed(source)),
            Err(TryLockError::WouldBlock) => {
                let mut text = String::new();
                // For the message only: what cannot be read is nobody in particular.
                let _unread = (&mut file).take(OWNER_BYTES_MAX).read_to_string(&mut text);
                let owner = serde_json::from_str(&text).ok();
                return Err(LockError::Held { path: path.to_path_buf(), owner });
            }
        }
        let text = serde_json::to_string(&Owner::this()).map_err(|e| failed(e.into()))?;
        file.set_len(0).map_err(failed)?;
        file.seek(SeekFrom::Start(0)).map_err(failed)?;
        file.write_all(text.as_bytes()).map_err(failed)?;
        Ok(Lock { _file: file })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_names_its_owner_and_ends_with_it() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("lock");
        let held = Lock::take(&path).expect("nobody has it");
        let error = Lock::take(&path).expect_err("it is held");
        assert!(error.to_string().contains(&format!("process {}", std::process::id())), "{error}");
        let LockError::Held { owner: Some(owner), .. } = error else { panic!("{error}") };
        assert_eq!(owner, Owner::this());
        assert!(owner.start_ticks.is_some() && owner.boot_id.is_some(), "{owner:?}");
        drop(held);
        Lock::take(&path).expect("it was given up");
        std::fs::write(&path, "nonsense").expect("ours");
        let _held = Lock::take(&path).expect("what stands in it does not matter");
    }
}
