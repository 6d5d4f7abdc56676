//! The thread that reads, beside the one that writes: whoever reads slowly or much keeps no writer
//! waiting. It sees everything that anybody was told is durable.

use super::records::{Line, SessionKey, folder, read_record};
use crate::error::ApiError;
use assay_ledger::keyed::{KeyRange, Order, Store};
use assay_session::Session;
use serde::de::DeserializeOwned;
use std::collections::BTreeSet;
use tokio::sync::{mpsc, oneshot};

/// Questions that may wait for the thread.
const QUEUE_MAX: usize = 1024;
/// Keys that are asked for together.
const TOGETHER_MAX: usize = 256;
/// Bytes of a piece of a log; one event may have more.
const PIECE_BYTES: usize = 256 * 1024;
/// Events of a piece, as they are looked at.
const PIECE_STEPS: [usize; 3] = [20, 80, 400];

type Question = Box<dyn FnOnce(&mut dyn Store) + Send>;
type Value = Result<Option<Vec<u8>>, ApiError>;

enum Job {
    /// A question of any kind.
    Ask(Question),
    /// What stands at a key: those that wait are asked for together.
    Get(String, oneshot::Sender<Value>),
}

/// A handle to the thread.
#[derive(Clone, Debug)]
pub struct Reader {
    jobs: mpsc::Sender<Job>,
}

impl Reader {
    /// Starts the thread. It ends when the last handle is gone.
    ///
    /// # Errors
    /// If the machine gives no thread.
    pub fn start(mut store: Box<dyn Store>) -> std::io::Result<Reader> {
        let (jobs, mut waiting) = mpsc::channel::<Job>(QUEUE_MAX);
        std::thread::Builder::new().name("reader".into()).spawn(move || {
            while let Some(job) = waiting.blocking_recv() {
                answer(store.as_mut(), job, &mut waiting);
            }
        })?;
        Ok(Reader { jobs })
    }

    /// Waits until nobody reads any more: the thread has panicked.
    pub async fn stopped(&self) {
        self.jobs.closed().await;
    }

    /// Asks something.
    ///
    /// # Errors
    /// Those of `question`.
    pub async fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&mut dyn Store) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let (reply, answer) = oneshot::channel();
        let job = Box::new(move |store: &mut dyn Store| {
            // Who asked may have gone.
            let _unheard = reply.send(question(store));
        });
        self.jobs.send(Job::Ask(job)).await.map_err(|_| ApiError::internal())?;
        answer.await.map_err(|_| ApiError::internal())?
    }

    /// A record, if it is there.
    ///
    /// # Errors
    /// If the store or the record cannot be read.
    pub async fn get<T: DeserializeOwned + Send + 'static>(
        &self,
        key: String,
    ) -> Result<Option<T>, ApiError> {
        let (reply, answer) = oneshot::channel();
        self.jobs.send(Job::Get(key, reply)).await.map_err(|_| ApiError::internal())?;
        read_record(answer.await.map_err(|_| ApiError::internal())??)
    }

    /// Whether there is such a session.
    ///
    /// # Errors
    /// If there is none, or the store cannot be read.
    pub async fn session_state(&self, key: &SessionKey) -> Result<Session, ApiError> {
        let state = self.get(key.at(folder::STATES)).await?;
        state.ok_or_else(|| ApiError::not_found(format!("Session {} not found", key.id)))
    }

    /// The events behind `last`, in the order of the log: one piece of it.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub async fn events_after(
        &self,
        key: &SessionKey,
        last: Option<String>,
    ) -> Result<Piece, ApiError> {
        let at = key.at(folder::EVENTS);
        self.ask(move |store| {
            let mut range = KeyRange::below(&at, Order::Ascending);
            if let Some(last) = last {
                range = range.after(&format!("{at}/{last}"));
            }
            piece(store, range)
        })
        .await
    }
}

/// A piece of a log.
#[derive(Debug)]
pub struct Piece {
    /// What is in it.
    pub lines: Vec<Line>,
    /// Whether there may be more behind it.
    pub has_more: bool,
}

/// As many events as are held at once for one who reads them. A few are looked at first: if they
/// are large, no more than that was read in vain.
fn piece(store: &mut dyn Store, mut range: KeyRange) -> Result<Piece, ApiError> {
    let (mut lines, mut bytes): (Vec<Line>, usize) = (Vec::new(), 0);
    for count in PIECE_STEPS {
        let pairs = store.scan(&range, count)?;
        let is_last = pairs.len() < count;
        for (key, value) in pairs {
            bytes += value.len();
            if bytes > PIECE_BYTES && !lines.is_empty() {
                return Ok(Piece { lines, has_more: true });
            }
            range = range.after(&key);
            lines.push(Line::stored(&key, value)?);
        }
        if is_last {
            return Ok(Piece { lines, has_more: false });
        }
    }
    Ok(Piece { lines, has_more: true })
}

/// Answers a question, and with it those that wait behind it and can be asked for together.
fn answer(store: &mut dyn Store, job: Job, waiting: &mut mpsc::Receiver<Job>) {
    let (mut asked, mut next) = (Vec::new(), Some(job));
    while let Some(Job::Get(key, reply)) = next {
        asked.push((key, reply));
        next = if asked.len() < TOGETHER_MAX { waiting.try_recv().ok() } else { None };
    }
    if asked.is_empty() {
        return ask(store, next);
    }
    // Many ask for the same: the key of the API, the session.
    let keys: BTreeSet<&String> = asked.iter().map(|(key, _)| key).collect();
    let keys: Vec<String> = keys.into_iter().cloned().collect();
    // It is the store that fails, not one of them: asked again, each would wait for the same.
    let found = store.get_many(&keys).map_err(ApiError::from);
    for (key, reply) in asked {
        let value = match &found {
            Ok(found) => Ok(keys.binary_search(&key).ok().and_then(|at| found[at].clone())),
            Err(error) => Err(error.clone()),
        };
        // Who asked may have gone.
        let _unheard = reply.send(value);
    }
    ask(store, next);
}

fn ask(store: &mut dyn Store, job: Option<Job>) {
    if let Some(Job::Ask(question)) = job {
        question(store);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_ledger::keyed::{Pair, SqliteStore, StoreError, Writes};
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Arc, Mutex};

    /// A store that cannot be read, and counts how often it is asked to be.
    struct Away(Arc<AtomicUsize>);

    impl Away {
        fn refuse<T>(&self) -> Result<T, StoreError> {
            self.0.fetch_add(1, Ordering::SeqCst);
            Err(StoreError::Fenced { place: "here".into() })
        }
    }

    impl Store for Away {
        fn get(&mut self, _: &str) -> Result<Option<Vec<u8>>, StoreError> {
            self.refuse()
        }

        fn get_many(&mut self, _: &[String]) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
            self.refuse()
        }

        fn scan(&mut self, _: &KeyRange, _: usize) -> Result<Vec<Pair>, StoreError> {
            self.refuse()
        }

        fn commit(&mut self, _: &Writes) -> Result<(), StoreError> {
            self.refuse()
        }
    }

    #[test]
    fn a_piece_of_a_log_has_an_end_in_events_and_in_bytes() {
        let directory = tempfile::tempdir().expect("a directory");
        let mut store = SqliteStore::open(directory.path()).expect("a new store");
        // What each piece of a log of events of these sizes has.
        let check = |store: &mut SqliteStore, sizes: &[usize], expected: &[usize]| {
            let event = |(number, size): (usize, &usize)| {
                let json = format!("{{\"type\":\"t\",\"x\":\"{}\"}}", "x".repeat(*size));
                (format!("e/{number:04}"), Some(json.into_bytes()))
            };
            store.commit(&sizes.iter().enumerate().map(event).collect()).expect("written");
            let (mut range, mut ids) = (KeyRange::below("e", Order::Ascending), Vec::new());
            let mut counts = Vec::new();
            loop {
                let piece = piece(store, range.clone()).expect("read");
                counts.push(piece.lines.len());
                ids.extend(piece.lines.into_iter().map(|line| line.id));
                if !piece.has_more {
                    break;
                }
                range = range.after(&format!("e/{}", ids.last().expect("at least one")));
            }
            assert_eq!(counts, expected);
            let all = (0..sizes.len()).map(|number| format!("{number:04}"));
            assert_eq!(ids, all.collect::<Vec<_>>(), "each once, in order");
            let gone = ids.iter().map(|id| (format!("e/{id}"), None));
            store.commit(&gone.collect()).expect("written");
        };
        check(&mut store, &[], &[0]);
        check(&mut store, &[10; 501], &[500, 1]);
        check(&mut store, &[PIECE_BYTES / 4; 9], &[3, 3, 3]);
        check(&mut store, &[10, 2 * PIECE_BYTES, 2 * PIECE_BYTES, 10], &[1, 1, 1, 1]);
        check(&mut store, &[PIECE_BYTES / 30; 60], &[29, 29, 2]);
    }

    /// A store that tells what it is asked for.
    struct Listed(Arc<Mutex<Vec<Vec<String>>>>);

    impl Store for Listed {
        fn get(&mut self, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
            Ok(Some(key.len().to_string().into_bytes()))
        }

        fn get_many(&mut self, keys: &[String]) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
            self.0.lock().expect("no panic").push(keys.to_vec());
            keys.iter().map(|key| self.get(key)).collect()
        }

        fn scan(&mut self, _: &KeyRange, _: usize) -> Result<Vec<Pair>, StoreError> {
            Ok(Vec::new())
        }

        fn commit(&mut self, _: &Writes) -> Result<(), StoreError> {
            Ok(())
        }
    }

    #[test]
    fn what_many_ask_for_is_asked_for_once() {
        let asked = Arc::default();
        let reader = Reader::start(Box::new(Listed(Arc::clone(&asked)))).expect("a thread");
        let (go, going) = std::sync::mpsc::channel();
        // Holds the thread until the others wait: so they are asked for together.
        let first = reader.ask(move |_| going.recv().map_err(|_| ApiError::internal()));
        let get = |key: &str| reader.get::<u32>(key.to_string());
        let release = async { go.send(()).map_err(|_| ApiError::internal()) };
        let all = async { tokio::join!(first, get("xyz"), get("a"), get("xyz"), release) };
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let (_, one, two, three, _) = runtime.block_on(all);
        assert_eq!([one, two, three], [Ok(Some(3)), Ok(Some(1)), Ok(Some(3))]);
        assert_eq!(*asked.lock().expect("no panic"), [["a", "xyz"]]);
    }

    #[test]
    fn those_who_ask_together_hear_together_that_there_is_no_answer() {
        let asked = Arc::new(AtomicUsize::new(0));
        let reader = Reader::start(Box::new(Away(asked.clone()))).expect("a thread");
        let (go, going) = std::sync::mpsc::channel();
        // Holds the thread until the others wait: so they are asked for together.
        let first = reader.ask(move |_| going.recv().map_err(|_| ApiError::internal()));
        let get = |key: &str| reader.get::<u32>(key.to_string());
        let release = async { go.send(()).map_err(|_| ApiError::internal()) };
        let all = async { tokio::join!(first, get("a"), get("b"), get("c"), release) };
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let (_, a, b, c, _) = runtime.block_on(all);
        let status = |read: Result<Option<u32>, ApiError>| read.map_err(|error| error.status);
        assert_eq!([a, b, c].map(status), [Err(500), Err(500), Err(500)]);
        assert_eq!(asked.load(Ordering::SeqCst), 1);
    }
}
