//! Checking a whole history against a model of one's own.
//!
//! [`decide`](crate::decide) answers for one object whose calls are given. [`check_own`] does for a
//! model of yours what [`check`](crate::check) does for those that come with Assay: it reads the
//! calls out of a history, cuts it by key, decides the keys in parallel under one budget, and
//! reduces what is refuted to the operations that matter.
//!
//! ```
//! use assay_check::{Answer, Budget, Model, check_own};
//! use assay_history::{ReadOptions, ValueId, read};
//!
//! /// A sequence that hands out each number once, and only upwards.
//! struct Sequence;
//! impl Model for Sequence {
//!     /// The number that was handed out.
//!     type Op = i64;
//!     /// The last one.
//!     type State = i64;
//!     fn initial(&self) -> i64 { 0 }
//!     fn step(&self, last: &i64, number: &i64) -> Option<i64> {
//!         (number > last).then_some(*number)
//!     }
//! }
//!
//! let log = "\
//! {:process 0, :type :invoke, :f :next, :value nil}
//! {:process 0, :type :ok, :f :next, :value 2}
//! {:process 1, :type :invoke, :f :next, :value nil}
//! {:process 1, :type :ok, :f :next, :value 2}
//! ";
//! let history = read(log.as_bytes(), &ReadOptions::default())?;
//! let report = check_own(&history, &Sequence, &Budget::unlimited(), |history, op| {
//!     // An operation nobody knows the answer of says nothing about a sequence.
//!     if op.output == ValueId::NULL {
//!         return Ok(None);
//!     }
//!     let number = history.values.as_int(op.output);
//!     number.map(Some).ok_or_else(|| "a number is an integer".to_string())
//! })?;
//! assert_eq!(report.answer, Answer::Refuted);
//! assert_eq!(report.refuted[0].core.len(), 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! It gives no certificate: the separate verifier knows only the models it was written for. The
//! core of a refutation can be decided again by whoever doubts it.

use crate::budget::Budget;
use crate::check::{CheckError, PARALLEL_CALLS_MIN, decide_problem};
use crate::model::{Call, Effect, Model, Problem};
use crate::models::Decode;
use crate::partition::{Part, Reader};
use crate::report::PartialOrder;
use crate::search::Answer;
use crate::witness;
use assay_history::{Glance, History, OpIndex, ValueId};
use rayon::prelude::*;

/// What became of a history under a model of one's own.
#[derive(Clone, Debug)]
pub struct OwnReport {
    /// Refuted if any key is, else undecided if any key is.
    pub answer: Answer,
    /// Keys that were looked at.
    pub keys: usize,
    /// Operations that may have had an effect.
    pub ops_checked: usize,
    /// The refuted keys, in the order of the history.
    pub refuted: Vec<OwnRefutation>,
    /// Keys the budget was too small for.
    pub undecided: Vec<ValueId>,
}

/// A key that no order explains.
#[derive(Clone, Debug)]
pub struct OwnRefutation {
    /// The key.
    pub key: ValueId,
    /// The operations whose completions matter.
    pub core: Vec<OpIndex>,
    /// Other operations that could have helped and do not.
    pub context: Vec<OpIndex>,
    /// Whether no completion can be forgotten; false only if the budget ran out while reducing.
    pub minimal: bool,
    /// The longest orders of the witness that the model allows.
    pub orders: Vec<PartialOrder>,
}

/// Decides whether a history is linearizable under a model of one's own. `decode` says what an
/// operation means: `None` if it says nothing, an error if it does not fit; it is not asked about
/// operations that failed. One whose outcome is unknown may or may not have happened.
///
/// # Errors
/// [`CheckError`] with the line and the message of `decode`.
pub fn check_own<M, F>(
    history: &History,
    model: &M,
    budget: &Budget,
    decode: F,
) -> Result<OwnReport, CheckError>
where
    M: Model,
    F: Fn(&History, &Glance) -> Result<Option<M::Op>, String> + Sync,
{
    let own = Own { model, decode };
    let reader = Reader::of_one_model(history, &own);
    let (calls, parts) = reader.parts()?;
    let look = |part: &Part| one_key(&own, history, &calls[part.range.clone()], part, budget);
    let found: Vec<(Answer, Option<OwnRefutation>)> = if calls.len() < PARALLEL_CALLS_MIN {
        parts.iter().map(look).collect()
    } else {
        parts.par_iter().map(look).collect()
    };
    let any = |wanted| found.iter().any(|&(answer, _)| answer == wanted);
    let answer = [Answer::Refuted, Answer::Undecided].into_iter().find(|&answer| any(answer));
    let undecided =
        found.iter().zip(&parts).filter(|((answer, _), _)| *answer == Answer::Undecided);
    Ok(OwnReport {
        answer: answer.unwrap_or(Answer::Linearizable),
        keys: parts.len(),
        ops_checked: parts.iter().map(|part| part.ops).sum(),
        undecided: undecided.map(|(_, part)| history.key(part.key)).collect(),
        refuted: found.into_iter().filter_map(|(_, refutation)| refutation).collect(),
    })
}

fn one_key<D: Decode>(
    own: &D,
    history: &History,
    calls: &[Call<D::Op>],
    part: &Part,
    budget: &Budget,
) -> (Answer, Option<OwnRefutation>) {
    let (_, decision) = decide_problem(own, Problem::new(calls.to_vec()), budget);
    if decision.answer != Answer::Refuted {
        return (decision.answer, None);
    }
    let found = witness::reduce(own, calls, &decision, budget);
    let ops = |indices: &[u32]| indices.iter().map(|&index| OpIndex(index)).collect();
    let refutation = OwnRefutation {
        key: history.key(part.key),
        core: ops(&found.core),
        context: ops(&found.context),
        minimal: found.minimal,
        orders: found.orders.longest.iter().map(PartialOrder::of).collect(),
    };
    (Answer::Refuted, Some(refutation))
}

/// A model of somebody else, with how its operations are read.
struct Own<'m, M, F> {
    model: &'m M,
    decode: F,
}

impl<M: Model, F: Sync> Model for Own<'_, M, F> {
    type Op = M::Op;
    type State = M::State;

    fn initial(&self) -> M::State {
        self.model.initial()
    }

    fn step(&self, state: &M::State, op: &M::Op) -> Option<M::State> {
        self.model.step(state, op)
    }

    fn effect(&self, op: &M::Op) -> Effect {
        self.model.effect(op)
    }

    fn needs(&self, op: &M::Op) -> Option<M::State> {
        self.model.needs(op)
    }

    fn guesses(&self, calls: &[&Call<M::Op>]) -> Vec<Option<i64>> {
        self.model.guesses(calls)
    }

    fn any_state(&self) -> Option<M::State> {
        self.model.any_state()
    }

    fn state_bytes(&self, state: &M::State) -> usize {
        self.model.state_bytes(state)
    }

    fn drop_irrelevant(&self, calls: &mut Vec<Call<M::Op>>) {
        self.model.drop_irrelevant(calls);
    }
}

impl<M, F> Decode for Own<'_, M, F>
where
    M: Model,
    F: Fn(&History, &Glance) -> Result<Option<M::Op>, String> + Sync,
{
    fn decode(&self, history: &History, _: &str, op: &Glance) -> Result<Option<M::Op>, String> {
        (self.decode)(history, op)
    }
}
