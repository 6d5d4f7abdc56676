//! Calls that wait for an answer from outside, and those that did.

use crate::event::ToolAnswer;
use crate::id::EventId;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Calls that may wait at once in one session.
pub const WAITS_OPEN_MAX: usize = 100;
/// Answered calls that are remembered, to tell a repeated answer from a wrong one. Answers to
/// older ones find no pending call.
pub const CLOSED_WAITS_MAX: usize = 1000;

/// Who has to answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitKind {
    /// The client runs the tool and sends its result.
    Custom,
    /// A user allows or denies the tool.
    Confirmation,
}

/// A call that waits.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Wait {
    /// The event of the call.
    pub id: EventId,
    /// Who has to answer.
    pub kind: WaitKind,
}

/// Why a call waits no more.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum CloseReason {
    /// It was answered.
    Answered {
        /// How.
        answer: Answer,
        /// By which event.
        by: EventId,
    },
    /// Its turn ended without an answer.
    Ended,
}

/// A call that waited.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ClosedWait {
    /// The call.
    pub wait: Wait,
    /// Why it waits no more.
    pub reason: CloseReason,
}

/// An answer to a call.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// What a custom tool gave.
    Result {
        /// The blocks.
        content: Vec<Value>,
        /// Whether it failed.
        is_error: bool,
    },
    /// What a user decided.
    Decision {
        /// Allowed or not.
        result: ToolAnswer,
        /// Why not.
        deny_message: Option<String>,
    },
}
