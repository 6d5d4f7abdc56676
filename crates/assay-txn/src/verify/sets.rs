//! Sets, looked at again: who added what, who saw it, who did not.

use super::{Checked, Verifier, must};
use crate::anomaly::{Because, Kind, WeakStep};
use crate::graph::Label;
use assay_history::{Does, Mop, Outcome, TxnIndex, TxnKey, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

impl Verifier<'_> {
    /// Whether this transaction, and nobody else who may have committed, added the element.
    fn alone_added(&self, t: u32, key: TxnKey, value: ValueId) -> bool {
        self.wrote(t, key, value)
            && self.txn(t).outcome != Outcome::Fail
            && self.possible_writers(key, value) == 1
    }

    /// Whether a transaction committed: it said so, or a committed one saw what it alone added.
    fn set_committed(&self, t: u32) -> bool {
        let seen = |mop: &Mop| {
            let Some(value) = mop.written() else { return false };
            let has = |r: u32| self.lists(r, mop.key()).iter().any(|list| list.contains(&value));
            self.alone_added(t, mop.key(), value) && self.all().any(has)
        };
        match self.txn(t).outcome {
            Outcome::Ok => true,
            Outcome::Fail => false,
            Outcome::Unknown => self.txns.mops(TxnIndex(t)).iter().any(seen),
        }
    }

    pub(super) fn set_read(
        &self,
        kind: Kind,
        reader: u32,
        key: TxnKey,
        value: ValueId,
        writer: Option<u32>,
    ) -> Checked {
        let lists = self.lists(reader, key);
        must(lists.iter().any(|list| list.contains(&value)), "the reader did not see it")?;
        match (kind, writer) {
            (Kind::Phantom, None) => {
                must(!self.all().any(|t| self.wrote(t, key, value)), "somebody added it")
            }
            (Kind::G1a, Some(writer)) => {
                must(self.only_aborted_wrote(writer, key, value), "who added it did not abort")
            }
            (Kind::G1b, Some(writer)) => {
                let adds = self.writes(writer, key);
                let lacks = |list: &Vec<ValueId>| {
                    let missed =
                        |&e: &ValueId| self.alone_added(writer, key, e) && !list.contains(&e);
                    list.contains(&value) && adds.iter().any(missed)
                };
                must(writer != reader, "it saw its own adds")?;
                must(self.alone_added(writer, key, value), "nobody knows who added it")?;
                must(lists.iter().any(lacks), "it saw all that was added")
            }
            _ => Err("the evidence does not fit".to_string()),
        }
    }

    pub(super) fn set_internal(&self, t: u32, at: u32) -> Checked {
        let mops = self.txns.mops(TxnIndex(t));
        let read = *mops.get(at as usize).ok_or("there is no such micro-operation")?;
        let Does::ReadList(list) = read.does() else { return Err("it is no read".to_string()) };
        let seen = self.txns.list(read.key(), list);
        let on_key = |mops: &[Mop]| -> Vec<Mop> {
            mops.iter().copied().filter(|mop| mop.key() == read.key()).collect()
        };
        let before = on_key(&mops[..at as usize]);
        let own_missing = before.iter().any(|m| m.written().is_some_and(|e| !seen.contains(&e)));
        let vanished = before.iter().any(|mop| match mop.does() {
            Does::ReadList(earlier) => {
                self.txns.list(mop.key(), earlier).iter().any(|e| !seen.contains(e))
            }
            _ => false,
        });
        let too_early = on_key(&mops[at as usize..]).iter().any(|mop| {
            let own = |e: ValueId| seen.contains(&e) && self.alone_added(t, mop.key(), e);
            mop.written().is_some_and(own)
        });
        let wrong = own_missing || vanished || too_early;
        must(self.is_ok(t) && wrong, "it agrees with what the transaction did")
    }

    /// `e` is the element that the one added and the other saw (wr) or did not see (rw).
    pub(super) fn set_dependency(
        &self,
        a: u32,
        b: u32,
        label: Label,
        key: TxnKey,
        e: ValueId,
    ) -> Checked {
        let (writer, reader) = if label == Label::Wr { (a, b) } else { (b, a) };
        must(label != Label::Ww, "adds have no order of their own")?;
        must(self.set_committed(writer) && self.is_ok(reader), "one of them did not commit")?;
        must(self.alone_added(writer, key, e), "nobody knows who added it")?;
        let saw = |list: &Vec<ValueId>| list.contains(&e) == (label == Label::Wr);
        must(self.lists(reader, key).iter().any(saw), "no read shows it")
    }

    pub(super) fn set_weak_step(
        &self,
        kind: Kind,
        a: u32,
        b: Option<u32>,
        why: WeakStep,
    ) -> Checked {
        match (why, b) {
            (WeakStep::Session, Some(b)) => {
                must(kind == Kind::CausalRead, "sessions do not count here")?;
                self.step(a, b, Label::Process, &Because::Order)
            }
            (WeakStep::Read { key, value }, Some(b)) => {
                self.set_dependency(a, b, Label::Wr, key, value)
            }
            (WeakStep::Before { reader, key, value }, None) => {
                self.set_dependency(reader, a, Label::Rw, key, value)?;
                let due = match kind {
                    Kind::NonmonotonicView => self.saw_before_missing(reader, a, key, value),
                    Kind::FracturedRead => self.saw(reader, a, usize::MAX),
                    _ => self.depends_on(reader, a),
                };
                must(due, "its view need not have held that")
            }
            _ => Err("sets show no order of commits".to_string()),
        }
    }

    /// Whether one of the first `count` micro-operations of `reader` saw an element of `writer`.
    fn saw(&self, reader: u32, writer: u32, count: usize) -> bool {
        self.txns.mops(TxnIndex(reader)).iter().take(count).any(|mop| match mop.does() {
            Does::ReadList(list) => {
                let mut list = self.txns.list(mop.key(), list).iter();
                list.any(|&e| self.alone_added(writer, mop.key(), e))
            }
            _ => false,
        })
    }

    fn saw_before_missing(&self, reader: u32, writer: u32, key: TxnKey, e: ValueId) -> bool {
        let mops = self.txns.mops(TxnIndex(reader));
        let misses = |mop: &Mop| match mop.does() {
            Does::ReadList(list) => mop.key() == key && !self.txns.list(key, list).contains(&e),
            _ => false,
        };
        let last = mops.iter().rposition(misses);
        last.is_some_and(|last| self.saw(reader, writer, last))
    }

    /// Whether reads and sessions lead from `writer` to `reader`, in any number of steps.
    fn depends_on(&self, reader: u32, writer: u32) -> bool {
        let mut adders: FxHashMap<(TxnKey, ValueId), Vec<u32>> = FxHashMap::default();
        let mut sessions: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        for t in self.all().filter(|&t| self.txn(t).outcome != Outcome::Fail) {
            sessions.entry(self.txn(t).process).or_default().push(t);
            for mop in self.txns.mops(TxnIndex(t)) {
                let element = mop.written().map(|e| (mop.key(), e));
                element.into_iter().for_each(|e| adders.entry(e).or_default().push(t));
            }
        }
        sessions.values_mut().for_each(|session| session.sort_by_key(|&t| self.txn(t).end));
        // By process: so many of its transactions, by their end, have been taken.
        let mut taken: FxHashMap<u32, usize> = FxHashMap::default();
        let (mut reached, mut next) = (FxHashSet::from_iter([reader]), vec![reader]);
        while let Some(t) = next.pop() {
            let (process, start) = (self.txn(t).process, self.txn(t).start);
            let (session, taken) = (&sessions[&process], taken.entry(process).or_default());
            let ended = session.partition_point(|&o| self.txn(o).end <= start).max(*taken);
            let mut before: Vec<u32> = session[*taken..ended].to_vec();
            before.retain(|&o| self.issued_before(o, t));
            // What touches may belong to a later one.
            *taken += if before.len() == ended - *taken { before.len() } else { 0 };
            for mop in self.txns.mops(TxnIndex(t)).iter().filter(|_| self.is_ok(t)) {
                let Does::ReadList(list) = mop.does() else { continue };
                let list = self.txns.list(mop.key(), list).iter();
                let alone =
                    list.filter_map(|&e| match adders.get(&(mop.key(), e)).map(|w| &w[..]) {
                        Some(&[adder]) => Some(adder),
                        _ => None,
                    });
                before.extend(alone);
            }
            next.extend(before.into_iter().filter(|&o| reached.insert(o)));
        }
        reached.contains(&writer)
    }
}
