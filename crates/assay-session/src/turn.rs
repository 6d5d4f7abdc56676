//! One turn of an agent: from a message to the answer.

use crate::id::EventId;
use serde::{Deserialize, Serialize};

/// How far a turn is. One that is over is no longer in the session: completed if its engine
/// finished it, terminalized if an interrupt, a restart, an archive or a delete did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnState {
    /// Its message is durable; nothing was started. Safe to start, also after a crash.
    Accepted,
    /// An engine may have been started: never again after a crash.
    Dispatching,
    /// An engine was heard of.
    Running,
    /// It waits for answers.
    Paused,
}

/// A turn that is not over.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Turn {
    /// Its number in the session.
    pub number: u64,
    /// How far it is.
    pub state: TurnState,
    /// The message it answers.
    pub prompt: EventId,
    /// Which process runs it; empty before one does.
    pub owner: String,
    /// How often a turn of this session was given to an engine. With the owner it fences: what
    /// an earlier engine says is not heard any more.
    pub generation: u64,
    /// Its engine is gone with an earlier process, and only its waits are left.
    pub lost: bool,
}

impl Turn {
    /// What its engine must show to be heard.
    pub fn reference(&self) -> TurnRef {
        TurnRef { number: self.number, owner: self.owner.clone(), generation: self.generation }
    }
}

/// Names one run of a turn.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct TurnRef {
    /// The turn's number.
    pub number: u64,
    /// The process that runs it.
    pub owner: String,
    /// The count of dispatches.
    pub generation: u64,
}
