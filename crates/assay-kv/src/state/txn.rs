//! Transactions: lists of micro-operations on registers and lists, all or none.

use super::op::{Key, Micro, Outcome};
use super::{Objects, State};
use serde_json::{Value, json};
use std::collections::BTreeMap;

impl State {
    /// Runs a transaction. The answer is the transaction with the values that were read.
    pub(super) fn apply_txn(&mut self, micros: &[Micro]) -> Outcome {
        if let Some(key) = append_to_no_list(&self.objects, micros) {
            return Outcome::fail(format!("{key} holds no list to append to"));
        }
        // Nothing below can fail, so nothing has to be undone.
        let registers = &mut self.objects.registers;
        let answer = micros.iter().map(|micro| match micro {
            Micro::Read(key) => {
                json!(["r", key, registers.get(&key_name(key)).unwrap_or(&Value::Null)])
            }
            Micro::Write(key, value) => {
                registers.insert(key_name(key), value.clone());
                json!(["w", key, value])
            }
            Micro::Append(key, value) => {
                let list = registers.entry(key_name(key)).or_insert_with(|| json!([]));
                if list.is_null() {
                    *list = json!([]);
                }
                list.as_array_mut().expect("checked above to be a list").push(value.clone());
                json!(["append", key, value])
            }
        });
        Outcome::Ok(Value::Array(answer.collect()))
    }

    /// Runs a transaction that only reads.
    pub(super) fn read_txn(&self, micros: &[Micro]) -> Outcome {
        let answer = micros.iter().map(|micro| {
            let (Micro::Read(key) | Micro::Write(key, _) | Micro::Append(key, _)) = micro;
            json!(["r", key, self.objects.registers.get(&key_name(key)).unwrap_or(&Value::Null)])
        });
        Outcome::Ok(Value::Array(answer.collect()))
    }
}

/// The key whose append would find something else than a list, with the transaction's own writes
/// taken into account.
fn append_to_no_list(objects: &Objects, micros: &[Micro]) -> Option<Key> {
    let mut lists: BTreeMap<Key, bool> = BTreeMap::new();
    for micro in micros {
        match micro {
            Micro::Read(_) => {}
            Micro::Write(key, value) => {
                lists.insert(key_name(key), value.is_array() || value.is_null());
            }
            Micro::Append(key, _) => {
                let key = key_name(key);
                let stored = objects.registers.get(&key);
                let list = stored.is_none_or(|value| value.is_array() || value.is_null());
                if !*lists.entry(key.clone()).or_insert(list) {
                    return Some(key);
                }
                lists.insert(key, true);
            }
        }
    }
    None
}

/// The object that a key in a transaction names: strings by themselves, all else by its JSON.
pub fn key_name(key: &Value) -> Key {
    key.as_str().map_or_else(|| key.to_string(), str::to_string)
}
