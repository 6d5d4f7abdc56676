//! One component by itself: a small graph with numbers of its own.

use crate::graph::{Label, Labels};
use crate::orders::{Whole, by_issue, process_pairs};
use crate::scc::Successors;
use assay_history::Txns;
use rustc_hash::FxHashMap;

/// A part of the whole graph; its nodes are numbered from 0, in the order of the whole.
#[derive(Debug, Default)]
pub(crate) struct Local {
    /// By node: its number in the whole graph.
    pub(crate) global: Vec<u32>,
    /// By node: whether it is a transaction (and not a joint or a moment).
    pub(crate) is_txn: Vec<bool>,
    offsets: Vec<u32>,
    edges: Vec<(u32, Label)>,
}

impl Local {
    /// The part of the whole graph on `nodes` (ascending), with the order of processes.
    pub(crate) fn new(whole: &Whole<'_>, nodes: &[u32], txns: &Txns) -> Local {
        let index: FxHashMap<u32, u32> = nodes.iter().zip(0..).map(|(&n, i)| (n, i)).collect();
        let mut local = Local {
            global: nodes.to_vec(),
            is_txn: nodes.iter().map(|&n| n < whole.graph.txns).collect(),
            ..Local::default()
        };
        let next = next_of_process(nodes, whole.graph.txns, txns);
        local.offsets.push(0);
        for (i, &node) in nodes.iter().enumerate() {
            whole.for_each(node, |target, label| {
                if let Some(&target) = index.get(&target) {
                    local.edges.push((target, label));
                }
            });
            local
                .edges
                .extend(next.get(&(i as u32)).into_iter().flatten().map(|&n| (n, Label::Process)));
            local.offsets.push(local.edges.len() as u32);
        }
        local
    }

    /// The part on some of the nodes, given as numbers of this part, ascending.
    pub(crate) fn part(&self, nodes: &[u32], labels: Labels) -> Local {
        let mut index = vec![u32::MAX; self.len()];
        for (i, &node) in nodes.iter().enumerate() {
            index[node as usize] = i as u32;
        }
        let mut part = Local {
            global: nodes.iter().map(|&n| self.global[n as usize]).collect(),
            is_txn: nodes.iter().map(|&n| self.is_txn[n as usize]).collect(),
            ..Local::default()
        };
        part.offsets.push(0);
        for &node in nodes {
            for &(target, label) in self.edges(node) {
                if labels.has(label) && index[target as usize] != u32::MAX {
                    part.edges.push((index[target as usize], label));
                }
            }
            part.offsets.push(part.edges.len() as u32);
        }
        part
    }

    pub(crate) fn len(&self) -> usize {
        self.global.len()
    }

    pub(crate) fn edges(&self, node: u32) -> &[(u32, Label)] {
        let i = node as usize;
        &self.edges[self.offsets[i] as usize..self.offsets[i + 1] as usize]
    }

    /// How many transactions there are.
    pub(crate) fn txn_count(&self) -> usize {
        self.is_txn.iter().filter(|&&is| is).count()
    }

    /// All edges with some label, in order.
    pub(crate) fn roots(&self, labels: Labels) -> impl Iterator<Item = (u32, u32, Label)> + '_ {
        (0..self.len() as u32).flat_map(move |from| {
            let edges = self.edges(from).iter();
            edges.filter(move |(_, l)| labels.has(*l)).map(move |&(to, label)| (from, to, label))
        })
    }
}

/// Within a part: which transactions a process issued next.
fn next_of_process(nodes: &[u32], txn_count: u32, txns: &Txns) -> FxHashMap<u32, Vec<u32>> {
    let members = nodes.iter().copied().filter(|&node| node < txn_count).collect();
    let place = |node: u32| nodes.binary_search(&node).expect("it is one of them") as u32;
    let mut next: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
    process_pairs(txns, &by_issue(txns, members), |before, after| {
        next.entry(place(before)).or_default().push(place(after));
    });
    next
}

/// A part seen through some labels only.
pub(crate) struct Through<'a>(pub(crate) &'a Local, pub(crate) Labels);

impl Successors for Through<'_> {
    fn nodes(&self) -> usize {
        self.0.len()
    }

    #[inline]
    fn successor(&self, node: u32, k: u32) -> Option<Option<u32>> {
        let &(target, label) = self.0.edges(node).get(k as usize)?;
        Some(self.1.has(label).then_some(target))
    }
}

/// A part in which no two anti-dependencies follow each other: node `2 n` is `n` reached by any
/// other edge, `2 n + 1` is `n` reached by an anti-dependency.
pub(crate) struct Nonadjacent<'a>(pub(crate) &'a Local, pub(crate) Labels);

impl Nonadjacent<'_> {
    /// Where an edge leads from a state; `None` if it would be the second anti-dependency in a row.
    #[inline]
    pub(crate) fn step(state: u32, target: u32, label: Label) -> Option<u32> {
        let after_rw = state & 1;
        Some(match label {
            Label::Rw if after_rw == 1 => return None,
            Label::Rw => 2 * target + 1,
            // The rest of an edge is of the kind of its beginning.
            Label::Join | Label::TimeJoin => 2 * target + after_rw,
            _ => 2 * target,
        })
    }
}

impl Successors for Nonadjacent<'_> {
    fn nodes(&self) -> usize {
        2 * self.0.len()
    }

    fn successor(&self, state: u32, k: u32) -> Option<Option<u32>> {
        let &(target, label) = self.0.edges(state / 2).get(k as usize)?;
        Some(self.1.has(label).then(|| Nonadjacent::step(state, target, label)).flatten())
    }
}
