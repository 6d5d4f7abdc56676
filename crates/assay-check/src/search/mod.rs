//! Just-in-time search for an order that explains a problem, for any model.
//!
//! The calls' invocations and returns are walked in time order. Nothing is placed before it must
//! be: only when a call returns that has no place yet does the search decide which pending calls
//! come first (Lowe's just-in-time linearization). Five things keep it small:
//!
//! * A configuration is (position, bits for the *pending* calls, state): its size depends on how
//!   many calls overlap, not on how many there are. Each is visited once.
//! * A call that observes is placed the moment the state allows it.
//! * An overwrite that is pending while another overwrite is placed may hide right before it. That
//!   is kept as an option (an "absorbed" bit), not as a branch.
//! * Of equal calls only the one with the earliest end is tried.
//! * When the search does not get past a point, a *window* before that point is searched from "any
//!   state". If even that has no order, the history has none; the cost is the window's, not the
//!   history's.

mod candidates;
mod explore;
mod needed;
mod plan;
mod states;
mod table;

use crate::budget::Budget;
use crate::model::{Model, Problem, Start};
use crate::relax::{Relaxation, relax};
use explore::{Search, Step};

/// Whether some order explains a problem.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Answer {
    /// Some order does.
    Linearizable,
    /// No order does.
    Refuted,
    /// The budget ran out before either was shown.
    Undecided,
}

/// The answer to a [`Problem`], with what was learnt on the way.
#[derive(Clone, Debug)]
pub struct Decision {
    /// Whether some order explains the problem.
    pub answer: Answer,
    /// Up to which time an order was found: everything that returned before it can be explained.
    pub prefix_end: i64,
    /// How many required calls that prefix holds.
    pub prefix_calls: usize,
    /// How many calls were open at its end.
    pub window_calls: usize,
    /// If refuted: a smaller problem that is refuted for the same reason.
    pub relaxation: Option<Relaxation>,
    /// If refuted by a pattern: the indices of the calls that make it up.
    pub suspects: Vec<u32>,
}

impl Decision {
    pub(crate) fn linearizable() -> Decision {
        Decision {
            answer: Answer::Linearizable,
            prefix_end: i64::MAX,
            prefix_calls: 0,
            window_calls: 0,
            relaxation: None,
            suspects: Vec::new(),
        }
    }

    pub(crate) fn refuted(suspects: Vec<u32>) -> Decision {
        Decision { answer: Answer::Refuted, suspects, ..Decision::linearizable() }
    }
}

/// Configurations the first attempt may visit before windows are tried; doubles each round.
const FIRST_ROUND_CONFIGURATIONS: u64 = 4_000;
/// Events in the first window tried; doubles until a window refutes or is the whole history.
const FIRST_WINDOW_EVENTS: usize = 64;

/// Decides a problem by search.
pub fn decide<M: Model>(model: &M, problem: &Problem<M::Op>, budget: &Budget) -> Decision {
    if crate::hint::explains(model, problem) {
        return Decision::linearizable();
    }
    let mut search = Search::new(model, problem, budget);
    let mut round = FIRST_ROUND_CONFIGURATIONS;
    loop {
        let step = search.run(round);
        let furthest = search.furthest();
        let mut decision = Decision {
            prefix_end: furthest.time,
            prefix_calls: furthest.calls,
            window_calls: furthest.open,
            ..Decision::linearizable()
        };
        match step {
            Step::Found => return Decision::linearizable(),
            Step::Exhausted => {
                decision.answer = Answer::Refuted;
                decision.relaxation = Some(Relaxation::prefix(furthest.time, problem.start));
                return decision;
            }
            Step::OutOfBudget => {
                decision.answer = Answer::Undecided;
                return decision;
            }
            Step::Paused => {}
        }
        if let Some(relaxation) = refuting_window(model, problem, &search, round, budget) {
            decision.answer = Answer::Refuted;
            decision.relaxation = Some(relaxation);
            return decision;
        }
        round *= 2;
    }
}

/// Looks for a window that ends where the search got stuck and has no order from any state.
fn refuting_window<M: Model>(
    model: &M,
    problem: &Problem<M::Op>,
    search: &Search<'_, M>,
    configurations: u64,
    budget: &Budget,
) -> Option<Relaxation> {
    model.any_state()?;
    let furthest = search.furthest();
    let mut events = FIRST_WINDOW_EVENTS;
    loop {
        let from = search.time_before(furthest.event, events)?;
        let window = Relaxation { start: Start::Any, from, cut: furthest.time };
        let relaxed = relax(model, &problem.calls, &window, |_| true);
        let mut attempt = Search::new(model, &relaxed, budget);
        match attempt.run(configurations) {
            Step::Exhausted => return Some(window),
            Step::Found => events *= 2,
            Step::Paused | Step::OutOfBudget => return None,
        }
    }
}
