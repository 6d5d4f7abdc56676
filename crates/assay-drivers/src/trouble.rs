//! Why a call has no output, and what may have happened all the same.

use assay_workload::Reply;
use serde_json::Value;

/// A call without an output.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Trouble {
    /// It did not take effect and never will: it was not sent, or it was refused.
    Fail(String),
    /// It was sent, and nobody said what came of it.
    Unknown(String),
}

impl Trouble {
    /// The same of a call that only reads: what changes nothing has no effect to doubt.
    pub(crate) fn of_reading(self) -> Trouble {
        match self {
            Trouble::Fail(error) | Trouble::Unknown(error) => Trouble::Fail(error),
        }
    }

    /// As a reply of the node that it was sent to.
    pub(crate) fn reply(self, node: Option<String>) -> Reply {
        match self {
            Trouble::Fail(error) => Reply::Fail { error, node },
            Trouble::Unknown(error) => Reply::Unknown { error, node },
        }
    }
}

/// A reply of a node, with an output or without.
pub(crate) fn reply(outcome: Result<Value, Trouble>, node: Option<String>) -> Reply {
    match outcome {
        Ok(output) => Reply::Ok { output, node, revision: None },
        Err(trouble) => trouble.reply(node),
    }
}

/// What a key is called in systems that know only texts.
pub(crate) fn key_name(key: &Value) -> String {
    key.as_str().map_or_else(|| key.to_string(), str::to_string)
}
