//! Real time and the order of processes.
//!
//! Every transaction comes before all that begin after its end: a quadratic number of pairs. But
//! the transactions that begin after a moment are a tail of the list of transactions by start. So
//! each end leads to a *moment*, each moment to the transactions that begin between it and the
//! next moment, and to the next moment: linear, whatever the number of clients.

use crate::graph::{Graph, Label};
use crate::scc::Successors;
use assay_history::{Outcome, TxnIndex, Txns};
use rustc_hash::FxHashMap;

const NONE: u32 = u32::MAX;

/// Moments between transactions.
#[derive(Debug, Default)]
pub(crate) struct Moments {
    /// Transactions that may have committed, by start.
    by_start: Vec<u32>,
    /// By transaction: the first moment after its end.
    after: Vec<u32>,
    /// By moment: where in `by_start` what begins after it starts; one more at the end.
    tails: Vec<u32>,
}

impl Moments {
    pub(crate) fn new(txns: &Txns) -> Moments {
        let possible = |t: &u32| txns.may_have_committed(TxnIndex(*t));
        let mut by_start: Vec<u32> = (0..txns.len() as u32).filter(possible).collect();
        let start = |t: u32| txns.txn(TxnIndex(t)).start;
        if !by_start.is_sorted_by_key(|&t| start(t)) {
            by_start.sort_by_key(|&t| start(t));
        }
        let mut after = vec![NONE; txns.len()];
        let mut tails: Vec<u32> = Vec::new();
        let mut begun = 0;
        for (end, t) in ends(txns) {
            while begun < by_start.len() && start(by_start[begun]) <= end {
                begun += 1;
            }
            if begun == by_start.len() {
                break;
            }
            if tails.last() != Some(&(begun as u32)) {
                tails.push(begun as u32);
            }
            after[t as usize] = tails.len() as u32 - 1;
        }
        tails.push(by_start.len() as u32);
        Moments { by_start, after, tails }
    }

    fn count(&self) -> usize {
        self.tails.len().saturating_sub(1)
    }

    /// What begins between a moment and the next.
    fn begins(&self, moment: u32) -> &[u32] {
        let i = moment as usize;
        &self.by_start[self.tails[i] as usize..self.tails[i + 1] as usize]
    }

    /// The moment after the end of a transaction.
    fn after(&self, txn: u32) -> Option<u32> {
        self.after.get(txn as usize).copied().filter(|&moment| moment != NONE)
    }
}

/// Committed transactions by end.
fn ends(txns: &Txns) -> Vec<(i64, u32)> {
    let committed = |t: u32| txns.committed_at(TxnIndex(t)).map(|end| (end, t));
    let mut ends: Vec<(i64, u32)> = (0..txns.len() as u32).filter_map(committed).collect();
    let span = 4 * txns.len() as i64 + 64;
    // Ends that are record numbers are put in their places instead of being compared.
    if ends.iter().all(|&(end, _)| (0..span).contains(&end)) {
        let mut at = vec![NONE; span as usize];
        let unique = ends.iter().all(|&(end, t)| {
            let place = &mut at[end as usize];
            let free = *place == NONE;
            *place = t;
            free
        });
        if unique {
            ends.clear();
            let placed = at.iter().enumerate().filter(|&(_, &t)| t != NONE);
            ends.extend(placed.map(|(end, &t)| (end as i64, t)));
            return ends;
        }
    }
    ends.sort_unstable();
    ends
}

/// The graph of dependencies together with real time.
pub(crate) struct Whole<'a> {
    pub(crate) graph: &'a Graph,
    pub(crate) moments: Option<&'a Moments>,
}

impl Whole<'_> {
    /// The first node that is a moment.
    pub(crate) fn first_moment(&self) -> u32 {
        self.graph.len() as u32
    }

    /// The edges out of a node, with real-time edges.
    pub(crate) fn for_each(&self, node: u32, mut visit: impl FnMut(u32, Label)) {
        let first = self.first_moment();
        if node >= first {
            let moments = self.moments.expect("only real time has moments");
            let moment = node - first;
            moments.begins(moment).iter().for_each(|&t| visit(t, Label::TimeJoin));
            if (moment as usize) + 1 < moments.count() {
                visit(node + 1, Label::TimeJoin);
            }
            return;
        }
        self.graph.edges(node).iter().for_each(|edge| visit(edge.target(), edge.label()));
        if let Some(moment) = self.moments.and_then(|moments| moments.after(node)) {
            visit(first + moment, Label::Realtime);
        }
    }
}

impl Successors for Whole<'_> {
    fn nodes(&self) -> usize {
        self.graph.len() + self.moments.map_or(0, Moments::count)
    }

    #[inline]
    fn successor(&self, node: u32, k: u32) -> Option<Option<u32>> {
        let first = self.graph.len() as u32;
        if node < first {
            let edges = self.graph.edges(node);
            if let Some(edge) = edges.get(k as usize) {
                return Some(Some(edge.target()));
            }
            if k as usize > edges.len() {
                return None;
            }
            return Some(self.moments?.after(node).map(|moment| first + moment));
        }
        let moments = self.moments?;
        let moment = node - first;
        if k == 0 {
            let more = (moment as usize) + 1 < moments.count();
            return Some(more.then_some(node + 1));
        }
        moments.begins(moment).get(k as usize - 1).map(|&t| Some(t))
    }
}

/// The transactions that may have committed, in the order in which processes issued them.
pub(crate) fn by_issue(txns: &Txns, mut some: Vec<u32>) -> Vec<u32> {
    let key = |&t: &u32| {
        let txn = txns.txn(TxnIndex(t));
        (txn.start, txn.end, t)
    };
    if !some.is_sorted_by_key(key) {
        some.sort_unstable_by_key(key);
    }
    some
}

/// Calls `visit(before, after)` for transactions of one process of which the second began once the
/// first had ended, each with the last such ones. A transaction whose outcome is unknown comes
/// after others and before none; where a process has several open at once, they have no order.
/// `some` is in the order of issue.
pub(crate) fn process_pairs(txns: &Txns, some: &[u32], mut visit: impl FnMut(u32, u32)) {
    let mut last: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
    for &t in some {
        let txn = txns.txn(TxnIndex(t));
        let open = last.entry(txn.process).or_default();
        let ended = |&before: &u32| txns.txn(TxnIndex(before)).end <= txn.start;
        open.iter().copied().filter(ended).for_each(|before| visit(before, t));
        if txn.outcome == Outcome::Ok {
            open.retain(|before| !ended(before));
            open.push(t);
        }
    }
}
