//! A node's directory: whose it is, who uses it, and how files in it are replaced.

use super::StorageTrouble;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs::{File, TryLockError};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// The version of everything in the directory.
const VERSION: u32 = 1;

/// Says whose directory it is.
#[derive(Serialize, Deserialize, PartialEq, Debug)]
struct Label {
    format: String,
    version: u32,
    id: u64,
    members: BTreeSet<u64>,
}

/// A data directory in use by this process. The lock goes when this value does, or the process.
#[derive(Debug)]
pub struct Directory {
    path: PathBuf,
    _lock: File,
}

impl Directory {
    /// Opens the directory of node `id`, made and labelled at its first start.
    pub fn open(
        path: &Path,
        id: u64,
        members: &BTreeSet<u64>,
    ) -> Result<Directory, StorageTrouble> {
        std::fs::create_dir_all(path).map_err(StorageTrouble::io(path, "make this directory"))?;
        let lock = File::create(path.join("lock")).map_err(StorageTrouble::io(path, "lock"))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(StorageTrouble::Held { path: path.to_path_buf() });
            }
            Err(TryLockError::Error(error)) => {
                return Err(StorageTrouble::io(path, "lock")(error));
            }
        }
        let ours = Label {
            format: "assay-kv".to_string(),
            version: VERSION,
            id,
            members: members.clone(),
        };
        claim(path, &ours)?;
        Ok(Directory { path: path.to_path_buf(), _lock: lock })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Writes the label, or compares it with the one that is there.
fn claim(directory: &Path, ours: &Label) -> Result<(), StorageTrouble> {
    let path = directory.join("node.json");
    let text = match std::fs::read(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let text = serde_json::to_vec(ours).expect("a label is plain data");
            return replace(&path, &text);
        }
        Err(error) => return Err(StorageTrouble::io(&path, "read")(error)),
    };
    let foreign = |what| StorageTrouble::Foreign { path: directory.to_path_buf(), what };
    let theirs: Label = serde_json::from_slice(&text)
        .map_err(|error| foreign(format!("node.json is not a label of assay-kv: {error}")))?;
    if (theirs.format.as_str(), theirs.version) != (ours.format.as_str(), ours.version) {
        let what = format!("has format {} version {}", theirs.format, theirs.version);
        return Err(foreign(what));
    }
    if theirs.id != ours.id {
        let (theirs, ours) = (theirs.id, ours.id);
        let what =
            format!("belongs to node {theirs}, not to node {ours}; name another with --data");
        return Err(foreign(what));
    }
    if theirs.members != ours.members {
        let what = format!(
            "belongs to a cluster of nodes {:?}, not {:?}; members cannot be changed",
            theirs.members, ours.members
        );
        return Err(foreign(what));
    }
    Ok(())
}

/// Replaces a file whole or not at all, and for good: when this returns, a crash cannot undo it.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<(), StorageTrouble> {
    let temporary = path.with_extension("new");
    let written = File::create(&temporary).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    written.map_err(StorageTrouble::io(&temporary, "write"))?;
    std::fs::rename(&temporary, path).map_err(StorageTrouble::io(path, "replace"))?;
    let directory = path.parent().unwrap_or(Path::new("."));
    // The new name is in the directory, and the directory is a file that must be synced as well.
    let synced = File::open(directory).and_then(|directory| directory.sync_all());
    synced.map_err(StorageTrouble::io(directory, "sync"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_has_one_node_one_cluster_and_one_process() {
        let scratch = tempfile::tempdir().expect("a temporary directory");
        let members = BTreeSet::from([1, 2, 3]);
        let open = |id, members: &BTreeSet<u64>| Directory::open(scratch.path(), id, members);
        let first = open(1, &members).expect("it is new");
        assert!(matches!(open(1, &members), Err(StorageTrouble::Held { .. })));
        drop(first);
        let error = open(2, &members).expect_err("it is node 1's").to_string();
        assert!(error.contains("belongs to node 1, not to node 2"), "{error}");
        let error = open(1, &BTreeSet::from([1, 2])).expect_err("other members").to_string();
        assert!(error.contains("members cannot be changed"), "{error}");
        open(1, &members).expect("it is ours");
        std::fs::write(scratch.path().join("node.json"), "{").expect("it can be written");
        assert!(matches!(open(1, &members), Err(StorageTrouble::Foreign { .. })));
    }
}
