//! Brute force: is there an order, one transaction after the other, that explains every read?

use assay_history::{Does, Outcome, Style, TxnIndex, TxnKey, Txns, ValueId, View};
use assay_txn::Level;
use std::collections::{BTreeMap, BTreeSet};

type State = BTreeMap<TxnKey, Vec<ValueId>>;

/// Whether some order of all committed and some unknown transactions explains every read; with
/// [`Level::Process`] it keeps the order of processes, with [`Level::Realtime`] that of real time.
pub fn explained(txns: &Txns, level: Level) -> bool {
    let possible: Vec<u32> = (0..txns.len() as u32)
        .filter(|&t| txns.txn(TxnIndex(t)).outcome != Outcome::Fail)
        .collect();
    place(txns, level, &possible, 0, &State::new())
}

fn place(txns: &Txns, level: Level, possible: &[u32], placed: u64, state: &State) -> bool {
    let is_placed = |i: usize| placed & (1 << i) != 0;
    let required = |t: u32| txns.txn(TxnIndex(t)).outcome == Outcome::Ok;
    if possible.iter().enumerate().all(|(i, &t)| is_placed(i) || !required(t)) {
        return true;
    }
    possible.iter().enumerate().any(|(i, &t)| {
        let blocked = possible
            .iter()
            .enumerate()
            .any(|(j, &u)| j != i && !is_placed(j) && before(txns, level, u, t));
        if is_placed(i) || blocked {
            return false;
        }
        match run(txns, t, state) {
            Some(next) => place(txns, level, possible, placed | 1 << i, &next),
            None => false,
        }
    })
}

pub fn before(txns: &Txns, level: Level, a: u32, b: u32) -> bool {
    let (a, b) = (txns.txn(TxnIndex(a)), txns.txn(TxnIndex(b)));
    let process = a.process == b.process && a.start < b.start;
    a.outcome == Outcome::Ok
        && match level {
            Level::Plain => false,
            Level::Process => process,
            Level::Realtime => process || a.end < b.start,
        }
}

fn run(txns: &Txns, t: u32, state: &State) -> Option<State> {
    let mut state = state.clone();
    for mop in txns.mops(TxnIndex(t)) {
        let list = state.entry(mop.key()).or_default();
        match mop.does() {
            Does::Append(value) => list.push(value),
            Does::Write(value) => *list = vec![value],
            Does::ReadList(seen) if txns.style == Style::SetAdd => {
                let sorted = |list: &[ValueId]| list.iter().copied().collect::<BTreeSet<_>>();
                (sorted(txns.list(mop.key(), seen)) == sorted(list)).then_some(())?;
            }
            Does::ReadList(seen) => (txns.list(mop.key(), seen) == list).then_some(())?,
            Does::ReadValue(seen) if txns.style == Style::CounterInc => {
                let int = |value: ValueId| match txns.values.view(value) {
                    View::Int(int) => int,
                    _ => 0,
                };
                let sum: i64 = list.iter().map(|&value| int(value)).sum();
                (sum == int(seen)).then_some(())?;
            }
            Does::ReadValue(seen) => {
                (list.last().copied().unwrap_or(ValueId::NULL) == seen).then_some(())?;
            }
            Does::ReadUnknown => {}
        }
    }
    Some(state)
}
