//! A string per key with get, put and append.

use super::Decode;
use crate::model::{Call, Effect, Model};
use assay_history::{Glance, History, Outcome, ValueId, View};
use std::sync::Arc;

/// A string that can be replaced and appended to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Kv;

/// What can be done to the string.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum KvOp {
    /// Got this string.
    Get(Arc<str>),
    /// Replaced it.
    Put(Arc<str>),
    /// Appended to it.
    Append(Arc<str>),
}

impl Model for Kv {
    type Op = KvOp;
    type State = Arc<str>;

    fn initial(&self) -> Arc<str> {
        Arc::from("")
    }

    fn step(&self, state: &Arc<str>, op: &KvOp) -> Option<Arc<str>> {
        match op {
            KvOp::Get(text) => (text == state).then(|| state.clone()),
            KvOp::Put(text) => Some(text.clone()),
            KvOp::Append(text) => Some(Arc::from(format!("{state}{text}"))),
        }
    }

    fn effect(&self, op: &KvOp) -> Effect {
        match op {
            KvOp::Get(_) => Effect::Observe,
            KvOp::Put(_) => Effect::Overwrite,
            KvOp::Append(_) => Effect::Update,
        }
    }

    fn needs(&self, op: &KvOp) -> Option<Arc<str>> {
        match op {
            KvOp::Get(text) => Some(text.clone()),
            _ => None,
        }
    }

    /// Text that no get shows any part of cannot have been there when it mattered.
    fn drop_irrelevant(&self, calls: &mut Vec<Call<KvOp>>) {
        let seen: Vec<Arc<str>> = calls
            .iter()
            .filter(|call| call.required)
            .filter_map(|call| self.needs(&call.op))
            .collect();
        calls.retain(|call| {
            call.required
                || match &call.op {
                    KvOp::Get(_) => false,
                    KvOp::Put(text) | KvOp::Append(text) => {
                        seen.iter().any(|shown| shown.contains(&**text))
                    }
                }
        });
    }

    fn state_bytes(&self, state: &Arc<str>) -> usize {
        state.len() + 32
    }
}

impl Decode for Kv {
    fn decode(&self, history: &History, verb: &str, op: &Glance) -> Result<Option<KvOp>, String> {
        let known = op.outcome == Outcome::Ok;
        Ok(match verb {
            "get" => known.then_some(KvOp::Get(text(history, op.output, "the output of get")?)),
            "put" => Some(KvOp::Put(text(history, op.input, "the input of put")?)),
            _ => Some(KvOp::Append(text(history, op.input, "the input of append")?)),
        })
    }
}

fn text(history: &History, value: ValueId, what: &str) -> Result<Arc<str>, String> {
    match history.values.view(value) {
        View::Null => Ok(Arc::from("")),
        View::Str(text) => Ok(Arc::from(text)),
        View::Int(int) => Ok(Arc::from(int.to_string())),
        _ => Err(format!("{what} must be a string, not {}", history.values.show(value))),
    }
}
