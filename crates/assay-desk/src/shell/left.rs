//! What somebody left in a directory, looked at before anything opens it.
//!
//! The Leader reads what agents and tests leave: objects, files that git compares, rules of what is
//! ignored. Opening a pipe waits for a writer that never comes, and a file may be said to have more
//! bytes than there are disks. Here nothing is opened; kinds and lengths are enough.

use std::ffi::OsStr;
use std::fs::{self, FileType};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

/// More bytes than this, in a repository of an agent or in what git would read, are refused.
pub(super) const BYTES_MAX: u64 = 4 << 30;
/// More files and directories than this are not looked at.
const ENTRIES_MAX: usize = 5_000_000;

/// Why a directory is not to be opened, if it is not.
pub(super) fn check(directory: &Path) -> Result<(), String> {
    let own = directory.join(".git");
    if fs::symlink_metadata(&own).is_ok_and(|meta| !meta.is_dir()) {
        return Err(".git is no directory".to_string());
    }
    let shown = |path: &Path| path.strip_prefix(directory).unwrap_or(path).display().to_string();
    let (mut open, mut bytes, mut entries) = (vec![(directory.to_path_buf(), false)], 0_u64, 0);
    while let Some((directory, inside)) = open.pop() {
        // What the Leader cannot read, git cannot read either.
        for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
            let path = entry.path();
            entries += 1;
            if entries > ENTRIES_MAX {
                return Err(format!("more than {ENTRIES_MAX} files are in its directory"));
            }
            let Ok(kind) = entry.file_type() else {
                return Err(format!("nobody knows what {} is", shown(&path)));
            };
            if kind.is_dir() {
                let inside = inside || path == own;
                open.push((path, inside));
            } else if inside && kind.is_symlink() {
                return Err(format!("{} is a link, where git has none", shown(&path)));
            } else if !is_harmless(kind, inside) {
                return Err(format!("{} is neither a file nor a directory", shown(&path)));
            } else if inside {
                bytes = bytes.saturating_add(entry.metadata().map_or(0, |meta| meta.len()));
                enough(bytes)?;
            }
        }
    }
    Ok(())
}

/// A socket cannot be opened, so nobody waits for it; servers that were tested leave some.
fn is_harmless(kind: FileType, inside: bool) -> bool {
    kind.is_file() || !inside && (kind.is_symlink() || kind.is_socket())
}

/// Files that git would read to compare a directory with a tree: not too many bytes.
pub(super) fn check_files<'n>(
    directory: &Path,
    names: impl Iterator<Item = &'n OsStr>,
) -> Result<(), String> {
    let lengths =
        names.map(|name| fs::symlink_metadata(directory.join(name)).map_or(0, |meta| meta.len()));
    enough(lengths.fold(0, u64::saturating_add))
}

fn enough(bytes: u64) -> Result<(), String> {
    match bytes <= BYTES_MAX {
        true => Ok(()),
        false => Err(format!("more than {} GiB would have to be read", BYTES_MAX >> 30)),
    }
}

#[cfg(test)]
mod tests {
    use super::{BYTES_MAX, check, check_files};
    use std::ffi::OsStr;
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;
    use std::path::Path;
    use std::process::Command;

    fn sparse(path: &Path, length: u64) {
        fs::File::create(path).and_then(|file| file.set_len(length)).expect("a file");
    }

    fn pipe(path: &Path) {
        assert!(Command::new("mkfifo").arg(path).status().expect("mkfifo runs").success());
    }

    /// What somebody may leave, and what is said of it.
    type Left = (fn(&Path), &'static str);

    const LEFT: [Left; 9] = [
        (|_| {}, ""),
        (|at| symlink("/dev/zero", at.join("src/link")).expect("a link"), ""),
        (|at| drop(UnixListener::bind(at.join("src/socket")).expect("a socket")), ""),
        (|at| pipe(&at.join("src/pipe")), "src/pipe is neither"),
        (|at| pipe(&at.join(".git/objects/pipe")), ".git/objects/pipe is neither"),
        (|at| symlink("/dev/zero", at.join(".git/link")).expect("a link"), ".git/link is a link"),
        (|at| sparse(&at.join(".git/huge"), BYTES_MAX), ""),
        (|at| sparse(&at.join(".git/huge"), BYTES_MAX + 1), "more than 4 GiB"),
        (
            |at| {
                fs::remove_dir_all(at.join(".git")).expect("a directory");
                symlink("elsewhere", at.join(".git")).expect("a link");
            },
            ".git is no directory",
        ),
    ];

    #[test]
    fn what_would_have_to_be_waited_for_is_told_without_opening_it() {
        for (index, (leave, said)) in LEFT.into_iter().enumerate() {
            let home = tempfile::tempdir().expect("a directory");
            fs::create_dir_all(home.path().join(".git/objects")).expect("a directory");
            fs::create_dir(home.path().join("src")).expect("a directory");
            leave(home.path());
            let found = check(home.path()).err().unwrap_or_default();
            assert_eq!(found.is_empty(), said.is_empty(), "{index}: {found}");
            assert!(found.contains(said), "{index}: {found}");
        }
    }

    #[test]
    fn what_git_would_read_has_an_end() {
        let home = tempfile::tempdir().expect("a directory");
        for (name, length) in [("a", BYTES_MAX), ("b", 1)] {
            sparse(&home.path().join(name), length);
        }
        let names = |names: &'static [&'static str]| names.iter().map(|name| OsStr::new(*name));
        assert!(check_files(home.path(), names(&["a", "gone"])).is_ok());
        assert!(check_files(home.path(), names(&["a", "b"])).is_err());
    }
}
