//! Asking for less: problems that are easier to explain than the one at hand.
//!
//! Every change here can only *add* explanations: calls after a point in time are left out, a
//! call's completion is forgotten (it may have happened at any later time, or never), what came
//! before a point is replaced by "any state". So if the relaxed problem has no explanation, the
//! original has none. Refutations from a window, witnesses and certificates all rest on this.

use crate::model::{Call, Model, Problem, Start};
use assay_history::NEVER;

/// Which part of a history is looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize)]
pub struct Relaxation {
    /// The state before the part.
    pub start: Start,
    /// With [`Start::Any`]: calls that ended before this time are left out, and calls that began
    /// before it may or may not be part of "any state".
    pub from: i64,
    /// Calls that began after this time are left out, and calls that ended after it are still
    /// open.
    pub cut: i64,
}

impl Relaxation {
    /// Everything up to `cut`.
    pub fn prefix(cut: i64, start: Start) -> Relaxation {
        Relaxation { start, from: i64::MIN, cut }
    }

    /// The whole history.
    pub fn none() -> Relaxation {
        Relaxation::prefix(i64::MAX, Start::Initial)
    }

    /// Whether a call keeps its completion under this relaxation.
    pub(crate) fn keeps<Op>(&self, call: &Call<Op>) -> bool {
        call.required
            && call.end <= self.cut
            && (self.start == Start::Initial || call.start >= self.from)
    }

    /// Whether a call is left out altogether.
    pub(crate) fn leaves_out<Op>(&self, call: &Call<Op>) -> bool {
        call.start > self.cut || (self.start == Start::Any && call.end < self.from)
    }
}

/// The relaxed problem: `core` says which of the calls that may keep their completion do.
pub(crate) fn relax<M: Model>(
    model: &M,
    calls: &[Call<M::Op>],
    part: &Relaxation,
    core: impl Fn(&Call<M::Op>) -> bool,
) -> Problem<M::Op> {
    let mut relaxed: Vec<Call<M::Op>> = Vec::new();
    for call in calls {
        if part.leaves_out(call) {
            continue;
        }
        let mut call = call.clone();
        if !(part.keeps(&call) && core(&call)) {
            call.required = false;
            call.end = NEVER;
        }
        relaxed.push(call);
    }
    model.drop_irrelevant(&mut relaxed);
    Problem { calls: relaxed, start: part.start, hint: None }
}
