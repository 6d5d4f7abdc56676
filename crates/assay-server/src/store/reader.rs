//! The thread that reads, beside the one that writes: whoever reads slowly or much keeps no writer
//! waiting. It sees everything that anybody was told is durable.

use super::records::{Line, SessionKey, folder, read_record};
use crate::error::ApiError;
use assay_ledger::keyed::{KeyRange, Order, Store};
use assay_session::Session;
use serde::de::DeserializeOwned;
use tokio::sync::{mpsc, oneshot};

/// Questions that may wait for the thread.
const QUEUE_MAX: usize = 1024;
/// Keys that are asked for together.
const TOGETHER_MAX: usize = 64;

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

    /// The events behind `last`, in the order of the log.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub async fn events_after(
        &self,
        key: &SessionKey,
        last: Option<String>,
        limit: usize,
    ) -> Result<Vec<Line>, ApiError> {
        let at = key.at(folder::EVENTS);
        self.ask(move |store| {
            let mut range = KeyRange::below(&at, Order::Ascending);
            if let Some(last) = last {
                range = range.after(&format!("{at}/{last}"));
            }
            let pairs = store.scan(&range, limit)?;
            pairs.into_iter().map(|(key, value)| Line::stored(&key, value)).collect()
        })
        .await
    }
}

/// Answers a question, and with it those that wait behind it and can be asked for together.
fn answer(store: &mut dyn Store, job: Job, waiting: &mut mpsc::Receiver<Job>) {
    let (mut keys, mut replies, mut next) = (Vec::new(), Vec::new(), Some(job));
    while let Some(Job::Get(key, reply)) = next {
        keys.push(key);
        replies.push(reply);
        next = if keys.len() < TOGETHER_MAX { waiting.try_recv().ok() } else { None };
    }
    let found: Vec<Value> = match store.get_many(&keys) {
        Ok(found) => found.into_iter().map(Ok).collect(),
        // Each is told why.
        Err(_) => keys.iter().map(|key| Ok(store.get(key)?)).collect(),
    };
    for (reply, value) in replies.into_iter().zip(found) {
        // Who asked may have gone.
        let _unheard = reply.send(value);
    }
    if let Some(Job::Ask(question)) = next {
        question(store);
    }
}
