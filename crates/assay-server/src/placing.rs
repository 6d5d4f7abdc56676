//! What stands in the directory of a session before its tools see it: copies of files and skills.
//!
//! The directory is laid out as sandboxes mount it: `uploads` and `skills` can only be read inside,
//! `workspace` is where tools work. Files are copied, never linked: what happens in a session
//! happens to its copy. A copy is made durable below `moving` first, under the id of its resource,
//! and then moved to where it belongs, by the thread that writes the record. So a record never
//! stands without its bytes: what a crash left on the way is moved on, or taken away, by [`mend`].

use std::fs::Permissions;
use std::io::{Error, ErrorKind, Result};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// What tools see as `/mnt/session/uploads`.
const UPLOADS: &str = "uploads";
/// What tools see as `/workspace/skills`.
const SKILLS: &str = "skills";
/// Copies on their way.
const MOVING: &str = "moving";

/// A file and its place below the uploads.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mount {
    /// The id of the resource.
    pub id: String,
    /// Where, without a slash in front.
    pub path: String,
}

/// Copies a file to the waiting place of a session.
///
/// # Errors
/// If something cannot be read or written.
pub fn stage(object: &Path, session: &Path, id: &str) -> Result<()> {
    let moving = session.join(MOVING);
    std::fs::create_dir_all(&moving)?;
    copy_readable(object, &moving.join(id))?;
    sync_directory(&moving)
}

/// Tools run as users of their own: they must be able to read it, whatever the original allows.
fn copy_readable(from: &Path, to: &Path) -> Result<()> {
    std::fs::copy(from, to)?;
    std::fs::set_permissions(to, Permissions::from_mode(0o644))?;
    std::fs::File::open(to)?.sync_all()
}

/// Moves a copy that waits to where it belongs.
///
/// # Errors
/// If it cannot be moved.
pub fn settle(session: &Path, mount: &Mount) -> Result<()> {
    let place = session.join(UPLOADS).join(&mount.path);
    std::fs::create_dir_all(place.parent().unwrap_or(session))?;
    std::fs::rename(session.join(MOVING).join(&mount.id), place)
}

/// Takes a file out of sight, to where [`discard`] finds it. One that is not there is no error.
///
/// # Errors
/// If it cannot be moved.
pub fn unsettle(session: &Path, mount: &Mount) -> Result<()> {
    std::fs::create_dir_all(session.join(MOVING))?;
    let place = session.join(UPLOADS).join(&mount.path);
    absent_is_fine(std::fs::rename(place, session.join(MOVING).join(&mount.id)))
}

/// Takes away what waits under an id.
pub fn discard(session: &Path, id: &str) {
    // What stays behind goes at the next start.
    let _left = std::fs::remove_file(session.join(MOVING).join(id));
}

/// Copies a tree of files to where tools find the skill of this name.
///
/// # Errors
/// If something cannot be read or written, or is neither a file nor a directory.
pub fn place_skill(tree: &Path, session: &Path, name: &str) -> Result<()> {
    let skills = session.join(SKILLS);
    std::fs::create_dir_all(&skills)?;
    std::fs::set_permissions(&skills, Permissions::from_mode(0o755))?;
    unless_retired(tree, || copy_tree(tree, &skills.join(name)))?;
    sync_directory(&skills)
}

/// Does something with a tree that must be whole until the end: one that is [retired](retire) loses
/// its name before it loses anything else.
fn unless_retired<T>(tree: &Path, work: impl FnOnce() -> Result<T>) -> Result<T> {
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
    std::fs::create_dir_all(to)?;
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
            std::fs::create_dir_all(place.parent().unwrap_or(&made))?;
            std::fs::write(&place, bytes)?;
            std::fs::File::open(&place)?.sync_all()?;
        }
        sync_directory(&made)?;
        std::fs::rename(&made, tree)?;
        sync_directory(tree.parent().unwrap_or(tree))
    };
    write().inspect_err(|_| drop(std::fs::remove_dir_all(&made)))
}

/// The files below a directory, with their paths within it, in order.
///
/// # Errors
/// If something cannot be read.
pub fn read_tree(tree: &Path) -> Result<Vec<(String, Vec<u8>)>> {
    unless_retired(tree, || read_files(tree))
}

fn read_files(tree: &Path) -> Result<Vec<(String, Vec<u8>)>> {
    let (mut files, mut left) = (Vec::new(), vec![PathBuf::new()]);
    while let Some(directory) = left.pop() {
        for entry in std::fs::read_dir(tree.join(&directory))? {
            let entry = entry?;
            let path = directory.join(entry.file_name());
            match entry.file_type()?.is_dir() {
                true => left.push(path),
                false => {
                    files.push((path.to_string_lossy().into_owned(), std::fs::read(entry.path())?))
                }
            }
        }
    }
    files.sort();
    Ok(files)
}

/// Brings the uploads of a session in line with its records, after a crash.
///
/// # Errors
/// If something cannot be read or moved.
pub fn mend(session: &Path, mounts: &[Mount]) -> Result<()> {
    let waiting = match std::fs::read_dir(session.join(MOVING)) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        waiting => waiting?,
    };
    for entry in waiting {
        let id = entry?.file_name().to_string_lossy().into_owned();
        let mount = mounts.iter().find(|mount| mount.id == id);
        match mount.filter(|mount| !session.join(UPLOADS).join(&mount.path).exists()) {
            Some(mount) => settle(session, mount)?,
            None => discard(session, &id),
        }
    }
    Ok(())
}

/// Takes a session's directory away. One that is not there is no error.
///
/// # Errors
/// If it cannot be removed.
pub fn remove(session: &Path) -> Result<()> {
    absent_is_fine(std::fs::remove_dir_all(session))
}

fn absent_is_fine(done: Result<()>) -> Result<()> {
    match done {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

fn sync_directory(path: &Path) -> Result<()> {
    std::fs::File::open(path)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mount(id: &str, path: &str) -> Mount {
        Mount { id: id.to_string(), path: path.to_string() }
    }

    #[test]
    fn what_a_crash_left_on_its_way_arrives_or_goes() {
        let directory = tempfile::tempdir().expect("a directory");
        let (object, session) = (directory.path().join("object"), directory.path().join("s"));
        std::fs::write(&object, "bytes").expect("ours");
        for id in ["known", "unknown", "twice"] {
            stage(&object, &session, id).expect("staged");
        }
        let mounts = [mount("known", "a/b.txt"), mount("twice", "c.txt")];
        settle(&session, &mounts[1]).expect("moved");
        std::fs::write(&object, "other").expect("ours");
        stage(&object, &session, "twice").expect("staged");
        mend(&session, &mounts).expect("mended");
        let read = |path: &str| std::fs::read_to_string(session.join(UPLOADS).join(path));
        assert_eq!(read("a/b.txt").expect("moved on"), "bytes");
        assert_eq!(read("c.txt").expect("left alone"), "bytes");
        assert_eq!(std::fs::read_dir(session.join(MOVING)).expect("there").count(), 0);
        unsettle(&session, &mounts[0]).expect("out of sight");
        assert!(read("a/b.txt").is_err());
        mend(&session, &mounts).expect("its record is still there");
        assert_eq!(read("a/b.txt").expect("moved back"), "bytes");
        remove(&session).and_then(|()| remove(&session)).expect("gone is gone");
    }

    #[test]
    fn a_tree_comes_out_as_it_went_in() {
        let directory = tempfile::tempdir().expect("a directory");
        let (tree, session) = (directory.path().join("t"), directory.path().join("s"));
        let files = [("SKILL.md", "a"), ("x/y.txt", "b")];
        let files: Vec<(String, Vec<u8>)> =
            files.map(|(path, text)| (path.to_string(), text.as_bytes().to_vec())).to_vec();
        write_tree(&tree, &files).expect("written");
        assert_eq!(read_tree(&tree).expect("read"), files);
        place_skill(&tree, &session, "name").expect("placed");
        assert_eq!(read_tree(&session.join("skills/name")).expect("read"), files);
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
