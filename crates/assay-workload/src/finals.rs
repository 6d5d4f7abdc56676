//! What is read when the clients are done: everything once, and every replica.
//!
//! A reading that fails is tried again, for a final state that nobody saw proves nothing; but not
//! for ever.

use crate::call::{Call, Reply, Script};
use serde_json::Value;
use std::collections::VecDeque;

/// How often a reading is tried before it is given up.
const TRIES_MAX: u32 = 5;
/// Elements taken out of one queue at the end.
const DRAIN_MAX: u64 = 1_000_000;

/// One thing to read.
enum Step {
    Once(Call),
    /// Until the answer is null, or so often.
    Drain(Call, u64),
}

/// The script of the end.
pub(crate) struct Finals {
    steps: VecDeque<Step>,
    tries: u32,
}

impl Finals {
    pub(crate) fn new() -> Finals {
        Finals { steps: VecDeque::new(), tries: 0 }
    }

    /// Reads once.
    pub(crate) fn once(&mut self, call: Call) {
        self.steps.push_back(Step::Once(call));
    }

    /// Takes out until nothing comes.
    pub(crate) fn drain(&mut self, call: Call) {
        self.steps.push_back(Step::Drain(call, DRAIN_MAX));
    }

    /// Dumps something on every node.
    pub(crate) fn dump(&mut self, key: Option<Value>, nodes: usize) {
        for node in 0..nodes {
            let dump = Call::new("dump", key.clone(), Value::Null);
            self.once(Call { node: Some(node), ..dump });
        }
    }
}

impl Script for Finals {
    fn next(&mut self) -> Option<Call> {
        match self.steps.front()? {
            Step::Once(call) | Step::Drain(call, _) => Some(call.clone()),
        }
    }

    fn observe(&mut self, _call: &Call, reply: &Reply) {
        let Some(step) = self.steps.front_mut() else { return };
        let done = match (reply, step) {
            (Reply::Ok { output, .. }, Step::Drain(_, left)) => {
                self.tries = 0;
                *left -= 1;
                output.is_null() || *left == 0
            }
            (Reply::Ok { .. }, Step::Once(_)) => true,
            (Reply::Fail { .. } | Reply::Unknown { .. }, _) => {
                self.tries += 1;
                self.tries == TRIES_MAX
            }
        };
        if done {
            self.tries = 0;
            self.steps.pop_front();
        }
    }
}
