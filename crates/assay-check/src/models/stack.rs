//! A last-in, first-out stack.

use super::chain::Chain;
use super::{Decode, known_output};
use crate::model::{Call, Effect, Model};
use assay_history::{Glance, History, ValueId};
use rustc_hash::FxHashMap;

/// A stack.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stack;

/// What can be done to a stack.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum StackOp {
    /// Put an element on top.
    Push(ValueId),
    /// Took this element off the top.
    Pop(ValueId),
    /// Found the stack empty.
    Empty,
    /// Takes whatever is on top, if anything is; nobody knows.
    MaybePop,
}

impl Model for Stack {
    type Op = StackOp;
    type State = Chain<ValueId>;

    fn initial(&self) -> Self::State {
        Chain::empty()
    }

    fn step(&self, state: &Self::State, op: &StackOp) -> Option<Self::State> {
        match *op {
            StackOp::Push(element) => Some(state.push(element)),
            StackOp::Pop(element) if state.last() == Some(&element) => state.without_last(),
            StackOp::Pop(_) => None,
            StackOp::Empty => (state.len() == 0).then(|| state.clone()),
            StackOp::MaybePop => Some(state.without_last().unwrap_or_else(Chain::empty)),
        }
    }

    fn effect(&self, op: &StackOp) -> Effect {
        if *op == StackOp::Empty { Effect::Observe } else { Effect::Update }
    }

    /// What leaves later was pushed earlier; what never leaves, first of all.
    fn guesses(&self, calls: &[&Call<StackOp>]) -> Vec<Option<i64>> {
        let mut left: FxHashMap<ValueId, i64> = FxHashMap::default();
        for call in calls {
            if let StackOp::Pop(element) = call.op {
                left.insert(element, call.end);
            }
        }
        let place = |call: &&Call<StackOp>| match call.op {
            StackOp::Push(element) => Some(left.get(&element).map_or(i64::MIN, |end| -end)),
            _ => None,
        };
        calls.iter().map(place).collect()
    }

    fn state_bytes(&self, _: &Self::State) -> usize {
        Chain::<ValueId>::PIECE_BYTES
    }
}

impl Decode for Stack {
    fn decode(&self, _: &History, verb: &str, op: &Glance) -> Result<Option<StackOp>, String> {
        Ok(Some(match (verb, known_output(op)) {
            ("push", _) if op.input.is_null() => {
                return Err("null cannot be an element: it means \"was empty\"".to_string());
            }
            ("push", _) => StackOp::Push(op.input),
            (_, None) => StackOp::MaybePop,
            (_, Some(ValueId::NULL)) => StackOp::Empty,
            (_, Some(element)) => StackOp::Pop(element),
        }))
    }
}
