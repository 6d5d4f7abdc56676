//! A string per key with get, put and append.

use super::Decode;
use crate::model::{Call, Effect, Model};
use assay_history::{Glance, History, Outcome, ValueId, View};
use std::sync::Arc;

/// How many later gets are looked at to guess where an append stands.
const GETS_LOOKED_AT: usize = 64;

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

    /// An append stands where the next get that shows it has its text; a put begins a new text.
    fn guesses(&self, calls: &[&Call<KvOp>]) -> Vec<Option<i64>> {
        let gets = texts_shown(calls);
        let place = |call: &&Call<KvOp>| {
            let after = gets.partition_point(|shown| shown.end < call.start);
            let before = after.checked_sub(1).map_or(0, |i| gets[i].epoch);
            let next_epoch = || {
                let next = gets[after..].iter().find(|shown| shown.epoch > before);
                next.map(|shown| shown.epoch << 32)
            };
            let shown_at = |text: &Arc<str>| {
                gets[after..].iter().take(GETS_LOOKED_AT).find_map(|shown| {
                    shown.text.find(&**text).map(|at| shown.epoch << 32 | at as i64)
                })
            };
            match &call.op {
                KvOp::Get(_) => None,
                KvOp::Put(_) => next_epoch().map(|begin| begin - 1),
                // Never shown: it was there just before the put that hid it.
                KvOp::Append(text) => {
                    shown_at(text).or_else(|| next_epoch().map(|begin| begin - 2))
                }
            }
        };
        calls.iter().map(place).collect()
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

/// What a get showed, when it returned, and how often the text had begun anew by then.
struct Shown<'c> {
    end: i64,
    epoch: i64,
    text: &'c str,
}

/// What gets showed, by return. A text that neither continues the last one nor begins like it is a
/// new one.
fn texts_shown<'c>(calls: &[&'c Call<KvOp>]) -> Vec<Shown<'c>> {
    let get = |call: &&'c Call<KvOp>| match &call.op {
        KvOp::Get(text) => Some(Shown { end: call.end, epoch: 0, text }),
        _ => None,
    };
    let mut gets: Vec<Shown<'c>> = calls.iter().filter_map(get).collect();
    gets.sort_by_key(|shown| shown.end);
    let (mut epoch, mut longest) = (0, "");
    for shown in &mut gets {
        if shown.text.starts_with(longest) && !longest.is_empty() {
            longest = shown.text;
        } else if !longest.starts_with(shown.text) || shown.text.is_empty() {
            epoch += 1;
            longest = shown.text;
        }
        shown.epoch = epoch;
    }
    gets
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
        _ => Err(format!("{what} must be a string, not {}", history.values.show(value))),
    }
}
