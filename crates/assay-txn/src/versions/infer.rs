//! What follows from each assumption.

use super::{Span, Touch, VersionEdge, Versions};
use crate::anomaly::VersionReason;
use crate::writers::NONE;
use assay_history::{Outcome, TxnIndex, TxnKey, Txns};
use rustc_hash::FxHashMap;

impl Versions {
    /// Notes who met which version when. A write that nobody answered for counts once somebody has
    /// read it.
    pub(super) fn meet(&mut self, txns: &Txns, touches: &[Touch]) {
        for key in 0..self.keys {
            let initial = self.initial(key) as usize;
            self.key_of[initial] = key as u32;
        }
        for touch in touches {
            let node = self.node(touch) as usize;
            let txn = txns.txn(TxnIndex(touch.txn));
            self.values[node] = touch.value;
            if txn.outcome == Outcome::Ok {
                self.key_of[node] = touch.key.0;
                let span = &mut self.spans[node];
                if txn.end < span.first_end {
                    (span.first_end, span.first_end_txn) = (txn.end, touch.txn);
                }
                span.begin(txn.start, touch.txn);
            }
        }
        for touch in touches.iter().filter(|touch| touch.wrote) {
            let txn = txns.txn(TxnIndex(touch.txn));
            let node = self.node(touch) as usize;
            if txn.outcome == Outcome::Unknown && self.key_of[node] != NONE {
                self.spans[node].begin(txn.start, touch.txn);
            }
        }
    }

    fn edge(&mut self, from: u32, to: u32, reason: VersionReason, txns: [u32; 2]) {
        if from != to {
            self.edges.push(VersionEdge { from, to, reason, txns });
        }
    }

    fn edge_in_time(&mut self, from: u32, to: u32) {
        self.edge(from, to, VersionReason::Realtime, [NONE; 2]);
    }

    /// The initial version comes before all others.
    pub(super) fn initial_first(&mut self, key: usize, nodes: &[u32]) {
        let initial = self.initial(key);
        for &node in nodes {
            let met = self.spans[node as usize].last_start_txn;
            self.edge(initial, node, VersionReason::Initial, [NONE, met]);
        }
    }

    /// Orders the versions of a key by real time: one that somebody was done with before somebody
    /// began with another comes before it. Returns two that come before each other, if there are
    /// such.
    ///
    /// By the time they were last begun with, what follows a version is a tail of the list. So each
    /// version leads to a point in the list, each point to its version and to the next point. A
    /// version that was begun with after it was first done with stands in its own tail; then what
    /// stands before it there is met one by one: all of it was in flight when the version was last
    /// begun with, so it is not much.
    pub(super) fn by_time(&mut self, key: usize, nodes: &[u32]) -> Option<(u32, u32)> {
        let initial = self.initial(key);
        self.spans[initial as usize].first_end = i64::MIN;
        let mut sorted = nodes.to_vec();
        sorted.push(initial);
        sorted.sort_unstable_by_key(|&n| (self.spans[n as usize].last_start, n));
        let (first_point, count) = (self.nodes as u32, sorted.len());
        self.nodes += count;
        self.key_of.resize(self.nodes, key as u32);
        for (i, &node) in sorted.iter().enumerate() {
            let Span { first_end, last_start, .. } = self.spans[node as usize];
            let tail = sorted.partition_point(|&n| self.spans[n as usize].last_start <= first_end);
            for &other in sorted.get(tail..i).unwrap_or(&[]) {
                if self.spans[other as usize].first_end < last_start {
                    return Some((node, other));
                }
                self.edge_in_time(node, other);
            }
            let rest = tail.max(if tail <= i { i + 1 } else { 0 });
            if rest < count {
                self.edge_in_time(node, first_point + rest as u32);
            }
            let point = first_point + i as u32;
            if i + 1 < count {
                self.edge_in_time(point, point + 1);
            }
            self.edge_in_time(point, node);
        }
        None
    }

    /// A transaction that found a version and then wrote the key replaced that version.
    pub(super) fn writes_follow_reads(&mut self, touches: &[Touch]) {
        let mut found: FxHashMap<TxnKey, u32> = FxHashMap::default();
        for of_txn in touches.chunk_by(|a, b| a.txn == b.txn) {
            found.clear();
            for touch in of_txn {
                let node = self.node(touch);
                if !touch.wrote {
                    found.entry(touch.key).or_insert(node);
                } else if let Some(&before) = found.get(&touch.key)
                    && self.key_of[node as usize] != NONE
                {
                    let txns = [touch.txn; 2];
                    self.edge(before, node, VersionReason::WritesFollowReads, txns);
                }
            }
        }
    }

    /// A process meets the versions of a key in their order.
    pub(super) fn sequential(&mut self, txns: &Txns, touches: &[Touch]) {
        let mut by_issue: Vec<&[Touch]> = touches.chunk_by(|a, b| a.txn == b.txn).collect();
        by_issue.sort_by_key(|of_txn| {
            let txn = txns.txn(TxnIndex(of_txn[0].txn));
            (txn.start, txn.end, txn.index)
        });
        // By process and key: the last version met, and by whom.
        let mut last: FxHashMap<(u32, TxnKey), (u32, u32)> = FxHashMap::default();
        for touch in by_issue.into_iter().flatten() {
            let (node, txn) = (self.node(touch), txns.txn(TxnIndex(touch.txn)));
            if self.key_of[node as usize] == NONE {
                continue;
            }
            let place = (txn.process, touch.key);
            if let Some(&(before, whom)) = last.get(&place)
                && whom != touch.txn
                && txns.txn(TxnIndex(whom)).end <= txn.start
            {
                self.edge(before, node, VersionReason::Process, [whom, touch.txn]);
            }
            if txn.outcome == Outcome::Ok {
                last.insert(place, (node, touch.txn));
            }
        }
    }
}

impl Span {
    fn begin(&mut self, start: i64, txn: u32) {
        if start > self.last_start {
            (self.last_start, self.last_start_txn) = (start, txn);
        }
    }
}
