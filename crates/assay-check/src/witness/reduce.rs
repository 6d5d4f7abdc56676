//! Reducing a refuted problem to a smallest one, with the checker as oracle.
//!
//! What is taken away is an operation's *completion*: the operation stays, but may have happened at
//! any time after its invocation, or never (see `relax`). Taking away whole operations would lie:
//! without its write, every read is "impossible". The result is 1-minimal: forget any one more
//! completion, and an explanation exists.

use super::orders::{Orders, longest_orders};
use crate::budget::Budget;
use crate::certificate::Certificate;
use crate::check::decide_problem;
use crate::kind::ModelKind;
use crate::model::{Call, Start};
use crate::models::Decode;
use crate::relax::{Relaxation, relax};
use crate::search::{Answer, Decision};
use assay_history::{OpIndex, ValueId};
use rustc_hash::FxHashSet;

/// Configurations one oracle call may visit.
const ORACLE_CONFIGURATIONS_MAX: u64 = 100_000;
/// Oracle calls one reduction may make.
const ORACLE_CALLS_MAX: usize = 4_000;

/// A reduced refutation.
#[derive(Debug)]
pub(crate) struct Reduced {
    /// Calls whose completions are needed.
    pub(crate) core: Vec<u32>,
    /// Other calls that could have helped.
    pub(crate) context: Vec<u32>,
    /// The part of the history that was looked at.
    pub(crate) part: Relaxation,
    /// Whether no completion can be forgotten.
    pub(crate) minimal: bool,
    /// The longest legal orders of what is left.
    pub(crate) orders: Orders,
}

impl Reduced {
    pub(crate) fn certificate(
        &self,
        model: ModelKind,
        initial: ValueId,
        key: ValueId,
    ) -> Certificate {
        let mut core: Vec<OpIndex> = self.core.iter().map(|&i| OpIndex(i)).collect();
        core.sort_unstable();
        Certificate { model, initial, key, part: self.part, core }
    }
}

/// Reduces a refuted decision about `calls`.
pub(crate) fn reduce<M: Decode>(
    model: &M,
    calls: &[Call<M::Op>],
    decision: &Decision,
    budget: &Budget,
) -> Reduced {
    let mut reducer = Reducer { model, calls: calls.to_vec(), budget, oracle_calls: 0 };
    let (part, core) = reducer.starting_point(decision);
    let (part, core) = reducer.shorten(part, core);
    let (core, minimal) = reducer.minimise(part, core);
    let part = reducer.narrow(part, &core);
    let problem = reducer.relaxed(&part, &core);
    let context = problem.calls.iter().filter(|call| !call.required).map(|call| call.index);
    Reduced {
        context: context.collect(),
        orders: longest_orders(model, &problem),
        core,
        part,
        minimal,
    }
}

struct Reducer<'a, M: Decode> {
    model: &'a M,
    /// The calls that still matter: shrinks as the core does.
    calls: Vec<Call<M::Op>>,
    budget: &'a Budget,
    oracle_calls: usize,
}

impl<M: Decode> Reducer<'_, M> {
    fn relaxed(&self, part: &Relaxation, core: &[u32]) -> crate::model::Problem<M::Op> {
        let core: FxHashSet<u32> = core.iter().copied().collect();
        relax(self.model, &self.calls, part, |call| core.contains(&call.index))
    }

    /// Whether the calls with only these completions are still refuted; `None` if that is too hard.
    fn refuted(&mut self, part: &Relaxation, core: &[u32]) -> Option<bool> {
        self.oracle_calls += 1;
        if self.oracle_calls > ORACLE_CALLS_MAX || self.budget.is_spent() {
            return None;
        }
        let memory_bytes_max = self.budget.memory_bytes_max / 2;
        let allowance = self.budget.allowance(memory_bytes_max, ORACLE_CONFIGURATIONS_MAX);
        let (_, decision) = decide_problem(self.model, self.relaxed(part, core), &allowance);
        match decision.answer {
            Answer::Refuted => Some(true),
            Answer::Linearizable => Some(false),
            Answer::Undecided => None,
        }
    }

    /// The part and core to start from: the pattern that was found, if it is refuted by itself.
    fn starting_point(&mut self, decision: &Decision) -> (Relaxation, Vec<u32>) {
        if !decision.suspects.is_empty() {
            let suspects: FxHashSet<u32> = decision.suspects.iter().copied().collect();
            let wanted = |call: &&Call<M::Op>| call.required && suspects.contains(&call.index);
            let core: Vec<u32> = self.calls.iter().filter(wanted).map(|call| call.index).collect();
            let part = Relaxation::none();
            if self.refuted(&part, &core) == Some(true) {
                return (self.cut(part, &core), core);
            }
        }
        let part = decision.relaxation.unwrap_or_else(Relaxation::none);
        let core =
            self.calls.iter().filter(|call| part.keeps(call)).map(|call| call.index).collect();
        (part, core)
    }

    /// The part that ends with the last completion of the core: what begins later cannot matter.
    fn cut(&mut self, part: Relaxation, core: &[u32]) -> Relaxation {
        let in_core: FxHashSet<u32> = core.iter().copied().collect();
        let ends =
            self.calls.iter().filter(|call| in_core.contains(&call.index)).map(|call| call.end);
        let part = Relaxation { cut: ends.max().unwrap_or(part.cut), ..part };
        let kept: FxHashSet<u32> =
            self.relaxed(&part, core).calls.iter().map(|call| call.index).collect();
        self.calls.retain(|call| kept.contains(&call.index));
        part
    }

    /// The shortest refuted prefix, by halving: every longer prefix is refuted too.
    fn shorten(&mut self, part: Relaxation, core: Vec<u32>) -> (Relaxation, Vec<u32>) {
        let in_core: FxHashSet<u32> = core.iter().copied().collect();
        let mut ends: Vec<i64> = self
            .calls
            .iter()
            .filter(|call| in_core.contains(&call.index))
            .map(|call| call.end)
            .collect();
        ends.sort_unstable();
        ends.dedup();
        let (mut low, mut high) = (0, ends.len().saturating_sub(1));
        while low < high {
            let middle = low.midpoint(high);
            let shorter = Relaxation { cut: ends[middle], ..part };
            if self.refuted(&shorter, &core) == Some(true) {
                high = middle
            } else {
                low = middle + 1
            }
        }
        let Some(&cut) = ends.get(high) else { return (part, core) };
        let part = Relaxation { cut, ..part };
        let core = self
            .calls
            .iter()
            .filter(|call| in_core.contains(&call.index) && part.keeps(call))
            .map(|call| call.index)
            .collect::<Vec<u32>>();
        (self.cut(part, &core), core)
    }

    /// Forgets completions in ever smaller chunks, then one by one, while the rest stays refuted.
    fn minimise(&mut self, part: Relaxation, mut core: Vec<u32>) -> (Vec<u32>, bool) {
        let mut chunk = core.len().div_ceil(2);
        let mut certain = true;
        while chunk > 0 && !core.is_empty() {
            let mut removed_any = false;
            let mut at = 0;
            certain = true;
            while at < core.len() {
                let end = (at + chunk).min(core.len());
                let rest: Vec<u32> = [&core[..at], &core[end..]].concat();
                match self.refuted(&part, &rest) {
                    Some(true) => {
                        core = rest;
                        removed_any = true;
                        self.cut(part, &core);
                    }
                    Some(false) => at = end,
                    None => {
                        certain = false;
                        at = end;
                    }
                }
            }
            if chunk > 1 {
                chunk = chunk.div_ceil(2).min(core.len().max(1));
                if chunk == 1 || core.len() == 1 {
                    chunk = 1;
                }
            } else if !removed_any {
                break;
            }
        }
        (core, certain)
    }

    /// Brings the ends of the part as close to the core as it stays refuted.
    fn narrow(&mut self, part: Relaxation, core: &[u32]) -> Relaxation {
        let part = self.cut(part, core);
        if part.start == Start::Initial {
            return part;
        }
        let in_core: FxHashSet<u32> = core.iter().copied().collect();
        let starts =
            self.calls.iter().filter(|call| in_core.contains(&call.index)).map(|call| call.start);
        let closer = Relaxation { from: starts.min().unwrap_or(part.from), ..part };
        if self.refuted(&closer, core) == Some(true) { closer } else { part }
    }
}
