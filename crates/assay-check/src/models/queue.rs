//! A first-in, first-out queue.

use super::{Decode, known_output};
use crate::model::{Call, Effect, Model};
use crate::search::Decision;
use assay_history::{Glance, History, ValueId};
use std::sync::Arc;

/// A FIFO queue.
#[derive(Clone, Copy, Debug, Default)]
pub struct Queue;

/// What can be done to a queue.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum QueueOp {
    /// Put an element at the back.
    Enqueue(ValueId),
    /// Took this element off the front.
    Dequeue(ValueId),
    /// Found the queue empty.
    Empty,
    /// Takes whatever is at the front, if anything is; nobody knows.
    MaybeDequeue,
}

impl Model for Queue {
    type Op = QueueOp;
    /// The elements, front first.
    type State = Arc<[ValueId]>;

    fn initial(&self) -> Self::State {
        Arc::from([])
    }

    fn step(&self, state: &Self::State, op: &QueueOp) -> Option<Self::State> {
        match *op {
            QueueOp::Enqueue(element) => Some(state.iter().copied().chain([element]).collect()),
            QueueOp::Dequeue(element) => {
                (state.first() == Some(&element)).then(|| Arc::from(&state[1..]))
            }
            QueueOp::Empty => state.is_empty().then(|| state.clone()),
            QueueOp::MaybeDequeue => Some(match state.is_empty() {
                true => state.clone(),
                false => Arc::from(&state[1..]),
            }),
        }
    }

    fn effect(&self, op: &QueueOp) -> Effect {
        if *op == QueueOp::Empty { Effect::Observe } else { Effect::Update }
    }

    fn needs(&self, op: &QueueOp) -> Option<Self::State> {
        (*op == QueueOp::Empty).then(|| Arc::from([]))
    }

    fn state_bytes(&self, state: &Self::State) -> usize {
        state.len() * size_of::<ValueId>() + 32
    }
}

impl Decode for Queue {
    fn decide_fast(&self, calls: &[Call<QueueOp>]) -> Option<Decision> {
        crate::fast::fifo_queue(calls)
    }

    fn decode(&self, _: &History, verb: &str, op: &Glance) -> Result<Option<QueueOp>, String> {
        Ok(Some(match (verb, known_output(op)) {
            ("enqueue", _) if op.input.is_null() => {
                return Err("null cannot be an element: it means \"was empty\"".to_string());
            }
            ("enqueue", _) => QueueOp::Enqueue(op.input),
            (_, None) => QueueOp::MaybeDequeue,
            (_, Some(ValueId::NULL)) => QueueOp::Empty,
            (_, Some(element)) => QueueOp::Dequeue(element),
        }))
    }
}
