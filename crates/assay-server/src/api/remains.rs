//! What is left of sessions that were deleted: taken away piece by piece.
//!
//! A session is gone with one small commit, which also writes down that its log and what goes with
//! it is to be taken away. A long log would be one large commit, and keep everybody else waiting
//! for it; so pieces are commits of their own, and who stops between two goes on at the next start.

use super::idempotency::{forget, keys_of_path};
use crate::error::ApiError;
use crate::log::log;
use crate::store::{Kernel, Reader, SessionKey, Unit, folder};
use assay_ledger::keyed::{KeyRange, Order};

/// Pairs that are taken away in one commit.
const PIECE: usize = 200;
/// Sessions that are looked up at once after a start.
const SESSIONS_AT_ONCE: usize = 100;

/// Writes down, in the commit that deletes a session, that its remains have to go.
///
/// # Errors
/// If it cannot be written as JSON.
pub fn leave(unit: &mut Unit, key: &SessionKey) -> Result<(), ApiError> {
    unit.put(key.at(folder::REMAINS), &())
}

/// Takes away what is left of a session. Nobody sees it any more, so nobody has to wait.
///
/// # Errors
/// If the store cannot be read or written: then it stays until the next start.
pub async fn clear(kernel: &Kernel, key: &SessionKey) -> Result<(), ApiError> {
    loop {
        let wanted = key.clone();
        if kernel.run(move |unit| clear_piece(unit, &wanted)).await? {
            return Ok(());
        }
    }
}

/// Whether this was all.
fn clear_piece(unit: &mut Unit, key: &SessionKey) -> Result<bool, ApiError> {
    let answered = keys_of_path(&key.workspace, &format!("/v1/sessions/{}/events", key.id));
    let folders =
        [key.at(folder::EVENTS), key.at(folder::MEMORY), key.at(folder::CLOSED), answered.clone()];
    let mut left = PIECE;
    for folder in folders {
        let range = KeyRange::below(&folder, Order::Ascending);
        let pairs = unit.transaction.scan(&range, left)?;
        left -= pairs.len();
        for (at, _) in pairs {
            match at.starts_with(&answered) {
                true => forget(unit, at)?,
                false => unit.transaction.delete(at),
            }
        }
        if left == 0 {
            return Ok(false);
        }
    }
    unit.transaction.delete(key.at(folder::CLOSED_COUNT));
    unit.transaction.delete(key.at(folder::REMAINS));
    Ok(true)
}

/// Takes away what earlier processes left.
pub async fn clear_all(kernel: Kernel, reader: Reader) {
    let mut range = KeyRange::below(folder::REMAINS, Order::Ascending);
    loop {
        let wanted = range.clone();
        let found = reader.ask(move |store| Ok(store.scan(&wanted, SESSIONS_AT_ONCE)?)).await;
        let found = found.unwrap_or_default();
        let Some((last, _)) = found.last() else { return };
        range = range.after(last);
        for (at, _) in found {
            let mut parts = at.split('/').skip(1).map(str::to_string);
            let (Some(workspace), Some(id)) = (parts.next(), parts.next()) else { continue };
            if let Err(error) = clear(&kernel, &SessionKey { workspace, id }).await {
                log(format_args!("{at}: stays until the next start: {}", error.message));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Stubborn;
    use assay_ledger::keyed::{SqliteStore, Store, Writes};
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    fn all() -> KeyRange {
        KeyRange { from: String::new(), to: "~".into(), order: Order::Ascending }
    }

    #[test]
    fn remains_go_in_pieces_and_those_of_an_earlier_process_go_at_the_start() {
        let directory = tempfile::tempdir().expect("a directory");
        let open = || SqliteStore::open(directory.path()).expect("a store");
        let key = |id: &str| SessionKey { workspace: "w".into(), id: id.into() };
        let (one, two, three) = (key("s1"), key("s2"), key("s3"));
        let mut store = open();
        let path = "/v1/sessions/s1/events";
        let events = (0..3 * PIECE).map(|n| format!("{}/{n:06}", one.at(folder::EVENTS)));
        let others = [
            one.at(folder::REMAINS),
            two.at(folder::REMAINS),
            format!("{}/1/1", one.at(folder::MEMORY)),
            format!("{}/x", one.at(folder::CLOSED)),
            one.at(folder::CLOSED_COUNT),
            format!("{}/x", two.at(folder::EVENTS)),
            format!("{}/x", three.at(folder::EVENTS)),
        ];
        let mut pairs: Writes =
            events.chain(others).map(|at| (at, Some(b"null".to_vec()))).collect();
        // A key, and the answer that counts until then.
        let at = format!("{}/x", keys_of_path("w", path));
        let (_, name) = at.split_once('/').expect("a folder");
        pairs.insert(format!("answers/{:020}/{name}", 7), Some(b"null".to_vec()));
        pairs.insert(at, Some(b"7".to_vec()));
        store.commit(&pairs).expect("written");
        let (effects, _nobody) = tokio::sync::mpsc::unbounded_channel();
        let stubborn = Stubborn { store: open(), refuses: Arc::new(AtomicBool::new(false)) };
        let refuses = stubborn.refuses.clone();
        let parts = (Arc::default(), Arc::default(), Arc::default());
        let started = Kernel::start(Box::new(stubborn), parts.0, parts.1, parts.2, effects);
        let (kernel, _failure) = started.expect("a thread");
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        // One piece is one commit, and no larger than that.
        let wanted = one.clone();
        let is_all = runtime.block_on(kernel.run(move |unit| clear_piece(unit, &wanted)));
        assert_eq!(is_all, Ok(false));
        let count = |store: &mut SqliteStore| store.scan(&all(), 10_000).expect("read").len();
        assert_eq!(count(&mut store), 2 * PIECE + 9);
        // What stops in the middle is taken up.
        refuses.store(true, std::sync::atomic::Ordering::SeqCst);
        runtime.block_on(clear(&kernel, &one)).expect_err("the disk says no");
        refuses.store(false, std::sync::atomic::Ordering::SeqCst);
        let reader = Reader::start(Box::new(open())).expect("a thread");
        runtime.block_on(clear_all(kernel, reader));
        let left = store.scan(&all(), 10).expect("read");
        let left: Vec<&str> = left.iter().map(|(at, _)| at.as_str()).collect();
        assert_eq!(left, ["events/w/s3/x"], "a session that is there keeps its log");
    }
}
