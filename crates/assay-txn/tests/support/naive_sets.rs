//! The slow twin for sets: every pair of transactions, every element, from the definitions.

use super::naive::Naive;
use assay_history::{Does, Outcome, TxnIndex, TxnKey, Txns, ValueId};
use assay_txn::{Kind, Label};
use std::collections::BTreeSet;

type Set = BTreeSet<ValueId>;

struct View<'t> {
    txns: &'t Txns,
}

/// Looks at everything.
pub fn look(txns: &Txns) -> Naive {
    let view = View { txns };
    let n = txns.len() as u32;
    let mut naive = Naive::default();
    for (a, b) in (0..n).flat_map(|a| (0..n).map(move |b| (a, b))).filter(|(a, b)| a != b) {
        naive.steps.extend(view.labels(a, b).into_iter().map(|label| (a, b, label)));
    }
    naive.find_cycles(n);
    naive.kinds = view.kinds();
    naive
}

impl View<'_> {
    fn all(&self) -> std::ops::Range<u32> {
        0..self.txns.len() as u32
    }

    fn outcome(&self, t: u32) -> Outcome {
        self.txns.txn(TxnIndex(t)).outcome
    }

    /// The reads of a committed transaction, with their places.
    fn reads(&self, t: u32) -> Vec<(usize, TxnKey, Set)> {
        let mops = self.txns.mops(TxnIndex(t)).iter().enumerate();
        let reads = mops.filter_map(|(i, mop)| match mop.does() {
            Does::ReadList(list) => {
                let list = self.txns.list(mop.key(), list).iter().copied();
                Some((i, mop.key(), list.collect()))
            }
            _ => None,
        });
        if self.outcome(t) == Outcome::Ok { reads.collect() } else { Vec::new() }
    }

    fn adds(&self, t: u32) -> Vec<(usize, TxnKey, ValueId)> {
        let mops = self.txns.mops(TxnIndex(t)).iter().enumerate();
        mops.filter_map(|(i, mop)| Some((i, mop.key(), mop.written()?))).collect()
    }

    fn added(&self, t: u32, key: TxnKey, value: ValueId) -> usize {
        self.adds(t).iter().filter(|&&(_, k, v)| (k, v) == (key, value)).count()
    }

    /// Who added an element, if exactly one can have.
    fn writer(&self, key: TxnKey, value: ValueId) -> Option<u32> {
        let possible: Vec<u32> = self
            .all()
            .filter(|&t| self.outcome(t) != Outcome::Fail)
            .flat_map(|t| vec![t; self.added(t, key, value)])
            .collect();
        if let [writer] = possible[..] { Some(writer) } else { None }
    }

    fn committed(&self, t: u32) -> bool {
        let seen = |key: TxnKey, value: ValueId| {
            let has = |(_, k, set): &(usize, TxnKey, Set)| *k == key && set.contains(&value);
            self.writer(key, value) == Some(t) && self.all().any(|r| self.reads(r).iter().any(has))
        };
        self.outcome(t) == Outcome::Ok || self.adds(t).iter().any(|&(_, k, v)| seen(k, v))
    }

    /// Whether some read of `r` holds (or lacks) an element that `w` alone added.
    fn shows(&self, r: u32, w: u32, held: bool) -> bool {
        self.adds(w).iter().any(|&(_, key, value)| {
            let mut reads = self.reads(r).into_iter().filter(|(_, k, _)| *k == key);
            self.writer(key, value) == Some(w)
                && reads.any(|(.., set)| set.contains(&value) == held)
        })
    }

    fn labels(&self, a: u32, b: u32) -> Vec<Label> {
        let (ta, tb) = (self.txns.txn(TxnIndex(a)), self.txns.txn(TxnIndex(b)));
        let both = self.committed(a) && self.committed(b);
        let order = both && ta.outcome == Outcome::Ok;
        let process = order && ta.process == tb.process && ta.start < tb.start;
        [
            (both && self.shows(b, a, true), Label::Wr),
            (both && self.shows(a, b, false), Label::Rw),
            (process, Label::Process),
            (order && ta.end < tb.start, Label::Realtime),
        ]
        .into_iter()
        .filter_map(|(holds, label)| holds.then_some(label))
        .collect()
    }

    fn kinds(&self) -> BTreeSet<Kind> {
        let mut kinds = BTreeSet::new();
        for t in self.all() {
            for (i, key, set) in self.reads(t) {
                self.elements(t, key, &set, &mut kinds);
                if self.contradicts(t, i, key, &set) {
                    kinds.insert(Kind::Internal);
                }
            }
        }
        kinds
    }

    fn elements(&self, t: u32, key: TxnKey, set: &Set, kinds: &mut BTreeSet<Kind>) {
        for &value in set {
            let outcomes: Vec<Outcome> = self
                .all()
                .filter(|&w| self.added(w, key, value) > 0)
                .map(|w| self.outcome(w))
                .collect();
            if outcomes.is_empty() {
                kinds.insert(Kind::Phantom);
            } else if outcomes.iter().all(|&outcome| outcome == Outcome::Fail) {
                kinds.insert(Kind::G1a);
            }
            let Some(writer) = self.writer(key, value).filter(|&w| w != t) else { continue };
            let missed = |&(_, k, v): &(usize, TxnKey, ValueId)| {
                k == key && self.writer(k, v) == Some(writer) && !set.contains(&v)
            };
            if self.adds(writer).iter().any(missed) {
                kinds.insert(Kind::G1b);
            }
        }
    }

    fn contradicts(&self, t: u32, i: usize, key: TxnKey, set: &Set) -> bool {
        let own = self.adds(t).into_iter().filter(|&(_, k, _)| k == key);
        let wrong = |(at, _, value): (usize, TxnKey, ValueId)| match at < i {
            true => !set.contains(&value),
            false => set.contains(&value) && self.writer(key, value) == Some(t),
        };
        let reads = self.reads(t);
        let mut earlier = reads.iter().filter(|(at, k, _)| *at < i && *k == key);
        own.into_iter().any(wrong) || earlier.any(|(.., before)| !before.is_subset(set))
    }

    /// Which of the models that speak of views are broken, the weakest first: monotonic atomic
    /// view, read atomic, causal.
    fn broken_views(&self) -> [bool; 3] {
        let oks = || self.all().filter(|&t| self.outcome(t) == Outcome::Ok);
        let partly = |t: u32, later: bool| {
            self.all().filter(|&w| w != t).any(|w| {
                let reads = self.reads(t);
                let of_w = |key, value| self.writer(key, value) == Some(w);
                let sees = |(_, k, set): &&(usize, TxnKey, Set)| set.iter().any(|&v| of_w(*k, v));
                let first = reads.iter().find(sees).map(|(i, ..)| *i);
                first.is_some_and(|first| {
                    reads.iter().filter(|(i, ..)| !later || *i > first).any(|(_, k, set)| {
                        let missed = |&(_, key, v): &(usize, TxnKey, ValueId)| {
                            key == *k && of_w(key, v) && !set.contains(&v)
                        };
                        self.adds(w).iter().any(missed)
                    })
                })
            })
        };
        [
            oks().any(|t| partly(t, true)),
            oks().any(|t| partly(t, false)),
            oks().any(|t| self.all().any(|w| self.past(t).contains(&w) && self.shows(t, w, false))),
        ]
    }

    /// All that a transaction depends on by reads and sessions; itself, if that is a circle.
    fn past(&self, t: u32) -> BTreeSet<u32> {
        let (mut past, mut next) = (BTreeSet::new(), vec![t]);
        while let Some(t) = next.pop() {
            for o in self.all().filter(|&o| o != t) {
                let (to, tt) = (self.txns.txn(TxnIndex(o)), self.txns.txn(TxnIndex(t)));
                let session =
                    to.outcome == Outcome::Ok && to.process == tt.process && to.start < tt.start;
                if (session || self.shows(t, o, true)) && past.insert(o) {
                    next.push(o);
                }
            }
        }
        past
    }
}

/// The weakest broken model that speaks of views, as the kind that names it.
pub fn broken_view(txns: &Txns) -> Option<Kind> {
    let view = View { txns };
    let [monotonic, atomic, causal] = view.broken_views();
    let circle =
        (0..txns.len() as u32).any(|t| view.outcome(t) == Outcome::Ok && view.past(t).contains(&t));
    match (monotonic, atomic, causal || circle) {
        (true, ..) => Some(Kind::NonmonotonicView),
        (_, true, _) => Some(Kind::FracturedRead),
        (.., true) => Some(Kind::CausalRead),
        _ => None,
    }
}
