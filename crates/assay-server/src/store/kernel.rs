//! The one thread that writes.
//!
//! Requests come as functions over a [`Unit`]. Those that wait while a commit is on its way to the
//! disk are the next commit, together: each is all or nothing by a savepoint of its own, and
//! nobody is answered before all of them are durable. So the disk is asked once for many, and
//! nothing ever happens between a check and what rests on it.

use super::records::SessionKey;
use super::remembering::Remembering;
use super::unit::{After, Unit};
use crate::counters::Counters;
use crate::error::ApiError;
use crate::hub::Hub;
use crate::log::log;
use crate::names::Names;
use assay_ledger::keyed::{Store, StoreError, Transaction};
use assay_session::Effect;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};

/// Requests that may wait for the thread; more wait where they are.
const QUEUE_MAX: usize = 1024;
/// Requests in one commit.
const GROUP_MAX: usize = 256;

type Finish = Box<dyn FnOnce(Written) + Send>;

/// What came of a commit.
#[derive(Clone, Copy)]
enum Written {
    /// It is durable.
    Yes,
    /// Nothing was written.
    No,
    /// The store was lost meanwhile.
    Unknown,
}

/// What is to be done, and what it will want to know: that is asked for all of a commit at once.
struct Job {
    wanted: Vec<String>,
    work: Box<dyn FnOnce(&mut Unit) -> Finish + Send>,
}

/// Where effects go once they are durable.
pub type Effects = mpsc::UnboundedSender<(SessionKey, Effect)>;

/// A handle to the thread.
#[derive(Clone, Debug)]
pub struct Kernel {
    jobs: mpsc::Sender<Job>,
}

impl Kernel {
    /// Starts the thread. It ends when the last handle is gone, or with the error after which the
    /// store takes nothing any more: what was asked last may or may not be there, so nobody must
    /// go on as if it were either. Who begins anew looks.
    ///
    /// # Errors
    /// If the machine gives no thread.
    pub fn start(
        store: Box<dyn Store>,
        names: Arc<Names>,
        hub: Arc<Hub>,
        counters: Arc<Counters>,
        effects: Effects,
    ) -> std::io::Result<(Kernel, oneshot::Receiver<StoreError>)> {
        let (jobs, mut waiting) = mpsc::channel::<Job>(QUEUE_MAX);
        let (failed, failure) = oneshot::channel();
        let mut store = Remembering::new(store);
        std::thread::Builder::new().name("writer".into()).spawn(move || {
            let world = World { names: &names, hub: &hub, counters: &counters, effects: &effects };
            while let Some(first) = waiting.blocking_recv() {
                if let Err(error) = commit_group(&mut store, &world, first, &mut waiting) {
                    // Who would hear it may be stopping.
                    let _unheard = failed.send(error);
                    return;
                }
            }
        })?;
        Ok((Kernel { jobs }, failure))
    }

    /// Does `work` as one transaction and gives what it gave, once that is durable. If it fails,
    /// nothing of it was written.
    ///
    /// # Errors
    /// Those of `work`, that it is too large, or that it could not be written.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Unit) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        self.run_knowing(Vec::new(), work).await
    }

    /// The same for something that will look at these keys, which nobody but this thread writes.
    ///
    /// # Errors
    /// As above.
    pub async fn run_knowing<T: Send + 'static>(
        &self,
        wanted: Vec<String>,
        work: impl FnOnce(&mut Unit) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let (reply, answer) = oneshot::channel();
        let work = Box::new(move |unit: &mut Unit| -> Finish {
            let before = unit.savepoint();
            // A mistake in one request is not the end of all others: what it did is forgotten.
            let worked = catch_unwind(AssertUnwindSafe(|| work(unit))).unwrap_or_else(|_| {
                log("a request panicked, which is a mistake in the server; nothing of it is kept");
                Err(ApiError::internal())
            });
            // What no store takes would fail the commit of everybody else, too.
            let outcome = worked.and_then(|done| unit.check_since(before).map(|()| done));
            if outcome.is_err() {
                unit.roll_back(before);
            }
            Box::new(move |written| {
                let outcome = match written {
                    Written::Yes => outcome,
                    Written::No => Err(ApiError::internal()),
                    Written::Unknown => Err(ApiError::unknown()),
                };
                // Who asked may have gone.
                let _unheard = reply.send(outcome);
            })
        });
        self.jobs.send(Job { wanted, work }).await.map_err(|_| ApiError::internal())?;
        answer.await.map_err(|_| ApiError::unknown())?
    }

    /// Whether nothing will ever be written any more.
    pub fn is_stopped(&self) -> bool {
        self.jobs.is_closed()
    }
}

/// What a commit touches besides the store.
struct World<'a> {
    names: &'a Names,
    hub: &'a Hub,
    counters: &'a Counters,
    effects: &'a Effects,
}

impl World<'_> {
    /// Does what had to wait for the commit.
    fn follow(&self, after: After) {
        match after {
            After::Publish(key, lines) => {
                self.counters.events.inc_by(lines.len() as u64);
                self.hub.publish(&key, lines);
            }
            After::Close(key, lines) => self.hub.close(&key, lines),
            After::Count(change) => self.counters.count(&change),
            After::Effects(key, wanted) => {
                for effect in wanted {
                    if matches!(effect, Effect::Start { .. }) {
                        self.counters.turns.inc();
                    }
                    // Without a runner there is nobody to run anything.
                    let _stopping = self.effects.send((key.clone(), effect));
                }
            }
        }
    }
}

/// One commit. Only an error after which there can be no other one is given back.
fn commit_group(
    store: &mut Remembering,
    world: &World,
    first: Job,
    waiting: &mut mpsc::Receiver<Job>,
) -> Result<(), StoreError> {
    let mut jobs = vec![first];
    while jobs.len() < GROUP_MAX {
        let Ok(job) = waiting.try_recv() else { break };
        jobs.push(job);
    }
    store.look_ahead(jobs.iter_mut().flat_map(|job| std::mem::take(&mut job.wanted)));
    let mut unit = Unit::new(Transaction::new(store), world.names, world.counters);
    let mut finished: Vec<Finish> = jobs.into_iter().map(|job| (job.work)(&mut unit)).collect();
    // Those that came meanwhile are not left behind.
    while finished.len() < GROUP_MAX {
        let Ok(job) = waiting.try_recv() else { break };
        finished.push((job.work)(&mut unit));
    }
    let Unit { transaction, after, .. } = unit;
    let committed = transaction.commit();
    if let Err(error) = &committed {
        log(error);
    }
    if committed.is_ok() {
        world.counters.commits.inc();
        world.counters.jobs.inc_by(finished.len() as u64);
        after.into_iter().for_each(|after| world.follow(after));
    }
    let written = match &committed {
        Ok(()) => Written::Yes,
        Err(error) if error.is_final() => Written::Unknown,
        Err(_) => Written::No,
    };
    for finish in finished {
        finish(written);
    }
    match committed {
        Err(error) if error.is_final() => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{Stubborn, folder};
    use assay_ledger::keyed::{KeyRange, Pair, SqliteStore, StoreError, VALUE_BYTES_MAX, Writes};
    use assay_session::{Inbound, Input, Session};

    /// A database that goes while it writes.
    struct Lost;

    impl Store for Lost {
        fn get(&mut self, _: &str) -> Result<Option<Vec<u8>>, StoreError> {
            Ok(None)
        }

        fn scan(&mut self, _: &KeyRange, _: usize) -> Result<Vec<Pair>, StoreError> {
            Ok(Vec::new())
        }

        fn commit(&mut self, _: &Writes) -> Result<(), StoreError> {
            Err(StoreError::Unknown { place: "here".into(), source: None })
        }
    }

    #[test]
    fn a_commit_that_may_be_there_is_told_from_one_that_is_not() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let directory = tempfile::tempdir().expect("a directory");
        let store = SqliteStore::open(directory.path()).expect("a new store");
        let refuses = Arc::new(std::sync::atomic::AtomicBool::new(true));
        let put = |kernel: Kernel| {
            let put = runtime.block_on(kernel.run(|unit| unit.put("x/1".to_string(), &1)));
            put.map_err(|error| (error.status, error.is_unknown))
        };
        assert_eq!(put(start(Box::new(Stubborn { store, refuses }))), Err((500, false)));
        assert_eq!(put(start(Box::new(Lost))), Err((500, true)));
    }

    /// What a thread that writes has, without anybody who listens.
    fn start(store: Box<dyn Store>) -> Kernel {
        let (effects, _nobody) = mpsc::unbounded_channel();
        let started = Kernel::start(store, Arc::default(), Arc::default(), Arc::default(), effects);
        started.expect("a thread").0
    }

    #[test]
    fn what_is_too_large_fails_alone_and_not_with_its_group() {
        let directory = tempfile::tempdir().expect("a directory");
        let kernel = start(Box::new(SqliteStore::open(directory.path()).expect("a new store")));
        let (go, going) = std::sync::mpsc::channel();
        // Holds the thread until the others wait: so they are in one group.
        let first = kernel.run(move |unit| {
            going.recv().map_err(|_| ApiError::internal())?;
            unit.put("x/1".to_string(), &1)
        });
        let large = kernel.run(|unit| {
            unit.put("x/2".to_string(), &2)?;
            unit.put("x/3".to_string(), &"x".repeat(VALUE_BYTES_MAX))
        });
        let last = kernel.run(|unit| unit.put("x/4".to_string(), &4));
        let release = async { go.send(()).map_err(|_| ApiError::internal()) };
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let all = async { tokio::join!(first, large, last, release) };
        let (first, large, last, _) = runtime.block_on(all);
        assert_eq!((first, last), (Ok(()), Ok(())));
        let error = large.expect_err("too large");
        assert_eq!((error.status, error.message.contains("16777216")), (413, true), "{error:?}");
        let there = kernel.run(|unit| {
            let keys = ["x/1", "x/2", "x/3", "x/4"];
            keys.iter().map(|key| Ok(unit.transaction.get(key)?.is_some())).collect()
        });
        let there: Result<Vec<bool>, ApiError> = runtime.block_on(there);
        assert_eq!(there, Ok(vec![true, false, false, true]));
    }

    #[test]
    fn a_request_that_panics_fails_alone_and_leaves_nothing() {
        let directory = tempfile::tempdir().expect("a directory");
        let kernel = start(Box::new(SqliteStore::open(directory.path()).expect("a new store")));
        let (go, going) = std::sync::mpsc::channel();
        // Holds the thread until the others wait: so they are in one group.
        let first = kernel.run(move |unit| {
            going.recv().map_err(|_| ApiError::internal())?;
            unit.put("x/1".to_string(), &1)
        });
        let wrong = kernel.run(|unit| -> Result<(), ApiError> {
            unit.put("x/1".to_string(), &9)?;
            unit.put("x/2".to_string(), &2)?;
            panic!("on purpose")
        });
        let last = kernel.run(|unit| unit.put("x/3".to_string(), &3));
        let release = async { go.send(()).map_err(|_| ApiError::internal()) };
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let all = async { tokio::join!(first, wrong, last, release) };
        let (first, wrong, last, _) = runtime.block_on(all);
        assert_eq!((first, last), (Ok(()), Ok(())));
        assert_eq!(wrong.map_err(|error| error.status), Err(500));
        let there = kernel
            .run(|unit| ["x/1", "x/2", "x/3"].iter().map(|key| unit.get::<u32>(key)).collect());
        let there: Result<Vec<Option<u32>>, ApiError> = runtime.block_on(there);
        assert_eq!(there, Ok(vec![Some(1), None, Some(3)]), "the server goes on");
    }

    #[test]
    fn what_is_not_durable_is_neither_answered_nor_heard_nor_done() {
        let directory = tempfile::tempdir().expect("a directory");
        let store = SqliteStore::open(directory.path()).expect("a new store");
        let refuses = Arc::new(std::sync::atomic::AtomicBool::new(false));
        let stubborn = Stubborn { store, refuses: refuses.clone() };
        let (hub, names) = (Arc::new(Hub::default()), Arc::new(Names::default()));
        let (effects, mut wanted) = mpsc::unbounded_channel();
        let kernel = Kernel::start(Box::new(stubborn), names, hub.clone(), Arc::default(), effects);
        let (kernel, _failure) = kernel.expect("a thread");
        let key = SessionKey { workspace: "w".into(), id: "s".into() };
        let mut listener = hub.listen(&key);
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let at = key.at(folder::STATES);
        runtime
            .block_on(kernel.run(move |unit| unit.put(at, &Session::default())))
            .expect("it takes this");
        let send = || {
            let key = key.clone();
            let message = Inbound::Message { content: Vec::new() };
            kernel.run(move |unit| {
                let step = unit.step(&key, &Input::Send(vec![message]))?;
                Ok(step.expect("an idle session").events.len())
            })
        };
        refuses.store(true, std::sync::atomic::Ordering::SeqCst);
        let refused = runtime.block_on(send()).expect_err("the disk says no");
        assert_eq!(refused.status, 500);
        assert!(listener.heard().is_none() && wanted.try_recv().is_err());
        refuses.store(false, std::sync::atomic::Ordering::SeqCst);
        assert_eq!(runtime.block_on(send()), Ok(2), "as if it had never been tried");
        let heard = listener.heard().and_then(Result::ok).expect("the message");
        assert_eq!(heard.kind, "user.message");
        assert_eq!(wanted.try_recv().expect("an effect").1, Effect::Dispatch);
        // A request that fails takes nothing of its neighbours with it, and leaves nothing.
        let failing = kernel.run(|unit| {
            unit.put("x/1".to_string(), &1)?;
            Err::<(), _>(ApiError::invalid("no"))
        });
        runtime.block_on(failing).expect_err("it fails");
        let left = runtime.block_on(kernel.run(|unit| unit.get::<u32>("x/1")));
        assert_eq!(left, Ok(None));
    }
}
