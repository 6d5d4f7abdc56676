//! Registers: a read shows one version, so the order of versions has to be inferred.
//!
//! A value is written once, so a read names its writer (wr). Which of two versions is the earlier
//! is certain only in part: the initial null comes first. Everything else rests on an
//! [`Assume`]d promise and is used only where it is declared. Versions that then come before each
//! other are *cyclic versions*: the promise is broken, and nothing further is concluded from it for
//! that key.
//!
//! The order of versions is a graph of its own whose nodes become joints of the graph of
//! transactions: who wrote or read a version leads into its joint, and the joint leads to who wrote
//! the next ones.

use crate::anomaly::{Because, Evidence, Kind};
use crate::found::Found;
use crate::graph::{Edges, Label};
use crate::internal::{agrees, for_each_read};
use crate::versions::{Touch, Versions};
use crate::writers::{LastWrites, Slot, Writers};
use assay_history::{Does, Mop, Outcome, TxnIndex, TxnKey, Txns, ValueId};
use rustc_hash::FxHashSet;

/// What may be assumed about the order of a register's versions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize)]
pub struct Assume {
    /// A transaction that reads a key and then writes it replaces the version it read.
    pub writes_follow_reads: bool,
    /// Each process sees the versions of a key in their order.
    pub sequential_keys: bool,
    /// Each key by itself is linearizable: real time orders its versions.
    pub linearizable_keys: bool,
}

/// What transactions did to registers, as far as others could see.
pub(crate) struct Registers<'t> {
    txns: &'t Txns,
    pub(crate) writers: Writers,
    pub(crate) versions: Versions,
    /// Whether every write is in the history.
    complete: bool,
    /// Reads of values that no recorded transaction wrote, where not all are recorded.
    pub(crate) unwritten_reads: usize,
}

impl<'t> Registers<'t> {
    pub(crate) fn new(
        txns: &'t Txns,
        assume: Assume,
        complete: bool,
        found: &mut Found,
    ) -> Registers<'t> {
        let writers = Writers::new(txns);
        let mut touches = Vec::new();
        for t in 0..txns.len() as u32 {
            touches_of(txns, &writers, t, &mut touches);
        }
        let versions = Versions::new(txns, &writers, assume, &touches, found);
        Registers { txns, writers, versions, complete, unwritten_reads: 0 }
    }

    /// Adds all dependencies; joints get numbers from `joint` on. Returns the next free number.
    pub(crate) fn edges(&mut self, edges: &mut Edges, joint: u32, found: &mut Found) -> u32 {
        let next = self.versions.joints(&self.writers, edges, joint);
        for t in 0..self.txns.len() as u32 {
            let outcome = self.txns.txn(TxnIndex(t)).outcome;
            let mops = self.txns.mops(TxnIndex(t));
            if outcome == Outcome::Fail {
                continue;
            }
            for mop in mops {
                if let Some(value) = mop.written()
                    && let Some(slot) = self.writers.slot(mop.key(), value)
                    && self.writers.at(slot).by() == Some(t)
                    // What it overwrote itself leads to itself.
                    && !self.writers.at(slot).is_intermediate()
                    && let Some(joint) = self.versions.joint(slot)
                {
                    edges.add(t, joint, Label::Ww);
                }
            }
            if outcome == Outcome::Ok {
                self.unwritten_reads += self.read_edges(t, edges, found);
            }
        }
        self.lost_updates(found);
        next
    }

    fn read_edges(&self, t: u32, edges: &mut Edges, found: &mut Found) -> usize {
        let mops = self.txns.mops(TxnIndex(t));
        let mut unwritten = 0;
        let mut phantom = |found: &mut Found, key, value| {
            unwritten += usize::from(!self.complete);
            if self.complete {
                let read = Evidence::Read { reader: t, key, value, writer: None };
                found.add(Kind::Phantom, || read);
            }
        };
        for_each_read(mops, |i, mop, before| {
            let Does::ReadValue(value) = mop.does() else { return };
            let key = mop.key();
            if !agrees(self.txns, mops, mop, before) {
                found.add(Kind::Internal, || Evidence::Internal { txn: t, mop: i });
            }
            let repeated =
                before.read.is_some_and(|place| mops[place as usize].does() == mop.does());
            if before.has_written() || repeated {
                return;
            }
            let evidence = |writer| Evidence::Read { reader: t, key, value, writer };
            if value.is_null() {
                if let Some(joint) = self.versions.initial_joint(key) {
                    edges.add(t, joint, Label::Rw);
                }
                return;
            }
            let Some(slot) = self.writers.slot(key, value) else {
                phantom(found, key, value);
                return;
            };
            let written = self.writers.at(slot);
            match (written.by(), written.aborted_by()) {
                (Some(writer), _) if writer != t => {
                    edges.add(writer, t, Label::Wr);
                    if written.is_intermediate() {
                        found.add(Kind::G1b, || evidence(Some(writer)));
                    }
                    if let Some(joint) = self.versions.joint(slot) {
                        edges.add(t, joint, Label::Rw);
                    }
                }
                // It read what it was yet to write.
                (Some(_), _) => {
                    found.add(Kind::Internal, || Evidence::Internal { txn: t, mop: i });
                }
                (None, Some(aborted)) => found.add(Kind::G1a, || evidence(Some(aborted))),
                (None, None) if written.is_ambiguous() => {}
                (None, None) => phantom(found, key, value),
            }
        });
        unwritten
    }

    /// Committed transactions that read the same version and then wrote the key.
    fn lost_updates(&self, found: &mut Found) {
        let mut updates: Vec<(TxnKey, ValueId, u32)> = Vec::new();
        for txn in self.txns.iter().filter(|txn| txn.outcome == Outcome::Ok) {
            let mops = self.txns.mops(txn.index);
            let writes = LastWrites::of(mops);
            for_each_read(mops, |i, mop, before| {
                let Does::ReadValue(value) = mop.does() else { return };
                let first = before.read.is_none() && !before.has_written();
                let known = value.is_null()
                    || self.writers.get(mop.key(), value).is_some_and(|w| w.by().is_some());
                if first && known && writes.follows(mops, mop.key(), i as usize) {
                    updates.push((mop.key(), value, txn.index.0));
                }
            });
        }
        updates.sort_unstable();
        for group in updates.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)).filter(|g| g.len() > 1) {
            let (key, version, _) = group[0];
            let txns: Vec<u32> = group.iter().map(|&(.., t)| t).collect();
            found.add(Kind::LostUpdate, || Evidence::LostUpdate { key, version, txns });
        }
    }

    /// What an edge between two transactions rests on.
    pub(crate) fn because(&self, a: u32, b: u32, label: Label) -> Option<Because> {
        let by_b = |key: TxnKey| {
            let mops = self.txns.mops(TxnIndex(b)).iter().filter(move |mop| mop.key() == key);
            mops.filter_map(|mop| mop.written())
        };
        for mop in self.txns.mops(TxnIndex(a)) {
            let key = mop.key();
            let first = match (mop.does(), label) {
                (Does::Write(value), Label::Ww | Label::Wr) => value,
                (Does::ReadValue(value), Label::Rw) => value,
                _ => continue,
            };
            if label == Label::Wr {
                let reads = |m: &&Mop| m.key() == key && m.does() == Does::ReadValue(first);
                if self.txns.mops(TxnIndex(b)).iter().any(|m| reads(&m)) {
                    return Some(Because::Key { key, first, second: first, order: Vec::new() });
                }
                continue;
            }
            let from = if first.is_null() { None } else { self.writers.slot(key, first) };
            if from.is_none() && !first.is_null() {
                continue;
            }
            for second in by_b(key).filter(|&second| second != first) {
                let Some(to) = self.writers.slot(key, second) else { continue };
                if let Some(order) = self.versions.order(key, from, to) {
                    return Some(Because::Key { key, first, second, order });
                }
            }
        }
        None
    }
}

/// What a transaction had to do with versions that others can see, in its order: versions it found,
/// and the last one it left behind.
fn touches_of(txns: &Txns, writers: &Writers, t: u32, touches: &mut Vec<Touch>) {
    let outcome = txns.txn(TxnIndex(t)).outcome;
    if outcome == Outcome::Fail {
        return;
    }
    let mops = txns.mops(TxnIndex(t));
    let mut written: FxHashSet<TxnKey> = FxHashSet::default();
    for mop in mops {
        let key = mop.key();
        let touch = |slot: Option<Slot>, value, wrote| Touch { txn: t, key, slot, value, wrote };
        match mop.does() {
            Does::ReadValue(value) if !written.contains(&key) => {
                if value.is_null() {
                    touches.push(touch(None, value, false));
                } else if let Some(slot) = writers.slot(key, value)
                    && writers.at(slot).by().is_some_and(|writer| writer != t)
                {
                    touches.push(touch(Some(slot), value, false));
                }
            }
            Does::Write(value) => {
                written.insert(key);
                let slot = writers.slot(key, value).expect("every write was noted");
                let version = writers.at(slot);
                if version.by() == Some(t) && !version.is_intermediate() {
                    touches.push(touch(Some(slot), value, true));
                }
            }
            _ => {}
        }
    }
}
