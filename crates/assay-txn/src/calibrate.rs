//! How sharp is the check on this history? Anomalies are planted into copies of it.
//!
//! A pass says little if the workload could not have shown a violation: transactions that never
//! overlap, keys that nobody reads twice. So each copy gets one change that a database should never
//! make, and what the claim's model still allows is counted as unseen.

use crate::check::{CheckError, CheckOptions, check};
use crate::models::Model;
use assay_history::{Does, MopIn, Outcome, Style, TxnIndex, Txns, TxnsBuilder, ValueId};
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
}

impl Plant {
    /// All kinds.
    pub const ALL: [Plant; 4] =
        [Plant::StaleRead, Plant::Phantom, Plant::AbortedRead, Plant::Reordered];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Plant::StaleRead => "stale-read",
            Plant::Phantom => "phantom",
            Plant::AbortedRead => "aborted-read",
            Plant::Reordered => "reordered",
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
}

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
        let mut row = CalibrationRow { kind, planted: 0, caught: 0 };
        let places = places(txns, kind);
        let mut rng = ChaCha8Rng::seed_from_u64(seed ^ (kind as u64) << 32);
        for _ in 0..count {
            if places.is_empty() {
                break;
            }
            let (txn, mop) = places[rng.random_range(0..places.len())];
            let copy = changed(txns, kind, txn, mop, &mut rng);
            row.planted += 1;
            row.caught += u32::from(check(&copy, &options)?.ruled_out.has(claim));
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
        (Plant::StaleRead | Plant::AbortedRead, Does::ReadList(_)) => seen > 0,
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

/// A copy with one anomaly.
fn changed(txns: &Txns, kind: Plant, txn: u32, mop: u32, rng: &mut ChaCha8Rng) -> Txns {
    let place = txns.mops(TxnIndex(txn))[mop as usize];
    let seen: Vec<ValueId> = match place.does() {
        Does::ReadList(list) => txns.list(place.key(), list).to_vec(),
        Does::ReadValue(value) => vec![value],
        _ => Vec::new(),
    };
    let mut builder = TxnsBuilder::new(txns.style);
    *builder.values() = txns.values.clone();
    *builder.meta() = txns.meta.clone();
    let several = matches!(txns.style, Style::ListAppend | Style::SetAdd);
    let nobody = match txns.style {
        Style::CounterInc => builder.values().int(i64::MAX),
        _ => builder.values().str("planted by assay: nobody wrote this"),
    };
    let mut list = seen.clone();
    match kind {
        Plant::StaleRead if several => {
            list.truncate(rng.random_range(0..seen.len()));
        }
        Plant::StaleRead => list = vec![ValueId::NULL],
        Plant::Phantom if several => list.push(nobody),
        Plant::Phantom => list = vec![nobody],
        Plant::Reordered => {
            let at = rng.random_range(0..seen.len() - 1);
            list.swap(at, at + 1);
        }
        Plant::AbortedRead => {}
    }
    let aborts = |index: TxnIndex| {
        let wrote = |m: &assay_history::Mop| {
            m.key() == place.key() && m.written().is_some() && m.written() == seen.last().copied()
        };
        kind == Plant::AbortedRead && index.0 != txn && txns.mops(index).iter().any(wrote)
    };
    for one in txns.iter() {
        let (line, completed) = txns.lines(one.index);
        let process = txns.process(one.process);
        let copy = builder.invoke(process, one.start, line as u32);
        let outcome = if aborts(one.index) { Outcome::Fail } else { one.outcome };
        if let Some(line) = completed {
            builder.complete(copy, outcome, Some(one.end), line as u32);
        }
        for (i, m) in txns.mops(one.index).iter().enumerate() {
            let key = txns.key(m.key());
            let here = one.index.0 == txn && i as u32 == mop;
            let mop = match m.does() {
                Does::Append(value) => MopIn::Append(key, value),
                Does::Write(value) => MopIn::Write(key, value),
                Does::ReadUnknown => MopIn::ReadUnknown(key),
                Does::ReadList(_) if here => MopIn::ReadList(key, &list),
                Does::ReadValue(_) if here => MopIn::ReadValue(key, list[0]),
                Does::ReadList(id) => MopIn::ReadList(key, txns.list(m.key(), id)),
                Does::ReadValue(value) => MopIn::ReadValue(key, value),
            };
            builder.mop(copy, mop).expect("a copy is no larger than the original");
        }
    }
    builder.finish()
}
