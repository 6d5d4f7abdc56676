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

/// Removes results of an earlier run: they are not results of the next one. Whether they are gone;
/// what can be reached through links only was never there.
pub(super) fn remove(tree: &Path, file: &str) -> bool {
    plain(tree, file).is_none_or(|path| {
        trees::remove(&path);
        fs::symlink_metadata(&path).is_err()
    })
}

/// Writes a file of the Leader's own, where nothing but directories lead to it.
pub(super) fn put(tree: &Path, file: &str, text: &str) -> std::io::Result<()> {
    let mut path = tree.to_path_buf();
    let (directories, _) = file.rsplit_once('/').unwrap_or(("", file));
    for part in directories.split('/').filter(|part| !part.is_empty()) {
        path.push(part);
        match fs::symlink_metadata(&path) {
            Ok(meta) if meta.is_dir() => {}
            Ok(_) => break,
            Err(_) => fs::create_dir(&path)?,
        }
    }
    let Some(path) = plain(tree, file) else {
        return Err(std::io::Error::other(format!("{file}: a link is on the way to it")));
    };
    trees::remove(&path);
    fs::write(path, text)
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
    use super::{BYTES_MAX, put, read, remove};
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
    fn a_file_is_put_into_the_tree_and_through_no_link() {
        let home = tempfile::tempdir().expect("a directory");
        let (tree, other) = (home.path().join("tree"), home.path().join("other"));
        for directory in [&tree, &other] {
            fs::create_dir(directory).expect("a directory");
        }
        symlink("../other", tree.join("out")).expect("a link");
        assert!(put(&tree, "out/a.rs", "x").is_err());
        assert!(put(&tree, "out/deep/a.rs", "x").is_err());
        assert!(!other.join("a.rs").exists());
        symlink("../other/b.rs", tree.join("b.rs")).expect("a link");
        for file in ["b.rs", "new/deep/a.rs"] {
            put(&tree, file, "x").expect("a file");
            assert_eq!(fs::read_to_string(tree.join(file)).expect("a text"), "x");
        }
        assert!(!other.join("b.rs").exists());
    }

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
            assert!(remove(&tree, "out/results"), "{what}");
            assert!(read(&tree, "out/results").is_none(), "{what}: it is gone");
            let theirs = fs::read_to_string(other.join("results")).expect("it is there");
            assert_eq!(theirs, "theirs", "{what}");
        }
    }
}
