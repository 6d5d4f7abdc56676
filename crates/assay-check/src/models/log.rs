//! An append-only log.

use super::chain::Chain;
use super::{Decode, known_output, list, whole};
use crate::model::{Effect, Model};
use assay_history::{Glance, History, ValueId};
use std::sync::Arc;

/// A log.
#[derive(Clone, Copy, Debug, Default)]
pub struct Log;

/// What can be done to a log.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum LogOp {
    /// Appended an element, and perhaps learnt its offset.
    Append(ValueId, Option<i64>),
    /// Read everything.
    ReadAll(Arc<[ValueId]>),
    /// Read the element at an offset; `None` if the log was not that long.
    ReadAt(i64, Option<ValueId>),
}

impl Model for Log {
    type Op = LogOp;
    type State = Chain<ValueId>;

    fn initial(&self) -> Self::State {
        Chain::empty()
    }

    fn step(&self, state: &Self::State, op: &LogOp) -> Option<Self::State> {
        match op {
            LogOp::Append(element, offset) => offset
                .is_none_or(|offset| offset == state.len() as i64)
                .then(|| state.push(*element)),
            LogOp::ReadAll(all) => (all.len() == state.len()
                && state.backwards().eq(all.iter().rev()))
            .then(|| state.clone()),
            LogOp::ReadAt(offset, element) => {
                let behind = state.len() as i64 - 1 - offset;
                let there = match usize::try_from(behind) {
                    Ok(skip) if *offset >= 0 => state.backwards().nth(skip).copied(),
                    _ => None,
                };
                (there == *element).then(|| state.clone())
            }
        }
    }

    fn effect(&self, op: &LogOp) -> Effect {
        match op {
            LogOp::Append(..) => Effect::Update,
            LogOp::ReadAll(_) | LogOp::ReadAt(..) => Effect::Observe,
        }
    }

    fn state_bytes(&self, _: &Self::State) -> usize {
        Chain::<ValueId>::PIECE_BYTES
    }
}

impl Decode for Log {
    fn decode(&self, history: &History, verb: &str, op: &Glance) -> Result<Option<LogOp>, String> {
        let output = known_output(op);
        if verb == "append" {
            let offset = match output {
                Some(value) if !value.is_null() => {
                    Some(whole(history, value, "the output of append (an offset)")?)
                }
                _ => None,
            };
            return Ok(Some(LogOp::Append(op.input, offset)));
        }
        let Some(output) = output else { return Ok(None) };
        if !op.input.is_null() {
            let offset = whole(history, op.input, "the input of read (an offset)")?;
            let element = (!output.is_null()).then_some(output);
            return Ok(Some(LogOp::ReadAt(offset, element)));
        }
        let all = list(history, output, "the output of read")?;
        Ok(Some(LogOp::ReadAll(all.into())))
    }
}
