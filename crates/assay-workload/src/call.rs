//! One operation of a client, and what came of it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// An operation to be done.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// The operation type, as it stands in the history and in docs/models.md: `read`, `write`, ...
    pub op: String,
    /// The object it addresses.
    pub key: Option<Value>,
    /// What is sent.
    pub input: Value,
    /// An id that stays the same when the operation is sent again; systems with idempotency keys
    /// get it as such.
    pub id: Option<String>,
    /// The only node that may answer, by its number from 0; `None`: the client's own.
    pub node: Option<usize>,
}

impl Call {
    /// A call without an id, to the client's own node.
    pub fn new(op: &str, key: Option<Value>, input: Value) -> Call {
        Call { op: op.to_string(), key, input, id: None, node: None }
    }
}

/// What came of a call.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Reply {
    /// It took effect.
    Ok {
        /// What was received.
        output: Value,
        /// The node that decided it, where it says so.
        node: Option<String>,
        /// The position the system gave it, where it says so.
        revision: Option<i64>,
    },
    /// It did not take effect, and never will.
    Fail {
        /// Why.
        error: String,
        /// The node that said so.
        node: Option<String>,
    },
    /// It may or may not have taken effect, or still do.
    Unknown {
        /// What is known about it.
        error: String,
        /// The node it was sent to.
        node: Option<String>,
    },
}

/// What one client does.
pub trait Script: Send {
    /// The next operation; `None` once there is nothing left to do.
    fn next(&mut self) -> Option<Call>;
    /// What came of the last one.
    fn observe(&mut self, call: &Call, reply: &Reply);
}
