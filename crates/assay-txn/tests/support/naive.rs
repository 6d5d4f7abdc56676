//! The slow twin: dependencies by looking at every pair, cycles by walking every path.

use assay_history::{Does, ListId, Mop, Outcome, Style, TxnIndex, TxnKey, Txns, ValueId};
use assay_txn::{Class, Kind, Label, Level};
use std::collections::{BTreeMap, BTreeSet};

/// What the twin found: kinds without cycles, and for each component of each level which classes
/// its cycles have.
#[derive(Debug, Default)]
pub struct Naive {
    pub kinds: BTreeSet<Kind>,
    pub cycles: BTreeSet<(Level, Class)>,
    pub steps: BTreeSet<(u32, u32, Label)>,
}

struct View<'t> {
    txns: &'t Txns,
    /// Transactions that committed: they said so, or somebody read what they wrote.
    committed: Vec<bool>,
    /// By key: the longest list.
    orders: BTreeMap<TxnKey, Vec<ValueId>>,
}

/// What a transaction read: without its own appends, and as a whole.
struct Read {
    key: TxnKey,
    external: Vec<ValueId>,
    whole: Vec<ValueId>,
    own: bool,
}

fn external_reads(txns: &Txns, t: u32) -> Vec<Read> {
    let mops = txns.mops(TxnIndex(t));
    let mut reads = Vec::new();
    for (i, mop) in mops.iter().enumerate() {
        let Does::ReadList(list) = mop.does() else { continue };
        let own: Vec<ValueId> =
            mops[..i].iter().filter(|m| m.key() == mop.key()).filter_map(|m| m.written()).collect();
        let list = txns.list(mop.key(), list);
        if let Some(external) = list.strip_suffix(&own[..]) {
            let (key, own) = (mop.key(), !own.is_empty());
            reads.push(Read { key, external: external.to_vec(), whole: list.to_vec(), own });
        }
    }
    reads
}

fn ok(txns: &Txns, t: u32) -> bool {
    txns.txn(TxnIndex(t)).outcome == Outcome::Ok
}

impl<'t> View<'t> {
    fn new(txns: &'t Txns) -> View<'t> {
        assert_eq!(txns.style, Style::ListAppend);
        let mut orders: BTreeMap<TxnKey, Vec<ValueId>> = BTreeMap::new();
        for t in (0..txns.len() as u32).filter(|&t| ok(txns, t)) {
            for mop in txns.mops(TxnIndex(t)) {
                if let Does::ReadList(list) = mop.does() {
                    let list = txns.list(mop.key(), list);
                    // Of several longest lists, the one that was read first.
                    let first = || txns.trunk(mop.key()).to_vec();
                    let order = orders.entry(mop.key()).or_insert_with(first);
                    if list.len() > order.len() {
                        *order = list.to_vec();
                    }
                }
            }
        }
        let read = |key: TxnKey, value: ValueId| {
            (0..txns.len() as u32).filter(|&t| ok(txns, t)).any(|t| {
                txns.mops(TxnIndex(t)).iter().filter(|mop| mop.key() == key).any(|mop| {
                    matches!(mop.does(), Does::ReadList(l) if txns.list(key, l).contains(&value))
                })
            })
        };
        let seen = |t: u32| {
            let mut mops = txns.mops(TxnIndex(t)).iter();
            mops.any(|mop| mop.written().is_some_and(|value| read(mop.key(), value)))
        };
        let committed = (0..txns.len() as u32)
            .map(|t| match txns.txn(TxnIndex(t)).outcome {
                Outcome::Ok => true,
                Outcome::Fail => false,
                Outcome::Unknown => seen(t),
            })
            .collect();
        View { txns, committed, orders }
    }

    fn appends(&self, t: u32) -> Vec<(TxnKey, ValueId)> {
        let mops = self.txns.mops(TxnIndex(t)).iter();
        mops.filter_map(|mop| mop.written().map(|value| (mop.key(), value))).collect()
    }

    /// Where a value stands: its place, or behind everything that was read; `None` if it was read
    /// only in lists that contradict the order.
    fn known_place(&self, key: TxnKey, value: ValueId) -> Option<usize> {
        let order = self.orders.get(&key).map_or(&[][..], |order| order);
        let place = order.iter().position(|&v| v == value);
        place.or_else(|| (!self.is_read(key, value)).then_some(usize::MAX))
    }

    fn place(&self, key: TxnKey, value: ValueId) -> usize {
        self.known_place(key, value).unwrap_or(usize::MAX)
    }

    fn is_read(&self, key: TxnKey, value: ValueId) -> bool {
        let txns = self.txns;
        (0..txns.len() as u32).filter(|&t| ok(txns, t)).any(|t| {
            txns.mops(TxnIndex(t)).iter().filter(|mop| mop.key() == key).any(
                |mop| matches!(mop.does(), Does::ReadList(l) if txns.list(key, l).contains(&value)),
            )
        })
    }

    /// The last element that exactly one transaction can have appended.
    fn last_known(&self, key: TxnKey, list: &[ValueId]) -> Option<ValueId> {
        let single = |value: &&ValueId| {
            let possible = (0..self.txns.len() as u32)
                .filter(|&t| self.txns.txn(TxnIndex(t)).outcome != Outcome::Fail);
            let sent = possible.map(|t| {
                self.appends(t).iter().filter(|append| **append == (key, **value)).count()
            });
            sent.sum::<usize>() == 1
        };
        list.iter().rev().find(single).copied()
    }

    /// Whether `a` must come before `b`, and why: each label at most once.
    fn edges(&self, a: u32, b: u32) -> Vec<Label> {
        let mut labels = Vec::new();
        if a == b || !self.committed[a as usize] || !self.committed[b as usize] {
            return labels;
        }
        let (wa, wb) = (self.appends(a), self.appends(b));
        let ww = wa.iter().any(|&(k, v)| {
            let later = |&(k2, v2): &(TxnKey, ValueId)| {
                let places = (self.known_place(k, v), self.known_place(k, v2));
                k2 == k && matches!(places, (Some(first), Some(second)) if first < second)
            };
            wb.iter().any(later)
        });
        if ww {
            labels.push(Label::Ww);
        }
        if ok(self.txns, b) {
            let reads = external_reads(self.txns, b);
            let wr = reads.iter().any(|read| {
                let last = self.last_known(read.key, &read.external);
                last.is_some_and(|last| wa.contains(&(read.key, last)))
            });
            if wr {
                labels.push(Label::Wr);
            }
        }
        if ok(self.txns, a) {
            let reads = external_reads(self.txns, a);
            let rw = reads.iter().any(|read| !read.own && self.misses(read, &wb));
            if rw {
                labels.push(Label::Rw);
            }
            let (ta, tb) = (self.txns.txn(TxnIndex(a)), self.txns.txn(TxnIndex(b)));
            if ta.process == tb.process && ta.start < tb.start {
                labels.push(Label::Process);
            }
            if ta.end < tb.start {
                labels.push(Label::Realtime);
            }
        }
        labels
    }
}

impl View<'_> {
    /// Whether the version after the one that was read is among `writes`; behind the last version
    /// that was ever read, any may be.
    fn misses(&self, read: &Read, writes: &[(TxnKey, ValueId)]) -> bool {
        let order = &self.orders[&read.key];
        if !order.starts_with(&read.external) {
            return false;
        }
        let known = |&(place, value): &(usize, &ValueId)| {
            let by = (0..self.txns.len() as u32)
                .filter(|&t| self.txns.txn(TxnIndex(t)).outcome != Outcome::Fail)
                .filter(|&t| self.appends(t).contains(&(read.key, *value)));
            by.count() == 1 && !order[..place].contains(value)
        };
        match order.iter().enumerate().skip(read.external.len()).find(known) {
            Some((_, next)) => writes.contains(&(read.key, *next)),
            None => writes.iter().any(|(k, v)| *k == read.key && !self.is_read(*k, *v)),
        }
    }
}

/// Looks at everything.
pub fn look(txns: &Txns) -> Naive {
    let view = View::new(txns);
    let n = txns.len() as u32;
    let mut naive = Naive::default();
    for a in 0..n {
        for b in 0..n {
            naive.steps.extend(view.edges(a, b).into_iter().map(|label| (a, b, label)));
        }
    }
    naive.kinds = kinds(&view);
    naive.find_cycles(n);
    naive
}

impl Naive {
    /// Walks all cycles of `n` transactions that the steps make.
    pub fn find_cycles(&mut self, n: u32) {
        for level in Level::ALL {
            let usable = |label: Label| match label {
                Label::Process => level >= Level::Process,
                Label::Realtime => level >= Level::Realtime,
                _ => true,
            };
            let steps: Vec<(u32, u32, Label)> =
                self.steps.iter().copied().filter(|&(.., label)| usable(label)).collect();
            let mut classes = BTreeSet::new();
            for start in 0..n {
                walk(&steps, start, &mut vec![start], &mut Vec::new(), &mut classes);
            }
            self.cycles.extend(classes.into_iter().map(|class| (level, class)));
        }
    }
}

/// All simple cycles through `path[0]` and greater transactions only.
fn walk(
    steps: &[(u32, u32, Label)],
    start: u32,
    path: &mut Vec<u32>,
    labels: &mut Vec<Label>,
    classes: &mut BTreeSet<Class>,
) {
    let here = path[path.len() - 1];
    for &(_, to, label) in steps.iter().filter(|&&(from, ..)| from == here) {
        labels.push(label);
        if to == start {
            classes.extend(class_of(labels));
        } else if to > start && !path.contains(&to) {
            path.push(to);
            walk(steps, start, path, labels, classes);
            path.pop();
        }
        labels.pop();
    }
}

/// The class of a cycle; order alone is none.
pub fn class_of(labels: &[Label]) -> Option<Class> {
    let count = |wanted: Label| labels.iter().filter(|&&label| label == wanted).count();
    let n = labels.len();
    let adjacent =
        (0..n).any(|i| labels[i] == Label::Rw && labels[(i + 1) % n] == Label::Rw && n > 1);
    Some(match count(Label::Rw) {
        0 if count(Label::Wr) > 0 => Class::G1c,
        0 if count(Label::Ww) > 0 => Class::G0,
        0 => return None,
        1 => Class::GSingle,
        _ if !adjacent => Class::GNonadjacent,
        _ => Class::G2Item,
    })
}

/// What is wrong without any cycle.
fn kinds(view: &View<'_>) -> BTreeSet<Kind> {
    let txns = view.txns;
    let mut kinds = BTreeSet::new();
    let writers = |key: TxnKey, value: ValueId| -> Vec<u32> {
        (0..txns.len() as u32).filter(|&t| view.appends(t).contains(&(key, value))).collect()
    };
    let mut updates: BTreeMap<(TxnKey, Vec<ValueId>), BTreeSet<u32>> = BTreeMap::new();
    for t in (0..txns.len() as u32).filter(|&t| ok(txns, t)) {
        for Read { key, external, whole: list, own } in external_reads(txns, t) {
            let failed = |v: &ValueId| {
                let writers = writers(key, *v);
                !writers.is_empty()
                    && writers.iter().all(|&w| txns.txn(TxnIndex(w)).outcome == Outcome::Fail)
            };
            if list.iter().any(|v| writers(key, *v).is_empty()) {
                kinds.insert(Kind::Phantom);
            }
            if list.iter().any(failed) {
                kinds.insert(Kind::G1a);
                let first = list.iter().position(failed).expect("there is one");
                if list[first..].iter().any(|v| {
                    let writers = writers(key, *v);
                    writers.len() == 1 && !failed(v)
                }) {
                    kinds.insert(Kind::DirtyUpdate);
                }
            }
            if list.iter().collect::<BTreeSet<_>>().len() < list.len() {
                kinds.insert(Kind::DuplicateElements);
            }
            let last = view.last_known(key, &external);
            if last.is_some_and(|last| view.appends(t).contains(&(key, last))) {
                kinds.insert(Kind::Internal);
            }
            if let Some(&last) = external.last()
                && let [writer] = writers(key, last)[..]
                && writer != t
                && !failed(&last)
                && let Some((_, final_one)) =
                    view.appends(writer).into_iter().rfind(|(k, _)| *k == key)
                && !list.contains(&final_one)
            {
                kinds.insert(Kind::G1b);
            }
            if !view.orders[&key].starts_with(&list) {
                kinds.insert(Kind::IncompatibleOrder);
            }
            let mops = txns.mops(TxnIndex(t));
            let same = |l: ListId| txns.list(key, l) == list;
            let read = |m: &Mop| matches!(m.does(), Does::ReadList(l) if same(l));
            let at = mops.iter().position(|m| m.key() == key && read(m));
            let writes_after = at.is_some_and(|at| {
                mops[at..].iter().any(|m| m.key() == key && m.written().is_some())
            });
            if !own && writes_after && view.orders[&key].starts_with(&list) {
                updates.entry((key, list)).or_default().insert(t);
            }
        }
        if !is_internally_consistent(txns, t) {
            kinds.insert(Kind::Internal);
        }
    }
    if (0..txns.len() as u32).any(|t| appends_are_out_of_order(view, t)) {
        kinds.insert(Kind::CyclicVersions);
    }
    if updates.values().any(|txns| txns.len() > 1) {
        kinds.insert(Kind::LostUpdate);
    }
    kinds
}

/// Plays a transaction: once a list has been read it is known, and so is what is appended to it.
fn is_internally_consistent(txns: &Txns, t: u32) -> bool {
    let mut known: BTreeMap<TxnKey, Vec<ValueId>> = BTreeMap::new();
    let mut appended: BTreeMap<TxnKey, Vec<ValueId>> = BTreeMap::new();
    txns.mops(TxnIndex(t)).iter().all(|mop| {
        let key = mop.key();
        match mop.does() {
            Does::Append(value) => {
                appended.entry(key).or_default().push(value);
                if let Some(list) = known.get_mut(&key) {
                    list.push(value);
                }
                true
            }
            Does::ReadList(list) => {
                let list = txns.list(key, list).to_vec();
                let agrees = match known.get(&key) {
                    Some(expected) => *expected == list,
                    None => list.ends_with(appended.get(&key).map_or(&[][..], |own| own)),
                };
                known.insert(key, list);
                agrees
            }
            _ => true,
        }
    })
}

fn appends_are_out_of_order(view: &View<'_>, t: u32) -> bool {
    let appends = view.appends(t);
    let possible = view.txns.txn(TxnIndex(t)).outcome != Outcome::Fail;
    possible
        && appends.iter().enumerate().any(|(i, &(key, value))| {
            let place = view.place(key, value);
            let earlier = |&(k, v): &(TxnKey, ValueId)| k == key && view.place(k, v) < place;
            place != usize::MAX && appends[i..].iter().any(earlier)
        })
}
