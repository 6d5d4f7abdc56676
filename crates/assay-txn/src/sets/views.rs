//! Monotonic atomic view, read atomic and causal consistency, of sets.
//!
//! An element is written once, so there is no order of commits to look for (as there is in `weak`):
//! each of these models is broken where a transaction missed what its view had to hold.
//!
//! - Monotonic atomic view: it had seen part of what another added, and a later read lacks the
//!   rest.
//! - Read atomic: the same, in any order of the reads.
//! - Causal: what it missed is of a transaction it depends on, by reads and sessions in any number
//!   of steps. That is a cycle with this one anti-dependency, and those are known exactly.
//!
//! So nothing has to be looked at unless a cycle with at most one anti-dependency was found.

use super::Sets;
use crate::anomaly::{Because, Evidence, Kind, WeakStep};
use crate::cycles::{Class, Cycle, Level};
use crate::found::Found;
use crate::graph::Label;
use assay_history::{Does, Outcome, TxnIndex, TxnKey, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

/// A read of a transaction: its place, its key, and what it saw.
type Seen = (usize, TxnKey, FxHashSet<ValueId>);

/// What a transaction missed of another it had seen: the other, the key and the element.
type Miss = (u32, TxnKey, ValueId);

impl Sets<'_> {
    /// Names the weakest of the three models that is broken, with all that shows it.
    pub(crate) fn views(&self, found: &mut Found) {
        let (mut later, mut anywhere) = (Vec::new(), Vec::new());
        for txn in self.txns.iter().filter(|txn| txn.outcome == Outcome::Ok) {
            let [first_later, first] = self.missed(txn.index.0);
            later.extend(first_later.map(|miss| (txn.index.0, miss)));
            anywhere.extend(first.map(|miss| (txn.index.0, miss)));
        }
        let weak = |reader, (writer, key, value)| {
            let why = WeakStep::Before { reader, key, value };
            Evidence::Weak { steps: vec![(writer, why)] }
        };
        for (kind, misses) in [(Kind::NonmonotonicView, later), (Kind::FracturedRead, anywhere)] {
            for &(reader, miss) in &misses {
                found.add(kind, || weak(reader, miss));
            }
            // What breaks a model breaks all stronger ones.
            if !misses.is_empty() {
                return;
            }
        }
        let causal: Vec<Evidence> = found.kept.iter().filter_map(|a| causal(&a.evidence)).collect();
        for evidence in causal {
            found.add(Kind::CausalRead, || evidence);
        }
    }

    /// The first element a transaction missed in a read after it had seen part of what the same
    /// writer added; and the first in any read.
    fn missed(&self, t: u32) -> [Option<Miss>; 2] {
        let mops = self.txns.mops(TxnIndex(t)).iter().enumerate();
        let reads: Vec<Seen> = mops
            .filter_map(|(i, mop)| {
                let Does::ReadList(list) = mop.does() else { return None };
                let list = self.txns.list(mop.key(), list);
                Some((i, mop.key(), list.iter().copied().collect()))
            })
            .collect();
        let mut first_seen: Vec<(u32, usize)> = Vec::new();
        let mut known: FxHashMap<u32, usize> = FxHashMap::default();
        for (i, mop) in self.txns.mops(TxnIndex(t)).iter().enumerate() {
            let Does::ReadList(list) = mop.does() else { continue };
            for &value in self.txns.list(mop.key(), list) {
                if let Some(writer) = self.writers.get(mop.key(), value).and_then(|w| w.by())
                    && writer != t
                    && known.insert(writer, i).is_none()
                {
                    first_seen.push((writer, i));
                }
            }
        }
        let mut misses = [None; 2];
        for (writer, at) in first_seen {
            for (key, value) in self.adds(writer) {
                let lacking =
                    reads.iter().filter(|(_, k, seen)| *k == key && !seen.contains(&value));
                for &(i, ..) in lacking {
                    let miss = (writer, key, value);
                    misses[1].get_or_insert(miss);
                    if i > at {
                        misses[0].get_or_insert(miss);
                    }
                }
            }
        }
        misses
    }
}

/// What a cycle with at most one anti-dependency, without real time, says about causality.
fn causal(evidence: &Evidence) -> Option<Evidence> {
    let Evidence::Cycle { cycle, because } = evidence else { return None };
    let Cycle { class, level, steps, .. } = cycle;
    if *class > Class::GSingle || *level > Level::Process {
        return None;
    }
    let rw = steps.iter().position(|&(_, label)| label == Label::Rw);
    let Some(rw) = rw else {
        let step = |(&(t, _), because): (&(u32, Label), &Because)| match because {
            Because::Key { key, second, .. } => (t, WeakStep::Read { key: *key, value: *second }),
            Because::Order => (t, WeakStep::Session),
        };
        return Some(Evidence::Weak { steps: steps.iter().zip(because).map(step).collect() });
    };
    let Because::Key { key, second, .. } = because[rw] else { return None };
    let (reader, missed) = (steps[rw].0, steps[(rw + 1) % steps.len()].0);
    let why = WeakStep::Before { reader, key, value: second };
    Some(Evidence::Weak { steps: vec![(missed, why)] })
}
