//! Sets, queues, logs and counters.

use super::{Client, output};
use crate::call::{Call, Reply};
use crate::source::Source;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Adds of its own that a client remembers, to ask for them later.
const REMEMBERED_MAX: usize = 1_000;

/// A client that adds elements and looks for them.
#[derive(Default)]
pub(super) struct Set {
    /// Keys and elements of its own adds, whatever became of them.
    added: Vec<(Value, Value)>,
}

impl Client for Set {
    fn call(&mut self, op: &'static str, source: &mut Source) -> Call {
        let key = source.key();
        match op {
            "add" => Call::new(op, Some(key), json!(source.value())),
            "contains" if !self.added.is_empty() => {
                let at = source.between(0..=self.added.len() as u64 - 1) as usize;
                let (key, element) = self.added[at].clone();
                Call::new(op, Some(key), element)
            }
            // Nothing added yet: 0 is an element nobody adds.
            "contains" => Call::new(op, Some(key), json!(0)),
            _ => Call::new(op, Some(key), Value::Null),
        }
    }

    fn hear(&mut self, call: &Call, _reply: &Reply) {
        let Some(key) = call.key.as_ref().filter(|_| call.op == "add") else { return };
        if self.added.len() == REMEMBERED_MAX {
            self.added.remove(0);
        }
        self.added.push((key.clone(), call.input.clone()));
    }
}

/// A client that is producer and consumer.
pub(super) struct Queue {
    /// The field with the id, or empty.
    pub(super) business_key: String,
}

impl Client for Queue {
    fn call(&mut self, op: &'static str, source: &mut Source) -> Call {
        let key = source.key();
        if op == "dequeue" {
            return Call::new(op, Some(key), Value::Null);
        }
        if self.business_key.is_empty() {
            return Call::new(op, Some(key), json!(source.value()));
        }
        let id = source.id();
        let element = json!({ self.business_key.as_str(): id });
        Call { id: Some(id), ..Call::new(op, Some(key), element) }
    }
}

/// A client that appends, and reads where something should be.
pub(super) struct Log {
    whole_read_percent: u64,
    /// The highest offset seen, by key.
    offsets: BTreeMap<String, u64>,
}

impl Log {
    pub(super) fn new(whole_read_percent: u64) -> Log {
        Log { whole_read_percent, offsets: BTreeMap::new() }
    }
}

impl Client for Log {
    fn call(&mut self, op: &'static str, source: &mut Source) -> Call {
        let key = source.key();
        let input = match op {
            "append" => json!(source.value()),
            _ if source.chance(self.whole_read_percent) => Value::Null,
            // One past what was seen: an entry that is not there yet is asked for as well.
            _ => {
                let seen = self.offsets.get(&key.to_string()).map_or(0, |offset| offset + 1);
                json!(source.between(0..=seen))
            }
        };
        Call::new(op, Some(key), input)
    }

    fn hear(&mut self, call: &Call, reply: &Reply) {
        let (Some(key), Some(output)) = (&call.key, output(reply)) else { return };
        let offset = match call.op.as_str() {
            "append" => output.as_u64(),
            _ => output.as_array().and_then(|log| (log.len() as u64).checked_sub(1)),
        };
        if let Some(offset) = offset {
            let known = self.offsets.entry(key.to_string()).or_default();
            *known = offset.max(*known);
        }
    }
}

/// The most that is added at once.
const ADD_MAX: u64 = 9;

/// A client that counts.
pub(super) struct Counter;

impl Client for Counter {
    fn call(&mut self, op: &'static str, source: &mut Source) -> Call {
        let key = source.key();
        let input = match op {
            "add" => json!(source.between(1..=ADD_MAX)),
            _ => Value::Null,
        };
        Call::new(op, Some(key), input)
    }
}
