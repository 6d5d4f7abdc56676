//! Trying the order the system itself assigned.
//!
//! Some systems number their writes (etcd's revisions, a log's offsets). If the calls in that order
//! respect real time and the model, that order *is* an explanation, found in O(n log n). If not,
//! the numbers prove nothing (the recorder may have mixed them up) and the search goes on without
//! them.

use crate::model::{Effect, Model, Problem, Start};

/// Whether the hinted order explains the problem.
pub(crate) fn explains<M: Model>(model: &M, problem: &Problem<M::Op>) -> bool {
    let (Some(hint), Start::Initial) = (&problem.hint, problem.start) else { return false };
    let calls = &problem.calls;
    let mut order: Vec<usize> = (0..calls.len()).filter(|&i| calls[i].required).collect();
    let observes = |i: usize| model.effect(&calls[i].op) == Effect::Observe;
    order.sort_by_key(|&i| (hint[i], observes(i), calls[i].start));
    let mut latest_start = i64::MIN;
    for &i in &order {
        latest_start = latest_start.max(calls[i].start);
        if calls[i].end < latest_start {
            return false;
        }
    }
    let mut state = model.initial();
    order.iter().all(|&i| match model.step(&state, &calls[i].op) {
        Some(next) => {
            state = next;
            true
        }
        None => false,
    })
}
