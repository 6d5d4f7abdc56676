//! Writes on their way into the log.
//!
//! Raft syncs the log once for each entry, and a sync takes about a millisecond. So the requests
//! that wait while others are being replicated become one entry: a batch. Throughput grows with the
//! number of clients instead of being one over the time of a sync.
//!
//! What comes back is one of three: an outcome, *refused* (never proposed, so it never happens), or
//! *unknown*. A leader that loses its office tells Raft's clients to ask the new leader; for a
//! write that is in the log already this must not be taken for "did not happen": a peer that has
//! the entry may still become leader and commit it. So every such answer is unknown here.

use crate::counters::Counters;
use crate::defect::{Defect, Defects};
use crate::raft::Raft;
use crate::state::{Batch, Command, Outcome, Rules};
use serde_json::Value;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::sync::{Semaphore, mpsc, oneshot};

/// Requests that wait to be proposed.
const WAITING_MAX: usize = 4_096;
/// Requests in one entry.
const BATCH_COMMANDS_MAX: usize = 256;
/// Bytes of requests after which an entry is full.
const BATCH_BYTES_MAX: usize = 256 * 1024;
/// Entries under way at once: one is synced here while the other travels.
const BATCHES_IN_FLIGHT_MAX: usize = 2;
/// How long an entry may be under way before the next may follow. A leader without a majority waits
/// in vain, and a leader that is replaced while it is far behind may never hear of its entries.
const BATCH_MS_MAX: u64 = 3_000;

/// What came of a request to write.
#[derive(Debug)]
pub(crate) enum Proposed {
    /// It was decided by the log, at this index if that is known.
    Decided(Outcome, Option<u64>),
    /// It was not proposed.
    Refused(&'static str),
    /// It may take effect or not, now or later: leadership was lost, or the node stops.
    Unknown,
}

struct Waiting {
    command: Command,
    bytes: usize,
    /// Nobody waits if the answer was given already.
    answer: Option<oneshot::Sender<Proposed>>,
}

impl Waiting {
    /// Whether the client was told *unknown* before the request was proposed. Then it need not be:
    /// a request that never happens is one of the things that word means.
    fn is_given_up(&self) -> bool {
        self.answer.as_ref().is_some_and(oneshot::Sender::is_closed)
    }
}

/// Takes writes of clients and proposes them in batches.
#[derive(Clone)]
pub(crate) struct Proposer {
    queue: mpsc::Sender<Waiting>,
    acks_early: bool,
}

impl Proposer {
    /// Starts the task that proposes.
    pub fn start(raft: Raft, defects: Defects, counters: Arc<Counters>) -> Proposer {
        let (queue, waiting) = mpsc::channel(WAITING_MAX);
        let acks_early = defects.has(Defect::AckBeforeCommit);
        tokio::spawn(propose_all(waiting, raft, defects.rules(), counters));
        Proposer { queue, acks_early }
    }

    /// Proposes one command; `bytes` is its size on the wire.
    pub async fn propose(&self, command: Command, bytes: usize) -> Proposed {
        let (answer, answered) = oneshot::channel();
        // The hook of `ack-before-commit`: a write whose answer is known beforehand.
        let acked = self.acks_early && command.op.is_blind();
        let answer = (!acked).then_some(answer);
        if self.queue.try_send(Waiting { command, bytes, answer }).is_err() {
            return Proposed::Refused("overloaded: too many requests wait");
        }
        if acked {
            return Proposed::Decided(Outcome::Ok(Value::Null), None);
        }
        answered.await.unwrap_or(Proposed::Unknown)
    }
}

async fn propose_all(
    mut waiting: mpsc::Receiver<Waiting>,
    raft: Raft,
    rules: Rules,
    counters: Arc<Counters>,
) {
    let in_flight = Arc::new(Semaphore::new(BATCHES_IN_FLIGHT_MAX));
    while let Some(first) = waiting.recv().await {
        let permit = in_flight.clone().acquire_owned().await;
        let permit = permit.expect("the semaphore is never closed");
        let (commands, answers) = fill(first, &mut waiting);
        if commands.is_empty() {
            continue;
        }
        let batch = Batch { at_ms: wall_clock_ms(), rules, commands };
        counters.batches.add_one();
        let raft = raft.clone();
        tokio::spawn(async move {
            let time = Duration::from_millis(BATCH_MS_MAX);
            let written = tokio::time::timeout(time, raft.client_write(batch)).await;
            drop(permit);
            // Who is not answered here learns from the closed channel that nothing is known.
            if let Ok(Ok(response)) = written {
                let index = Some(response.log_id.index);
                for (answer, outcome) in answers.into_iter().zip(response.data) {
                    // The client may have given up; the outcome stands all the same.
                    let decided = Proposed::Decided(outcome, index);
                    let _gone = answer.map(|answer| answer.send(decided));
                }
            }
        });
    }
}

type Answers = Vec<Option<oneshot::Sender<Proposed>>>;

/// Takes what waits, up to the limits of a batch.
fn fill(first: Waiting, waiting: &mut mpsc::Receiver<Waiting>) -> (Vec<Command>, Answers) {
    let (mut commands, mut answers, mut bytes) = (Vec::new(), Vec::new(), 0);
    let mut next = Some(first);
    while let Some(taken) = next {
        if !taken.is_given_up() {
            bytes += taken.bytes;
            commands.push(taken.command);
            answers.push(taken.answer);
        }
        let full = commands.len() >= BATCH_COMMANDS_MAX || bytes >= BATCH_BYTES_MAX;
        next = if full { None } else { waiting.try_recv().ok() };
    }
    (commands, answers)
}

/// Milliseconds since 1970 by this node's clock, which a fault may have set to anything.
fn wall_clock_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
