//! Requests that came before: a client that got no answer asks again with the same id.
//!
//! The memory of outcomes is part of the state, so it is replicated, snapshotted and survives a
//! change of leader. It is bounded: the oldest id is forgotten first, and a retry that comes later
//! than [`REQUESTS_MAX`] requests is applied again. A client must not wait that long.

use super::op::{Command, Key, Op, Outcome, Retries, Rules};
use super::txn::key_name;
use super::{Micro, State};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, VecDeque};

/// How many requests are remembered.
pub const REQUESTS_MAX: usize = 20_000;

/// What is remembered of requests.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
pub struct Requests {
    by_id: BTreeMap<String, Remembered>,
    oldest_first: VecDeque<String>,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct Remembered {
    /// Checksum of the operation, to tell a retry from another request with the same id.
    op: u32,
    outcome: Outcome,
    /// What the request left behind; only for the defect that puts it back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    left: Vec<(Key, Value)>,
}

impl Requests {
    pub fn len(&self) -> usize {
        self.by_id.len()
    }

    fn remember(&mut self, id: &str, remembered: Remembered) {
        if self.by_id.insert(id.to_string(), remembered).is_none() {
            self.oldest_first.push_back(id.to_string());
        }
        if self.oldest_first.len() > REQUESTS_MAX
            && let Some(oldest) = self.oldest_first.pop_front()
        {
            self.by_id.remove(&oldest);
        }
    }
}

impl State {
    /// Carries out a command unless it is a retry.
    pub(super) fn retried(&mut self, command: &Command, rules: Rules) -> Outcome {
        let Some(id) = &command.id else { return self.execute(&command.op, rules.fencing) };
        let op = checksum(&command.op);
        let first = self.requests.by_id.get(id);
        if first.is_some_and(|first| first.op != op) {
            return Outcome::fail("this id belongs to another request");
        }
        match (first, rules.retries) {
            (Some(first), Retries::Remember) => return first.outcome.clone(),
            // The hook of `lost-update-on-retry`: what came in between is gone.
            (Some(first), Retries::Overwrite) => {
                let (outcome, left) = (first.outcome.clone(), first.left.clone());
                self.objects.registers.extend(left);
                return outcome;
            }
            // The hook of `duplicate-on-retry`.
            (Some(_), Retries::ApplyAgain) | (None, _) => {}
        }
        let outcome = self.execute(&command.op, rules.fencing);
        let left = match rules.retries {
            Retries::Overwrite => self.left_by(&command.op),
            Retries::Remember | Retries::ApplyAgain => Vec::new(),
        };
        self.requests.remember(id, Remembered { op, outcome: outcome.clone(), left });
        outcome
    }

    /// The registers and lists that `op` wrote, as they are now.
    fn left_by(&self, op: &Op) -> Vec<(Key, Value)> {
        let written: Vec<Key> = match op {
            Op::Write(key, _) | Op::Cas(key, ..) => vec![key.clone()],
            Op::Txn(micros) => micros.iter().filter_map(written_by).collect(),
            _ => Vec::new(),
        };
        let value = |key: Key| self.objects.registers.get(&key).cloned().map(|value| (key, value));
        written.into_iter().filter_map(value).collect()
    }
}

fn written_by(micro: &Micro) -> Option<Key> {
    match micro {
        Micro::Read(_) => None,
        Micro::Write(key, _) | Micro::Append(key, _) => Some(key_name(key)),
    }
}

fn checksum(op: &Op) -> u32 {
    // Were this to fail for two operations, they would be taken for one and the same.
    let bytes = serde_json::to_vec(op).expect("an operation came as JSON, so it can become JSON");
    crc32fast::hash(&bytes)
}
