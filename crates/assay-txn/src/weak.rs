//! Monotonic atomic view, read atomic and causal consistency, whatever the order of versions is.
//!
//! Each of these models says which transactions a read could see; if a read then returned another
//! version, that version must be the later one. So every read yields pairs "this writer committed
//! before that one", and the model holds iff those pairs, the reads and the sessions together leave
//! no cycle (Biswas and Enea, 2019). The pairs are computed without looking at all pairs: for each
//! transaction that was read from, either its keys or the reader's reads are walked, whichever are
//! fewer (after AWDIT, 2025); for causality each transaction knows how far it has seen every
//! session.

use crate::anomaly::{Evidence, Kind, WeakStep};
use crate::found::Found;
use crate::graph::{Edges, Graph, Label};
use crate::internal::FEW_MOPS;
use crate::orders::{Whole, by_issue};
use crate::scc::{Successors, components};
use crate::writers::Writers;
use assay_history::{Does, Outcome, TxnIndex, TxnKey, Txns, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeSet, VecDeque};

/// What a transaction read from another: in its order, without what it had written itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct From {
    pub(crate) key: TxnKey,
    pub(crate) value: ValueId,
    /// Who wrote it; [`INITIAL`] if nobody had.
    pub(crate) writer: u32,
}

pub(crate) const INITIAL: u32 = u32::MAX;

/// The three models.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Weak {
    /// Which some authors call read committed.
    MonotonicAtomicView,
    ReadAtomic,
    Causal,
}

/// What is known of all transactions that may have committed.
pub(crate) struct Facts<'t> {
    txns: &'t Txns,
    /// By transaction: where its reads begin; one more at the end.
    first_read: Vec<u32>,
    reads: Vec<From>,
    /// By transaction: where its keys begin; one more at the end.
    first_key: Vec<u32>,
    /// The keys each transaction wrote, sorted.
    keys: Vec<TxnKey>,
    /// Committed transactions of each process in order; then unknown ones that were read, alone.
    sessions: Vec<Vec<u32>>,
    /// By unknown transaction: what its process had done last.
    before_unknown: FxHashMap<u32, u32>,
}

impl<'t> Facts<'t> {
    pub(crate) fn new(txns: &'t Txns, writers: &Writers) -> Facts<'t> {
        let n = txns.len();
        let mut facts = Facts {
            txns,
            first_read: Vec::with_capacity(n + 1),
            reads: Vec::new(),
            first_key: Vec::with_capacity(n + 1),
            keys: Vec::new(),
            sessions: vec![Vec::new(); txns.process_count()],
            before_unknown: FxHashMap::default(),
        };
        let ended = |before: u32, after: u32| {
            txns.txn(TxnIndex(before)).end <= txns.txn(TxnIndex(after)).start
        };
        for t in by_issue(txns, (0..n as u32).collect()) {
            let txn = txns.txn(TxnIndex(t));
            let session = &mut facts.sessions[txn.process as usize];
            let last = session.last().copied();
            match txn.outcome {
                // Where a process has several open at once, it is as if it were several.
                Outcome::Ok if last.is_some_and(|last| !ended(last, t)) => {
                    let closed = std::mem::replace(session, vec![t]);
                    facts.sessions.push(closed);
                }
                Outcome::Ok => session.push(t),
                Outcome::Unknown => {
                    let last = last.filter(|&last| ended(last, t));
                    facts.before_unknown.extend(last.map(|last| (t, last)));
                }
                Outcome::Fail => {}
            }
        }
        for t in 0..n as u32 {
            facts.first_read.push(facts.reads.len() as u32);
            facts.first_key.push(facts.keys.len() as u32);
            facts.add(writers, t);
        }
        facts.first_read.push(facts.reads.len() as u32);
        facts.first_key.push(facts.keys.len() as u32);
        // A transaction that nobody answered for has no place in its session, but was read.
        let unknown = |&t: &u32| txns.txn(TxnIndex(t)).outcome == Outcome::Unknown;
        let writers = facts.reads.iter().map(|from| from.writer).filter(|&t| t != INITIAL);
        let seen: BTreeSet<u32> = writers.filter(unknown).collect();
        facts.sessions.extend(seen.into_iter().map(|t| vec![t]));
        facts
    }

    fn add(&mut self, writers: &Writers, t: u32) {
        let outcome = self.txns.txn(TxnIndex(t)).outcome;
        if outcome == Outcome::Fail {
            return;
        }
        let first_key = self.keys.len();
        let mops = self.txns.mops(TxnIndex(t));
        let mut own: FxHashSet<TxnKey> = FxHashSet::default();
        for mop in mops {
            let key = mop.key();
            if mop.written().is_some() {
                self.keys.push(key);
                if mops.len() > FEW_MOPS {
                    own.insert(key);
                }
                continue;
            }
            // What it wrote itself shows nothing about others.
            let written = match mops.len() <= FEW_MOPS {
                true => self.keys[first_key..].contains(&key),
                false => own.contains(&key),
            };
            if outcome != Outcome::Ok || written {
                continue;
            }
            let value = match mop.does() {
                Does::ReadValue(value) => value,
                Does::ReadList(list) => {
                    let list = self.txns.list(key, list);
                    list.last().copied().unwrap_or(ValueId::NULL)
                }
                _ => continue,
            };
            let writer = match value.is_null() {
                true => Some(INITIAL),
                false => writers.get(key, value).and_then(|written| written.by()),
            };
            self.reads.extend(writer.filter(|&w| w != t).map(|writer| From { key, value, writer }));
        }
        self.keys[first_key..].sort_unstable();
        let mut kept = first_key;
        for i in first_key..self.keys.len() {
            if kept == first_key || self.keys[kept - 1] != self.keys[i] {
                self.keys[kept] = self.keys[i];
                kept += 1;
            }
        }
        self.keys.truncate(kept);
    }

    pub(crate) fn txns(&self) -> &'t Txns {
        self.txns
    }

    pub(crate) fn sessions(&self) -> &[Vec<u32>] {
        &self.sessions
    }

    /// Unknown transactions, each with what its process had done last.
    pub(crate) fn before_unknown(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.before_unknown.iter().map(|(&t, &before)| (t, before))
    }

    fn for_each_session_step(&self, mut visit: impl FnMut(u32, u32)) {
        for session in &self.sessions {
            session.windows(2).for_each(|w| visit(w[0], w[1]));
        }
        let mut unknown: Vec<(u32, u32)> =
            self.before_unknown.iter().map(|(&t, &before)| (before, t)).collect();
        unknown.sort_unstable();
        unknown.into_iter().for_each(|(before, t)| visit(before, t));
    }

    pub(crate) fn reads_of(&self, t: u32) -> &[From] {
        let i = t as usize;
        &self.reads[self.first_read[i] as usize..self.first_read[i + 1] as usize]
    }

    pub(crate) fn keys_of(&self, t: u32) -> &[TxnKey] {
        let i = t as usize;
        &self.keys[self.first_key[i] as usize..self.first_key[i + 1] as usize]
    }

    fn writes(&self, t: u32, key: TxnKey) -> bool {
        self.keys_of(t).binary_search(&key).is_ok()
    }

    /// Calls `visit(earlier, read)` for every pair that a model demands: the writer `earlier`
    /// committed before the writer that `read` names.
    fn pairs(&self, weak: Weak, reader: u32, visit: &mut impl FnMut(u32, From)) {
        let reads = self.reads_of(reader);
        let mut by_key: FxHashMap<TxnKey, Vec<u32>> = FxHashMap::default();
        let mut seen: FxHashSet<u32> = FxHashSet::default();
        if reads.len() > FEW_MOPS {
            for (i, from) in reads.iter().enumerate() {
                by_key.entry(from.key).or_default().push(i as u32);
            }
        }
        for (i, from) in reads.iter().enumerate() {
            let again = match reads.len() <= FEW_MOPS {
                true => reads[..i].iter().any(|earlier| earlier.writer == from.writer),
                false => !seen.insert(from.writer),
            };
            if from.writer == INITIAL || again {
                continue;
            }
            // A monotonic view is about what is read later; an atomic one about everything.
            let first = if weak == Weak::MonotonicAtomicView { i + 1 } else { 0 };
            let keys = self.keys_of(from.writer);
            // Of reads of the same key the next different one will do: it leads to the others.
            let next_same = reads[i + 1..]
                .iter()
                .position(|read| read.key == from.key && read.writer != from.writer)
                .map(|offset| i + 1 + offset);
            let mut consider = |at: usize, read: From| {
                let other_key = read.key != from.key;
                if read.writer != from.writer && (other_key || at < i || Some(at) == next_same) {
                    visit(from.writer, read);
                }
            };
            if !by_key.is_empty() && keys.len() < reads.len() - first {
                let places = keys.iter().filter_map(|key| by_key.get(key)).flatten();
                let later = places.map(|&at| at as usize).filter(|&at| at >= first);
                later.for_each(|at| consider(at, reads[at]));
            } else {
                for (at, read) in reads.iter().enumerate().skip(first) {
                    if self.writes(from.writer, read.key) {
                        consider(at, *read);
                    }
                }
            }
        }
    }
}

/// Pairs of transactions, the first committed before the second, and why.
struct Order {
    nodes: usize,
    offsets: Vec<u32>,
    edges: Vec<(u32, WeakStep)>,
}

impl Order {
    fn new(nodes: usize, mut list: Vec<(u32, u32, WeakStep)>) -> Order {
        list.sort_by_key(|&(from, to, _)| (from, to));
        list.dedup_by_key(|&mut (from, to, _)| (from, to));
        let mut offsets = vec![0u32; nodes + 1];
        for &(from, ..) in &list {
            offsets[from as usize + 1] += 1;
        }
        for i in 0..nodes {
            offsets[i + 1] += offsets[i];
        }
        Order { nodes, offsets, edges: list.into_iter().map(|(_, to, why)| (to, why)).collect() }
    }

    fn edges_of(&self, node: u32) -> &[(u32, WeakStep)] {
        let i = node as usize;
        &self.edges[self.offsets[i] as usize..self.offsets[i + 1] as usize]
    }

    /// A shortest cycle through the first node of a component.
    fn cycle(&self, nodes: &[u32]) -> Vec<(u32, WeakStep)> {
        let start = nodes[0];
        let inside: FxHashSet<u32> = nodes.iter().copied().collect();
        let mut parent: FxHashMap<u32, (u32, WeakStep)> = FxHashMap::default();
        let mut queue = VecDeque::from([start]);
        while let Some(node) = queue.pop_front() {
            for &(to, why) in self.edges_of(node) {
                if inside.contains(&to) && !parent.contains_key(&to) {
                    parent.insert(to, (node, why));
                    queue.push_back(to);
                }
            }
            if parent.contains_key(&start) {
                break;
            }
        }
        let mut steps = Vec::new();
        let mut at = start;
        loop {
            let &(before, why) = parent.get(&at).expect("a component leads back to itself");
            steps.push((before, why));
            at = before;
            if at == start {
                break;
            }
        }
        steps.reverse();
        steps
    }
}

impl Successors for Order {
    fn nodes(&self) -> usize {
        self.nodes
    }

    fn successor(&self, node: u32, k: u32) -> Option<Option<u32>> {
        self.edges_of(node).get(k as usize).map(|&(to, _)| Some(to))
    }
}

/// Checks the three models. `versions` are pairs of writers that are known from elsewhere. Returns
/// what could not be covered.
pub(crate) fn check(
    facts: &Facts<'_>,
    versions: &[(u32, u32, WeakStep)],
    bytes_max: usize,
    found: &mut Found,
) -> Option<String> {
    // What keeps the strongest keeps them all, and nearly every history does.
    let covered = match keeps(facts, Weak::Causal, versions, bytes_max) {
        Some(true) => return None,
        covered => covered.is_some(),
    };
    for (weak, kind) in [
        (Weak::MonotonicAtomicView, Kind::NonmonotonicView),
        (Weak::ReadAtomic, Kind::FracturedRead),
        (Weak::Causal, Kind::CausalRead),
    ] {
        let (mut list, mut initial) = (Vec::new(), Vec::new());
        let covered = demands(facts, weak, versions, bytes_max, &mut |from, to, why| match to {
            INITIAL => initial.push((from, why)),
            to => list.push((from, to, why)),
        });
        if !covered {
            continue;
        }
        // Nothing commits before the initial version.
        for (earlier, why) in initial {
            found.add(kind, || Evidence::Weak { steps: vec![(earlier, why)] });
        }
        let order = Order::new(facts.txns.len(), list);
        for nodes in components(&order) {
            found.add(kind, || Evidence::Weak { steps: order.cycle(&nodes) });
        }
        // What breaks a model breaks all stronger ones.
        if found.counts.contains_key(&kind) {
            return None;
        }
    }
    let (txns, processes) = (facts.txns.len(), facts.sessions.len());
    let too_many = format!(
        "causal consistency: {txns} transactions of {processes} processes are too many for the \
         memory that was allowed"
    );
    (!covered).then_some(too_many)
}

/// Whether a history keeps a model; `None` if that takes too much memory.
fn keeps(
    facts: &Facts<'_>,
    weak: Weak,
    versions: &[(u32, u32, WeakStep)],
    bytes_max: usize,
) -> Option<bool> {
    let (mut edges, mut initial) = (Edges::default(), false);
    let covered = demands(facts, weak, versions, bytes_max, &mut |from, to, _| match to {
        INITIAL => initial = true,
        to => edges.add(from, to, Label::Ww),
    });
    let nodes = facts.txns.len();
    let keeps = || {
        let graph = Graph::new(nodes as u32, nodes, &edges);
        components(&Whole { graph: &graph, moments: None }).is_empty()
    };
    covered.then(|| !initial && keeps())
}

/// Calls `visit(first, second, why)` for every pair of transactions of which the first must have
/// committed before the second. False if that takes too much memory.
fn demands(
    facts: &Facts<'_>,
    weak: Weak,
    versions: &[(u32, u32, WeakStep)],
    bytes_max: usize,
    visit: &mut impl FnMut(u32, u32, WeakStep),
) -> bool {
    versions.iter().for_each(|&(from, to, why)| visit(from, to, why));
    let txns = 0..facts.txns.len() as u32;
    for t in txns.clone() {
        for from in facts.reads_of(t).iter().filter(|from| from.writer != INITIAL) {
            visit(from.writer, t, WeakStep::Read { key: from.key, value: from.value });
        }
    }
    let mut pair = |reader: u32, earlier: u32, read: From| {
        let why = WeakStep::Before { reader, key: read.key, value: read.value };
        visit(earlier, read.writer, why);
    };
    if weak != Weak::Causal {
        txns.for_each(|t| facts.pairs(weak, t, &mut |earlier, read| pair(t, earlier, read)));
        return true;
    }
    if !causal_pairs(facts, bytes_max, &mut pair) {
        return false;
    }
    facts.for_each_session_step(|before, after| visit(before, after, WeakStep::Session));
    true
}

/// For every read, the last transaction of every session that the reader depends on and that wrote
/// the key. False if there are too many transactions and sessions.
fn causal_pairs(
    facts: &Facts<'_>,
    bytes_max: usize,
    pair: &mut impl FnMut(u32, u32, From),
) -> bool {
    let (n, width) = (facts.txns.len(), facts.sessions.len());
    if n.saturating_mul(width).saturating_mul(size_of::<u32>()) > bytes_max {
        return false;
    }
    let Some(order) = causal_order(facts) else { return true };
    let mut place = vec![(u32::MAX, 0u32); n];
    let mut writes: FxHashMap<(u32, TxnKey), Vec<u32>> = FxHashMap::default();
    for (s, session) in facts.sessions.iter().enumerate() {
        for (i, &t) in session.iter().enumerate() {
            place[t as usize] = (s as u32, i as u32);
            for &key in facts.keys_of(t) {
                writes.entry((s as u32, key)).or_default().push(i as u32);
            }
        }
    }
    // By transaction and session: how many transactions of it lie in its past.
    let mut past = vec![0u32; n * width];
    let mut own = vec![0u32; width];
    for &t in &order {
        let (s, i) = place[t as usize];
        own.fill(0);
        let mut merge = |past: &[u32], other: u32| {
            let row = &past[other as usize * width..(other as usize + 1) * width];
            own.iter_mut().zip(row).for_each(|(mine, theirs)| *mine = (*mine).max(*theirs));
            let (session, index) = place[other as usize];
            if session != u32::MAX {
                own[session as usize] = own[session as usize].max(index + 1);
            }
        };
        if s != u32::MAX && i > 0 {
            merge(&past, facts.sessions[s as usize][i as usize - 1]);
        }
        if let Some(&before) = facts.before_unknown.get(&t) {
            merge(&past, before);
        }
        for from in facts.reads_of(t).iter().filter(|from| from.writer != INITIAL) {
            merge(&past, from.writer);
        }
        past[t as usize * width..(t as usize + 1) * width].copy_from_slice(&own);
        for read in facts.reads_of(t) {
            for (session, &count) in own.iter().enumerate().filter(|&(_, &count)| count > 0) {
                let Some(places) = writes.get(&(session as u32, read.key)) else { continue };
                let seen = places.partition_point(|&place| place < count);
                if let Some(&last) = places[..seen].last() {
                    let earlier = facts.sessions[session][last as usize];
                    if earlier != read.writer {
                        pair(t, earlier, *read);
                    }
                }
            }
        }
    }
    true
}

/// All transactions, each after what it depends on; `None` if they depend on each other.
fn causal_order(facts: &Facts<'_>) -> Option<Vec<u32>> {
    let n = facts.txns.len();
    let mut edges = Edges::default();
    for t in 0..n as u32 {
        for from in facts.reads_of(t).iter().filter(|from| from.writer != INITIAL) {
            edges.add(from.writer, t, Label::Wr);
        }
    }
    facts.for_each_session_step(|before, after| edges.add(before, after, Label::Process));
    let graph = Graph::new(n as u32, n, &edges);
    let mut waits = vec![0u32; n];
    edges.list.iter().for_each(|(_, edge)| waits[edge.target() as usize] += 1);
    let mut sorted: Vec<u32> = (0..n as u32).filter(|&t| waits[t as usize] == 0).collect();
    let mut at = 0;
    while at < sorted.len() {
        for edge in graph.edges(sorted[at]) {
            let to = edge.target();
            waits[to as usize] -= 1;
            if waits[to as usize] == 0 {
                sorted.push(to);
            }
        }
        at += 1;
    }
    (sorted.len() == n).then_some(sorted)
}
