//! Who may touch the uploads of a session, and when: one after the other, and always by the record
//! that is committed then.
//!
//! Whoever changes the files of a session says so before ([`Arranger::change`]), and afterwards has
//! them [arranged](Arranger::arrange), whatever came of it. What could not be arranged is owed: it
//! is tried again before the next turn of the session begins, and at the next start.

use crate::api::disk_trouble;
use crate::error::ApiError;
use crate::placing::{self, Mount};
use crate::store::{Reader, SessionKey, SessionRecord, folder};
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Arranges the uploads of sessions.
#[derive(Debug)]
pub struct Arranger {
    reader: Reader,
    workspaces: PathBuf,
    /// Only of sessions that somebody is busy with, or whose files are owed something.
    slots: Mutex<HashMap<SessionKey, Slot>>,
}

#[derive(Default, Debug)]
struct Slot {
    /// One at a time.
    turn: Arc<tokio::sync::Mutex<()>>,
    users: usize,
    /// Copies that are being made.
    staged: BTreeSet<String>,
    is_owed: bool,
}

/// Somebody who is busy with the files of a session.
#[derive(Debug)]
pub struct Change {
    arranger: Arc<Arranger>,
    key: SessionKey,
    id: Option<String>,
}

impl Change {
    /// The copy stays for as long as this process does: whether there is a record of it is known
    /// to the next one only.
    pub fn leave(mut self) {
        self.id = None;
    }
}

impl Drop for Change {
    fn drop(&mut self) {
        let mut slots = self.arranger.slots();
        let Some(slot) = slots.get_mut(&self.key) else { return };
        slot.users -= 1;
        if let Some(id) = &self.id {
            slot.staged.remove(id);
        }
        if slot.users == 0 && slot.staged.is_empty() && !slot.is_owed {
            slots.remove(&self.key);
        }
    }
}

impl Arranger {
    /// Of the sessions below this directory.
    pub fn new(reader: Reader, workspaces: PathBuf) -> Arranger {
        Arranger { reader, workspaces, slots: Mutex::default() }
    }

    /// Where the directories of all sessions are.
    pub fn workspaces(&self) -> &Path {
        &self.workspaces
    }

    /// The directory of a session.
    pub fn place(&self, key: &SessionKey) -> PathBuf {
        self.workspaces.join(&key.workspace).join(&key.id)
    }

    /// Somebody begins to change the files of a session; a copy of this id may be made.
    pub fn change(self: &Arc<Arranger>, key: &SessionKey, id: Option<&str>) -> Change {
        let mut slots = self.slots();
        let slot = slots.entry(key.clone()).or_default();
        slot.users += 1;
        slot.staged.extend(id.map(str::to_string));
        let id = id.map(str::to_string);
        Change { arranger: self.clone(), key: key.clone(), id }
    }

    /// Makes the uploads of a session what its record says; one without a record loses its
    /// directory.
    ///
    /// # Errors
    /// If the store or the disk refuses; then it is owed.
    pub async fn arrange(self: &Arc<Arranger>, key: &SessionKey) -> Result<(), ApiError> {
        let user = self.change(key, None);
        let turn = self.slots().get(key).map(|slot| slot.turn.clone()).unwrap_or_default();
        let turn = turn.lock_owned().await;
        let found: Result<Option<SessionRecord>, _> =
            self.reader.get(key.at(folder::SESSIONS)).await;
        let (arranger, key) = (self.clone(), key.clone());
        // Who waits for this may go away: its turn is not over before it is done.
        let work = tokio::task::spawn_blocking(move || {
            let done = found.and_then(|record| arranger.arrange_now(&key, record));
            if let Some(slot) = arranger.slots().get_mut(&key) {
                slot.is_owed = done.is_err();
            }
            drop((turn, user));
            done
        });
        work.await.unwrap_or_else(|_| Err(ApiError::internal()))
    }

    fn arrange_now(&self, key: &SessionKey, record: Option<SessionRecord>) -> Result<(), ApiError> {
        let directory = self.place(key);
        let done = match record {
            None => placing::remove(&directory),
            Some(record) => {
                let mounts: Vec<Mount> = record.resources.iter().map(Mount::from).collect();
                let is_staged =
                    |id: &str| self.slots().get(key).is_some_and(|slot| slot.staged.contains(id));
                placing::arrange(&directory, &mounts, is_staged)
            }
        };
        done.map_err(disk_trouble)
    }

    /// The same, if somebody is busy with the files of the session or something is owed: then what
    /// stands there may not be what the record says.
    ///
    /// # Errors
    /// As above.
    pub async fn settle(self: &Arc<Arranger>, key: &SessionKey) -> Result<(), ApiError> {
        let may_differ = self.slots().contains_key(key);
        if may_differ { self.arrange(key).await } else { Ok(()) }
    }

    /// Whether nobody is busy and nothing is owed.
    #[cfg(test)]
    pub fn is_idle(&self) -> bool {
        self.slots().is_empty()
    }

    fn slots(&self) -> MutexGuard<'_, HashMap<SessionKey, Slot>> {
        // It is whole, whoever panicked with the lock.
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
