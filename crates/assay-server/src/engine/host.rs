//! What an engine has of the server: a voice, a memory, a room for tools.
//!
//! Whatever an engine says becomes durable before it is seen, and only as long as its turn is its
//! own. What it wants to remember, and the files its turn leaves, are part of the same commit: so
//! there is no turn that ended without its outputs, and no memory of what nobody was told.

use super::keyring::Keyring;
use super::mcp::Servers;
use super::memory::{Entry, end_key, entry_key};
use super::outputs::{Outputs, gather, replace};
use super::room::Room;
use crate::error::ApiError;
use crate::log::log;
use crate::names::Names;
use crate::net::Reach;
use crate::oauth::Renewer;
use crate::store::{Kernel, Reader, SessionKey, Unit};
use assay_session::{Answer, Event, EventId, Input, Said, Step, TurnRef};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

/// How often an engine tries to be heard when the disk says no, and how long it waits between.
const TRIES: u32 = 20;
const TRY_AGAIN: Duration = Duration::from_millis(250);
/// How long whoever never gives up waits between two tries: twice as long each time, up to this.
const WAIT_MAX: Duration = Duration::from_secs(5);

/// Why an engine goes no further.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stop {
    /// Its turn is over: it was interrupted, or the session is gone.
    Stale,
    /// It said what it may not say, or nothing can be written.
    Broken,
    /// It said more than a record can have.
    TooLarge,
}

/// What goes with a step into the same commit.
#[derive(Clone, Default, Debug)]
pub(super) struct Luggage {
    /// Entries of the memory, by their keys.
    pub memory: Vec<(String, Entry)>,
    /// The files of the session, all of them, if they were looked at.
    pub outputs: Option<Outputs>,
}

/// One run of one turn, and everything that it may write.
#[derive(Clone, Debug)]
pub(super) struct Voice {
    pub kernel: Kernel,
    pub reader: Reader,
    pub names: Arc<Names>,
    pub objects: PathBuf,
    pub renewer: Arc<Renewer>,
    pub key: SessionKey,
    pub turn: TurnRef,
}

impl Voice {
    /// Takes a step; `None` if it came too late.
    pub async fn take(&self, input: Input, luggage: Luggage) -> Result<Option<Step>, ApiError> {
        let key = self.key.clone();
        let taken = self.kernel.run(move |unit| {
            let step = match unit.step(&key, &input)? {
                Ok(step) => step,
                Err(assay_session::Refusal::Stale) => return Ok(None),
                Err(refusal) => return Err(ApiError::invalid(refusal.to_string())),
            };
            for (at, entry) in luggage.memory {
                unit.put(at, &entry)?;
            }
            let removed = match luggage.outputs {
                Some(outputs) => replace(unit, &key, &outputs.all)?,
                None => Vec::new(),
            };
            Ok(Some((step, removed)))
        });
        let Some((step, removed)) = taken.await? else { return Ok(None) };
        for object in removed {
            // What stays behind goes at the next start.
            let _left = tokio::fs::remove_file(self.objects.join(&object)).await;
        }
        Ok(Some(step))
    }

    /// Takes a step that must be taken, as long as there is a disk.
    pub async fn insist(&self, input: Input, luggage: Luggage) -> Result<Vec<Event>, Stop> {
        for _ in 0..TRIES {
            match self.attempt(&input, &luggage).await {
                Some(done) => return done,
                None => tokio::time::sleep(TRY_AGAIN).await,
            }
        }
        Err(Stop::Broken)
    }

    /// Takes a step without which its session would stand still for ever: it is tried until it is
    /// written, or nothing is written any more.
    pub async fn persist(&self, input: Input, luggage: Luggage) -> Result<Vec<Event>, Stop> {
        self.persist_from(TRY_AGAIN, input, luggage).await
    }

    async fn persist_from(
        &self,
        mut wait: Duration,
        input: Input,
        luggage: Luggage,
    ) -> Result<Vec<Event>, Stop> {
        loop {
            if let Some(done) = self.attempt(&input, &luggage).await {
                return done;
            }
            if self.kernel.is_stopped() {
                return Err(Stop::Broken);
            }
            tokio::time::sleep(wait).await;
            wait = wait.saturating_mul(2).min(WAIT_MAX);
        }
    }

    /// What came of a step; nothing did if it may be written another time.
    async fn attempt(&self, input: &Input, luggage: &Luggage) -> Option<Result<Vec<Event>, Stop>> {
        match self.take(input.clone(), luggage.clone()).await {
            Ok(Some(step)) => Some(Ok(step.events)),
            Ok(None) => Some(Err(Stop::Stale)),
            Err(error) if error.status >= 500 => None,
            Err(error) if error.status == 404 => Some(Err(Stop::Stale)),
            // The same would come of it each time.
            Err(error) => {
                log(format_args!("session {}: {}", self.key.id, error.message));
                let is_large = error.status == 413;
                Some(Err(if is_large { Stop::TooLarge } else { Stop::Broken }))
            }
        }
    }

    /// Closes the room of the turn, and gives the files that are in it afterwards.
    pub async fn leave(&self, room: &Arc<Room>) -> Option<Outputs> {
        match room.close().await {
            true => gather(self, room).await,
            false => None,
        }
    }

    /// Takes copies away that were made for a step which was not taken: nobody will name them.
    /// Where it may have been taken they stay.
    pub async fn discard_unless_kept<T>(&self, ended: &Result<T, Stop>, outputs: Option<Outputs>) {
        let is_refused = matches!(ended, Err(Stop::Stale | Stop::TooLarge));
        let new = outputs.filter(|_| is_refused).map(|outputs| outputs.new);
        for id in new.into_iter().flatten() {
            // What stays behind goes at the next start.
            let _left = tokio::fs::remove_file(self.objects.join(id)).await;
        }
    }

    /// What the end of the turn is remembered by.
    pub fn ending(&self, entry: Entry) -> Vec<(String, Entry)> {
        vec![(end_key(&self.key, self.turn.number), entry)]
    }
}

/// Remembers that a turn was interrupted, in the commit that interrupts it: so it is none that was
/// cut off, whatever happens before its engine has stopped.
///
/// # Errors
/// If it cannot be written as JSON.
pub fn remember_interrupt(
    unit: &mut Unit,
    key: &SessionKey,
    turn: &TurnRef,
) -> Result<(), ApiError> {
    unit.put(end_key(key, turn.number), &Entry::Interrupted)
}

/// What an engine has of the server.
#[derive(Debug)]
pub struct Host {
    pub(super) voice: Voice,
    pub(super) answers: mpsc::UnboundedReceiver<(EventId, Answer)>,
    /// The agent, as the session has it.
    pub agent: serde_json::Value,
    /// What it is told before anything else.
    pub system: Option<String>,
    /// The blocks of the message.
    pub prompt: Vec<serde_json::Value>,
    /// The text of the message.
    pub text: String,
    /// Where the files are that end holds.
    pub holds: PathBuf,
    /// Where tools run.
    pub room: Arc<Room>,
    /// The MCP servers of the agent, once they were asked.
    pub(super) servers: Arc<Servers>,
    /// Who the session is for them.
    pub(super) keyring: Keyring,
    /// What the environment lets them be.
    pub(super) servers_reach: Reach,
    /// To be remembered with what is said next.
    pub(super) unwritten: Vec<(String, Entry)>,
    /// How much of this turn is remembered.
    pub(super) remembered: u32,
}

impl Host {
    /// The number of the turn.
    pub fn turn_number(&self) -> u64 {
        self.voice.turn.number
    }

    /// Remembers something, together with what is said next.
    pub fn remember(&mut self, entry: Entry) {
        let at = entry_key(&self.voice.key, self.voice.turn.number, self.remembered);
        self.remembered += 1;
        self.unwritten.push((at, entry));
    }

    /// Says something, and gives the events that became of it.
    ///
    /// # Errors
    /// If nobody listens any more.
    pub async fn say(&mut self, said: Vec<Said>) -> Result<Vec<Event>, Stop> {
        let input = Input::Engine { turn: self.voice.turn.clone(), said };
        let memory = std::mem::take(&mut self.unwritten);
        self.voice.insist(input, Luggage { memory, outputs: None }).await
    }

    /// Says something that ends the turn. Nothing of its tools is left then, and what they made is
    /// there.
    ///
    /// # Errors
    /// If nobody listens any more.
    pub async fn end(&mut self, said: Vec<Said>) -> Result<(), Stop> {
        let ending = match said.last() {
            Some(Said::Failed(error)) => Entry::Failed(error.message.clone()),
            _ => Entry::Finished,
        };
        let mut memory = std::mem::take(&mut self.unwritten);
        // Engines that remember nothing do not remember its end.
        if self.remembered > 0 {
            memory.extend(self.voice.ending(ending));
        }
        let outputs = self.voice.leave(&self.room).await;
        let input = Input::Engine { turn: self.voice.turn.clone(), said };
        let luggage = Luggage { memory, outputs: outputs.clone() };
        let ended = self.voice.insist(input, luggage).await;
        self.voice.discard_unless_kept(&ended, outputs).await;
        ended.map(drop)
    }

    /// The next answer.
    ///
    /// # Errors
    /// If none can come any more.
    pub async fn answer(&mut self) -> Result<(EventId, Answer), Stop> {
        self.answers.recv().await.ok_or(Stop::Stale)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::{Client, Guard};
    use crate::sealing::Sealer;
    use crate::store::folder;
    use assay_ledger::keyed::{KeyRange, Pair, SqliteStore, Store, StoreError, Writes};
    use assay_session::{Effect, Inbound, Session, Status};
    use std::path::Path;
    use std::sync::atomic::{AtomicU32, Ordering};

    /// Instead of a number: the disk is gone for good.
    const LOST: u32 = u32::MAX;

    /// A disk that says no so often.
    struct Full {
        store: SqliteStore,
        left: Arc<AtomicU32>,
    }

    impl Store for Full {
        fn get(&mut self, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
            self.store.get(key)
        }

        fn scan(&mut self, range: &KeyRange, limit: usize) -> Result<Vec<Pair>, StoreError> {
            self.store.scan(range, limit)
        }

        fn commit(&mut self, writes: &Writes) -> Result<(), StoreError> {
            if self.left.load(Ordering::SeqCst) == LOST {
                return Err(StoreError::Unknown { place: "here".into(), source: None });
            }
            let counted = self
                .left
                .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
            match counted {
                Ok(_) => Err(StoreError::Start(std::io::ErrorKind::StorageFull.into())),
                Err(_) => self.store.commit(writes),
            }
        }
    }

    fn voice(directory: &Path, left: &Arc<AtomicU32>) -> Voice {
        let open = || SqliteStore::open(directory).expect("a store");
        let (names, left) = (Arc::new(Names::default()), left.clone());
        let (effects, _nobody) = mpsc::unbounded_channel();
        let store = Box::new(Full { store: open(), left });
        let started = Kernel::start(store, names.clone(), Arc::default(), Arc::default(), effects);
        let kernel = started.expect("a thread").0;
        let reader = Reader::start(Box::new(open())).expect("a thread");
        let sealer = Arc::new(Sealer::new(&[7; 32]));
        let (client, guard) = (Client::new(), Guard::default());
        let renewer = Renewer::new(kernel.clone(), reader.clone(), sealer, client, guard);
        Voice {
            kernel,
            reader,
            names,
            objects: directory.to_path_buf(),
            renewer: Arc::new(renewer),
            key: SessionKey { workspace: "w".into(), id: "s".into() },
            turn: TurnRef { number: 1, owner: "p".into(), generation: 1 },
        }
    }

    async fn begin(voice: &Voice) -> Result<Step, ApiError> {
        let (key, at) = (voice.key.clone(), voice.key.at(folder::STATES));
        voice.kernel.run(move |unit| unit.put(at, &Session::default())).await?;
        let send = Input::Send(vec![Inbound::Message { content: Vec::new() }]);
        let taken = voice.kernel.run(move |unit| unit.step(&key, &send)).await?;
        Ok(taken.expect("an idle session"))
    }

    /// Stores have runtimes of their own, so they are opened outside of this one.
    fn run(check: impl Future<Output = ()>) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
        runtime.expect("a runtime").block_on(check);
    }

    #[test]
    fn what_a_session_cannot_do_without_is_tried_until_there_is_a_disk() {
        let directory = tempfile::tempdir().expect("a directory");
        let left: Arc<AtomicU32> = Arc::default();
        let voice = voice(directory.path(), &left);
        // Far more often than engines try.
        run(keeps_trying(&voice, &left, 10 * TRIES));
    }

    async fn keeps_trying(voice: &Voice, left: &AtomicU32, refusals: u32) {
        let begun = begin(voice).await.expect("a disk");
        assert_eq!(begun.effects, [Effect::Dispatch]);
        let dispatch = Input::Dispatch { owner: "p".into() };
        let error = assay_session::SessionError::new(
            assay_session::ErrorKind::UnknownError,
            "no".into(),
            assay_session::RetryStatus::Terminal,
        );
        let said = vec![Said::RequestStart, Said::Failed(error)];
        let failed = Input::Engine { turn: voice.turn.clone(), said };
        for input in [dispatch, failed] {
            left.store(refusals, Ordering::SeqCst);
            let taken = voice.persist_from(Duration::ZERO, input, Luggage::default()).await;
            assert!(taken.is_ok(), "{taken:?}");
            assert_eq!(left.load(Ordering::SeqCst), 0);
        }
        let state = voice.reader.session_state(&voice.key).await.expect("a session");
        assert_eq!((state.status, state.turns.len()), (Status::Idle, 0));
    }

    #[test]
    fn nobody_tries_when_nothing_is_written_any_more() {
        let directory = tempfile::tempdir().expect("a directory");
        let left: Arc<AtomicU32> = Arc::default();
        let voice = voice(directory.path(), &left);
        run(async {
            begin(&voice).await.expect("a disk");
            left.store(LOST, Ordering::SeqCst);
            let job = voice.kernel.run(|unit| unit.put("x/1".to_string(), &1));
            job.await.expect_err("the thread is gone");
            let dispatch = Input::Dispatch { owner: "p".into() };
            let taken = voice.persist(dispatch, Luggage::default()).await;
            assert_eq!(taken, Err(Stop::Broken));
        });
    }
}
