//! The files of skills: trees that are written once, copied into sessions, packed and taken away.

use crate::durable::{absent_is_fine, make_dirs_synced, sync_directory};
use crate::placing::{copy_readable, remove};
use std::fs::Permissions;
use std::io::{Error, ErrorKind, Result};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// What tools see as `/workspace/skills`.
const SKILLS: &str = "skills";

/// Copies a tree of files to where tools find the skill of this name.
///
/// # Errors
/// If something cannot be read or written, or is neither a file nor a directory.
pub fn place_skill(tree: &Path, session: &Path, name: &str) -> Result<()> {
    let skills = session.join(SKILLS);
    make_dirs_synced(&skills)?;
    std::fs::set_permissions(&skills, Permissions::from_mode(0o755))?;
    unless_retired(tree, || copy_tree(tree, &skills.join(name)))?;
    sync_directory(&skills)
}

/// Does something with a tree that must be whole until the end: one that is [retired](retire) loses
/// its name before it loses anything else.
///
/// # Errors
/// Those of `work`, and that the tree is gone.
pub fn unless_retired<T>(tree: &Path, work: impl FnOnce() -> Result<T>) -> Result<T> {
    let done = work()?;
    match tree.try_exists()? {
        true => Ok(done),
        false => Err(Error::new(ErrorKind::NotFound, "the skill was deleted meanwhile")),
    }
}

/// Takes a tree away that others may be reading. One that is not there is no error.
///
/// # Errors
/// If it cannot be removed.
pub fn retire(tree: &Path) -> Result<()> {
    let gone = tree.with_extension("gone");
    absent_is_fine(std::fs::rename(tree, &gone))?;
    remove(&gone)
}

fn copy_tree(from: &Path, to: &Path) -> Result<()> {
    make_dirs_synced(to)?;
    std::fs::set_permissions(to, Permissions::from_mode(0o755))?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let (kind, copy) = (entry.file_type()?, to.join(entry.file_name()));
        if kind.is_dir() {
            copy_tree(&entry.path(), &copy)?;
        } else if kind.is_file() {
            copy_readable(&entry.path(), &copy)?;
        } else {
            return Err(Error::new(ErrorKind::InvalidData, "a skill has files and directories"));
        }
    }
    sync_directory(to)
}

/// Writes files below a new directory; nothing of it is there if it fails.
///
/// # Errors
/// If something cannot be written.
pub fn write_tree(tree: &Path, files: &[(String, Vec<u8>)]) -> Result<()> {
    let made = tree.with_extension("new");
    let write = || {
        for (path, bytes) in files {
            let place = made.join(path);
            let above = place.parent().unwrap_or(&made);
            make_dirs_synced(above)?;
            std::fs::write(&place, bytes)?;
            std::fs::File::open(&place)?.sync_all()?;
            sync_directory(above)?;
        }
        std::fs::rename(&made, tree)?;
        sync_directory(tree.parent().unwrap_or(tree))
    };
    write().inspect_err(|_| drop(std::fs::remove_dir_all(&made)))
}

/// The paths of the files below a directory, in order.
///
/// # Errors
/// If something cannot be read.
pub fn paths(tree: &Path) -> Result<Vec<String>> {
    let (mut paths, mut left) = (Vec::new(), vec![PathBuf::new()]);
    while let Some(directory) = left.pop() {
        for entry in std::fs::read_dir(tree.join(&directory))? {
            let entry = entry?;
            let path = directory.join(entry.file_name());
            match entry.file_type()?.is_dir() {
                true => left.push(path),
                false => paths.push(path.to_string_lossy().into_owned()),
            }
        }
    }
    paths.sort();
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_comes_out_as_it_went_in() {
        let directory = tempfile::tempdir().expect("a directory");
        let (tree, session) = (directory.path().join("t"), directory.path().join("s"));
        let files = [("SKILL.md", "a"), ("x/y.txt", "b")];
        let files: Vec<(String, Vec<u8>)> =
            files.map(|(path, text)| (path.to_string(), text.as_bytes().to_vec())).to_vec();
        write_tree(&tree, &files).expect("written");
        let read = |tree: &Path| {
            let paths = paths(tree).expect("readable").into_iter();
            let read = |path: String| {
                let bytes = std::fs::read(tree.join(&path)).expect("ours");
                (path, bytes)
            };
            paths.map(read).collect::<Vec<_>>()
        };
        assert_eq!(read(&tree), files);
        place_skill(&tree, &session, "name").expect("placed");
        assert_eq!(read(&session.join("skills/name")), files);
        // Whatever was read of one that goes meanwhile may be a part of it.
        let late = unless_retired(&tree, || retire(&tree)).expect_err("it was there before");
        assert_eq!(late.kind(), ErrorKind::NotFound);
        assert_eq!(std::fs::read_dir(directory.path()).expect("there").count(), 1, "all is gone");
        retire(&tree).expect("gone is gone");
        place_skill(&tree, &session, "name").expect_err("nothing to copy");
        let bad = [("a".to_string(), vec![]), ("a/b".to_string(), vec![])];
        write_tree(&directory.path().join("u"), &bad).expect_err("a file is no directory");
        assert!(!directory.path().join("u").exists() && !directory.path().join("u.new").exists());
    }
}
