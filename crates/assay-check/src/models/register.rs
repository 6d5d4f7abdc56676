//! A register with read, write and compare-and-swap.

use super::Decode;
use crate::model::{Call, Effect, Model};
use crate::search::Decision;
use assay_history::{Glance, History, Outcome, ValueId};
use rustc_hash::FxHashSet;

/// A register; maps and multi-registers are one register per key.
#[derive(Clone, Copy, Debug)]
pub struct Register {
    /// The value before the first write.
    pub initial: ValueId,
}

/// What can be done to a register, with what came back.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RegisterOp {
    /// Read this value.
    Read(ValueId),
    /// Wrote this value.
    Write(ValueId),
    /// Found the first value and replaced it by the second.
    Swap(ValueId, ValueId),
    /// Compared with this value and found another.
    NoSwap(ValueId),
    /// Replaces the first value by the second if it finds it; nobody knows.
    MaybeSwap(ValueId, ValueId),
}

impl Model for Register {
    type Op = RegisterOp;
    /// `None` stands for any value.
    type State = Option<ValueId>;

    fn initial(&self) -> Self::State {
        Some(self.initial)
    }

    fn step(&self, state: &Self::State, op: &RegisterOp) -> Option<Self::State> {
        let is = |value: ValueId| state.is_none_or(|held| held == value);
        match *op {
            RegisterOp::Read(value) => is(value).then_some(*state),
            RegisterOp::Write(value) => Some(Some(value)),
            RegisterOp::Swap(from, to) => is(from).then_some(Some(to)),
            RegisterOp::NoSwap(from) => (*state != Some(from)).then_some(*state),
            RegisterOp::MaybeSwap(from, to) => {
                Some(if *state == Some(from) { Some(to) } else { *state })
            }
        }
    }

    fn effect(&self, op: &RegisterOp) -> Effect {
        match *op {
            RegisterOp::Read(_) | RegisterOp::NoSwap(_) => Effect::Observe,
            RegisterOp::Write(_) => Effect::Overwrite,
            RegisterOp::Swap(..) | RegisterOp::MaybeSwap(..) => Effect::Update,
        }
    }

    fn needs(&self, op: &RegisterOp) -> Option<Self::State> {
        match *op {
            RegisterOp::Read(value)
            | RegisterOp::Swap(value, _)
            | RegisterOp::MaybeSwap(value, _) => Some(Some(value)),
            RegisterOp::Write(_) | RegisterOp::NoSwap(_) => None,
        }
    }

    fn any_state(&self) -> Option<Self::State> {
        Some(None)
    }

    /// An optional call whose value nobody observes can be left out of any order: between it and
    /// the next overwrite nothing looks. Unless something looks for the *absence* of a value.
    fn drop_irrelevant(&self, calls: &mut Vec<Call<RegisterOp>>) {
        let mut observed: FxHashSet<ValueId> = FxHashSet::default();
        for call in calls.iter().filter(|call| call.required) {
            match call.op {
                RegisterOp::Read(value) | RegisterOp::Swap(value, _) => {
                    observed.insert(value);
                }
                RegisterOp::NoSwap(_) => {
                    calls.retain(|c| c.required || self.effect(&c.op) != Effect::Observe);
                    return;
                }
                _ => {}
            }
        }
        // A swap that may bring an observed value about makes the value it looks for observed too.
        loop {
            let before = observed.len();
            for call in calls.iter().filter(|call| !call.required) {
                if let RegisterOp::Swap(from, to) | RegisterOp::MaybeSwap(from, to) = call.op
                    && observed.contains(&to)
                {
                    observed.insert(from);
                }
            }
            if observed.len() == before {
                break;
            }
        }
        calls.retain(|call| {
            call.required
                || match call.op {
                    RegisterOp::Write(to)
                    | RegisterOp::Swap(_, to)
                    | RegisterOp::MaybeSwap(_, to) => observed.contains(&to),
                    RegisterOp::Read(_) | RegisterOp::NoSwap(_) => false,
                }
        });
    }
}

impl Decode for Register {
    fn can_be_malformed(verb: &str) -> bool {
        verb == "cas"
    }

    fn decide_fast(&self, calls: &[Call<RegisterOp>]) -> Option<Decision> {
        self.decide_fast_iter(calls.iter().copied())
    }

    fn decide_fast_iter<I>(&self, calls: I) -> Option<Decision>
    where
        I: Iterator<Item = Call<RegisterOp>> + Clone,
    {
        crate::fast::unique_register(calls, self.initial)
    }

    #[inline(always)]
    fn decode(
        &self,
        history: &History,
        verb: &str,
        op: &Glance,
    ) -> Result<Option<RegisterOp>, String> {
        let known = op.outcome == Outcome::Ok;
        match verb {
            "read" => Ok(known.then_some(RegisterOp::Read(op.output))),
            "write" => Ok(Some(RegisterOp::Write(op.input))),
            _ => match history.values.as_list(op.input) {
                Some(&[from, to]) => Ok(Some(if !known {
                    RegisterOp::MaybeSwap(from, to)
                } else if op.output == ValueId::FALSE {
                    RegisterOp::NoSwap(from)
                } else {
                    RegisterOp::Swap(from, to)
                })),
                _ => Err(format!(
                    "the input of cas must be a list [from, to], not {}",
                    history.values.show(op.input)
                )),
            },
        }
    }
}
