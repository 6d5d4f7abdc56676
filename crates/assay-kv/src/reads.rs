//! Linearizable reads.
//!
//! A leader may answer a read from its own state only after it has made sure, by a round of
//! messages to a majority, that it was still leader when the read had already begun, and after it
//! has applied everything that was committed then. One such round serves every read that was
//! waiting when it started: reads that come later wait for the next round.

use crate::raft::{NodeId, Raft};
use openraft::error::{CheckIsLeaderError, RaftError};
use tokio::sync::{mpsc, oneshot};

/// Reads that wait for a round.
const WAITING_MAX: usize = 4_096;
/// Rounds under way at once.
const ROUNDS_MAX: usize = 4;

/// Why a read cannot be answered here. A read changes nothing, so every reason is a definite fail.
#[derive(Clone, Debug)]
pub(crate) enum NoRead {
    /// This node is not the leader; perhaps that one is.
    NotLeader(Option<NodeId>),
    /// Too few peers answered in time.
    NoQuorum,
    /// Too many reads wait.
    Overloaded,
    /// The node is stopping.
    Stopping,
}

type Answer = oneshot::Sender<Result<(), NoRead>>;

/// Lets reads pass once they are linearizable.
#[derive(Clone)]
pub(crate) struct ReadGate {
    queue: mpsc::Sender<Answer>,
}

impl ReadGate {
    /// Starts the task that makes the rounds.
    pub fn start(raft: Raft) -> ReadGate {
        let (queue, waiting) = mpsc::channel(WAITING_MAX);
        tokio::spawn(make_rounds(waiting, raft));
        ReadGate { queue }
    }

    /// Waits until a read of local state is linearizable.
    pub async fn pass(&self) -> Result<(), NoRead> {
        let (answer, answered) = oneshot::channel();
        self.queue.try_send(answer).map_err(|_| NoRead::Overloaded)?;
        answered.await.unwrap_or(Err(NoRead::Stopping))
    }
}

async fn make_rounds(mut waiting: mpsc::Receiver<Answer>, raft: Raft) {
    let rounds = std::sync::Arc::new(tokio::sync::Semaphore::new(ROUNDS_MAX));
    while let Some(first) = waiting.recv().await {
        let permit = rounds.clone().acquire_owned().await;
        let permit = permit.expect("the semaphore is never closed");
        let mut round = vec![first];
        while let Ok(next) = waiting.try_recv() {
            round.push(next);
        }
        let raft = raft.clone();
        tokio::spawn(async move {
            let passed = raft.ensure_linearizable().await;
            drop(permit);
            let passed = passed.map(|_| ()).map_err(reason);
            for answer in round {
                // The client may have given up.
                let _gone = answer.send(passed.clone());
            }
        });
    }
}

fn reason(error: RaftError<NodeId, CheckIsLeaderError<NodeId, openraft::EmptyNode>>) -> NoRead {
    match error {
        RaftError::APIError(CheckIsLeaderError::ForwardToLeader(to)) => {
            NoRead::NotLeader(to.leader_id)
        }
        RaftError::APIError(CheckIsLeaderError::QuorumNotEnough(_)) => NoRead::NoQuorum,
        RaftError::Fatal(_) => NoRead::Stopping,
    }
}
