//! The one thread that writes.
//!
//! Requests come as functions over a [`Unit`]. Those that wait while a commit is on its way to the
//! disk are the next commit, together: each is all or nothing by a savepoint of its own, and
//! nobody is answered before all of them are durable. So the disk is asked once for many, and
//! nothing ever happens between a check and what rests on it.

use super::records::SessionKey;
use super::unit::{After, Unit};
use crate::error::ApiError;
use crate::hub::Hub;
use crate::names::Names;
use assay_ledger::keyed::{Store, Transaction};
use assay_session::Effect;
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};

/// Requests that may wait for the thread; more wait where they are.
const QUEUE_MAX: usize = 1024;
/// Requests in one commit.
const GROUP_MAX: usize = 256;

type Finish = Box<dyn FnOnce(bool) + Send>;
type Job = Box<dyn FnOnce(&mut Unit) -> Finish + Send>;

/// Where effects go once they are durable.
pub type Effects = mpsc::UnboundedSender<(SessionKey, Effect)>;

/// A handle to the thread.
#[derive(Clone, Debug)]
pub struct Kernel {
    jobs: mpsc::Sender<Job>,
}

impl Kernel {
    /// Starts the thread. It ends when the last handle is gone.
    ///
    /// # Errors
    /// If the machine gives no thread.
    pub fn start(
        mut store: Box<dyn Store>,
        names: Arc<Names>,
        hub: Arc<Hub>,
        effects: Effects,
    ) -> std::io::Result<Kernel> {
        let (jobs, mut waiting) = mpsc::channel::<Job>(QUEUE_MAX);
        std::thread::Builder::new().name("writer".into()).spawn(move || {
            while let Some(first) = waiting.blocking_recv() {
                commit_group(store.as_mut(), &names, &hub, &effects, first, &mut waiting);
            }
        })?;
        Ok(Kernel { jobs })
    }

    /// Does `work` as one transaction and gives what it gave, once that is durable. If it fails,
    /// nothing of it was written.
    ///
    /// # Errors
    /// Those of `work`, or that it could not be written.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Unit) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let (reply, answer) = oneshot::channel();
        let job: Job = Box::new(move |unit| {
            let before = unit.savepoint();
            let outcome = work(unit);
            if outcome.is_err() {
                unit.roll_back(before);
            }
            Box::new(move |is_durable| {
                let outcome = if is_durable { outcome } else { Err(ApiError::internal()) };
                // Who asked may have gone.
                let _unheard = reply.send(outcome);
            })
        });
        self.jobs.send(job).await.map_err(|_| ApiError::internal())?;
        answer.await.map_err(|_| ApiError::internal())?
    }
}

fn commit_group(
    store: &mut dyn Store,
    names: &Names,
    hub: &Hub,
    effects: &Effects,
    first: Job,
    waiting: &mut mpsc::Receiver<Job>,
) {
    let mut unit = Unit::new(Transaction::new(store), names);
    let mut finished = vec![first(&mut unit)];
    while finished.len() < GROUP_MAX {
        let Ok(job) = waiting.try_recv() else { break };
        finished.push(job(&mut unit));
    }
    let Unit { transaction, after, .. } = unit;
    let committed = transaction.commit();
    if let Err(error) = &committed {
        eprintln!("assay serve: {error}");
    }
    if committed.is_ok() {
        for after in after {
            match after {
                After::Publish(key, lines) => hub.publish(&key, lines),
                After::Close(key, lines) => hub.close(&key, lines),
                After::Effects(key, wanted) => {
                    for effect in wanted {
                        // Without a runner there is nobody to run anything.
                        let _stopping = effects.send((key.clone(), effect));
                    }
                }
            }
        }
    }
    for finish in finished {
        finish(committed.is_ok());
    }
}
