//! One request's part of a commit.

use super::closed;
use super::records::{Line, SessionKey, folder, read_record};
use crate::counters::{Change, Counters, Load, Standing};
use crate::error::ApiError;
use crate::names::{Names, now_ms};
use assay_ledger::keyed::{KeyRange, Order, Savepoint, Transaction};
use assay_session::{Context, Effect, EventId, Input, Refusal, Session, Step, prefix, step};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::sync::Arc;

/// Pairs that are taken away at once.
const DELETE_PAGE: usize = 1000;

/// A step that was taken, and its events as they stand in the log.
#[derive(Debug)]
pub struct Taken {
    /// The step.
    pub step: Step,
    /// One for each of its events.
    pub lines: Vec<Arc<Line>>,
}

/// What is done after the commit, and only then.
#[derive(Debug)]
pub enum After {
    /// Streams are told.
    Publish(SessionKey, Vec<Arc<Line>>),
    /// Streams are told, and closed.
    Close(SessionKey, Vec<Arc<Line>>),
    /// Engines are told.
    Effects(SessionKey, Vec<Effect>),
    /// It is counted.
    Count(Change),
}

/// A transaction, and what is to happen when it is durable.
pub struct Unit<'a> {
    /// What is read and written.
    pub transaction: Transaction<'a>,
    pub(super) after: Vec<After>,
    names: &'a Names,
    counters: &'a Counters,
}

impl<'a> Unit<'a> {
    pub(crate) fn new(
        transaction: Transaction<'a>,
        names: &'a Names,
        counters: &'a Counters,
    ) -> Unit<'a> {
        Unit { transaction, after: Vec::new(), names, counters }
    }

    /// How much a workspace has to do, with everything that this commit changes.
    pub fn load(&self, workspace: &str) -> Load {
        let changes = self.after.iter().filter_map(|after| match after {
            After::Count(change) if change.workspace == workspace => Some(change),
            _ => None,
        });
        changes.fold(self.counters.load(workspace), Load::after)
    }

    /// Whether it is time to forget old answers again.
    pub fn may_forget(&self, now_ms: u64, every_ms: u64) -> bool {
        self.counters.may_forget(now_ms, every_ms)
    }

    /// A session begins.
    ///
    /// # Errors
    /// If its state cannot be written as JSON.
    pub fn begin(&mut self, key: &SessionKey) -> Result<(), ApiError> {
        let state = Session::default();
        self.put(key.at(folder::STATES), &state)?;
        self.count(key, None, Some(&state));
        Ok(())
    }

    fn count(&mut self, key: &SessionKey, before: Option<&Session>, after: Option<&Session>) {
        let (before, after) = (before.map(Standing::from), after.map(Standing::from));
        if before != after {
            let workspace = key.workspace.clone();
            self.after.push(After::Count(Change { workspace, before, after }));
        }
    }

    /// A moment to go back to.
    pub fn savepoint(&self) -> (Savepoint, usize) {
        (self.transaction.savepoint(), self.after.len())
    }

    /// Whether everything since then can be written.
    ///
    /// # Errors
    /// If a record has become too large.
    pub fn check_since(&self, (savepoint, _): (Savepoint, usize)) -> Result<(), ApiError> {
        Ok(self.transaction.check_since(savepoint)?)
    }

    /// Forgets everything since then.
    pub fn roll_back(&mut self, (savepoint, after): (Savepoint, usize)) {
        self.transaction.roll_back(savepoint);
        self.after.truncate(after);
    }

    /// A new id.
    pub fn new_id(&self, prefix: &str) -> String {
        self.names.next(prefix)
    }

    /// A record, if it is there.
    ///
    /// # Errors
    /// If the store or the record cannot be read.
    pub fn get<T: DeserializeOwned>(&mut self, key: &str) -> Result<Option<T>, ApiError> {
        read_record(self.transaction.get(key)?)
    }

    /// Writes a record.
    ///
    /// # Errors
    /// If it cannot be written as JSON.
    pub fn put<T: Serialize>(&mut self, key: String, record: &T) -> Result<(), ApiError> {
        self.transaction.put(key, serde_json::to_vec(record)?);
        Ok(())
    }

    /// Takes everything in a folder away. Each page begins behind the one before: whoever looked
    /// from the beginning would read what is already gone again, and keep all other writers waiting
    /// for the square of a long log.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn delete_below(&mut self, folder: &str) -> Result<(), ApiError> {
        let mut range = KeyRange::below(folder, Order::Ascending);
        loop {
            let pairs = self.transaction.scan(&range, DELETE_PAGE)?;
            let Some((last, _)) = pairs.last() else { return Ok(()) };
            range = range.after(last);
            for (key, _) in pairs {
                self.transaction.delete(key);
            }
        }
    }

    /// Takes a step of a session: its events, its state and what follows are one commit.
    ///
    /// # Errors
    /// The inner one if the machine refuses, the outer one if there is no such session or the
    /// store fails.
    pub fn step(
        &mut self,
        key: &SessionKey,
        input: &Input,
    ) -> Result<Result<Step, Refusal>, ApiError> {
        Ok(self.step_in_lines(key, input)?.map(|taken| taken.step))
    }

    /// The same, for who wants to see the events as they stand in the log.
    ///
    /// # Errors
    /// As above.
    pub fn step_in_lines(
        &mut self,
        key: &SessionKey,
        input: &Input,
    ) -> Result<Result<Taken, Refusal>, ApiError> {
        let Some(mut session) = self.get::<Session>(&key.at(folder::STATES))? else {
            return Err(ApiError::not_found(format!("Session {} not found", key.id)));
        };
        if let Some(last) = &session.last_event {
            self.names.raise(&last.0);
        }
        let known = closed::recall(self, key, &mut session, input)?;
        let names = self.names;
        let mut ids = || EventId(names.next(prefix::EVENT));
        let mut context = Context { now_ms: now_ms(), ids: &mut ids };
        let mut taken = match step(&session, input, &mut context) {
            Ok(taken) => taken,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let mut lines = Vec::with_capacity(taken.events.len());
        for event in &taken.events {
            let line = Line::of(event)?;
            let at = format!("{}/{}", key.at(folder::EVENTS), line.id);
            self.transaction.put(at, line.json.clone().into_bytes());
            lines.push(Arc::new(line));
        }
        closed::keep(self, key, &std::mem::take(&mut taken.session.closed), &known)?;
        self.put(key.at(folder::STATES), &taken.session)?;
        // Whatever an engine of this process still holds must be looked at after a restart. It
        // stands there as long as the state says so, which is written with it.
        match (is_active(&session), is_active(&taken.session)) {
            (false, true) => self.transaction.put(key.at(folder::ACTIVE), Vec::new()),
            (true, false) => self.transaction.delete(key.at(folder::ACTIVE)),
            _ => {}
        }
        let closes = *input == Input::Delete;
        self.count(key, Some(&session), (!closes).then_some(&taken.session));
        self.after.push(match closes {
            true => After::Close(key.clone(), lines.clone()),
            false => After::Publish(key.clone(), lines.clone()),
        });
        if !taken.effects.is_empty() {
            self.after.push(After::Effects(key.clone(), taken.effects.clone()));
        }
        Ok(Ok(Taken { step: taken, lines }))
    }
}

/// Whether an engine may hold something of it.
fn is_active(session: &Session) -> bool {
    !session.turns.is_empty() || session.aborting.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_ledger::keyed::{Pair, SqliteStore, Store, StoreError, Writes};
    use assay_session::Inbound;

    /// A store that counts the pairs it is asked for and those that it gives.
    struct Counted {
        store: SqliteStore,
        asked: usize,
        given: usize,
    }

    impl Store for Counted {
        fn get(&mut self, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
            self.store.get(key)
        }

        fn scan(&mut self, range: &KeyRange, limit: usize) -> Result<Vec<Pair>, StoreError> {
            let pairs = self.store.scan(range, limit)?;
            (self.asked, self.given) = (self.asked + limit, self.given + pairs.len());
            Ok(pairs)
        }

        fn commit(&mut self, writes: &Writes) -> Result<(), StoreError> {
            self.store.commit(writes)
        }
    }

    /// A store that counts how often one key is written or taken away.
    struct Watched {
        store: SqliteStore,
        at: String,
        count: usize,
    }

    impl Store for Watched {
        fn get(&mut self, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
            self.store.get(key)
        }

        fn scan(&mut self, range: &KeyRange, limit: usize) -> Result<Vec<Pair>, StoreError> {
            self.store.scan(range, limit)
        }

        fn commit(&mut self, writes: &Writes) -> Result<(), StoreError> {
            self.count += usize::from(writes.contains_key(&self.at));
            self.store.commit(writes)
        }
    }

    #[test]
    fn whether_a_session_is_active_stands_there_and_is_written_only_when_it_changes() {
        let directory = tempfile::tempdir().expect("a directory");
        let store = SqliteStore::open(directory.path()).expect("a new store");
        let (names, counters) = (Names::default(), Counters::default());
        let key = SessionKey { workspace: "w".into(), id: "s".into() };
        let mut store = Watched { store, at: key.at(folder::ACTIVE), count: 0 };
        let mut unit = Unit::new(Transaction::new(&mut store), &names, &counters);
        unit.begin(&key).expect("collected");
        unit.transaction.commit().expect("written");
        let message = || Inbound::Message { content: Vec::new() };
        let (mut changes, mut was_active) = (0, false);
        for round in 0..12 {
            let event = if matches!(round, 2 | 3 | 6) { message() } else { Inbound::Interrupt };
            let mut unit = Unit::new(Transaction::new(&mut store), &names, &counters);
            let step = unit.step(&key, &Input::Send(vec![event])).expect("read").expect("taken");
            unit.transaction.commit().expect("written");
            let Session { turns, aborting, .. } = &step.session;
            let is_active = !turns.is_empty() || aborting.is_some();
            changes += usize::from(is_active != was_active);
            was_active = is_active;
            let at = store.at.clone();
            assert_eq!(store.get(&at).expect("read").is_some(), is_active, "{round}");
            assert_eq!(store.count, changes, "{round}");
        }
        assert!(changes >= 1, "it has been active");
    }

    #[test]
    fn what_is_taken_away_is_read_once_however_much_it_is() {
        let directory = tempfile::tempdir().expect("a directory");
        let mut store = SqliteStore::open(directory.path()).expect("a new store");
        let count = DELETE_PAGE * 5 / 2;
        let old = (0..count).map(|number| (format!("x/{number:06}"), Some(Vec::new())));
        let beside = ["w/1", "x", "y/1"].map(|key| (key.to_string(), Some(Vec::new())));
        store.commit(&old.chain(beside.clone()).collect()).expect("written");
        let mut counted = Counted { store, asked: 0, given: 0 };
        let (names, counters) = (Names::default(), Counters::default());
        let mut unit = Unit::new(Transaction::new(&mut counted), &names, &counters);
        // What the commit itself has put there goes, too.
        unit.put("x/z".to_string(), &1).expect("collected");
        unit.delete_below("x").expect("read");
        unit.transaction.commit().expect("written");
        // Each page is asked for with room for what the commit may hide, which is one pair here.
        assert!(counted.given <= count + 3, "{} for {count}", counted.given);
        assert!(counted.asked <= count + 3 * DELETE_PAGE, "{}", counted.asked);
        let all = KeyRange { from: String::new(), to: "~".into(), order: Order::Ascending };
        let left = counted.scan(&all, count).expect("read").into_iter().map(|(key, _)| key);
        assert_eq!(left.collect::<Vec<_>>(), beside.map(|(key, _)| key));
    }
}
