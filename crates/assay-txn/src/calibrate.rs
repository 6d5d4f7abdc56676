//! How sharp is the check on this history? Anomalies are planted into copies of it.
//!
//! A pass says little if the workload could not have shown a violation: transactions that never
//! overlap, keys that nobody reads twice. So each copy gets one change that a database should never
//! make, and what the claim's model still allows is counted as unseen.

use crate::check::{CheckError, CheckOptions, check};
use crate::models::Model;
use assay_history::{
    Does, Mop, MopIn, Outcome, Style, TxnIndex, TxnKey, Txns, TxnsBuilder, ValueId,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;

/// What is planted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Plant {
    /// A committed read returns what was there before.
    StaleRead,
    /// A committed read returns what nobody wrote.
    Phantom,
    /// The writer of what a committed transaction read turns out to have aborted.
    AbortedRead,
    /// A committed read of a list has two elements in the wrong order.
    Reordered,
    /// What a committed transaction added vanishes from every read that began after it.
    LostWrite,
    /// A committed read of a list has an element twice.
    Duplicate,
}

impl Plant {
    /// All kinds.
    pub const ALL: [Plant; 6] = [
        Plant::StaleRead,
        Plant::Phantom,
        Plant::AbortedRead,
        Plant::Reordered,
        Plant::LostWrite,
        Plant::Duplicate,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Plant::StaleRead => "stale-read",
            Plant::Phantom => "phantom",
            Plant::AbortedRead => "aborted-read",
            Plant::Reordered => "reordered",
            Plant::LostWrite => "lost-write",
            Plant::Duplicate => "duplicate",
        }
    }
}

/// How many anomalies of one kind were caught.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct CalibrationRow {
    /// What was planted.
    pub kind: Plant,
    /// How many copies were made; fewer than asked for if the history offers no place.
    pub planted: u32,
    /// How many of them the claim was refuted on.
    pub caught: u32,
    /// How many of those planted the claim forbids by construction, whatever a checker says.
    pub certain: u32,
    /// How many of these the claim was refuted on.
    pub certain_caught: u32,
}

/// Attempts to find a place for one anomaly.
const ATTEMPTS_MAX: usize = 16;

/// Plants `count` anomalies of each kind, one per copy, and asks whether the claim is refuted.
///
/// # Errors
/// As [`check`].
pub fn calibrate(
    txns: &Txns,
    options: &CheckOptions,
    claim: Model,
    count: u32,
    seed: u64,
) -> Result<Vec<CalibrationRow>, CheckError> {
    // A register value that nobody wrote is an anomaly only where all writes are recorded.
    let options = CheckOptions { recording_complete: true, ..*options };
    let mut rows = Vec::new();
    for kind in Plant::ALL {
        let mut row = CalibrationRow { kind, planted: 0, caught: 0, certain: 0, certain_caught: 0 };
        let places = places(txns, kind);
        let mut rng = ChaCha8Rng::seed_from_u64(seed ^ (kind as u64) << 32);
        for _ in 0..count {
            let change = (0..ATTEMPTS_MAX.min(places.len())).find_map(|_| {
                let (txn, mop) = places[rng.random_range(0..places.len())];
                change(txns, kind, txn, mop, &mut rng)
            });
            let Some(change) = change else { break };
            let certain = is_certain(txns, kind, &change, claim, options.no_realtime);
            let caught = check(&changed(txns, &change), &options)?.ruled_out.has(claim);
            row.planted += 1;
            row.caught += u32::from(caught);
            row.certain += u32::from(certain);
            row.certain_caught += u32::from(certain && caught);
        }
        rows.push(row);
    }
    Ok(rows)
}

/// The reads that a kind can be planted in: transaction and micro-operation.
fn places(txns: &Txns, kind: Plant) -> Vec<(u32, u32)> {
    let registers = txns.style == Style::RwRegister;
    let is_zero = |value: ValueId| {
        txns.style == Style::CounterInc && txns.values.show(value).to_string() == "0"
    };
    let fits = |does: Does, seen: usize| match (kind, does) {
        (Plant::Phantom, Does::ReadList(_) | Does::ReadValue(_)) => true,
        (Plant::Reordered, Does::ReadList(_)) => seen > 1 && txns.style == Style::ListAppend,
        (Plant::Duplicate, Does::ReadList(_)) => seen > 0 && txns.style == Style::ListAppend,
        (Plant::StaleRead | Plant::AbortedRead | Plant::LostWrite, Does::ReadList(_)) => seen > 0,
        (Plant::StaleRead, Does::ReadValue(value)) => !value.is_null() && !is_zero(value),
        // Nobody knows who is in a sum.
        (Plant::AbortedRead, Does::ReadValue(value)) => registers && !value.is_null(),
        _ => false,
    };
    let mut places = Vec::new();
    for txn in txns.iter().filter(|txn| txn.outcome == Outcome::Ok) {
        let mops = txns.mops(txn.index);
        for (i, mop) in mops.iter().enumerate() {
            let seen = match mop.does() {
                Does::ReadList(list) => txns.list(mop.key(), list).len(),
                _ => 0,
            };
            let own = mops[..i].iter().any(|m| m.key() == mop.key() && m.written().is_some());
            if !own && fits(mop.does(), seen) {
                places.push((txn.index.0, i as u32));
            }
        }
    }
    places
}

/// What becomes of a copy.
struct Change {
    /// The read that is changed: transaction and micro-operation.
    txn: u32,
    mop: u32,
    /// What it saw, and what it sees now.
    seen: Vec<ValueId>,
    sees: Vec<ValueId>,
    /// It sees what nobody wrote: an id that only the copy's own pool has.
    phantom: bool,
    /// Transactions that turn out to have aborted.
    aborted: Vec<TxnIndex>,
    /// An element that no read sees which began after this time.
    lost: Option<(ValueId, i64)>,
}

const NOBODY: &str = "planted by assay: nobody wrote this";

/// How to plant an anomaly in one place; `None` if that place does not allow it.
fn change(txns: &Txns, kind: Plant, txn: u32, mop: u32, rng: &mut ChaCha8Rng) -> Option<Change> {
    let place = txns.mops(TxnIndex(txn))[mop as usize];
    let seen: Vec<ValueId> = match place.does() {
        Does::ReadList(list) => txns.list(place.key(), list).to_vec(),
        Does::ReadValue(value) => vec![value],
        _ => Vec::new(),
    };
    let several = matches!(txns.style, Style::ListAppend | Style::SetAdd);
    let mut sees = seen.clone();
    let (mut aborted, mut lost) = (Vec::new(), None);
    match kind {
        Plant::StaleRead if several => sees.truncate(rng.random_range(0..seen.len())),
        Plant::StaleRead => sees = vec![ValueId::NULL],
        Plant::Phantom if several => {}
        Plant::Phantom => sees.clear(),
        Plant::Reordered => {
            let at = rng.random_range(0..seen.len() - 1);
            sees.swap(at, at + 1);
        }
        Plant::AbortedRead => {
            let writers = writers(txns, place.key(), *seen.last()?);
            aborted = writers.into_iter().filter(|writer| writer.0 != txn).collect();
        }
        Plant::LostWrite => {
            let element = seen[rng.random_range(0..seen.len())];
            let [writer] = writers(txns, place.key(), element)[..] else { return None };
            let begun = txns.txn(TxnIndex(txn)).start;
            let ended = txns.committed_at(writer).filter(|&ended| ended < begun)?;
            sees.retain(|&item| item != element);
            lost = Some((element, ended));
        }
        Plant::Duplicate => sees.push(seen[rng.random_range(0..seen.len())]),
    }
    Some(Change { txn, mop, seen, sees, phantom: kind == Plant::Phantom, aborted, lost })
}

/// Whoever may have written a value to a key.
fn writers(txns: &Txns, key: TxnKey, value: ValueId) -> Vec<TxnIndex> {
    let wrote = |m: &Mop| m.key() == key && m.written() == Some(value);
    let all = txns.iter().map(|txn| txn.index).filter(|&txn| txns.may_have_committed(txn));
    all.filter(|&txn| txns.mops(txn).iter().any(wrote)).collect()
}

/// Whether the claim forbids a change by construction. No graph and no search is asked: each kind
/// has its own argument.
fn is_certain(txns: &Txns, kind: Plant, change: &Change, claim: Model, no_realtime: bool) -> bool {
    let key = txns.mops(TxnIndex(change.txn))[change.mop as usize].key();
    let begun = txns.txn(TxnIndex(change.txn)).start;
    let before = |writer: &TxnIndex| txns.committed_at(*writer).is_some_and(|end| end < begun);
    // What had been committed when a transaction began is there for it. Lists, sets and counters
    // only grow, and no register goes back to nothing.
    let realtime = claim == Model::StrictSerializable && !no_realtime;
    match kind {
        // Nobody wrote it, or it stands there twice and was appended once.
        Plant::Phantom => true,
        Plant::Duplicate => {
            let twice = change.sees.last().is_some_and(|&e| writers(txns, key, e).len() == 1);
            twice && claim.implied().has(Model::ReadCommitted)
        }
        Plant::AbortedRead => {
            !change.aborted.is_empty() && claim.implied().has(Model::ReadCommitted)
        }
        // Another read saw both elements, in the other order.
        Plant::Reordered => {
            let at = (0..change.seen.len()).find(|&i| change.seen[i] != change.sees[i]);
            let longer = at.is_some_and(|at| seen_elsewhere(txns, key, change, at + 1));
            longer && claim.implied().has(Model::ReadCommitted)
        }
        Plant::LostWrite => realtime,
        Plant::StaleRead => {
            // One value is gone, or the end of a list is.
            let gone = &change.seen[change.sees.len().min(change.seen.len())..];
            let missed = |m: &Mop| match txns.style {
                Style::ListAppend | Style::SetAdd => {
                    m.written().is_some_and(|value| gone.contains(&value))
                }
                Style::RwRegister | Style::CounterInc => m.written().is_some(),
            };
            let committed = txns.iter().map(|txn| txn.index).filter(before);
            let mut mops = committed.flat_map(|writer| txns.mops(writer));
            realtime && mops.any(|m| m.key() == key && missed(m))
        }
    }
}

/// Whether another committed read of the key saw the elements up to a place as this one saw them.
fn seen_elsewhere(txns: &Txns, key: TxnKey, change: &Change, last: usize) -> bool {
    let reads = txns.iter().filter(|txn| txn.outcome == Outcome::Ok && txn.index.0 != change.txn);
    let mut mops = reads.flat_map(|txn| txns.mops(txn.index));
    mops.any(|m| match m.does() {
        Does::ReadList(list) if m.key() == key => {
            txns.list(key, list).get(..=last) == change.seen.get(..=last)
        }
        _ => false,
    })
}

/// A copy with one anomaly.
fn changed(txns: &Txns, change: &Change) -> Txns {
    let place = txns.mops(TxnIndex(change.txn))[change.mop as usize];
    let mut builder = TxnsBuilder::new(txns.style);
    *builder.values() = txns.values.clone();
    *builder.meta() = txns.meta.clone();
    let mut sees = change.sees.clone();
    if change.phantom {
        sees.push(match txns.style {
            Style::CounterInc => builder.values().int(i64::MAX),
            _ => builder.values().str(NOBODY),
        });
    }
    for one in txns.iter() {
        let (line, completed) = txns.lines(one.index);
        let process = txns.process(one.process);
        let copy = builder.invoke(process, one.start, line as u32);
        let aborts = change.aborted.contains(&one.index);
        let outcome = if aborts { Outcome::Fail } else { one.outcome };
        if let Some(line) = completed {
            builder.complete(copy, outcome, Some(one.end), line as u32);
        }
        let lost = change.lost.filter(|&(_, ended)| one.start > ended).map(|(element, _)| element);
        for (i, m) in txns.mops(one.index).iter().enumerate() {
            let key = txns.key(m.key());
            let here = one.index.0 == change.txn && i as u32 == change.mop;
            let mut shorter = Vec::new();
            let mop = match m.does() {
                Does::Append(value) => MopIn::Append(key, value),
                Does::Write(value) => MopIn::Write(key, value),
                Does::ReadUnknown => MopIn::ReadUnknown(key),
                Does::ReadList(_) if here => MopIn::ReadList(key, &sees),
                Does::ReadValue(_) if here => MopIn::ReadValue(key, sees[0]),
                Does::ReadList(id) => {
                    let list = txns.list(m.key(), id);
                    match lost.filter(|_| m.key() == place.key()) {
                        None => MopIn::ReadList(key, list),
                        Some(element) => {
                            shorter.extend(list.iter().filter(|&&item| item != element));
                            MopIn::ReadList(key, &shorter)
                        }
                    }
                }
                Does::ReadValue(value) => MopIn::ReadValue(key, value),
            };
            builder.mop(copy, mop).expect("a copy is no larger than the original");
        }
    }
    builder.finish()
}
