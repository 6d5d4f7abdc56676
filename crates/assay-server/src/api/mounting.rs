//! How files come into a session that is there, and go: the copy, the record, and only then what
//! tools see.

use super::mounts::{FILES_MAX, check_place, too_many};
use super::resources::{NO_RESOURCE, blocking, check_bytes, wire};
use super::sessions::load_unit;
use crate::arranging::Arranger;
use crate::error::ApiError;
use crate::names::now_ms;
use crate::placing;
use crate::store::{Kernel, Resource, SessionKey, SessionRecord, Unit, folder};
use serde_json::Value;
use std::path::PathBuf;
use std::sync::Arc;

/// Copies a file, writes its record, and only then puts it where tools look.
///
/// # Errors
/// If it has no room there, or cannot be copied or written; then nothing is left of it.
pub async fn mount(
    kernel: &Kernel,
    arranger: &Arc<Arranger>,
    key: &SessionKey,
    object: PathBuf,
    resource: Resource,
) -> Result<Value, ApiError> {
    let change = arranger.change(key, Some(&resource.id));
    let (directory, id) = (arranger.place(key), resource.id.clone());
    let added = match blocking(move || placing::stage(&object, &directory, &id)).await {
        Err(error) => Err(error),
        Ok(()) => {
            let key = key.clone();
            kernel.run(move |unit| insert(unit, &key, resource)).await
        }
    };
    match &added {
        Err(error) if error.is_unknown => change.leave(),
        // The copy is nobody's any more, and goes.
        Err(_) => {
            drop(change);
            arrange_or_owe(arranger, key).await;
        }
        Ok(_) => arrange_or_owe(arranger, key).await,
    }
    added
}

/// What is written stays written: a disk that refuses now is asked again before a tool looks.
async fn arrange_or_owe(arranger: &Arc<Arranger>, key: &SessionKey) {
    // Why not stands in the log.
    let _owed = arranger.arrange(key).await;
}

fn insert(unit: &mut Unit, key: &SessionKey, resource: Resource) -> Result<Value, ApiError> {
    let mut record = modifiable(unit, key)?;
    if record.resources.len() >= FILES_MAX {
        return Err(too_many());
    }
    check_place(&resource.path, record.resources.iter().map(|other| other.path.as_str()))?;
    check_bytes(record.resources.iter().chain([&resource]).map(|one| one.size_bytes))?;
    let wire = wire(&resource);
    record.resources.push(resource);
    record.updated_ms = now_ms();
    unit.put(key.at(folder::SESSIONS), &record)?;
    Ok(wire)
}

fn modifiable(unit: &mut Unit, key: &SessionKey) -> Result<SessionRecord, ApiError> {
    let (record, _) = load_unit(unit, key)?;
    match record.archived_ms {
        None => Ok(record),
        Some(_) => Err(ApiError::invalid("Cannot modify archived session")),
    }
}

/// Takes a record away, and only then the file.
///
/// # Errors
/// If there is none, or it cannot be written; then it is still there.
pub async fn unmount(
    kernel: &Kernel,
    arranger: &Arc<Arranger>,
    key: &SessionKey,
    id: String,
) -> Result<(), ApiError> {
    let _change = arranger.change(key, None);
    let session = key.clone();
    kernel
        .run(move |unit| {
            let mut record = modifiable(unit, &session)?;
            let index = record.resources.iter().position(|one| one.id == id);
            let index = index.ok_or_else(|| ApiError::not_found(NO_RESOURCE))?;
            record.resources.remove(index);
            record.updated_ms = now_ms();
            unit.put(session.at(folder::SESSIONS), &record)
        })
        .await?;
    arrange_or_owe(arranger, key).await;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{Reader, Stubborn};
    use assay_ledger::keyed::SqliteStore;
    use assay_session::Session;
    use serde_json::json;
    use std::sync::atomic::{AtomicBool, Ordering};

    /// A session with a directory, on a disk that takes nothing while it is told to.
    struct World {
        directory: tempfile::TempDir,
        runtime: tokio::runtime::Runtime,
        refuses: Arc<AtomicBool>,
        kernel: Kernel,
        arranger: Arc<Arranger>,
        key: SessionKey,
    }

    impl World {
        fn new() -> World {
            let directory = tempfile::tempdir().expect("a directory");
            let open = || SqliteStore::open(directory.path()).expect("a store");
            let refuses: Arc<AtomicBool> = Arc::default();
            let (effects, _nobody) = tokio::sync::mpsc::unbounded_channel();
            let store = Box::new(Stubborn { store: open(), refuses: refuses.clone() });
            let started =
                Kernel::start(store, Arc::default(), Arc::default(), Arc::default(), effects);
            let kernel = started.expect("a thread").0;
            let reader = Reader::start(Box::new(open())).expect("a thread");
            let workspaces = directory.path().join("workspaces");
            let arranger = Arc::new(Arranger::new(reader, workspaces));
            let key = SessionKey { workspace: "w".into(), id: "s".into() };
            let runtime = tokio::runtime::Builder::new_current_thread().build().expect("one");
            std::fs::write(directory.path().join("object"), "bytes").expect("ours");
            let record: SessionRecord = serde_json::from_value(json!({
                "id": "s", "agent": {}, "environment_id": "e", "title": null, "metadata": {},
                "created_ms": 1, "updated_ms": 1, "archived_ms": null, "made_by": null,
                "resources": [], "vault_ids": [], "skills": [],
            }))
            .expect("a record");
            let at = key.clone();
            let made = kernel.run(move |unit| {
                unit.put(at.at(folder::SESSIONS), &record)?;
                unit.put(at.at(folder::STATES), &Session::default())
            });
            runtime.block_on(made).expect("a disk");
            World { directory, runtime, refuses, kernel, arranger, key }
        }

        fn add(&self, id: &str, path: &str) -> Result<(), u16> {
            let resource = Resource {
                id: id.to_string(),
                file_id: "f".to_string(),
                path: path.to_string(),
                size_bytes: 5,
                created_ms: 1,
            };
            let object = self.directory.path().join("object");
            let added = mount(&self.kernel, &self.arranger, &self.key, object, resource);
            self.runtime.block_on(added).map(drop).map_err(|error| error.status)
        }

        fn delete(&self, id: &str) -> Result<(), u16> {
            let gone = unmount(&self.kernel, &self.arranger, &self.key, id.to_string());
            self.runtime.block_on(gone).map_err(|error| error.status)
        }

        /// What tools would see, and how many copies wait.
        fn seen(&self) -> (Vec<String>, usize) {
            let place = self.arranger.place(&self.key);
            let waiting = std::fs::read_dir(place.join("moving")).map_or(0, Iterator::count);
            (crate::trees::paths(&place.join("uploads")).unwrap_or_default(), waiting)
        }
    }

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn files_change_with_their_record_and_not_with_one_that_was_refused() {
        let world = World::new();
        world.add("r0", "first").expect("a disk");
        world.refuses.store(true, Ordering::SeqCst);
        assert_eq!(world.add("r1", "a"), Err(500));
        assert_eq!(world.seen(), (names(&["first"]), 0), "nothing came of it");
        assert_eq!(world.delete("r0"), Err(500));
        assert_eq!(world.seen(), (names(&["first"]), 0), "it is still there");
        world.refuses.store(false, Ordering::SeqCst);
        world.delete("r0").expect("a disk");
        assert_eq!(world.seen(), (Vec::new(), 0));
        assert_eq!(world.delete("r0"), Err(404));
        assert!(world.arranger.is_idle(), "nothing is kept for who has nothing to do");
    }

    #[test]
    fn a_place_that_was_a_directory_can_be_a_file_and_the_other_way_round() {
        let world = World::new();
        for (id, path) in [("r1", "data/x"), ("r2", "data"), ("r3", "data/x/y"), ("r4", "data/x")] {
            assert_eq!(world.add(id, path), Ok(()), "{path}");
            assert_eq!(world.seen(), (names(&[path]), 0));
            world.delete(id).expect("it is there");
        }
    }

    #[test]
    fn what_could_not_be_put_in_its_place_is_put_there_before_a_tool_looks() {
        let world = World::new();
        let uploads = world.arranger.place(&world.key).join("uploads");
        world.add("r0", "first").expect("a disk");
        // A disk that refuses, for a moment: where the directory was is something else.
        let aside = uploads.with_file_name("aside");
        std::fs::rename(&uploads, &aside).expect("ours");
        std::fs::write(&uploads, "in the way").expect("ours");
        assert_eq!(world.add("r1", "a"), Ok(()), "its record is written, and its bytes are safe");
        assert_eq!(world.seen(), (Vec::new(), 1));
        assert!(world.runtime.block_on(world.arranger.settle(&world.key)).is_err());
        std::fs::remove_file(&uploads).expect("ours");
        std::fs::rename(&aside, &uploads).expect("ours");
        world.runtime.block_on(world.arranger.settle(&world.key)).expect("a disk again");
        assert_eq!(world.seen(), (names(&["a", "first"]), 0));
        assert!(world.arranger.is_idle());
    }
}
