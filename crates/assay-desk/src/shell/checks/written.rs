//! The file that a command writes its results into.
//!
//! It lies in a tree where tested code runs, and the Leader reads and removes it with all the
//! rights of its user. So the way to it is looked at, part by part: directories, and a file at the
//! end. A link on the way leads anywhere, and what is there are no results of this command.

use crate::shell::trees;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Longer results are none.
const BYTES_MAX: u64 = 64 << 20;

/// A file below a tree, if nothing but directories lead to it.
fn plain(tree: &Path, file: &str) -> Option<PathBuf> {
    let parts: Vec<&str> = file.split('/').filter(|part| !part.is_empty()).collect();
    let (last, directories) = parts.split_last()?;
    let mut path = tree.to_path_buf();
    for part in directories {
        path.push(part);
        fs::symlink_metadata(&path).ok().filter(|meta| meta.is_dir())?;
    }
    Some(path.join(last))
}

/// Removes results of an earlier run: they are not results of the next one.
pub(super) fn remove(tree: &Path, file: &str) {
    if let Some(path) = plain(tree, file) {
        trees::remove(&path);
    }
}

/// What a command wrote.
pub(super) fn read(tree: &Path, file: &str) -> Option<Vec<u8>> {
    let path = plain(tree, file)?;
    let meta = fs::symlink_metadata(&path).ok()?;
    (meta.is_file() && meta.len() <= BYTES_MAX).then_some(())?;
    let mut bytes = Vec::new();
    fs::File::open(&path).ok()?.take(BYTES_MAX).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::{BYTES_MAX, read, remove};
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::path::Path;
    use std::process::Command;

    /// What tested code may put there, and whether it is read.
    type Put = (&'static str, fn(&Path), bool);

    fn directory(at: &Path) {
        fs::create_dir_all(at.join("tree/out")).expect("a directory");
    }

    fn sparse(at: &Path, length: u64) {
        directory(at);
        let file = fs::File::create(at.join("tree/out/results")).expect("a file");
        file.set_len(length).expect("a length");
    }

    const PUT: [Put; 8] = [
        ("nothing", |_| {}, false),
        ("a file", |at| sparse(at, 3), true),
        ("a long file", |at| sparse(at, BYTES_MAX), true),
        ("a file that is too long", |at| sparse(at, BYTES_MAX + 1), false),
        (
            "a link on the way",
            |at| symlink("../other", at.join("tree/out")).expect("a link"),
            false,
        ),
        (
            "a link at the end",
            |at| {
                directory(at);
                symlink("../../other/results", at.join("tree/out/results")).expect("a link");
            },
            false,
        ),
        (
            "a pipe",
            |at| {
                directory(at);
                let made = Command::new("mkfifo").arg(at.join("tree/out/results")).status();
                assert!(made.expect("mkfifo runs").success());
            },
            false,
        ),
        (
            "a directory",
            |at| fs::create_dir_all(at.join("tree/out/results")).expect("a directory"),
            false,
        ),
    ];

    #[test]
    fn only_a_file_that_lies_in_the_tree_is_read_and_nothing_elsewhere_is_removed() {
        for (what, put, is_read) in PUT {
            let home = tempfile::tempdir().expect("a directory");
            let (tree, other) = (home.path().join("tree"), home.path().join("other"));
            for directory in [&tree, &other] {
                fs::create_dir(directory).expect("a directory");
            }
            fs::write(other.join("results"), "theirs").expect("a file");
            put(home.path());
            assert_eq!(read(&tree, "out/results").is_some(), is_read, "{what}");
            remove(&tree, "out/results");
            assert!(read(&tree, "out/results").is_none(), "{what}: it is gone");
            let theirs = fs::read_to_string(other.join("results")).expect("it is there");
            assert_eq!(theirs, "theirs", "{what}");
        }
    }
}
