//! What stands in the directory of a session before its tools see it: copies of files.
//!
//! The directory is laid out as sandboxes mount it: `uploads` and `skills` can only be read inside,
//! `workspace` is where tools work. Files are copied, never linked: what happens in a session
//! happens to its copy. A copy is made durable below `moving` first, under the id of its resource;
//! then the record is written; and only then [`arrange`] makes `uploads` what the record says. So a
//! record never stands without its bytes, and tools never see what has no record: whatever a crash
//! or a full disk left on its way is moved on, or taken away, by the next call.

use crate::durable::{absent_is_fine, make_dirs_synced, sync_directory};
use std::fs::Permissions;
use std::io::{ErrorKind, Result};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// What tools see as `/mnt/session/uploads`. They cannot write there: nothing in it is theirs.
const UPLOADS: &str = "uploads";
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
    make_dirs_synced(&moving)?;
    copy_readable(object, &moving.join(id))?;
    sync_directory(&moving)
}

/// Tools run as users of their own: they must be able to read it, whatever the original allows.
///
/// # Errors
/// If something cannot be read or written.
pub fn copy_readable(from: &Path, to: &Path) -> Result<()> {
    std::fs::copy(from, to)?;
    std::fs::set_permissions(to, Permissions::from_mode(0o644))?;
    std::fs::File::open(to)?.sync_all()
}

/// Makes the uploads of a session what its record says: what waits for its place is moved there,
/// and what nobody names goes, but for copies that are just being made. Done twice it is done once.
///
/// # Errors
/// If something cannot be read, moved or removed.
pub fn arrange(session: &Path, mounts: &[Mount], is_staged: impl Fn(&str) -> bool) -> Result<()> {
    let (uploads, moving) = (session.join(UPLOADS), session.join(MOVING));
    clear(&uploads, "", mounts)?;
    let waiting = match std::fs::read_dir(&moving) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        waiting => waiting?,
    };
    let mut is_changed = false;
    for entry in waiting {
        let entry = entry?;
        let id = entry.file_name().to_string_lossy().into_owned();
        match mounts.iter().find(|mount| mount.id == id) {
            Some(mount) => {
                let place = uploads.join(&mount.path);
                let above = place.parent().unwrap_or(&uploads);
                make_dirs_synced(above)?;
                std::fs::rename(entry.path(), &place)?;
                sync_directory(above)?;
            }
            None if is_staged(&id) => continue,
            None => absent_is_fine(std::fs::remove_file(entry.path()))?,
        }
        is_changed = true;
    }
    if is_changed { sync_directory(&moving) } else { Ok(()) }
}

/// Takes away what stands in the uploads and in no record: also a file where a directory belongs,
/// and a directory where a file does. Links are not followed.
fn clear(directory: &Path, below: &str, mounts: &[Mount]) -> Result<()> {
    let entries = match std::fs::read_dir(directory) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    let mut is_changed = false;
    for entry in entries {
        let entry = entry?;
        let (kind, place) = (entry.file_type()?, entry.path());
        // A name that is no text is nobody's, whatever it looks like.
        let path = format!("{below}{}", entry.file_name().to_string_lossy());
        let inside = format!("{path}/");
        if kind.is_dir() && mounts.iter().any(|mount| mount.path.starts_with(&inside)) {
            clear(&place, &inside, mounts)?;
        } else if !kind.is_file() || mounts.iter().all(|mount| mount.path != path) {
            absent_is_fine(match kind.is_dir() {
                true => std::fs::remove_dir_all(&place),
                false => std::fs::remove_file(&place),
            })?;
            is_changed = true;
        }
    }
    if is_changed { sync_directory(directory) } else { Ok(()) }
}

/// Takes a session's directory away. One that is not there is no error.
///
/// # Errors
/// If it cannot be removed.
pub fn remove(session: &Path) -> Result<()> {
    absent_is_fine(std::fs::remove_dir_all(session))
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
        for id in ["known", "unknown", "staged", "other"] {
            stage(&object, &session, id).expect("staged");
        }
        let uploads = session.join(UPLOADS);
        let stray = ["x", "b/c", "b/d/e", "a"];
        for path in stray {
            make_dirs_synced(uploads.join(path).parent().expect("above")).expect("made");
            std::fs::write(uploads.join(path), "stray").expect("ours");
        }
        std::os::unix::fs::symlink(directory.path(), uploads.join("link")).expect("a link");
        let arranged = |mounts: &[Mount]| {
            arrange(&session, mounts, |id| id == "staged").expect("arranged");
            let paths = crate::trees::paths(&uploads).expect("readable");
            let read = |path: &String| std::fs::read_to_string(uploads.join(path)).expect("text");
            (paths.iter().map(read).collect::<Vec<_>>().join(" "), paths.join(" "))
        };
        let mounts = [mount("known", "a/b.txt"), mount("other", "b")];
        for _ in 0..2 {
            assert_eq!(arranged(&mounts), ("bytes bytes".into(), "a/b.txt b".into()));
            let waiting = std::fs::read_dir(session.join(MOVING)).expect("there").flatten();
            let waiting: Vec<_> = waiting.map(|one| one.file_name()).collect();
            assert_eq!(waiting, ["staged"]);
        }
        std::fs::write(&object, "new").expect("ours");
        stage(&object, &session, "again").expect("staged");
        let mounts = [mount("again", "a")];
        assert_eq!(arranged(&mounts), ("new".into(), "a".into()), "where a directory was");
        assert_eq!(arranged(&[]), (String::new(), String::new()));
        assert_eq!(std::fs::read_dir(&uploads).expect("it stays").count(), 0);
        assert!(object.exists(), "links were not followed");
        remove(&session).and_then(|()| remove(&session)).expect("gone is gone");
        arrange(&session, &[], |_| false).expect("nothing to do");
    }
}
