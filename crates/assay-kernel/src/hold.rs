//! Directories that are in use by somebody who lives: a lock that the kernel lifts when its holder
//! is gone, however that ended. Process ids would not do: they mean nothing in another namespace.

use rustix::fs::{FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// What came of trying to hold a directory.
#[derive(Debug)]
pub(crate) enum Hold {
    /// It is ours until this is closed.
    Ours(File),
    /// Somebody holds it.
    Theirs,
    /// It is not there, or another one is there by now.
    Gone,
}

/// Tries to hold a directory. Programs that are started meanwhile do not inherit it.
pub(crate) fn hold_directory(path: &Path) -> io::Result<Hold> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let held = match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(held) => File::from(held),
        Err(Errno::NOENT) => return Ok(Hold::Gone),
        Err(error) => return Err(error.into()),
    };
    match rustix::fs::flock(&held, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => {}
        Err(Errno::WOULDBLOCK) => return Ok(Hold::Theirs),
        Err(error) => return Err(error.into()),
    }
    let (ours, there) = (held.metadata()?, std::fs::symlink_metadata(path));
    let is_there = there.is_ok_and(|there| (there.dev(), there.ino()) == (ours.dev(), ours.ino()));
    Ok(if is_there { Hold::Ours(held) } else { Hold::Gone })
}

/// Names this process among all of the machine: its number, which another one has in another
/// namespace, and that of the namespace.
pub(crate) fn own_name() -> String {
    let namespace = std::fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    let digits = |c: &char| c.is_ascii_digit();
    let namespace: String = namespace.to_string_lossy().chars().filter(digits).collect();
    format!("{}-{namespace}", std::process::id())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_holds_a_directory_holds_it_alone_until_it_is_let_go() {
        let directory = tempfile::tempdir().expect("a directory");
        let hold = || hold_directory(directory.path()).expect("it can be opened");
        let held = hold();
        assert!(matches!(held, Hold::Ours(_)), "{held:?}");
        assert!(matches!(hold(), Hold::Theirs));
        drop(held);
        assert!(matches!(hold(), Hold::Ours(_)));
        let gone = hold_directory(&directory.path().join("gone"));
        assert!(matches!(gone, Ok(Hold::Gone)), "{gone:?}");
    }
}
