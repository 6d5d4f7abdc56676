//! Lists that are only appended to: every read shows the whole history of its key.
//!
//! The longest list that a committed transaction read is the order of the key's versions, and every
//! other read must be a beginning of it. From the order follow all dependencies: who appended after
//! whom (ww), who read what last (wr), who did not see what came next (rw). What a committed
//! transaction appended and nobody ever read comes after everything that was read without it.

use crate::anomaly::{Evidence, Kind, VersionReason, VersionStep, WeakStep};
use crate::found::Found;
use crate::graph::{Edges, Label};
use crate::internal::{agrees, for_each_read};
use crate::writers::{LastWrites, NONE, Writers, Written};
use assay_history::{Does, ListId, Mop, Outcome, TxnIndex, TxnKey, Txns, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

/// The versions of all keys.
pub(crate) struct Lists<'t> {
    txns: &'t Txns,
    pub(crate) writers: Writers,
    /// By key: the order of its versions, and where its writers begin in `order_writers`.
    orders: Vec<(&'t [ValueId], u32)>,
    /// The transaction that appended each element, if it may have committed and is the only one.
    order_writers: Vec<u32>,
    /// By key: the first element that was aborted, appended twice or by nobody.
    first_odd: Vec<u32>,
    /// By key with contradicting reads: who read its order.
    order_readers: FxHashMap<TxnKey, u32>,
    /// What stands in lists that contradict the order.
    seen_elsewhere: FxHashSet<(TxnKey, ValueId)>,
    /// By key: the joint before what nobody read.
    unread: Vec<u32>,
}

impl<'t> Lists<'t> {
    pub(crate) fn new(txns: &'t Txns) -> Lists<'t> {
        let mut writers = Writers::new(txns);
        let mut lists: Vec<&'t [ValueId]> =
            (0..txns.key_count() as u32).map(|key| txns.trunk(TxnKey(key))).collect();
        if txns.has_odd_lists() {
            for_each_list(txns, |_, key, list| {
                let list = txns.list(key, list);
                if list.len() > lists[key.0 as usize].len() {
                    lists[key.0 as usize] = list;
                }
            });
        }
        let total = lists.iter().map(|list| list.len()).sum();
        let mut order_writers = Vec::with_capacity(total);
        let mut first_odd = vec![NONE; lists.len()];
        let mut orders = Vec::with_capacity(lists.len());
        for (key, list) in lists.into_iter().enumerate() {
            orders.push((list, order_writers.len() as u32));
            for (place, &value) in list.iter().enumerate() {
                let placed = place_version(&mut writers, TxnKey(key as u32), value, place as u32);
                order_writers.push(placed.unwrap_or(NONE));
                if placed.is_none() {
                    first_odd[key] = first_odd[key].min(place as u32);
                }
            }
        }
        let unread = vec![NONE; orders.len()];
        let mut lists = Lists {
            txns,
            writers,
            orders,
            order_writers,
            first_odd,
            order_readers: FxHashMap::default(),
            seen_elsewhere: FxHashSet::default(),
            unread,
        };
        if txns.has_odd_lists() {
            lists.look_at_contradictions();
        }
        lists
    }

    fn look_at_contradictions(&mut self) {
        let mut readers = FxHashMap::default();
        let mut seen_elsewhere = FxHashSet::default();
        for_each_list(self.txns, |t, key, list| {
            if self.txns.list(key, list).len() == self.order(key).len()
                && self.txns.list(key, list) == self.order(key)
            {
                readers.entry(key).or_insert(t);
            } else if !self.is_in_order(key, list) {
                seen_elsewhere.extend(self.txns.list(key, list).iter().map(|&value| (key, value)));
            }
        });
        self.order_readers = readers;
        self.seen_elsewhere = seen_elsewhere;
    }

    /// The order of a key's versions.
    pub(crate) fn order(&self, key: TxnKey) -> &'t [ValueId] {
        self.orders[key.0 as usize].0
    }

    /// Whether a list is the beginning of its key's order.
    #[inline]
    fn is_in_order(&self, key: TxnKey, id: ListId) -> bool {
        let order = self.order(key);
        let order_is_trunk = std::ptr::eq(order, self.txns.trunk(key));
        (order_is_trunk && id.odd().is_none()) || order.starts_with(self.txns.list(key, id))
    }

    fn writers_of(&self, key: TxnKey) -> &[u32] {
        let (list, first) = self.orders[key.0 as usize];
        &self.order_writers[first as usize..first as usize + list.len()]
    }

    /// Adds all dependencies; joints get numbers from `joint` on. Returns the next free number.
    pub(crate) fn edges(&mut self, edges: &mut Edges, joint: u32, found: &mut Found) -> u32 {
        for key in 0..self.orders.len() as u32 {
            let mut before = NONE;
            for &writer in self.writers_of(TxnKey(key)) {
                if writer != NONE && before != NONE {
                    edges.add(before, writer, Label::Ww);
                }
                before = if writer == NONE { before } else { writer };
            }
        }
        let next = self.unread_edges(edges, joint);
        let mut losers: FxHashMap<(u32, u32), Vec<u32>> = FxHashMap::default();
        for t in 0..self.txns.len() as u32 {
            self.own_order(t, found);
            if self.txns.txn(TxnIndex(t)).outcome == Outcome::Ok {
                self.txn_edges(t, edges, found, &mut losers);
            }
        }
        self.lost_updates(losers, found);
        next
    }

    /// What committed and was never read comes after all that was.
    fn unread_edges(&mut self, edges: &mut Edges, mut joint: u32) -> u32 {
        for t in 0..self.txns.len() as u32 {
            if !self.committed(t) {
                continue;
            }
            for mop in self.txns.mops(TxnIndex(t)) {
                let Does::Append(value) = mop.does() else { continue };
                let key = mop.key();
                let written = self.writers.get(key, value).expect("every append was noted");
                let seen = written.place != NONE || self.seen_elsewhere.contains(&(key, value));
                if seen || written.by() != Some(t) {
                    continue;
                }
                let known = self.writers_of(key).iter().rev().find(|&&writer| writer != NONE);
                let last = known.copied().unwrap_or(NONE);
                let unread = &mut self.unread[key.0 as usize];
                if *unread == NONE {
                    *unread = joint;
                    joint += 1;
                }
                edges.add(*unread, t, Label::Join);
                // Not by the joint: a transaction whose own append was the last one read would
                // lead into it and out of it, and nobody comes before itself.
                if last != NONE {
                    edges.add(last, t, Label::Ww);
                }
            }
        }
        joint
    }

    /// Whether a transaction committed: it said so, or somebody read what it appended.
    fn committed(&self, t: u32) -> bool {
        match self.txns.txn(TxnIndex(t)).outcome {
            Outcome::Ok => true,
            Outcome::Fail => false,
            Outcome::Unknown => self.txns.mops(TxnIndex(t)).iter().any(|mop| {
                let Some(value) = mop.written() else { return false };
                let written = self.writers.get(mop.key(), value).expect("every append was noted");
                let seen =
                    written.place != NONE || self.seen_elsewhere.contains(&(mop.key(), value));
                written.by() == Some(t) && seen
            }),
        }
    }

    fn txn_edges(
        &self,
        t: u32,
        edges: &mut Edges,
        found: &mut Found,
        losers: &mut FxHashMap<(u32, u32), Vec<u32>>,
    ) {
        let mops = self.txns.mops(TxnIndex(t));
        let writes = LastWrites::of(mops);
        for_each_read(mops, |i, mop, before| {
            let Does::ReadList(id) = mop.does() else { return };
            let key = mop.key();
            let mut own = 0;
            if before.read.is_some() || before.has_written() {
                if !agrees(self.txns, mops, mop, before) {
                    found.add(Kind::Internal, || Evidence::Internal { txn: t, mop: i });
                }
                let same = |place: u32| mops[place as usize].does() == mop.does();
                if before.read.is_some_and(same) && !before.has_written_since_read() {
                    return;
                }
                match before.own_suffix(mops, self.txns.list(key, id)) {
                    Some(count) => own = count,
                    None => return,
                }
            }
            self.read_edges(t, key, (i, id), own, edges, found);
            if own == 0 && writes.follows(mops, key, i as usize) && self.is_in_order(key, id) {
                let seen = self.txns.list(key, id).len();
                if self.writers_of(key).get(seen) != Some(&t) {
                    losers.entry((key.0, seen as u32)).or_default().push(t);
                }
            }
        });
    }

    /// What a transaction appended to one list stands there in its order.
    fn own_order(&self, t: u32, found: &mut Found) {
        let mops = self.txns.mops(TxnIndex(t));
        let appends = mops.iter().filter(|mop| mop.written().is_some());
        if appends.clone().nth(1).is_none() {
            return;
        }
        let mut last: FxHashMap<TxnKey, (u32, ValueId)> = FxHashMap::default();
        for mop in appends {
            let (key, value) = (mop.key(), mop.written().expect("only appends are left"));
            let written = self.writers.get(key, value).expect("every append was noted");
            if written.by() != Some(t) || written.place == NONE {
                continue;
            }
            match last.insert(key, (written.place, value)) {
                Some((place, first)) if place > written.place => {
                    let step =
                        |version, reason, who| VersionStep { version, reason, txns: [who; 2] };
                    found.add(Kind::CyclicVersions, || {
                        let reader = self.reader_of_order(key, value, first);
                        let versions = vec![
                            step(first, VersionReason::Transaction, t),
                            step(value, VersionReason::List, reader),
                        ];
                        Evidence::CyclicVersions { key, versions }
                    });
                }
                _ => {}
            }
        }
    }

    /// Who read a list in which `first` stands before `second`.
    fn reader_of_order(&self, key: TxnKey, first: ValueId, second: ValueId) -> u32 {
        let mut reader = NONE;
        let shows = |list: &[ValueId]| {
            let place = |value: ValueId| list.iter().position(|&v| v == value);
            place(first).is_some_and(|a| place(second).is_some_and(|b| a < b))
        };
        for_each_list(self.txns, |t, k, id| {
            if reader == NONE && k == key && shows(self.txns.list(key, id)) {
                reader = t;
            }
        });
        reader
    }

    /// The dependencies of a read whose last `own` elements are its own transaction's.
    fn read_edges(
        &self,
        t: u32,
        key: TxnKey,
        (mop, id): (u32, ListId),
        own: usize,
        edges: &mut Edges,
        found: &mut Found,
    ) {
        let list = self.txns.list(key, id);
        let seen = list.len() - own;
        let writers = self.writers_of(key);
        let in_order = self.is_in_order(key, id);
        if !in_order || list.len() > self.first_odd[key.0 as usize] as usize {
            self.odd_read(t, key, list, in_order, found);
        }
        if let Some((last, written)) = self.last_known(key, &list[..seen]) {
            let writer = written.by();
            if writer == Some(t) {
                // It read what it was yet to append.
                found.add(Kind::Internal, || Evidence::Internal { txn: t, mop });
            } else if let Some(writer) = writer {
                edges.add(writer, t, Label::Wr);
                let is_last = list[..seen].last() == Some(&last);
                if is_last && written.is_intermediate() && self.misses_final(writer, key, list) {
                    let writer = Some(writer);
                    found.add(Kind::G1b, || Evidence::Read { reader: t, key, value: last, writer });
                }
            }
        }
        // A transaction that appended itself is ordered by its own append.
        if own > 0 || !in_order {
            return;
        }
        match writers[seen..].iter().find(|&&writer| writer != NONE) {
            Some(&next) => edges.add(t, next, Label::Rw),
            None if self.unread[key.0 as usize] != NONE => {
                edges.add(t, self.unread[key.0 as usize], Label::Rw);
            }
            None => {}
        }
    }

    /// The last element whose writer is known, and who that is.
    fn last_known(&self, key: TxnKey, list: &[ValueId]) -> Option<(ValueId, Written)> {
        let known = |&value: &ValueId| Some((value, self.writers.get(key, value)?));
        list.iter().rev().filter_map(known).find(|(_, written)| written.by().is_some())
    }

    /// Whether a list lacks what a transaction appended last.
    fn misses_final(&self, writer: u32, key: TxnKey, list: &[ValueId]) -> bool {
        let mut mops = self.txns.mops(TxnIndex(writer)).iter().rev();
        let last = mops.find(|mop| mop.key() == key && mop.written().is_some());
        !last.and_then(|mop| mop.written()).is_some_and(|value| list.contains(&value))
    }

    /// Says what is odd about a list that was read.
    fn odd_read(&self, t: u32, key: TxnKey, list: &[ValueId], in_order: bool, found: &mut Found) {
        let read = |value, writer| Evidence::Read { reader: t, key, value, writer };
        let mut seen: FxHashSet<ValueId> = FxHashSet::default();
        let mut aborted: Option<(u32, ValueId)> = None;
        let mut reported: FxHashSet<Kind> = FxHashSet::default();
        for &value in list {
            let written = self.writers.get(key, value);
            let sent_once = written.is_none_or(|written| !written.is_ambiguous());
            if !seen.insert(value) && sent_once && reported.insert(Kind::DuplicateElements) {
                found.add(Kind::DuplicateElements, || read(value, None));
            }
            match written {
                None if reported.insert(Kind::Phantom) => {
                    found.add(Kind::Phantom, || read(value, None));
                }
                None => {}
                Some(written) => match (written.aborted_by(), written.by(), aborted) {
                    (Some(writer), ..) => {
                        aborted.get_or_insert((writer, value));
                        if reported.insert(Kind::G1a) {
                            found.add(Kind::G1a, || read(value, Some(writer)));
                        }
                    }
                    (None, Some(committed), Some((aborted, value)))
                        if reported.insert(Kind::DirtyUpdate) =>
                    {
                        let reader = t;
                        found.add(Kind::DirtyUpdate, || Evidence::DirtyUpdate {
                            key,
                            reader,
                            aborted,
                            value,
                            committed,
                        });
                    }
                    _ => {}
                },
            }
        }
        if !in_order {
            let order = self.order(key);
            let at = order.iter().zip(list).take_while(|(a, b)| a == b).count();
            let readers = [self.order_readers[&key], t];
            found.add(Kind::IncompatibleOrder, || Evidence::Incompatible {
                key,
                readers,
                at: at as u32,
            });
        }
    }

    /// Of those who read a version and wrote the next one, all but the first lost.
    fn lost_updates(&self, losers: FxHashMap<(u32, u32), Vec<u32>>, found: &mut Found) {
        let mut losers: Vec<((u32, u32), Vec<u32>)> = losers.into_iter().collect();
        losers.sort_unstable();
        for ((key, seen), mut txns) in losers {
            let key = TxnKey(key);
            txns.dedup();
            let next = self.writers_of(key).get(seen as usize).copied();
            if let Some(winner) = next
                && winner != NONE
                && self.read_before_append(winner, key, seen)
            {
                txns.insert(0, winner);
            }
            if txns.len() > 1 {
                let last = (seen as usize).checked_sub(1);
                let version = last.map_or(ValueId::NULL, |last| self.order(key)[last]);
                found.add(Kind::LostUpdate, || Evidence::LostUpdate { key, version, txns });
            }
        }
    }

    fn read_before_append(&self, t: u32, key: TxnKey, seen: u32) -> bool {
        let mops = self.txns.mops(TxnIndex(t)).iter().filter(|mop| mop.key() == key);
        let mut before = mops.take_while(|mop| mop.written().is_none());
        let reads = |mop: &Mop| match mop.does() {
            Does::ReadList(list) => {
                let len = self.txns.list(key, list).len();
                len == seen as usize && self.is_in_order(key, list)
            }
            _ => false,
        };
        before.any(reads) && self.txns.txn(TxnIndex(t)).outcome == Outcome::Ok
    }

    /// Who appended to a list before whom, as steps for weak models.
    pub(crate) fn version_steps(&self) -> Vec<(u32, u32, WeakStep)> {
        let mut steps = Vec::new();
        for key in (0..self.orders.len() as u32).map(TxnKey) {
            let known = self.order(key).iter().zip(self.writers_of(key));
            let known: Vec<(ValueId, u32)> = known
                .filter(|(_, w)| **w != NONE)
                .map(|(&value, &writer)| (value, writer))
                .collect();
            for pair in known.windows(2).filter(|pair| pair[0].1 != pair[1].1) {
                let why = WeakStep::Version { key, first: pair[0].0, second: pair[1].0 };
                steps.push((pair[0].1, pair[1].1, why));
            }
        }
        steps
    }

    /// What an edge between two transactions rests on: the key and the two values.
    pub(crate) fn because(
        &self,
        a: u32,
        b: u32,
        label: Label,
    ) -> Option<(TxnKey, ValueId, ValueId)> {
        let place = |key, value| self.writers.get(key, value).map_or(NONE, |w| w.place);
        let writes = |t: u32, key: TxnKey| {
            self.txns
                .mops(TxnIndex(t))
                .iter()
                .filter(move |mop| mop.key() == key)
                .filter_map(|mop| mop.written())
        };
        let mut best: Option<(u32, (TxnKey, ValueId, ValueId))> = None;
        let mut offer = |distance: u32, what| {
            if best.is_none_or(|(d, _)| distance < d) {
                best = Some((distance, what));
            }
        };
        for mop in self.txns.mops(TxnIndex(a)) {
            let key = mop.key();
            match (mop.does(), label) {
                (Does::Append(first), Label::Ww) => {
                    let from = place(key, first);
                    for second in writes(b, key) {
                        let to = place(key, second);
                        if from != NONE && from < to {
                            offer(to - from, (key, first, second));
                        }
                    }
                }
                (Does::ReadList(list), Label::Rw) => {
                    let list = self.txns.list(key, list);
                    for second in writes(b, key).filter(|value| !list.contains(value)) {
                        let to = place(key, second).saturating_sub(list.len() as u32);
                        offer(to, (key, list.last().copied().unwrap_or(ValueId::NULL), second));
                    }
                }
                (Does::Append(first), Label::Wr) if self.reads_last(b, key, first) => {
                    offer(0, (key, first, first));
                }
                _ => {}
            }
        }
        best.map(|(_, what)| what)
    }

    /// Whether a transaction read a list whose last element, but for its own, is `value`.
    fn reads_last(&self, t: u32, key: TxnKey, value: ValueId) -> bool {
        let mops = self.txns.mops(TxnIndex(t));
        let mut found = false;
        for_each_read(mops, |_, mop, before| {
            let Does::ReadList(list) = mop.does() else { return };
            if mop.key() == key {
                let list = self.txns.list(key, list);
                let own = before.own_suffix(mops, list).unwrap_or(0);
                let last = self.last_known(key, &list[..list.len() - own]);
                found |= last.is_some_and(|(last, _)| last == value);
            }
        });
        found
    }
}

/// Notes the place of a version; its writer, if exactly one wrote it who may have committed.
fn place_version(writers: &mut Writers, key: TxnKey, value: ValueId, place: u32) -> Option<u32> {
    let slot = writers.slot(key, value)?;
    let written = &mut writers.written[slot.0 as usize];
    if written.place != NONE {
        return None;
    }
    written.place = place;
    written.by()
}

/// Every list that a committed transaction read.
fn for_each_list(txns: &Txns, mut visit: impl FnMut(u32, TxnKey, ListId)) {
    for t in 0..txns.len() as u32 {
        if txns.txn(TxnIndex(t)).outcome == Outcome::Ok {
            for mop in txns.mops(TxnIndex(t)) {
                if let Does::ReadList(list) = mop.does() {
                    visit(t, mop.key(), list);
                }
            }
        }
    }
}
