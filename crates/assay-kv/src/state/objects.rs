//! Objects that need nothing but themselves: registers, maps, counters, sets, queues, logs, locks.

use super::op::{Key, Op, Outcome};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Elements of a set, as JSON text: values have no order of their own.
type Elements = BTreeSet<String>;

/// A queue, with what it has handed out: whether an element was ever accepted can then be seen
/// after it is gone, also where the answer with it never arrived.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
struct Queue {
    taken: Vec<Value>,
    waiting: VecDeque<Value>,
}

impl Queue {
    fn take(&mut self) -> Option<Value> {
        let element = self.waiting.pop_front()?;
        self.taken.push(element.clone());
        Some(element)
    }
}

/// All simple objects, by kind and key.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
pub struct Objects {
    /// Registers, and the lists of transactions.
    pub registers: BTreeMap<Key, Value>,
    maps: BTreeMap<Key, BTreeMap<String, Value>>,
    counters: BTreeMap<Key, i64>,
    sets: BTreeMap<Key, Elements>,
    queues: BTreeMap<Key, Queue>,
    logs: BTreeMap<Key, Vec<Value>>,
    locks: BTreeMap<Key, String>,
}

impl Objects {
    /// Answers a read of one of these objects. An object that is not there is empty.
    pub fn read(&self, op: &Op) -> Outcome {
        Outcome::Ok(match op {
            Op::Read(key) => self.registers.get(key).cloned().unwrap_or_default(),
            Op::MapGet(key, field) => {
                self.maps.get(key).and_then(|map| map.get(field)).cloned().unwrap_or_default()
            }
            Op::MapRead(key) => {
                let fields = self.maps.get(key).into_iter().flatten();
                let fields = fields.map(|(field, value)| (field.clone(), value.clone()));
                Value::Object(Map::from_iter(fields))
            }
            Op::CounterRead(key) => json!(self.counters.get(key).unwrap_or(&0)),
            Op::SetContains(key, element) => {
                let element = element.to_string();
                json!(self.sets.get(key).is_some_and(|set| set.contains(&element)))
            }
            Op::SetRead(key) => {
                self.sets.get(key).into_iter().flatten().map(|text| element(text)).collect()
            }
            Op::LogRead(key, None) => self.logs.get(key).cloned().unwrap_or_default().into(),
            Op::LogRead(key, Some(offset)) => {
                let offset = usize::try_from(*offset).unwrap_or(usize::MAX);
                self.logs.get(key).and_then(|log| log.get(offset)).cloned().unwrap_or_default()
            }
            other => return Outcome::fail(format!("not a read: {other:?}")),
        })
    }

    /// Carries out a write to one of these objects.
    pub fn apply(&mut self, op: &Op) -> Outcome {
        Outcome::Ok(match op {
            Op::Write(key, value) => {
                self.registers.insert(key.clone(), value.clone());
                Value::Null
            }
            Op::Cas(key, from, to) => {
                let now = self.registers.get(key).unwrap_or(&Value::Null);
                let swaps = now == from;
                if swaps {
                    self.registers.insert(key.clone(), to.clone());
                }
                json!(swaps)
            }
            Op::MapPut(key, field, value) => {
                self.maps.entry(key.clone()).or_default().insert(field.clone(), value.clone());
                Value::Null
            }
            Op::MapRemove(key, field) => {
                json!(self.maps.get_mut(key).is_some_and(|map| map.remove(field).is_some()))
            }
            Op::CounterAdd(key, amount) => return self.add(key, *amount),
            Op::SetAdd(key, element) => {
                json!(self.sets.entry(key.clone()).or_default().insert(element.to_string()))
            }
            Op::SetRemove(key, element) => {
                let element = element.to_string();
                json!(self.sets.get_mut(key).is_some_and(|set| set.remove(&element)))
            }
            Op::Enqueue(key, element) => {
                let queue = self.queues.entry(key.clone()).or_default();
                queue.waiting.push_back(element.clone());
                Value::Null
            }
            Op::Dequeue(key) => self.queues.get_mut(key).and_then(Queue::take).unwrap_or_default(),
            Op::LogAppend(key, element) => {
                let log = self.logs.entry(key.clone()).or_default();
                log.push(element.clone());
                json!(log.len() - 1)
            }
            Op::LockAcquire(key, holder) => return self.acquire(key, holder),
            Op::LockRelease(key, holder) => return self.release(key, holder),
            other => return Outcome::fail(format!("not a write: {other:?}")),
        })
    }

    fn add(&mut self, key: &Key, amount: i64) -> Outcome {
        let counter = self.counters.entry(key.clone()).or_default();
        match counter.checked_add(amount) {
            Some(sum) => {
                *counter = sum;
                Outcome::Ok(Value::Null)
            }
            None => Outcome::fail("the counter would overflow"),
        }
    }

    fn acquire(&mut self, key: &Key, holder: &str) -> Outcome {
        if let Some(other) = self.locks.get(key) {
            return Outcome::fail(format!("held by {other}"));
        }
        self.locks.insert(key.clone(), holder.to_string());
        Outcome::Ok(Value::Null)
    }

    fn release(&mut self, key: &Key, holder: &str) -> Outcome {
        if self.locks.get(key).map(String::as_str) != Some(holder) {
            return Outcome::fail(format!("not held by {holder}"));
        }
        self.locks.remove(key);
        Outcome::Ok(Value::Null)
    }
}

fn element(text: &str) -> Value {
    serde_json::from_str(text).expect("the text was made from a JSON value")
}
