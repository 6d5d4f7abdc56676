//! Calls that waited and do so no more, each in a record of its own.
//!
//! They are asked for when an answer comes a second time, and hardly ever. The state of a session
//! is read and written with each step: with a thousand of them in it, every event would write them
//! all again.

use super::records::{SessionKey, folder};
use super::unit::Unit;
use crate::error::ApiError;
use assay_ledger::keyed::{KeyRange, Order};
use assay_session::{CLOSED_WAITS_MAX, ClosedWait, EventId, Inbound, Input, Session};
use std::collections::{BTreeSet, VecDeque};

/// Gives a session those calls that the input may answer again; says which they are.
///
/// # Errors
/// If the store cannot be read.
pub(super) fn recall(
    unit: &mut Unit<'_>,
    key: &SessionKey,
    session: &mut Session,
    input: &Input,
) -> Result<BTreeSet<EventId>, ApiError> {
    let mut known = BTreeSet::new();
    let Input::Send(events) = input else { return Ok(known) };
    for event in events {
        let (Inbound::Result { call, .. } | Inbound::Confirmation { call, .. }) = event else {
            continue;
        };
        if known.contains(call) {
            continue;
        }
        if let Some(closed) = unit.get::<ClosedWait>(&at(key, call))? {
            session.closed.push_back(closed);
            known.insert(call.clone());
        }
    }
    Ok(known)
}

/// Writes down those that are not known yet; the oldest are forgotten.
///
/// # Errors
/// If the store cannot be read.
pub(super) fn keep(
    unit: &mut Unit<'_>,
    key: &SessionKey,
    closed: &VecDeque<ClosedWait>,
    known: &BTreeSet<EventId>,
) -> Result<(), ApiError> {
    let new: Vec<&ClosedWait> =
        closed.iter().filter(|closed| !known.contains(&closed.wait.id)).collect();
    if new.is_empty() {
        return Ok(());
    }
    for closed in &new {
        unit.put(at(key, &closed.wait.id), closed)?;
    }
    let count_at = key.at(folder::CLOSED_COUNT);
    let count = unit.get::<usize>(&count_at)?.unwrap_or(0) + new.len();
    let too_many = count.saturating_sub(CLOSED_WAITS_MAX);
    if too_many > 0 {
        // Later calls have larger ids.
        let range = KeyRange::below(&key.at(folder::CLOSED), Order::Ascending);
        for (oldest, _) in unit.transaction.scan(&range, too_many)? {
            unit.transaction.delete(oldest);
        }
    }
    unit.put(count_at, &(count - too_many))
}

fn at(key: &SessionKey, call: &EventId) -> String {
    format!("{}/{call}", key.at(folder::CLOSED))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counters::Counters;
    use crate::names::Names;
    use assay_ledger::keyed::{SqliteStore, Transaction};
    use assay_session::{CloseReason, Wait, WaitKind};

    fn closed(number: usize) -> ClosedWait {
        let id = EventId(format!("sevt_{number:06}"));
        ClosedWait { wait: Wait { id, kind: WaitKind::Custom }, reason: CloseReason::Ended }
    }

    #[test]
    fn only_calls_that_are_asked_for_are_read_and_the_oldest_are_forgotten() {
        let directory = tempfile::tempdir().expect("a directory");
        let mut store = SqliteStore::open(directory.path()).expect("a new store");
        let (names, counters) = (Names::default(), Counters::default());
        let key = SessionKey { workspace: "w".into(), id: "sesn_1".into() };
        let known = BTreeSet::new();
        let count = CLOSED_WAITS_MAX + 7;
        let mut unit = Unit::new(Transaction::new(&mut store), &names, &counters);
        for number in 0..count {
            keep(&mut unit, &key, &VecDeque::from([closed(number)]), &known).expect("kept");
        }
        let mut asked = |numbers: &[usize]| {
            let result = |number: &usize| Inbound::Result {
                call: closed(*number).wait.id,
                content: Vec::new(),
                is_error: false,
            };
            let input = Input::Send(numbers.iter().map(result).collect());
            let mut session = Session::default();
            let known = recall(&mut unit, &key, &mut session, &input).expect("read");
            assert_eq!(known.len(), session.closed.len());
            session.closed
        };
        assert_eq!(asked(&[6]), [], "forgotten");
        assert_eq!(asked(&[7, 7, count - 1, count]), [closed(7), closed(count - 1)]);
        assert_eq!(asked(&[]), []);
        // What is known is not counted again.
        let known = BTreeSet::from([closed(9).wait.id]);
        keep(&mut unit, &key, &VecDeque::from([closed(9)]), &known).expect("kept");
        assert_eq!(unit.get::<usize>(&key.at(folder::CLOSED_COUNT)).expect("read"), Some(1000));
    }
}
