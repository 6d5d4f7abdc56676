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

type Job = Box<dyn FnOnce(&mut dyn Store) + Send>;

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
                job(store.as_mut());
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
        let job: Job = Box::new(move |store| {
            // Who asked may have gone.
            let _unheard = reply.send(question(store));
        });
        self.jobs.send(job).await.map_err(|_| ApiError::internal())?;
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
        self.ask(move |store| read_record(store.get(&key)?)).await
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
