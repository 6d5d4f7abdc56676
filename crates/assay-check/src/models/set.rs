//! A set of values.

use super::{Decode, known_output, list, truth};
use crate::model::{Call, Effect, Model};
use crate::search::Decision;
use assay_history::{Glance, History, ValueId};
use std::sync::Arc;

/// A set.
#[derive(Clone, Copy, Debug, Default)]
pub struct Set;

/// What can be done to a set.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum SetOp {
    /// Added an element; whether it was new, if that is known.
    Add(ValueId, Option<bool>),
    /// Removed an element; whether it was there, if that is known.
    Remove(ValueId, Option<bool>),
    /// Asked for an element.
    Contains(ValueId, bool),
    /// Read all elements, sorted.
    Read(Arc<[ValueId]>),
}

impl SetOp {
    /// The one element this is about, if it is about one.
    fn element(&self) -> Option<ValueId> {
        match *self {
            SetOp::Add(e, _) | SetOp::Remove(e, _) | SetOp::Contains(e, _) => Some(e),
            SetOp::Read(_) => None,
        }
    }
}

impl Model for Set {
    type Op = SetOp;
    /// The elements, sorted.
    type State = Arc<[ValueId]>;

    fn initial(&self) -> Self::State {
        Arc::from([])
    }

    fn step(&self, state: &Self::State, op: &SetOp) -> Option<Self::State> {
        let place = op.element().map(|element| state.binary_search(&element));
        let there = matches!(place, Some(Ok(_)));
        match *op {
            SetOp::Add(element, new) => {
                if new == Some(there) {
                    return None;
                }
                match place {
                    Some(Err(at)) => {
                        let mut grown = state.to_vec();
                        grown.insert(at, element);
                        Some(grown.into())
                    }
                    _ => Some(state.clone()),
                }
            }
            SetOp::Remove(_, found) => {
                if found == Some(!there) {
                    return None;
                }
                match place {
                    Some(Ok(at)) => {
                        let mut shrunk = state.to_vec();
                        shrunk.remove(at);
                        Some(shrunk.into())
                    }
                    _ => Some(state.clone()),
                }
            }
            SetOp::Contains(_, found) => (found == there).then(|| state.clone()),
            SetOp::Read(ref all) => (all == state).then(|| state.clone()),
        }
    }

    fn effect(&self, op: &SetOp) -> Effect {
        match op {
            SetOp::Contains(..)
            | SetOp::Read(_)
            | SetOp::Add(_, Some(false))
            | SetOp::Remove(_, Some(false)) => Effect::Observe,
            SetOp::Add(..) | SetOp::Remove(..) => Effect::Update,
        }
    }

    fn needs(&self, op: &SetOp) -> Option<Self::State> {
        match op {
            SetOp::Read(all) => Some(all.clone()),
            _ => None,
        }
    }

    fn state_bytes(&self, state: &Self::State) -> usize {
        state.len() * size_of::<ValueId>() + 32
    }
}

impl Decode for Set {
    fn element(op: &SetOp) -> Option<ValueId> {
        op.element()
    }

    fn decide_fast(&self, calls: &[Call<SetOp>]) -> Option<Decision> {
        crate::fast::grow_set(calls)
    }

    fn decode(&self, history: &History, verb: &str, op: &Glance) -> Result<Option<SetOp>, String> {
        let output = known_output(op);
        let answer = truth(history, output.unwrap_or(ValueId::NULL), "the output");
        Ok(match (verb, output) {
            ("add", _) => Some(SetOp::Add(op.input, answer?)),
            ("remove", _) => Some(SetOp::Remove(op.input, answer?)),
            (_, None) => None,
            ("contains", Some(_)) => {
                let found = answer?.ok_or("the output of contains must be true or false")?;
                Some(SetOp::Contains(op.input, found))
            }
            (_, Some(output)) => {
                let mut sorted = list(history, output, "the output of read")?.to_vec();
                sorted.sort_unstable();
                sorted.dedup();
                Some(SetOp::Read(sorted.into()))
            }
        })
    }
}
