//! What the tools of a session left in its outputs directory, as files that can be downloaded.
//!
//! Bytes are durable before the records that name them, and the set is replaced as a whole in the
//! commit that ends the turn. A file that did not change keeps its id.

use super::host::Voice;
use super::room::Room;
use crate::error::ApiError;
use crate::log::log;
use crate::names::now_ms;
use crate::store::{SessionKey, Stored, Unit, fields_of, folder};
use assay_ledger::keyed::{KeyRange, Order};
use assay_sandbox::{OUTPUT_FILES_MAX, Output, collect_outputs};
use assay_session::{prefix, rfc3339};
use serde::{Deserialize, Serialize};
use serde_json::json;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::sync::Arc;

/// How much is copied at a time.
const STEP_BYTES: usize = 64 * 1024;

/// One file of a session.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Kept {
    /// Its name.
    pub name: String,
    /// Its id.
    pub id: String,
    /// How large it is.
    pub bytes: u64,
    /// What is in it.
    pub sha256: String,
}

/// The files of a session at the end of a turn.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Outputs {
    /// All of them.
    pub all: Vec<Kept>,
    /// The ids of those that were copied now.
    pub new: Vec<String>,
}

/// Copies what is there; `None` if it cannot be taken as a whole, which leaves what was there.
pub(super) async fn gather(voice: &Voice, room: &Arc<Room>) -> Option<Outputs> {
    let failed = |why: String| {
        log(format_args!("session {}: outputs were not taken: {why}", voice.key.id));
    };
    // A session that was deleted meanwhile stays so.
    if !room.is_there() {
        return None;
    }
    let workspace = room.workspace().await.map_err(|error| failed(error.to_string())).ok()?;
    let at = voice.key.at(folder::OUTPUTS);
    let known = voice.reader.ask(move |store| {
        let range = KeyRange::below(&at, Order::Ascending);
        let pairs = store.scan(&range, OUTPUT_FILES_MAX + 1)?;
        let read = |(_, value): (String, Vec<u8>)| {
            let kept: Kept = serde_json::from_slice(&value)?;
            Ok((kept.name.clone(), kept))
        };
        pairs.into_iter().map(read).collect::<Result<BTreeMap<String, Kept>, ApiError>>()
    });
    let known = known.await.map_err(|error| failed(error.message)).ok()?;
    let (names, objects) = (voice.names.clone(), voice.objects.clone());
    let copied = tokio::task::spawn_blocking(move || {
        let outputs = collect_outputs(&workspace).map_err(|error| error.to_string())?;
        copy_all(outputs, &objects, &known, || names.next(prefix::FILE))
    });
    match copied.await {
        Ok(Ok(kept)) => Some(kept),
        Ok(Err(why)) => {
            failed(why);
            None
        }
        Err(error) => {
            failed(error.to_string());
            None
        }
    }
}

/// Copies all or none.
fn copy_all(
    outputs: Vec<Output>,
    objects: &Path,
    known: &BTreeMap<String, Kept>,
    new_id: impl Fn() -> String,
) -> Result<Outputs, String> {
    let mut copied = Outputs::default();
    for output in outputs {
        let (name, id) = (output.name.clone(), new_id());
        let temporary = objects.join(format!("{id}.new"));
        match copy(output, objects, &temporary, &id, known.get(&name)) {
            Ok(kept) => {
                copied.new.extend((kept.id == id).then_some(id));
                copied.all.push(kept);
            }
            Err(error) => {
                // A disk that is full is not to be fuller.
                let made = copied.new.iter().chain([&id]).map(|id| objects.join(id));
                made.chain([temporary]).for_each(|path| drop(std::fs::remove_file(path)));
                return Err(format!("{name}: {error}"));
            }
        }
    }
    Ok(copied)
}

fn copy(
    mut output: Output,
    objects: &Path,
    temporary: &Path,
    id: &str,
    known: Option<&Kept>,
) -> std::io::Result<Kept> {
    let mut file = File::create(temporary)?;
    let (mut hash, mut buffer, mut bytes) = (Sha256::new(), vec![0; STEP_BYTES], 0);
    loop {
        let count = output.file.read(&mut buffer)?;
        if count == 0 {
            break;
        }
        hash.update(&buffer[..count]);
        file.write_all(&buffer[..count])?;
        bytes += count as u64;
    }
    let sha256: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    if let Some(known) = known.filter(|known| known.sha256 == sha256)
        && objects.join(&known.id).exists()
    {
        std::fs::remove_file(temporary)?;
        return Ok(known.clone());
    }
    file.sync_all()?;
    std::fs::rename(temporary, objects.join(id))?;
    File::open(objects)?.sync_all()?;
    Ok(Kept { name: output.name, id: id.to_string(), bytes, sha256 })
}

fn file_key(key: &SessionKey, id: &str) -> String {
    format!("{}/{}/{id}", folder::FILES, key.workspace)
}

/// Makes these the files of the session, and gives the ids of those that were.
pub(super) fn replace(
    unit: &mut Unit,
    key: &SessionKey,
    outputs: &[Kept],
) -> Result<Vec<String>, ApiError> {
    let (mut gone, mut removed) = (Vec::new(), Vec::new());
    let known = known(unit, key)?;
    for old in &known {
        let is_deleted = unit.get::<Stored>(&file_key(key, &old.id))?.is_none();
        if !outputs.contains(old) {
            removed.push(old.clone());
        } else if is_deleted {
            // By a client, meanwhile: its bytes go, too. The next turn takes them anew.
            gone.push(old.clone());
        }
    }
    take_away(unit, key, &removed);
    take_away(unit, key, &gone);
    for kept in outputs.iter().filter(|kept| !known.contains(kept)) {
        unit.put(file_key(key, &kept.id), &stored(key, kept))?;
        unit.put(format!("{}/{}", key.at(folder::OUTPUTS), kept.name), kept)?;
    }
    Ok(removed.into_iter().map(|old| old.id).collect())
}

/// Forgets the files of a session, and gives their ids.
///
/// # Errors
/// If the store cannot be read.
pub fn forget_outputs(unit: &mut Unit, key: &SessionKey) -> Result<Vec<String>, ApiError> {
    let all = known(unit, key)?;
    take_away(unit, key, &all);
    Ok(all.into_iter().map(|kept| kept.id).collect())
}

fn known(unit: &mut Unit, key: &SessionKey) -> Result<Vec<Kept>, ApiError> {
    let range = KeyRange::below(&key.at(folder::OUTPUTS), Order::Ascending);
    let pairs = unit.transaction.scan(&range, OUTPUT_FILES_MAX + 1)?;
    let read = |(_, value): (String, Vec<u8>)| Ok(serde_json::from_slice(&value)?);
    pairs.into_iter().map(read).collect()
}

fn take_away(unit: &mut Unit, key: &SessionKey, gone: &[Kept]) {
    for kept in gone {
        unit.transaction.delete(file_key(key, &kept.id));
        unit.transaction.delete(format!("{}/{}", key.at(folder::OUTPUTS), kept.name));
    }
}

fn stored(key: &SessionKey, kept: &Kept) -> Stored {
    let wire = json!({
        "id": kept.id, "type": "file", "filename": kept.name, "mime_type": mime(&kept.name),
        "size_bytes": kept.bytes, "created_at": rfc3339(now_ms()), "downloadable": true,
        "scope": {"type": "session", "id": key.id}, "expires_at": null,
    });
    Stored { wire: fields_of(wire) }
}

/// A guess by the name, for people: nothing is decided by it.
fn mime(name: &str) -> &'static str {
    match name.rsplit_once('.').map(|(_, end)| end.to_ascii_lowercase()).as_deref() {
        Some("txt" | "log") => "text/plain",
        Some("md") => "text/markdown",
        Some("csv") => "text/csv",
        Some("html") => "text/html",
        Some("json") => "application/json",
        Some("pdf") => "application/pdf",
        Some("png") => "image/png",
        Some("svg") => "image/svg+xml",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Kernel;
    use assay_ledger::keyed::SqliteStore;

    fn kept(name: &str, id: &str) -> Kept {
        Kept { name: name.to_string(), id: id.to_string(), bytes: 1, sha256: "s".to_string() }
    }

    #[test]
    fn a_file_that_was_deleted_while_it_was_looked_at_does_not_come_back_without_bytes() {
        let directory = tempfile::tempdir().expect("a directory");
        let store = Box::new(SqliteStore::open(directory.path()).expect("a new store"));
        let (effects, _nobody) = tokio::sync::mpsc::unbounded_channel();
        let started = Kernel::start(store, Arc::default(), Arc::default(), Arc::default(), effects);
        let kernel = started.expect("a thread").0;
        let key = SessionKey { workspace: "w".into(), id: "s".into() };
        let see = move |unit: &mut Unit, outputs: &[Kept]| {
            let removed = replace(unit, &key, outputs)?;
            let files = ["f1", "f2", "f3"].map(|id| unit.get::<Stored>(&file_key(&key, id)));
            let files = files.map(|file| file.is_ok_and(|file| file.is_some()));
            let names: Vec<String> = known(unit, &key)?.into_iter().map(|one| one.name).collect();
            Ok::<_, ApiError>((removed, files, names.join(" ")))
        };
        let (one, two) = (kept("a", "f1"), kept("b", "f2"));
        let job = kernel.run(move |unit| {
            let first = see(unit, &[one.clone(), two.clone()])?;
            unit.transaction.delete("files/w/f1".to_string());
            let second = see(unit, &[one, two])?;
            // The same name with other bytes, and one name less.
            let third = see(unit, &[kept("b", "f3")])?;
            Ok([first, second, third])
        });
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let [first, second, third] = runtime.block_on(job).expect("a disk");
        assert_eq!(first, (Vec::new(), [true, true, false], "a b".to_string()));
        assert_eq!(second, (Vec::new(), [false, true, false], "b".to_string()));
        assert_eq!(third, (vec!["f2".to_string()], [false, false, true], "b".to_string()));
    }
}
