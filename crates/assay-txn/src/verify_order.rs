//! Checks orders again, from the definitions, sharing no code with the search: that an order
//! explains every read, or that a few transactions have none.

use crate::cycles::Level;
use crate::search::{Moment, View};
use assay_history::{Does, Outcome, Txn, TxnIndex, TxnKey, Txns, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// What each key holds; nothing at first.
type State = BTreeMap<TxnKey, ValueId>;

/// How many combinations are tried before an answer is called too large to check again.
const TRIED_MAX: usize = 200_000;

fn txn(txns: &Txns, t: u32) -> Txn {
    txns.txn(TxnIndex(t))
}

fn is_ok(txns: &Txns, t: u32) -> bool {
    txn(txns, t).outcome == Outcome::Ok
}

/// Whether `a` must stand before `b`.
fn before(txns: &Txns, level: Level, a: u32, b: u32) -> bool {
    let (a, b) = (txn(txns, a), txn(txns, b));
    let session = a.process == b.process && a.end <= b.start && a.start < b.start;
    a.outcome == Outcome::Ok
        && match level {
            Level::Plain => false,
            Level::Process => session,
            Level::Realtime => session || a.end < b.start,
        }
}

/// By key and value, who may have written it.
struct Authors(FxHashMap<(TxnKey, ValueId), Vec<u32>>);

impl Authors {
    fn new(txns: &Txns) -> Authors {
        let mut authors: FxHashMap<(TxnKey, ValueId), Vec<u32>> = FxHashMap::default();
        for t in 0..txns.len() as u32 {
            for mop in txns.mops(TxnIndex(t)) {
                if let Some(value) = mop.written() {
                    authors.entry((mop.key(), value)).or_default().push(t);
                }
            }
        }
        Authors(authors)
    }

    /// What `t` saw of others: every read before it wrote the key itself, where it is known what
    /// was read.
    fn reads(&self, txns: &Txns, t: u32) -> Vec<(TxnKey, ValueId)> {
        let mut own: FxHashSet<TxnKey> = FxHashSet::default();
        let mut reads = Vec::new();
        for mop in txns.mops(TxnIndex(t)) {
            match mop.does() {
                Does::ReadValue(value) if !own.contains(&mop.key()) => {
                    let one = self.0.get(&(mop.key(), value)).is_some_and(|all| all.len() == 1);
                    if value.is_null() || one {
                        reads.push((mop.key(), value));
                    }
                }
                _ => own.extend(mop.written().map(|_| mop.key())),
            }
        }
        if is_ok(txns, t) { reads } else { Vec::new() }
    }
}

fn writes(txns: &Txns, t: u32) -> State {
    let mops = txns.mops(TxnIndex(t)).iter();
    mops.filter_map(|mop| mop.written().map(|value| (mop.key(), value))).collect()
}

fn agrees(state: &State, reads: &[(TxnKey, ValueId)]) -> bool {
    reads.iter().all(|(key, value)| state.get(key).unwrap_or(&ValueId::NULL) == value)
}

/// Replays an order: every committed transaction stands in it, every read returns what the order
/// says, and what must come first does.
///
/// # Errors
/// What does not hold.
pub fn verify_order(txns: &Txns, view: View, level: Level, order: &[Moment]) -> Result<(), String> {
    let authors = Authors::new(txns);
    let mut state = State::new();
    // By transaction: the place of its first and of its last moment.
    let mut span: FxHashMap<u32, (usize, usize)> = FxHashMap::default();
    // By key: where it was last written.
    let mut written: FxHashMap<TxnKey, usize> = FxHashMap::default();
    for (at, &moment) in order.iter().enumerate() {
        let (t, reads_now, writes_now) = match moment {
            Moment::Whole(t) => (t, true, true),
            Moment::Reads(t) => (t, true, false),
            Moment::Writes(t) => (t, false, true),
        };
        let whole = matches!(moment, Moment::Whole(_));
        if span.contains_key(&t) == reads_now || (view == View::Serial && !whole) {
            return Err("a transaction does not stand in the order as it should".into());
        }
        let begun = span.entry(t).or_insert((at, usize::MAX)).0;
        if reads_now && !agrees(&state, &authors.reads(txns, t)) {
            return Err("a read returned something else than the order says".into());
        }
        if writes_now {
            span.insert(t, (begun, at));
            for (key, value) in writes(txns, t) {
                state.insert(key, value);
                let last = written.insert(key, at);
                if view == View::Snapshot && last.is_some_and(|last| last > begun) {
                    return Err("two transactions at the same time wrote the same key".into());
                }
            }
        }
    }
    let complete = (0..txns.len() as u32)
        .filter(|&t| is_ok(txns, t))
        .all(|t| span.get(&t).is_some_and(|&(_, end)| end != usize::MAX));
    if !complete {
        return Err("a committed transaction is missing".into());
    }
    keeps(txns, level, order, &span)
}

/// Whether an order keeps sessions and real time, in one pass for each.
fn keeps(
    txns: &Txns,
    level: Level,
    order: &[Moment],
    span: &FxHashMap<u32, (usize, usize)>,
) -> Result<(), String> {
    let of = |moment: Moment| match moment {
        Moment::Whole(t) | Moment::Reads(t) | Moment::Writes(t) => t,
    };
    if level == Level::Realtime {
        let mut earliest = i64::MAX;
        for (at, &moment) in order.iter().enumerate().rev() {
            let t = of(moment);
            if span[&t].0 == at && earliest < txn(txns, t).start {
                return Err("a transaction ended before another began and stands after it".into());
            }
            if is_ok(txns, t) {
                earliest = earliest.min(txn(txns, t).end);
            }
        }
    }
    if level != Level::Plain {
        let mut sessions: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        span.keys().for_each(|&t| sessions.entry(txn(txns, t).process).or_default().push(t));
        for session in sessions.values_mut() {
            session.sort_by_key(|&t| (txn(txns, t).start, t));
            let out_of_order = session.windows(2).any(|pair| {
                before(txns, Level::Process, pair[0], pair[1])
                    && span[&pair[0]].1 > span[&pair[1]].0
            });
            if out_of_order {
                return Err("transactions of a process are out of order".into());
            }
        }
    }
    Ok(())
}

/// Tries every order of these transactions and of those they read from.
///
/// # Errors
/// If there is one; or, beginning with "too large", if there are too many to try.
pub(crate) fn verify_no_order(
    txns: &Txns,
    view: View,
    level: Level,
    core: &[u32],
) -> Result<(), String> {
    let authors = Authors::new(txns);
    if core.is_empty() || !core.iter().all(|&t| is_ok(txns, t)) {
        return Err("only committed transactions can contradict each other".into());
    }
    let mut tasks: Vec<u32> = core.to_vec();
    let mut reads: Vec<Vec<(TxnKey, ValueId)>> =
        core.iter().map(|&t| authors.reads(txns, t)).collect();
    for read in reads.iter().flatten().filter(|read| !read.1.is_null()) {
        let author = authors.0[read][0];
        if !tasks.contains(&author) {
            tasks.push(author);
        }
    }
    // Of those that were only read from, it does not matter what they read.
    reads.resize(tasks.len(), Vec::new());
    let mut all = Trial { txns, view, level, tasks, reads, seen: FxHashSet::default() };
    let phases = vec![0; all.tasks.len()];
    match all.exists(&phases, &State::new()) {
        Ok(false) => Ok(()),
        Ok(true) => Err("these transactions have an order".into()),
        Err(()) => Err("too large to be looked at again".into()),
    }
}

/// How far everybody is, and what each key holds.
type Configuration = (Vec<u8>, Vec<(TxnKey, ValueId)>);

/// All orders of a few transactions.
struct Trial<'t> {
    txns: &'t Txns,
    view: View,
    level: Level,
    tasks: Vec<u32>,
    reads: Vec<Vec<(TxnKey, ValueId)>>,
    seen: FxHashSet<Configuration>,
}

/// A transaction that has read, and one that has also written.
const READ: u8 = 1;
const DONE: u8 = 2;

impl Trial<'_> {
    fn exists(&mut self, phases: &[u8], state: &State) -> Result<bool, ()> {
        if phases.iter().all(|&phase| phase == DONE) {
            return Ok(true);
        }
        let here = (phases.to_vec(), state.iter().map(|(&k, &v)| (k, v)).collect());
        if !self.seen.insert(here) {
            return Ok(false);
        }
        if self.seen.len() > TRIED_MAX {
            return Err(());
        }
        for i in 0..self.tasks.len() {
            let mut next = phases.to_vec();
            let written = writes(self.txns, self.tasks[i]);
            let mut after = state.clone();
            match phases[i] {
                DONE => continue,
                READ => {}
                _ if !self.may_begin(i, phases, &written) || !agrees(state, &self.reads[i]) => {
                    continue;
                }
                _ => {}
            }
            // In between its reads and writes others may come, unless it is all one moment.
            let writes_now = phases[i] == READ || self.view == View::Serial || written.is_empty();
            next[i] = if writes_now { DONE } else { READ };
            if writes_now {
                after.extend(written);
            }
            if self.exists(&next, &after)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether everybody who must come before `i` has, and nobody is about to write what it writes.
    fn may_begin(&self, i: usize, phases: &[u8], written: &State) -> bool {
        let (txns, t) = (self.txns, self.tasks[i]);
        self.tasks.iter().zip(phases).all(|(&other, &phase)| {
            let waits = phase != DONE && other != t && before(txns, self.level, other, t);
            let clash = self.view == View::Snapshot
                && phase == READ
                && writes(txns, other).keys().any(|key| written.contains_key(key));
            !waits && !clash
        })
    }
}
