//! What is wrong with single reads of sets, without any cycle.

use super::Sets;
use crate::anomaly::{Evidence, Kind};
use crate::found::Found;
use crate::internal::FEW_MOPS;
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
                    self.look_at_elements(txn.index.0, mop.key(), list, &grouped, found);
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
        let first_odd = self.rows[key.0 as usize].first_odd as usize;
        let clean = id.prefix_len().is_some_and(|len| len <= first_odd);
        if clean && grouped.is_empty() {
            return;
        }
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
