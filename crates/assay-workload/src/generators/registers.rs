//! Registers, also as maps and sessions: values that are read and replaced.

use super::{Client, output};
use crate::call::{Call, Reply};
use crate::source::Source;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A client that remembers the last value it saw of each key: a compare-and-swap from there has a
/// chance to swap, and one that should not have swapped shows.
#[derive(Default)]
pub(super) struct Registers {
    seen: BTreeMap<String, Value>,
}

impl Client for Registers {
    fn call(&mut self, op: &'static str, source: &mut Source) -> Call {
        if op == "reconnect" {
            return Call::new(op, None, Value::Null);
        }
        let key = source.key();
        let input = match op {
            "write" => json!(source.value()),
            "cas" => {
                let seen = self.seen.get(&key.to_string()).cloned().unwrap_or_default();
                json!([seen, source.value()])
            }
            _ => Value::Null,
        };
        Call::new(op, Some(key), input)
    }

    fn hear(&mut self, call: &Call, reply: &Reply) {
        let (Some(key), Some(output)) = (&call.key, output(reply)) else { return };
        let seen = match call.op.as_str() {
            "read" => output.clone(),
            "write" => call.input.clone(),
            "cas" if *output == json!(true) => call.input[1].clone(),
            _ => return,
        };
        self.seen.insert(key.to_string(), seen);
    }
}
