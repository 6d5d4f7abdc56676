//! Calls that wait for an answer from outside, and those that did.

use crate::event::ToolAnswer;
use crate::id::EventId;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

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
        /// How, as far as another answer can be told from it.
        answer: Fingerprint,
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

/// Stands for an answer: equal ones have equal fingerprints, others do not. Answers are large and
/// the state of a session is written with each step, so it has these instead.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Fingerprint(String);

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

impl Answer {
    /// What it is known by once it was taken.
    pub fn fingerprint(&self) -> Fingerprint {
        let mut hash = Sha256::new();
        match self {
            Answer::Result { content, is_error } => {
                hash.update(if *is_error { b"error" } else { b"value" });
                content.iter().for_each(|block| feed(&mut hash, block));
            }
            Answer::Decision { result, deny_message } => {
                hash.update(b"decision");
                feed(&mut hash, &json!([result, deny_message]));
            }
        }
        let digest = hash.finalize();
        Fingerprint(digest.iter().map(|byte| format!("{byte:02x}")).collect())
    }
}

/// Each value in a form that no other one begins with. The order of fields means nothing.
fn feed(hash: &mut Sha256, value: &Value) {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => hash.update(format!("{value};")),
        Value::String(text) => {
            hash.update(format!("s{};", text.len()));
            hash.update(text);
        }
        Value::Array(values) => {
            hash.update(format!("a{};", values.len()));
            values.iter().for_each(|value| feed(hash, value));
        }
        Value::Object(fields) => {
            let mut sorted: Vec<(&String, &Value)> = fields.iter().collect();
            sorted.sort_by_key(|(name, _)| *name);
            hash.update(format!("o{};", sorted.len()));
            for (name, value) in sorted {
                hash.update(format!("s{};{name}", name.len()));
                feed(hash, value);
            }
        }
    }
}
