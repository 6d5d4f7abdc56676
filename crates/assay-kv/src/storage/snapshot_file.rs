//! The snapshot file: the state as of one entry. There is at most one, and it is always whole.

use super::StorageTrouble;
use super::directory::replace;
use super::record::{Next, encode, next};
use crate::raft::SnapshotMeta;
use std::io::ErrorKind;
use std::path::Path;

const MAGIC: &[u8] = b"assay-kv snapshot 1\n";
const META: u8 = 1;
const STATE: u8 = 2;

/// A snapshot: which entry it is of, and the state as JSON.
#[derive(Clone, Debug)]
pub struct StoredSnapshot {
    /// Its last entry, the members, its name.
    pub meta: SnapshotMeta,
    /// The state as JSON.
    pub state: Vec<u8>,
}

/// Keeps a snapshot in the place of the one before it.
pub fn save(directory: &Path, snapshot: &StoredSnapshot) -> Result<(), StorageTrouble> {
    let meta = serde_json::to_vec(&snapshot.meta).expect("meta data is plain data");
    let bytes = [MAGIC, &encode(META, &meta), &encode(STATE, &snapshot.state)].concat();
    replace(&directory.join("snapshot"), &bytes)
}

/// Reads the snapshot, if there is one. Any damage is an error: a crash leaves none.
pub fn load(directory: &Path) -> Result<Option<StoredSnapshot>, StorageTrouble> {
    let path = directory.join("snapshot");
    let bytes = match std::fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(StorageTrouble::io(&path, "read")(error)),
    };
    let corrupt = |offset: usize, what: &str| StorageTrouble::Corrupt {
        path: path.clone(),
        offset,
        what: what.to_string(),
    };
    let rest = bytes.strip_prefix(MAGIC).ok_or_else(|| corrupt(0, "this is no snapshot"))?;
    let Next::Record { kind: META, payload: meta, bytes: length } = next(rest) else {
        return Err(corrupt(MAGIC.len(), "the record that describes the snapshot is damaged"));
    };
    let meta = serde_json::from_slice(meta)
        .map_err(|error| corrupt(MAGIC.len(), &format!("it cannot be read: {error}")))?;
    match next(&rest[length..]) {
        Next::Record { kind: STATE, payload, bytes } if length + bytes == rest.len() => {
            Ok(Some(StoredSnapshot { meta, state: payload.to_vec() }))
        }
        _ => Err(corrupt(MAGIC.len() + length, "the record that holds the state is damaged")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snapshot_comes_back_whole_or_is_called_damaged() {
        let scratch = tempfile::tempdir().expect("a temporary directory");
        assert!(load(scratch.path()).expect("nothing is there").is_none());
        let meta = SnapshotMeta { snapshot_id: "7".to_string(), ..SnapshotMeta::default() };
        let snapshot = StoredSnapshot { meta, state: b"{}".to_vec() };
        save(scratch.path(), &snapshot).expect("the disk works");
        let loaded = load(scratch.path()).expect("it is whole").expect("it is there");
        assert_eq!((loaded.meta, loaded.state), (snapshot.meta.clone(), snapshot.state.clone()));
        let file = scratch.path().join("snapshot");
        let whole = std::fs::read(&file).expect("it is there");
        for length in 0..whole.len() {
            std::fs::write(&file, &whole[..length]).expect("it can be written");
            let error = load(scratch.path()).expect_err("a part is no snapshot");
            assert!(matches!(error, StorageTrouble::Corrupt { .. }), "{error}");
        }
    }
}
