//! What an object promises: its sequential behaviour.
//!
//! A [`Model`] says which state an object starts in and what each operation, *with the output it
//! returned*, does to it. That is all a checker needs. A model of your own is a few lines:
//!
//! ```
//! use assay_check::{Answer, Budget, Call, Effect, Model, Problem, decide};
//!
//! /// A flag that can be raised once and never lowered.
//! struct Flag;
//! #[derive(Clone, PartialEq, Eq, Hash)]
//! enum Op { Raise, Look { raised: bool } }
//!
//! impl Model for Flag {
//!     type Op = Op;
//!     type State = bool;
//!     fn initial(&self) -> bool { false }
//!     fn step(&self, state: &bool, op: &Op) -> Option<bool> {
//!         match op {
//!             Op::Raise => Some(true),
//!             Op::Look { raised } => (raised == state).then_some(*state),
//!         }
//!     }
//!     fn effect(&self, op: &Op) -> Effect {
//!         match op { Op::Raise => Effect::Overwrite, Op::Look { .. } => Effect::Observe }
//!     }
//! }
//!
//! // Raised from 0 to 10; a look from 20 to 30 still sees it down.
//! let problem = Problem::new(vec![
//!     Call::required(0, 0, 10, Op::Raise),
//!     Call::required(1, 20, 30, Op::Look { raised: false }),
//! ]);
//! assert_eq!(decide(&Flag, &problem, &Budget::unlimited()).answer, Answer::Refuted);
//! ```
//!
//! [`check_own`](crate::check_own) checks whole histories against it.

use std::hash::Hash;

/// What an operation can do to the state, whatever the state is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// Never changes the state; only legal or not. The search places it as early as it can.
    Observe,
    /// Always legal, and the state afterwards does not depend on the state before. The search may
    /// hide it right before another overwrite.
    Overwrite,
    /// Anything else.
    Update,
}

/// The sequential behaviour of an object.
pub trait Model: Sync {
    /// An operation together with the output it returned, if that is known.
    type Op: Clone + Eq + Hash + Send + Sync;
    /// A state of the object.
    type State: Clone + Eq + Hash + Send;

    /// The state before the first operation.
    fn initial(&self) -> Self::State;

    /// The state after `op`, or `None` if `op` cannot return what it returned in this state.
    fn step(&self, state: &Self::State, op: &Self::Op) -> Option<Self::State>;

    /// What `op` can do at most. Saying [`Effect::Update`] is always right; the other answers make
    /// the search faster and must be true.
    fn effect(&self, op: &Self::Op) -> Effect {
        let _ = op;
        Effect::Update
    }

    /// The only state in which `op` is legal, or in which it changes anything, if there is exactly
    /// one. The search uses it to see who waits for which state; it must be true.
    fn needs(&self, op: &Self::Op) -> Option<Self::State> {
        let _ = op;
        None
    }

    /// A guess at the order of calls, from what others saw later: of two pending calls the one with
    /// the smaller number is tried first. `None` for a call that nothing is known about. It may be
    /// wrong: it decides what is tried first, never what is tried at all.
    fn guesses(&self, calls: &[&Call<Self::Op>]) -> Vec<Option<i64>> {
        let _ = calls;
        Vec::new()
    }

    /// A state that stands for "any state", if the model can express one: every operation that is
    /// legal in some state must be legal in it. Lets the search refute from a window of the
    /// history.
    fn any_state(&self) -> Option<Self::State> {
        None
    }

    /// Drops optional calls that cannot make any difference. Must never drop one that can.
    fn drop_irrelevant(&self, calls: &mut Vec<Call<Self::Op>>) {
        let _ = calls;
    }

    /// How many bytes a state holds, for the memory budget.
    fn state_bytes(&self, state: &Self::State) -> usize {
        size_of_val(state)
    }
}

/// One operation as a checker sees it: an interval in which it takes effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call<Op> {
    /// Which operation of the history this is.
    pub index: u32,
    /// Whether it must take effect. An optional call may take effect at any time after `start`, or
    /// never.
    pub required: bool,
    /// When it was invoked.
    pub start: i64,
    /// When it completed; [`assay_history::NEVER`] for an optional call.
    pub end: i64,
    /// What was done, with the output if it is known.
    pub op: Op,
}

impl<Op> Call<Op> {
    /// A call that took effect between `start` and `end`.
    pub fn required(index: u32, start: i64, end: i64, op: Op) -> Call<Op> {
        Call { index, required: true, start, end, op }
    }

    /// A call that may take effect at any time after `start`, or never.
    pub fn optional(index: u32, start: i64, op: Op) -> Call<Op> {
        Call { index, required: false, start, end: assay_history::NEVER, op }
    }
}

/// What the object's state is before the calls of a [`Problem`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Start {
    /// The model's initial state.
    Initial,
    /// Any state: what came before is left out.
    Any,
}

/// The calls on one object, and the question whether some order explains them.
#[derive(Clone, Debug)]
pub struct Problem<Op> {
    /// The calls, in any order.
    pub calls: Vec<Call<Op>>,
    /// The state before them.
    pub start: Start,
    /// The order the system itself assigned (revisions), by call, if all required calls have one.
    pub hint: Option<Vec<i64>>,
}

impl<Op> Problem<Op> {
    /// A problem that starts in the initial state.
    pub fn new(calls: Vec<Call<Op>>) -> Problem<Op> {
        Problem { calls, start: Start::Initial, hint: None }
    }
}
