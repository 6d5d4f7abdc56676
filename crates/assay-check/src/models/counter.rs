//! An integer that is added to and read.

use super::{Decode, integer, known_output};
use crate::model::{Effect, Model};
use assay_history::{Glance, History};

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
    type State = i64;

    fn initial(&self) -> i64 {
        0
    }

    fn step(&self, state: &i64, op: &CounterOp) -> Option<i64> {
        match *op {
            CounterOp::Add(delta, after) => {
                let sum = state.checked_add(delta)?;
                after.is_none_or(|after| after == sum).then_some(sum)
            }
            CounterOp::Read(value) => (value == *state).then_some(value),
        }
    }

    fn effect(&self, op: &CounterOp) -> Effect {
        match op {
            CounterOp::Read(_) => Effect::Observe,
            CounterOp::Add(..) => Effect::Update,
        }
    }

    fn needs(&self, op: &CounterOp) -> Option<i64> {
        match *op {
            CounterOp::Read(value) => Some(value),
            CounterOp::Add(delta, Some(after)) => after.checked_sub(delta),
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
            let read = |v| integer(history, v, 0, "the output of read").map(CounterOp::Read);
            return output.map(read).transpose();
        }
        let delta = integer(history, op.input, 1, "the input of add")?;
        let delta = if verb == "dec" {
            delta.checked_neg().ok_or("the input of dec does not fit 64 bits")?
        } else {
            delta
        };
        let after = match output {
            Some(value) if !value.is_null() => {
                Some(integer(history, value, 0, "the output of add")?)
            }
            _ => None,
        };
        Ok(Some(CounterOp::Add(delta, after)))
    }
}
