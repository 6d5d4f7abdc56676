//! A shorter walk that fails alike.

use crate::declare::Registry;
use crate::machine::Machine;
use crate::simulate::replay;

/// Leaves out actions as long as the same invariant is violated: large pieces first, then single
/// ones, until none can be left out. Actions that become impossible on the way are left out, too.
///
/// Gives the actions back as they were if they do not violate the invariant `id` at all.
pub fn shrink<M: Machine, R: Registry<State = M::State>>(
    machine: &M,
    actions: &[M::Action],
    id: &str,
) -> Vec<M::Action> {
    let fails = |actions: &[M::Action]| {
        replay::<M, R>(machine, actions).is_some_and(|violation| violation.id == id)
    };
    let mut best = actions.to_vec();
    if !fails(&best) {
        return best;
    }
    let mut piece = best.len().div_ceil(2);
    while piece > 0 {
        let mut at = 0;
        let mut shorter = false;
        while at < best.len() {
            let end = (at + piece).min(best.len());
            let candidate = [&best[..at], &best[end..]].concat();
            if fails(&candidate) {
                best = candidate;
                shorter = true;
            } else {
                at = end;
            }
        }
        // With single actions: again until a whole round removes nothing.
        piece = if piece == 1 && shorter { 1 } else { piece / 2 };
    }
    best
}
