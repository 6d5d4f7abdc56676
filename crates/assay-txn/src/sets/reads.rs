//! What is wrong with single reads of sets, without any cycle.

use super::Sets;
use crate::anomaly::{Evidence, Kind};
use crate::found::Found;
use crate::internal::FEW_MOPS;
use crate::writers::NONE;
use assay_history::{Does, ListId, Mop, Outcome, TxnIndex, TxnKey, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

/// What a transaction did to a key so far.
#[derive(Clone, Copy, Default)]
struct SoFar {
    /// Different elements it added.
    added: usize,
    read: Option<ListId>,
}

/// A transaction that touches a key more than once has to agree with itself.
#[derive(Default)]
struct Own {
    /// Where it first added an element.
    adds: FxHashMap<(TxnKey, ValueId), usize>,
    so_far: FxHashMap<TxnKey, SoFar>,
}

impl Sets<'_> {
    /// Looks at every read of every committed transaction.
    pub(super) fn look_at_reads(&self, found: &mut Found) {
        let grouped = self.grouped();
        let split = self.split(&grouped);
        let mut own = Own::default();
        for txn in self.txns.iter().filter(|txn| txn.outcome == Outcome::Ok) {
            let mops = self.txns.mops(txn.index);
            let alone = touches_each_key_once(mops);
            own.adds.clear();
            own.so_far.clear();
            if !alone {
                let adds = mops.iter().enumerate();
                for (i, mop) in adds.filter(|(_, mop)| mop.written().is_some()) {
                    let value = mop.written().expect("only adds are left");
                    own.adds.entry((mop.key(), value)).or_insert(i);
                }
            }
            for (i, mop) in mops.iter().enumerate() {
                if let Does::ReadList(list) = mop.does() {
                    if !alone {
                        self.look_inside(txn.index.0, (i, mop.key(), list), &own, found);
                    }
                    if !self.is_clean(mop.key(), list, &split) {
                        self.look_at_elements(txn.index.0, mop.key(), list, &grouped, found);
                    }
                }
                if !alone {
                    own.note(i, *mop);
                }
            }
        }
    }

    /// Transactions that added several known elements to one key: how many.
    fn grouped(&self) -> FxHashMap<(u32, TxnKey), usize> {
        let mut grouped: FxHashMap<(u32, TxnKey), usize> = FxHashMap::default();
        for t in (0..self.txns.len() as u32).filter(|&t| self.committed[t as usize]) {
            if touches_each_key_once(self.txns.mops(TxnIndex(t))) {
                continue;
            }
            for (key, _) in self.adds(t) {
                *grouped.entry((t, key)).or_default() += 1;
            }
        }
        grouped.retain(|_, count| *count > 1);
        grouped
    }

    /// By key and place in its row: whether a read that ends there would hold part of a group only.
    fn split(&self, grouped: &FxHashMap<(u32, TxnKey), usize>) -> Vec<Vec<bool>> {
        // By key and place: how many groups begin before it, less those that end before it.
        let mut open: Vec<Vec<i32>> = Vec::new();
        open.resize_with(self.rows.len(), Vec::new);
        for &(t, key) in grouped.keys() {
            let adds = self.adds(t).filter(|&(k, _)| k == key);
            let places = adds.filter_map(|(_, value)| Some(self.writers.get(key, value)?.place));
            let (first, last) =
                places.fold((NONE, 0), |(low, high), place| (low.min(place), high.max(place)));
            let row = &mut open[key.0 as usize];
            row.resize(self.rows[key.0 as usize].writers.len() + 2, 0);
            row[first as usize + 1] += 1;
            row[last as usize + 1] -= 1;
        }
        let sums = |row: Vec<i32>| {
            let running = row.into_iter().scan(0, |sum, change| {
                *sum += change;
                Some(*sum > 0)
            });
            running.collect()
        };
        open.into_iter().map(sums).collect()
    }

    /// Whether nothing can be wrong with a read's elements: it is in the chain, everybody who added
    /// something committed, and no group is split where it ends.
    fn is_clean(&self, key: TxnKey, id: ListId, split: &[Vec<bool>]) -> bool {
        let first_odd = self.rows[key.0 as usize].first_odd as usize;
        id.prefix_len().is_some_and(|len| {
            let split = &split[key.0 as usize];
            len <= first_odd && (split.is_empty() || !split[self.known(key, len)])
        })
    }

    /// Whether a read agrees with what its transaction did before, and does not know what it was
    /// yet to add.
    fn look_inside(
        &self,
        t: u32,
        (i, key, id): (usize, TxnKey, ListId),
        own: &Own,
        found: &mut Found,
    ) {
        let list = self.txns.list(key, id);
        let (mut seen_own, mut future) = (0, false);
        for &value in list {
            match own.adds.get(&(key, value)) {
                Some(&at) if at < i => seen_own += 1,
                // Somebody else may have added it, too.
                Some(_) => {
                    let by = self.writers.get(key, value).and_then(|written| written.by());
                    future |= by == Some(t);
                }
                None => {}
            }
        }
        let so_far = own.so_far.get(&key).copied().unwrap_or_default();
        let kept = so_far.read.is_none_or(|earlier| self.holds(key, id, earlier));
        if future || seen_own < so_far.added || !kept {
            found.add(Kind::Internal, || Evidence::Internal { txn: t, mop: i as u32 });
        }
    }

    /// Whether a read holds all that an earlier one held.
    fn holds(&self, key: TxnKey, later: ListId, earlier: ListId) -> bool {
        if let (Some(later), Some(earlier)) = (later.prefix_len(), earlier.prefix_len()) {
            return earlier <= later;
        }
        let later: FxHashSet<ValueId> = self.txns.list(key, later).iter().copied().collect();
        self.txns.list(key, earlier).iter().all(|value| later.contains(value))
    }

    /// Elements that nobody added, or an aborted transaction, or only part of what somebody added.
    fn look_at_elements(
        &self,
        t: u32,
        key: TxnKey,
        id: ListId,
        grouped: &FxHashMap<(u32, TxnKey), usize>,
        found: &mut Found,
    ) {
        let read = |value, writer| Evidence::Read { reader: t, key, value, writer };
        let (mut phantom, mut aborted) = (false, false);
        let mut of_groups: Vec<(u32, ValueId)> = Vec::new();
        for &value in self.txns.list(key, id) {
            let Some(written) = self.writers.get(key, value) else {
                if !std::mem::replace(&mut phantom, true) {
                    found.add(Kind::Phantom, || read(value, None));
                }
                continue;
            };
            if let Some(writer) = written.by() {
                if writer != t && grouped.contains_key(&(writer, key)) {
                    of_groups.push((writer, value));
                }
            } else if let Some(writer) = written.aborted_by()
                && !std::mem::replace(&mut aborted, true)
            {
                found.add(Kind::G1a, || read(value, Some(writer)));
            }
        }
        of_groups.sort_unstable();
        let mut groups = of_groups.chunk_by(|a, b| a.0 == b.0);
        if let Some(part) = groups.find(|part| part.len() < grouped[&(part[0].0, key)]) {
            let (writer, value) = part[0];
            found.add(Kind::G1b, || read(value, Some(writer)));
        }
    }
}

impl Own {
    fn note(&mut self, i: usize, mop: Mop) {
        let so_far = self.so_far.entry(mop.key()).or_default();
        match (mop.does(), mop.written()) {
            (Does::ReadList(list), _) => so_far.read = Some(list),
            (_, Some(value)) if self.adds[&(mop.key(), value)] == i => so_far.added += 1,
            _ => {}
        }
    }
}

/// Whether no key is touched twice. Of long transactions that is not asked.
fn touches_each_key_once(mops: &[Mop]) -> bool {
    mops.len() <= FEW_MOPS
        && mops.iter().enumerate().all(|(i, mop)| mops[..i].iter().all(|m| m.key() != mop.key()))
}
