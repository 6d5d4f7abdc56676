//! One writer at a time, decided by the kernel.
//!
//! A lock that is a file with a number in it has to guess whether its owner lives. This one is held
//! by an open file: it ends with its process, whatever ends that, or a moment later: who is killed
//! while it starts a program leaves its open files to that one until it has begun. What stands in
//! the file is for the message, and to tell such a moment from a lock that is held.

use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What stands in a lock file is short; the rest is somebody else's.
const OWNER_BYTES_MAX: u64 = 4096;
/// How long a lock may outlive its owner, and how often to look.
const LEFT_MAX: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(5);

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

    /// Whether it has ended for sure: what cannot be known lives.
    fn is_gone(&self) -> bool {
        let this = Owner::this();
        if this.boot_id.is_none() || self.boot_id.is_none() || self.start_ticks.is_none() {
            return false;
        }
        let stat = match std::fs::read_to_string(format!("/proc/{}/stat", self.pid)) {
            Ok(stat) => stat,
            Err(error) => return error.kind() == io::ErrorKind::NotFound,
        };
        let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
        let is_dead = fields.trim_start().starts_with(['Z', 'X']);
        let start = fields.split_ascii_whitespace().nth(19).and_then(|text| text.parse().ok());
        this.boot_id != self.boot_id || start != self.start_ticks || is_dead
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
    /// Takes the lock, or says who has it. Waits for nobody but those who have ended.
    ///
    /// # Errors
    /// If another process, or another `Lock` of this one, holds it, or the file cannot be made.
    pub fn take(path: &Path) -> Result<Lock, LockError> {
        Lock::take_from(path, Owner::is_gone)
    }

    fn take_from(path: &Path, mut is_gone: impl FnMut(&Owner) -> bool) -> Result<Lock, LockError> {
        let until = Instant::now() + LEFT_MAX;
        let failed = |source| LockError::Io { path: path.to_path_buf(), source };
        let mut options = OpenOptions::new();
        let mut file = options
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(failed)?;
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::Error(source)) => return Err(failed(source)),
                Err(TryLockError::WouldBlock) => {}
            }
            let owner = read_owner(&mut file);
            if Instant::now() >= until || !owner.as_ref().is_some_and(&mut is_gone) {
                return Err(LockError::Held { path: path.to_path_buf(), owner });
            }
            std::thread::sleep(PAUSE);
        }
        let text = serde_json::to_string(&Owner::this()).map_err(|e| failed(e.into()))?;
        file.set_len(0).map_err(failed)?;
        file.seek(SeekFrom::Start(0)).map_err(failed)?;
        file.write_all(text.as_bytes()).map_err(failed)?;
        Ok(Lock { _file: file })
    }
}

/// What cannot be read is nobody in particular.
fn read_owner(file: &mut File) -> Option<Owner> {
    let mut text = String::new();
    file.seek(SeekFrom::Start(0)).ok()?;
    file.take(OWNER_BYTES_MAX).read_to_string(&mut text).ok()?;
    serde_json::from_str(&text).ok()
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

    #[test]
    fn a_lock_that_outlives_its_owner_for_a_moment_is_waited_for() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("lock");
        let mut held = Some(Lock::take(&path).expect("nobody has it"));
        // What is left of the owner lets go once somebody has found it held.
        let taken = Lock::take_from(&path, |_| held.take().is_some());
        let taken = taken.expect("it was given up meanwhile");
        let error = Lock::take_from(&path, |_| false).expect_err("its owner lives");
        assert!(matches!(error, LockError::Held { .. }), "{error}");
        drop(taken);
        let this = Owner::this();
        assert!(!this.is_gone());
        let ticks = this.start_ticks.map(|ticks| ticks + 1);
        assert!(
            Owner { start_ticks: ticks, ..this.clone() }.is_gone(),
            "another one of its number"
        );
        assert!(Owner { boot_id: Some("other".into()), ..this.clone() }.is_gone());
        assert!(!Owner { boot_id: None, ..this }.is_gone(), "it is not known");
    }
}
