//! From "no order explains this history" to the few transactions that contradict each other.

use super::explore::{Answer, Search};
use super::problem::Problem;
use super::{Limits, View};
use crate::cycles::Level;
use crate::weak::Facts;
use assay_history::TxnIndex;

/// Attempts at leaving something out.
const ATTEMPTS_MAX: usize = 2_000;
/// Steps of an attempt: what takes longer is needed.
const STEPS_MAX: u64 = 1_000_000;

/// Leaves transactions out of `core`, which has no order, until none can be left out as far as the
/// limits let us see: first everything after the point where it becomes impossible, then ever
/// smaller pieces.
pub(super) fn reduce(
    facts: &Facts<'_>,
    view: View,
    level: Level,
    limits: Limits<'_>,
    mut core: Vec<u32>,
) -> Vec<u32> {
    core.sort_by_key(|&t| (facts.txns().txn(TxnIndex(t)).end, t));
    let mut attempts = 0;
    let mut has_none = |some: &[u32]| {
        attempts += 1;
        let problem = Problem::new(facts, view, level, Some(some));
        let mut search = Search::new(&problem, limits);
        attempts <= ATTEMPTS_MAX && search.run(STEPS_MAX) == Answer::Exhausted
    };
    let (mut fine, mut bad) = (0, core.len());
    while fine + 1 < bad {
        let half = fine.midpoint(bad);
        if has_none(&core[..half]) { bad = half } else { fine = half }
    }
    core.truncate(bad);
    let mut piece = core.len().div_ceil(2);
    while piece > 0 {
        let mut from = 0;
        let mut smaller = false;
        while from < core.len() {
            let until = (from + piece).min(core.len());
            let without: Vec<u32> = [&core[..from], &core[until..]].concat();
            if !without.is_empty() && has_none(&without) {
                (core, smaller) = (without, true);
            } else {
                from = until;
            }
        }
        piece = match piece {
            // Once more: what was needed before may not be any more.
            1 if smaller => 1,
            piece => piece / 2,
        };
    }
    core.sort_unstable();
    core
}
