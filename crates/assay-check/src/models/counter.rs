//! An integer that is added to and read.

use super::{Decode, known_output, whole};
use crate::model::{Effect, Model};
use assay_history::{Glance, History, ValueId};

/// A counter.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counter;

/// What can be done to a counter.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CounterOp {
    /// Added a number (negative to subtract), and perhaps learnt the value afterwards.
    Add(i64, Option<i64>),
    /// Read this value.
    Read(i64),
}

impl Model for Counter {
    type Op = CounterOp;
    /// Wide enough that no history of 64-bit numbers overflows it.
    type State = i128;

    fn initial(&self) -> i128 {
        0
    }

    fn step(&self, state: &i128, op: &CounterOp) -> Option<i128> {
        match *op {
            CounterOp::Add(delta, after) => {
                let sum = state + i128::from(delta);
                after.is_none_or(|after| i128::from(after) == sum).then_some(sum)
            }
            CounterOp::Read(value) => (i128::from(value) == *state).then_some(*state),
        }
    }

    fn effect(&self, op: &CounterOp) -> Effect {
        match op {
            CounterOp::Read(_) => Effect::Observe,
            CounterOp::Add(..) => Effect::Update,
        }
    }

    fn needs(&self, op: &CounterOp) -> Option<i128> {
        match *op {
            CounterOp::Read(value) => Some(value.into()),
            CounterOp::Add(delta, Some(after)) => Some(i128::from(after) - i128::from(delta)),
            CounterOp::Add(_, None) => None,
        }
    }
}

impl Decode for Counter {
    fn decode(
        &self,
        history: &History,
        verb: &str,
        op: &Glance,
    ) -> Result<Option<CounterOp>, String> {
        let output = known_output(op);
        if verb == "read" {
            let read = |value| whole(history, value, "the output of read").map(CounterOp::Read);
            return output.map(read).transpose();
        }
        let delta = match op.input {
            ValueId::NULL => 1,
            input => whole(history, input, "the input of add")?,
        };
        let delta = if verb == "dec" {
            delta.checked_neg().ok_or("the input of dec does not fit 64 bits")?
        } else {
            delta
        };
        let after = match output {
            Some(value) if !value.is_null() => Some(whole(history, value, "the output of add")?),
            _ => None,
        };
        Ok(Some(CounterOp::Add(delta, after)))
    }
}
