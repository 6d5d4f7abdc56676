//! How far one gets in ordering a witness: the longest legal orders, and what then does not fit.

use crate::model::{Call, Model, Problem, Start};
use rustc_hash::FxHashSet;

/// How far the orders of a witness get.
#[derive(Debug, Default)]
pub(crate) struct Orders {
    /// The longest, at most three, each stuck at different calls.
    pub(crate) longest: Vec<StuckOrder>,
    /// Whether every order was tried and every longest one is here.
    pub(crate) all: bool,
}

/// One legal order that cannot be finished.
#[derive(Debug, Clone)]
pub(crate) struct StuckOrder {
    pub(crate) placed: Vec<u32>,
    pub(crate) stuck: Vec<u32>,
}

const STEPS_MAX: usize = 20_000;
const ORDERS_MAX: usize = 3;
/// Witnesses of more calls than this are not walked: each step costs memory for all of them, and
/// nobody reads such an order.
const CALLS_MAX: usize = 256;

/// The longest orders; none of a witness that is too large to be walked.
pub(crate) fn longest_orders<M: Model>(model: &M, problem: &Problem<M::Op>) -> Orders {
    let state = match problem.start {
        Start::Initial => model.initial(),
        Start::Any => match model.any_state() {
            Some(state) => state,
            None => return Orders::default(),
        },
    };
    if problem.calls.len() > CALLS_MAX {
        return Orders::default();
    }
    let mut calls: Vec<&Call<M::Op>> = problem.calls.iter().collect();
    calls.sort_by_key(|call| (call.end, call.start));
    let mut walk = Walk {
        model,
        placed: Vec::new(),
        is_placed: vec![false; calls.len()],
        calls,
        visited: FxHashSet::default(),
        steps: 0,
        best: Vec::new(),
        best_required: 0,
        left_out: false,
    };
    walk.from(&state);
    let all = walk.steps <= STEPS_MAX && !walk.left_out;
    Orders { longest: walk.best, all }
}

struct Walk<'a, M: Model> {
    model: &'a M,
    calls: Vec<&'a Call<M::Op>>,
    placed: Vec<usize>,
    is_placed: Vec<bool>,
    visited: FxHashSet<(Vec<bool>, M::State)>,
    steps: usize,
    best: Vec<StuckOrder>,
    best_required: usize,
    /// One of the longest orders is not among the best, because there are enough.
    left_out: bool,
}

impl<M: Model> Walk<'_, M> {
    fn from(&mut self, state: &M::State) {
        self.steps += 1;
        if self.steps > STEPS_MAX || !self.visited.insert((self.is_placed.clone(), state.clone())) {
            return;
        }
        let unplaced_required =
            |walk: &Self, i: usize| !walk.is_placed[i] && walk.calls[i].required;
        let first_end = (0..self.calls.len())
            .filter(|&i| unplaced_required(self, i))
            .map(|i| self.calls[i].end)
            .min();
        let Some(first_end) = first_end else { return };
        let mut went_on = false;
        let ready: Vec<usize> = (0..self.calls.len())
            .filter(|&i| !self.is_placed[i] && self.calls[i].start <= first_end)
            .collect();
        for &i in &ready {
            let Some(next) = self.model.step(state, &self.calls[i].op) else { continue };
            if !self.calls[i].required && next == *state {
                continue;
            }
            went_on |= self.calls[i].required;
            self.is_placed[i] = true;
            self.placed.push(i);
            self.from(&next);
            self.placed.pop();
            self.is_placed[i] = false;
        }
        if !went_on {
            self.note(&ready);
        }
    }

    /// Remembers the current order if none is longer.
    fn note(&mut self, ready: &[usize]) {
        let required = self.placed.iter().filter(|&&i| self.calls[i].required).count();
        if required < self.best_required {
            return;
        }
        if required > self.best_required {
            self.best.clear();
            self.left_out = false;
            self.best_required = required;
        }
        let mut stuck: Vec<u32> = ready
            .iter()
            .filter(|&&i| self.calls[i].required)
            .map(|&i| self.calls[i].index)
            .collect();
        stuck.sort_unstable();
        let known = self.best.iter().any(|order| order.stuck == stuck);
        if known || stuck.is_empty() {
            return;
        }
        if self.best.len() == ORDERS_MAX {
            self.left_out = true;
        } else {
            let placed = self.placed.iter().map(|&i| self.calls[i].index).collect();
            self.best.push(StuckOrder { placed, stuck });
        }
    }
}
