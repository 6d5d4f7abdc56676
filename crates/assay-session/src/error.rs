//! Why an input is not taken.

use crate::id::EventId;
use crate::machine::Status;

/// An event from a client that cannot be understood.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{place}: {what}")]
pub struct BadEvent {
    /// Where in the request.
    pub place: String,
    /// What is wrong with it, and what would be right.
    pub what: String,
}

impl BadEvent {
    pub(crate) fn new(place: impl Into<String>, what: impl Into<String>) -> BadEvent {
        BadEvent { place: place.into(), what: what.into() }
    }
}

/// An input that cannot be taken in this state. Nothing has changed then.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Refusal {
    /// It takes no events any more.
    #[error("the session is archived")]
    Archived,
    /// A result for a call that nobody waits for.
    #[error("No pending custom tool call: {0}")]
    NoPendingCall(EventId),
    /// A confirmation that nobody waits for.
    #[error("No pending tool confirmation: {0}")]
    NoPendingConfirmation(EventId),
    /// A second answer that is not the first.
    #[error("{0} was already answered differently; the first answer counts")]
    AnsweredDifferently(EventId),
    /// Too many messages wait for their turn.
    #[error("too many messages are waiting for their turn; wait until the session is idle")]
    TooManyTurns,
    /// Too many calls wait for an answer.
    #[error("too many tool calls are waiting for an answer")]
    TooManyWaits,
    /// It runs, and what runs is neither archived nor deleted.
    #[error("the session is {0:?}")]
    Busy(Status),
    /// From a turn that is over, or never was.
    #[error("the turn is over")]
    Stale,
    /// An engine said what cannot be said here.
    #[error("the engine said what does not fit: {0}")]
    Engine(&'static str),
}
