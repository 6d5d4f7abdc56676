//! The order of a register's versions, as far as it is known: a graph of its own.
//!
//! Nodes are versions (one per written value, and the initial one of each key) and, where real time
//! orders the versions of a key, points in time (see `infer`).

mod infer;

use crate::anomaly::{Evidence, Kind, VersionReason, VersionStep};
use crate::found::Found;
use crate::graph::{Edges, Label};
use crate::rw_register::Assume;
use crate::scc::{Successors, components};
use crate::writers::{NONE, Slot, Writers};
use assay_history::{NEVER, TxnKey, Txns, ValueId};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// A transaction met a version.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Touch {
    pub(crate) txn: u32,
    pub(crate) key: TxnKey,
    /// The version; `None` before the first write.
    pub(crate) slot: Option<Slot>,
    pub(crate) value: ValueId,
    /// Whether it wrote the version, or found it.
    pub(crate) wrote: bool,
}

/// When a version was met: who was first done with it, who last began with it.
#[derive(Clone, Copy, Debug)]
struct Span {
    first_end: i64,
    first_end_txn: u32,
    last_start: i64,
    last_start_txn: u32,
}

const NEVER_MET: Span =
    Span { first_end: NEVER, first_end_txn: NONE, last_start: i64::MIN, last_start_txn: NONE };

#[derive(Clone, Copy, Debug)]
struct VersionEdge {
    from: u32,
    to: u32,
    reason: VersionReason,
    /// Who shows it; unknown for real time, where the spans tell.
    txns: [u32; 2],
}

pub(crate) struct Versions {
    /// How many versions are values; then follow the initial versions, then points in time.
    slots: usize,
    keys: usize,
    nodes: usize,
    /// By node: its key; [`NONE`] for a version that perhaps never existed.
    key_of: Vec<u32>,
    /// By version: its value.
    values: Vec<ValueId>,
    spans: Vec<Span>,
    /// Sorted by where they begin, once indexed.
    edges: Vec<VersionEdge>,
    offsets: Vec<u32>,
    /// By node: its number among the joints of the graph of transactions.
    joints: Vec<u32>,
}

impl Versions {
    pub(crate) fn new(
        txns: &Txns,
        writers: &Writers,
        assume: Assume,
        touches: &[Touch],
        found: &mut Found,
    ) -> Versions {
        let (slots, keys) = (writers.written.len(), txns.key_count());
        let mut versions = Versions {
            slots,
            keys,
            nodes: slots + keys,
            key_of: vec![NONE; slots + keys],
            values: vec![ValueId::NULL; slots + keys],
            spans: vec![NEVER_MET; slots + keys],
            edges: Vec::new(),
            offsets: Vec::new(),
            joints: Vec::new(),
        };
        versions.meet(txns, touches);
        let by_key = versions.by_key();
        let mut cyclic = vec![false; keys];
        for (key, nodes) in by_key.iter().enumerate() {
            if !assume.linearizable_keys {
                versions.initial_first(key, nodes);
            } else if let Some(pair) = versions.by_time(key, nodes) {
                cyclic[key] = true;
                found.add(Kind::CyclicVersions, || versions.conflict(key, pair));
            }
        }
        if assume.writes_follow_reads {
            versions.writes_follow_reads(touches);
        }
        if assume.sequential_keys {
            versions.sequential(txns, touches);
        }
        versions.drop_cyclic(&mut cyclic, &by_key);
        versions.index();
        if assume.writes_follow_reads || assume.sequential_keys {
            versions.find_cycles(&mut cyclic, found);
            versions.drop_cyclic(&mut cyclic, &by_key);
            versions.index();
        }
        versions
    }

    fn initial(&self, key: usize) -> u32 {
        (self.slots + key) as u32
    }

    fn node(&self, touch: &Touch) -> u32 {
        touch.slot.map_or_else(|| self.initial(touch.key.0 as usize), |slot| slot.0)
    }

    fn is_version(&self, node: u32) -> bool {
        (node as usize) < self.slots + self.keys
    }

    /// The versions of each key that certainly exist; the initial one is not among them.
    fn by_key(&self) -> Vec<Vec<u32>> {
        let mut by_key = vec![Vec::new(); self.keys];
        for slot in 0..self.slots {
            if self.key_of[slot] != NONE {
                by_key[self.key_of[slot] as usize].push(slot as u32);
            }
        }
        by_key
    }

    /// Removes what was inferred for keys whose versions are cyclic, but for the initial version.
    fn drop_cyclic(&mut self, cyclic: &mut [bool], by_key: &[Vec<u32>]) {
        if !cyclic.contains(&true) {
            return;
        }
        let key_of = &self.key_of;
        self.edges.retain(|edge| !cyclic[key_of[edge.from as usize] as usize]);
        for key in 0..cyclic.len() {
            if std::mem::take(&mut cyclic[key]) {
                self.initial_first(key, &by_key[key]);
            }
        }
    }

    fn index(&mut self) {
        self.edges.sort_by_key(|edge| edge.from);
        self.offsets.clear();
        self.offsets.resize(self.nodes + 1, 0);
        for edge in &self.edges {
            self.offsets[edge.from as usize + 1] += 1;
        }
        for i in 0..self.nodes {
            self.offsets[i + 1] += self.offsets[i];
        }
    }

    fn edges_of(&self, node: u32) -> &[VersionEdge] {
        let i = node as usize;
        &self.edges[self.offsets[i] as usize..self.offsets[i + 1] as usize]
    }

    /// Versions that come before each other, for reasons of different kinds.
    fn find_cycles(&self, cyclic: &mut [bool], found: &mut Found) {
        for nodes in components(self) {
            let mut versions = nodes.iter().copied().filter(|&node| self.is_version(node));
            let (Some(first), Some(second)) = (versions.next(), versions.next()) else { continue };
            let key = self.key_of[first as usize] as usize;
            if std::mem::replace(&mut cyclic[key], true) {
                continue;
            }
            let way = |from, to| self.steps(from, to).expect("a component leads back to itself");
            let steps = [way(first, second), way(second, first)].concat();
            let key = TxnKey(key as u32);
            found.add(Kind::CyclicVersions, || Evidence::CyclicVersions { key, versions: steps });
        }
    }

    fn conflict(&self, key: usize, (a, b): (u32, u32)) -> Evidence {
        let versions = vec![self.step_in_time(a, b), self.step_in_time(b, a)];
        Evidence::CyclicVersions { key: TxnKey(key as u32), versions }
    }

    fn step_in_time(&self, from: u32, to: u32) -> VersionStep {
        let is_initial = from as usize >= self.slots;
        let reason = if is_initial { VersionReason::Initial } else { VersionReason::Realtime };
        let (first, second) = (self.spans[from as usize], self.spans[to as usize]);
        let txns = [first.first_end_txn, second.last_start_txn];
        VersionStep { version: self.values[from as usize], reason, txns }
    }

    /// Gives every version that something follows a joint, and leads from it to the writers of
    /// what follows. Returns the next free number.
    pub(crate) fn joints(&mut self, writers: &Writers, edges: &mut Edges, first: u32) -> u32 {
        let mut next = first;
        self.joints = vec![NONE; self.nodes];
        for node in 0..self.nodes as u32 {
            if !self.edges_of(node).is_empty() {
                self.joints[node as usize] = next;
                next += 1;
            }
        }
        for edge in &self.edges {
            let from = self.joints[edge.from as usize];
            if !self.is_version(edge.to) {
                // The last points of a key may lead nowhere.
                if self.joints[edge.to as usize] != NONE {
                    edges.add(from, self.joints[edge.to as usize], Label::Join);
                }
            } else if (edge.to as usize) < self.slots
                && let Some(writer) = writers.at(Slot(edge.to)).by()
            {
                edges.add(from, writer, Label::Join);
            }
        }
        next
    }

    /// The joint of a version, if something follows it.
    pub(crate) fn joint(&self, slot: Slot) -> Option<u32> {
        Some(self.joints[slot.0 as usize]).filter(|&joint| joint != NONE)
    }

    /// The joint of a key's initial version.
    pub(crate) fn initial_joint(&self, key: TxnKey) -> Option<u32> {
        Some(self.joints[self.slots + key.0 as usize]).filter(|&joint| joint != NONE)
    }

    /// Why a version comes before another; `None` if that is not known. `None` stands for the
    /// initial version.
    pub(crate) fn order(
        &self,
        key: TxnKey,
        first: Option<Slot>,
        second: Slot,
    ) -> Option<Vec<VersionStep>> {
        let first = first.map_or_else(|| self.initial(key.0 as usize), |slot| slot.0);
        self.steps(first, second.0)
    }

    fn steps(&self, from: u32, to: u32) -> Option<Vec<VersionStep>> {
        // Breadth first over versions and points.
        let mut parent: FxHashMap<u32, u32> = FxHashMap::default();
        let mut queue = VecDeque::from([from]);
        while let Some(node) = queue.pop_front() {
            if node == to {
                break;
            }
            for edge in self.edges_of(node) {
                if edge.to != from && !parent.contains_key(&edge.to) {
                    parent.insert(edge.to, node);
                    queue.push_back(edge.to);
                }
            }
        }
        let mut path = vec![to];
        while *path.last()? != from {
            path.push(*parent.get(path.last()?)?);
        }
        path.reverse();
        let versions: Vec<usize> = (0..path.len()).filter(|&i| self.is_version(path[i])).collect();
        let step = |pair: &[usize]| {
            let (a, b) = (path[pair[0]], path[pair[1]]);
            let direct = self.edges_of(a).iter().find(|edge| edge.to == b);
            match direct {
                Some(edge) if edge.reason != VersionReason::Realtime => VersionStep {
                    version: self.values[a as usize],
                    reason: edge.reason,
                    txns: edge.txns,
                },
                _ => self.step_in_time(a, b),
            }
        };
        Some(versions.windows(2).map(step).collect())
    }
}

impl Successors for Versions {
    fn nodes(&self) -> usize {
        self.nodes
    }

    fn successor(&self, node: u32, k: u32) -> Option<Option<u32>> {
        self.edges_of(node).get(k as usize).map(|edge| Some(edge.to))
    }
}
