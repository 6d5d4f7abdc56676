//! Checks an anomaly against the history again, from the definitions, sharing no code with the
//! checker: what one has to believe when a database is called broken is on this page.
//!
//! Nothing here is fast, and nothing is inferred: every fact an anomaly rests on is looked up. Sets
//! and counters have a page each.

mod counters;
mod sets;

use crate::anomaly::{Anomaly, Because, Evidence, Kind, VersionReason, VersionStep, WeakStep};
use crate::cycles::{Class, Cycle, Level};
use crate::graph::Label;
use crate::rw_register::Assume;
use crate::verify_order::verify_no_order;
use assay_history::{Does, Mop, Outcome, Style, Txn, TxnIndex, TxnKey, Txns, ValueId};
use rustc_hash::FxHashMap;

type Checked = Result<(), String>;

fn must(holds: bool, what: &str) -> Checked {
    if holds { Ok(()) } else { Err(what.to_string()) }
}

/// Checks an anomaly that was found under these assumptions.
///
/// # Errors
/// What does not hold; or, beginning with "too large", that there is too much to look at.
pub fn verify(txns: &Txns, assume: Assume, anomaly: &Anomaly) -> Result<(), String> {
    let v = Verifier { txns, assume };
    match (&anomaly.kind, &anomaly.evidence) {
        (kind, Evidence::Read { reader, key, value, writer }) => {
            v.read(*kind, *reader, *key, *value, *writer)
        }
        (Kind::Internal, Evidence::Internal { txn, mop }) => v.internal(*txn, *mop),
        (Kind::IncompatibleOrder, Evidence::Incompatible { key, readers, at }) => {
            let item = |t: u32| v.lists(t, *key).into_iter().map(|l| l.get(*at as usize).copied());
            let (a, b) = (item(readers[0]), item(readers[1]).collect::<Vec<_>>());
            let differ = a.flatten().any(|a| b.iter().flatten().any(|&b| a != b));
            must(differ, "the two lists do not differ there")
        }
        (Kind::DirtyUpdate, Evidence::DirtyUpdate { key, reader, aborted, value, committed }) => {
            let built_on = |list: &[ValueId]| {
                let at = list.iter().position(|seen| seen == value);
                at.is_some_and(|at| list[at..].iter().any(|&w| v.wrote(*committed, *key, w)))
            };
            must(v.lists(*reader, *key).iter().any(|list| built_on(list)), "nobody built on it")?;
            must(v.only_aborted_wrote(*aborted, *key, *value), "it did not abort")?;
            must(v.txn(*committed).outcome != Outcome::Fail, "who built on it aborted")
        }
        (Kind::LostUpdate, Evidence::LostUpdate { key, txns: who, .. })
            if txns.style == Style::CounterInc =>
        {
            v.counter_lost_update(*key, who)
        }
        (Kind::LostUpdate, Evidence::LostUpdate { key, version, txns }) => {
            must(txns.len() > 1, "one transaction alone loses nothing")?;
            let known = version.is_null() || v.possible_writers(*key, *version) == 1;
            must(known, "nobody knows which version that was")?;
            txns.iter().try_for_each(|&t| {
                let mops = v.txns.mops(TxnIndex(t));
                let read =
                    mops.iter().position(|&m| m.key() == *key && v.last(m) == Some(*version));
                let written = |m: &Mop| m.key() == *key && m.written().is_some();
                let at = read.ok_or("it did not read that version")?;
                must(!mops[..at].iter().any(written), "it read what it had written")?;
                must(mops[at..].iter().any(written), "it did not replace it")?;
                must(v.is_ok(t), "it did not commit")
            })
        }
        (Kind::CyclicVersions, Evidence::CyclicVersions { key, versions }) => {
            must(versions.len() > 1, "one version alone is no circle")?;
            (0..versions.len()).try_for_each(|i| {
                v.version_step(*key, versions[i], versions[(i + 1) % versions.len()].version)
            })
        }
        (kind, Evidence::Weak { steps }) => (0..steps.len()).try_for_each(|i| {
            let next = (steps.len() > 1).then(|| steps[(i + 1) % steps.len()].0);
            v.weak_step(*kind, steps[i].0, next, steps[i].1)
        }),
        (Kind::Cycle(class, level), Evidence::Cycle { cycle, because }) => {
            v.cycle(*class, *level, cycle, because)
        }
        (Kind::NoOrder(view, level), Evidence::NoOrder { txns: core, .. }) => {
            verify_no_order(txns, *view, *level, core)
        }
        (kind, _) => Err(format!("the evidence is not of the kind {}", kind.name())),
    }
}

struct Verifier<'t> {
    txns: &'t Txns,
    assume: Assume,
}

impl<'t> Verifier<'t> {
    fn txn(&self, t: u32) -> Txn {
        self.txns.txn(TxnIndex(t))
    }

    fn is_ok(&self, t: u32) -> bool {
        self.txn(t).outcome == Outcome::Ok
    }

    fn all(&self) -> impl Iterator<Item = u32> {
        0..self.txns.len() as u32
    }

    fn writes(&self, t: u32, key: TxnKey) -> Vec<ValueId> {
        let mops = self.txns.mops(TxnIndex(t)).iter().filter(|mop| mop.key() == key);
        mops.filter_map(|mop| mop.written()).collect()
    }

    fn wrote(&self, t: u32, key: TxnKey, value: ValueId) -> bool {
        self.writes(t, key).contains(&value)
    }

    /// The lists that a committed transaction read of a key; a register is a list of one.
    fn lists(&self, t: u32, key: TxnKey) -> Vec<Vec<ValueId>> {
        let mops = self.txns.mops(TxnIndex(t)).iter().filter(|mop| mop.key() == key);
        let list = |mop: &Mop| match mop.does() {
            Does::ReadList(list) => Some(self.txns.list(key, list).to_vec()),
            Does::ReadValue(value) if value.is_null() => Some(Vec::new()),
            Does::ReadValue(value) => Some(vec![value]),
            _ => None,
        };
        if self.is_ok(t) { mops.filter_map(list).collect() } else { Vec::new() }
    }

    /// The last thing a read saw; null if there was nothing.
    fn last(&self, mop: Mop) -> Option<ValueId> {
        match mop.does() {
            Does::ReadList(list) => {
                let list = self.txns.list(mop.key(), list);
                Some(list.last().copied().unwrap_or(ValueId::NULL))
            }
            Does::ReadValue(value) => Some(value),
            _ => None,
        }
    }

    /// How often a value was sent by transactions that may have committed.
    fn possible_writers(&self, key: TxnKey, value: ValueId) -> usize {
        let possible = self.all().filter(|&t| self.txn(t).outcome != Outcome::Fail);
        possible.map(|t| self.writes(t, key).iter().filter(|v| **v == value).count()).sum()
    }

    fn only_aborted_wrote(&self, t: u32, key: TxnKey, value: ValueId) -> bool {
        let others = |o: &u32| self.txn(*o).outcome != Outcome::Fail && self.wrote(*o, key, value);
        self.txn(t).outcome == Outcome::Fail
            && self.wrote(t, key, value)
            && !self.all().any(|o| others(&o))
    }

    /// Whether a transaction committed: it said so, or somebody read what it wrote.
    fn committed(&self, t: u32) -> bool {
        let seen = |mop: &Mop| {
            let Some(value) = mop.written() else { return false };
            let has = |r: u32| self.lists(r, mop.key()).iter().any(|list| list.contains(&value));
            self.all().any(has)
        };
        match self.txn(t).outcome {
            Outcome::Ok => true,
            Outcome::Fail => false,
            Outcome::Unknown => self.txns.mops(TxnIndex(t)).iter().any(seen),
        }
    }

    fn read(
        &self,
        kind: Kind,
        reader: u32,
        key: TxnKey,
        value: ValueId,
        writer: Option<u32>,
    ) -> Checked {
        match self.txns.style {
            Style::SetAdd => return self.set_read(kind, reader, key, value, writer),
            Style::CounterInc => return self.counter_read(kind, reader, key, value, writer),
            Style::ListAppend | Style::RwRegister => {}
        }
        let lists = self.lists(reader, key);
        must(lists.iter().any(|list| list.contains(&value)), "the reader did not see it")?;
        match (kind, writer) {
            (Kind::Phantom, None) => {
                must(!self.all().any(|t| self.wrote(t, key, value)), "somebody wrote it")
            }
            (Kind::DuplicateElements, None) => {
                let times = |list: &Vec<ValueId>| list.iter().filter(|v| **v == value).count();
                let sent = self.possible_writers(key, value).max(1);
                must(lists.iter().any(|list| times(list) > sent), "it was sent as often")
            }
            (Kind::G1a, Some(writer)) => {
                must(self.only_aborted_wrote(writer, key, value), "its writer did not abort")
            }
            (Kind::G1b, Some(writer)) => {
                let writes = self.writes(writer, key);
                let at = writes.iter().position(|&w| w == value).ok_or("it was not written")?;
                must(at + 1 < writes.len() && writer != reader, "it is the last its writer wrote")?;
                let unseen = |list: &Vec<ValueId>| !list.contains(&writes[writes.len() - 1]);
                must(lists.iter().any(unseen), "the last one was seen as well")
            }
            _ => Err("the evidence does not fit".to_string()),
        }
    }

    /// Plays a transaction up to a read: what is known of the key then, and does it agree?
    fn internal(&self, t: u32, at: u32) -> Checked {
        match self.txns.style {
            Style::SetAdd => return self.set_internal(t, at),
            Style::CounterInc => return self.counter_internal(t, at),
            Style::ListAppend | Style::RwRegister => {}
        }
        let mops = self.txns.mops(TxnIndex(t));
        let read = *mops.get(at as usize).ok_or("there is no such micro-operation")?;
        let (mut known, mut own): (Option<Vec<ValueId>>, Vec<ValueId>) = (None, Vec::new());
        for mop in mops[..at as usize].iter().filter(|mop| mop.key() == read.key()) {
            match mop.does() {
                Does::Append(value) => own.push(value),
                Does::Write(value) => (known, own) = (Some(vec![value]), Vec::new()),
                Does::ReadList(list) => {
                    known = Some(self.txns.list(mop.key(), list).to_vec());
                    own.clear();
                }
                Does::ReadValue(value) => known = Some(vec![value]),
                Does::ReadUnknown => {}
            }
        }
        let seen = match read.does() {
            Does::ReadList(list) => self.txns.list(read.key(), list).to_vec(),
            Does::ReadValue(value) => vec![value],
            _ => return Err("it is no read".to_string()),
        };
        // Before its own writes, it cannot have seen them.
        let before = |m: &&Mop| m.key() == read.key() && m.written().is_some();
        let others = seen.len().saturating_sub(mops[..at as usize].iter().filter(before).count());
        let future = seen[..others].iter().any(|&value| self.wrote(t, read.key(), value));
        let expected = known.map(|known| [known, own.clone()].concat());
        let agrees = expected.map_or(seen.ends_with(&own), |expected| expected == seen);
        must(self.is_ok(t) && (future || !agrees), "it agrees with what came before")
    }

    fn cycle(&self, class: Class, level: Level, cycle: &Cycle, because: &[Because]) -> Checked {
        let steps = &cycle.steps;
        must(steps.len() > 1 && because.len() == steps.len(), "a cycle has at least two steps")?;
        must((cycle.class, cycle.level) == (class, level), "the cycle is of another kind")?;
        let next = |i: usize| steps[(i + 1) % steps.len()];
        for (i, &(a, label)) in steps.iter().enumerate() {
            self.step(a, next(i).0, label, &because[i])
                .map_err(|why| format!("step {} ({}): {why}", i + 1, label.name()))?;
        }
        let count = |wanted: Label| steps.iter().filter(|(_, label)| *label == wanted).count();
        let adjacent = (0..steps.len()).any(|i| steps[i].1 == Label::Rw && next(i).1 == Label::Rw);
        let class_fits = match (class, count(Label::Rw)) {
            (Class::G0, 0) => count(Label::Wr) == 0,
            (Class::G1c, 0) => count(Label::Wr) > 0,
            (Class::GSingle, rw) => rw == 1,
            (Class::GNonadjacent, rw) => rw > 1 && !adjacent,
            (Class::G2Item, rw) => rw > 1,
            _ => false,
        };
        must(class_fits, "the labels do not make this class")?;
        let level_fits = match level {
            Level::Plain => count(Label::Process) + count(Label::Realtime) == 0,
            Level::Process => count(Label::Realtime) == 0,
            Level::Realtime => true,
        };
        must(level_fits, "it uses another order than it says")
    }

    /// Whether a process had finished the first transaction when it began the second.
    fn issued_before(&self, a: u32, b: u32) -> bool {
        let (x, y) = (self.txn(a), self.txn(b));
        let order = |txn: Txn| (txn.start, txn.end, txn.index);
        self.is_ok(a) && x.process == y.process && x.end <= y.start && order(x) < order(y)
    }

    fn step(&self, a: u32, b: u32, label: Label, because: &Because) -> Checked {
        must(a != b, "nobody comes before itself")?;
        let (first, second) = (self.txn(a), self.txn(b));
        match (label, because) {
            (Label::Process, Because::Order) => {
                must(self.issued_before(a, b), "the process did not issue them in this order")
            }
            (Label::Realtime, Because::Order) => {
                must(self.is_ok(a) && first.end < second.start, "the first had not ended")
            }
            (Label::Ww | Label::Wr | Label::Rw, Because::Key { key, second, .. })
                if self.txns.style == Style::SetAdd =>
            {
                self.set_dependency(a, b, label, *key, *second)
            }
            (Label::Ww | Label::Wr | Label::Rw, Because::Key { key, first, second, order })
                if self.txns.style == Style::CounterInc =>
            {
                self.counter_dependency(a, b, label, *key, [*first, *second], order)
            }
            (Label::Ww | Label::Wr | Label::Rw, Because::Key { key, first, second, order }) => {
                must(self.committed(a) && self.committed(b), "one of them did not commit")?;
                self.dependency(a, b, label, *key, [*first, *second], order)
            }
            _ => Err("the reason does not fit the label".to_string()),
        }
    }

    fn dependency(
        &self,
        a: u32,
        b: u32,
        label: Label,
        key: TxnKey,
        [first, second]: [ValueId; 2],
        order: &[VersionStep],
    ) -> Checked {
        if label == Label::Wr {
            // What the reader had appended itself may stand behind it.
            let saw = |list: &Vec<ValueId>| {
                let at = list.iter().rposition(|&v| v == first);
                let passed_over = |&value: &ValueId| {
                    self.wrote(b, key, value) || self.possible_writers(key, value) != 1
                };
                at.is_some_and(|at| list[at + 1..].iter().all(passed_over))
            };
            must(self.wrote(a, key, first), "the first did not write it")?;
            return must(self.lists(b, key).iter().any(saw), "the second did not read it");
        }
        must(self.wrote(b, key, second), "the second did not write it")?;
        if label == Label::Ww {
            must(self.wrote(a, key, first), "the first did not write it")?;
        } else {
            let last = |list: &Vec<ValueId>| list.last().copied().unwrap_or(ValueId::NULL);
            let missed = |list: &Vec<ValueId>| last(list) == first && !list.contains(&second);
            must(self.lists(a, key).iter().any(missed), "the first did not read that version")?;
        }
        if order.is_empty() {
            // A list shows its own order: somebody saw the first, and the second not before it.
            let shows = |list: &Vec<ValueId>| {
                let place = |value| list.iter().position(|&v| v == value).unwrap_or(usize::MAX);
                first.is_null() || (list.contains(&first) && place(first) < place(second))
            };
            let lists = self.all().flat_map(|t| self.lists(t, key));
            let is_list = self.txns.style == Style::ListAppend;
            return must(is_list && lists.into_iter().any(|l| shows(&l)), "nobody saw that order");
        }
        must(order[0].version == first, "the order begins elsewhere")?;
        (0..order.len()).try_for_each(|i| {
            let next = order.get(i + 1).map_or(second, |step| step.version);
            self.version_step(key, order[i], next)
        })
    }

    /// One step of an order of commits: `b` is the initial version if it is `None`.
    fn weak_step(&self, kind: Kind, a: u32, b: Option<u32>, why: WeakStep) -> Checked {
        if self.txns.style == Style::SetAdd {
            return self.set_weak_step(kind, a, b, why);
        }
        let read_of = |t: u32, key: TxnKey, value: ValueId, of: Option<u32>| {
            let last = |list: &Vec<ValueId>| list.last().copied().unwrap_or(ValueId::NULL);
            let saw = self.lists(t, key).iter().any(|list| last(list) == value);
            saw && of.map_or(value.is_null(), |of| self.wrote(of, key, value))
        };
        match (why, b) {
            (WeakStep::Session, Some(b)) => {
                must(kind == Kind::CausalRead, "sessions do not count here")?;
                self.step(a, b, Label::Process, &Because::Order)
            }
            (WeakStep::Read { key, value }, Some(b)) => {
                must(read_of(b, key, value, Some(a)), "the second did not read it")
            }
            (WeakStep::Version { key, first, second }, Some(b)) => {
                self.dependency(a, b, Label::Ww, key, [first, second], &[])
            }
            (WeakStep::Before { reader, key, value }, b) => {
                must(read_of(reader, key, value, b), "the reader did not read it")?;
                must(!self.writes(a, key).is_empty(), "the first did not write the key")?;
                must(self.could_see(kind, reader, a), "the reader need not have seen the first")
            }
            _ => Err("only a read shows the initial version".to_string()),
        }
    }

    /// Whether a transaction read of another, or (for causality) depends on it in several steps.
    fn could_see(&self, kind: Kind, reader: u32, writer: u32) -> bool {
        let causal = kind == Kind::CausalRead;
        let mut writers: FxHashMap<(TxnKey, ValueId), Vec<u32>> = FxHashMap::default();
        let mut sessions: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        for t in self.all() {
            sessions.entry(self.txn(t).process).or_default().push(t);
            for mop in self.txns.mops(TxnIndex(t)) {
                let value = mop.written().map(|value| (mop.key(), value));
                value.into_iter().for_each(|at| writers.entry(at).or_default().push(t));
            }
        }
        let (mut seen, mut next) = (vec![false; self.txns.len()], vec![reader]);
        while let Some(t) = next.pop() {
            let mops = self.txns.mops(TxnIndex(t)).iter().filter(|_| self.is_ok(t));
            let read = mops.filter_map(|mop| writers.get(&(mop.key(), self.last(*mop)?))).flatten();
            let session = sessions[&self.txn(t).process].iter().filter(|_| causal);
            let before = session.filter(|&&other| self.issued_before(other, t));
            for &other in read.chain(before).filter(|&&other| other != t) {
                if !std::mem::replace(&mut seen[other as usize], true) && causal {
                    next.push(other);
                }
            }
        }
        seen[writer as usize]
    }

    /// Whether a transaction read or wrote a version.
    fn met(&self, t: u32, key: TxnKey, value: ValueId) -> bool {
        let nothing = |list: &Vec<ValueId>| list.is_empty() && value.is_null();
        let lists = self.lists(t, key);
        self.wrote(t, key, value) || lists.iter().any(|l| l.contains(&value) || nothing(l))
    }

    fn version_step(&self, key: TxnKey, step: VersionStep, next: ValueId) -> Checked {
        let VersionStep { version, reason, txns: [a, b] } = step;
        let met = || self.is_ok(a) && self.met(a, key, version) && self.met(b, key, next);
        let place = |is: &dyn Fn(Mop) -> Option<ValueId>, value| {
            let mut mops = self.txns.mops(TxnIndex(a)).iter();
            mops.position(|&mop| mop.key() == key && is(mop) == Some(value))
        };
        let in_order = |list: &[ValueId]| {
            let at = |value| list.iter().position(|&v| v == value);
            at(next).is_some_and(|y| at(version).is_some_and(|x| x < y))
        };
        must(version != next, "a version does not come before itself")?;
        match reason {
            VersionReason::Initial => must(version.is_null(), "it is not the initial version"),
            VersionReason::WritesFollowReads => {
                let read = place(&|mop| self.last(mop), version);
                let written = place(&|mop| mop.written(), next);
                let follows = read.is_some() && read < written;
                must(self.assume.writes_follow_reads && follows, "the write does not follow")
            }
            VersionReason::Process => {
                let ordered = self.issued_before(a, b);
                must(self.assume.sequential_keys && ordered && met(), "the process saw no order")
            }
            VersionReason::Realtime => {
                let ordered = self.txn(a).end < self.txn(b).start;
                must(self.assume.linearizable_keys && ordered && met(), "time gives no order")
            }
            VersionReason::Transaction => {
                must(in_order(&self.writes(a, key)), "it did not write them in this order")
            }
            VersionReason::List => {
                let lists = self.lists(a, key);
                must(lists.iter().any(|list| in_order(list)), "it read no such list")
            }
        }
    }
}
