//! Records as earlier versions wrote them become what this one writes, before anything is served.
//!
//! What stood at a key of a request was once the whole answer, under names that were hashes in
//! full, and a folder beside it said when to forget it. Today's names are the beginnings of the
//! same hashes, so every answer keeps its key. It goes in pieces, each a commit: who stops between
//! two goes on at the next start. A record says that it is done, so that it is looked for once.

use super::idempotency::{Kept, answer_at, todays_fingerprint, todays_name};
use crate::error::ApiError;
use crate::names::now_ms;
use crate::store::{Kernel, Unit, folder};
use assay_ledger::keyed::{KeyRange, Order};
use serde::Deserialize;

/// How answers to keys of requests are written. 1 was the whole answer at the key.
const REQUESTS_LAYOUT: u64 = 2;
/// Pairs that are looked at in one commit; an answer may have some megabytes.
const PIECE: usize = 50;
/// Where the first layout said when to forget: `forget/TIME/KEY`.
const FORGET: &str = "forget";

/// What the first layout had at a key.
#[derive(Deserialize)]
struct First {
    fingerprint: String,
    expires_ms: u64,
    answer: Result<String, ApiError>,
}

/// What stands at a key of a request.
#[derive(Deserialize)]
#[serde(untagged)]
enum Row {
    First(First),
    /// Until when it counts, as today.
    Expires(#[expect(dead_code, reason = "only that it is a number counts")] u64),
}

/// Brings all records to what this version writes.
///
/// # Errors
/// If the store fails, or was written by a later version.
pub async fn upgrade_all(kernel: &Kernel) -> Result<(), ApiError> {
    let at = format!("{}/requests", folder::LAYOUT);
    let known = at.clone();
    match kernel.run(move |unit| unit.get::<u64>(&known)).await?.unwrap_or_default() {
        REQUESTS_LAYOUT => return Ok(()),
        layout if layout > REQUESTS_LAYOUT => {
            let what = format!("requests are kept as a later Assay does (layout {layout}): use it");
            return Err(ApiError::invalid(what));
        }
        _ => {}
    }
    rewrite(kernel).await?;
    kernel.run(move |unit| unit.put(at, &REQUESTS_LAYOUT)).await
}

async fn rewrite(kernel: &Kernel) -> Result<(), ApiError> {
    for (folder, piece) in [(folder::REQUESTS, rewrite_row as Piece), (FORGET, drop_row)] {
        let mut range = Some(KeyRange::below(folder, Order::Ascending));
        while let Some(wanted) = range {
            range = kernel.run(move |unit| one_piece(unit, wanted, piece)).await?;
        }
    }
    Ok(())
}

type Piece = fn(&mut Unit, String, Vec<u8>) -> Result<(), ApiError>;

/// Gives what is behind the piece, unless that was the last one.
fn one_piece(
    unit: &mut Unit,
    range: KeyRange,
    change: Piece,
) -> Result<Option<KeyRange>, ApiError> {
    let pairs = unit.transaction.scan(&range, PIECE)?;
    let Some((last, _)) = pairs.last() else { return Ok(None) };
    let rest = range.after(last);
    for (at, value) in pairs {
        change(unit, at, value)?;
    }
    Ok(Some(rest))
}

fn drop_row(unit: &mut Unit, at: String, _: Vec<u8>) -> Result<(), ApiError> {
    unit.transaction.delete(at);
    Ok(())
}

fn rewrite_row(unit: &mut Unit, at: String, value: Vec<u8>) -> Result<(), ApiError> {
    let Row::First(first) = serde_json::from_slice(&value)? else { return Ok(()) };
    let name = todays_name(&at);
    let expires_ms = first.expires_ms;
    // A key that was used again since has another answer by now.
    if expires_ms > now_ms() && unit.get::<u64>(&name)?.is_none() {
        let fingerprint = todays_fingerprint(first.fingerprint);
        unit.put(answer_at(&name, expires_ms), &Kept::text(fingerprint, first.answer))?;
        unit.put(name, &expires_ms)?;
    }
    unit.transaction.delete(at);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::idempotency::{Answer, Guard, forget, once};
    use super::*;
    use crate::store::Stubborn;
    use assay_ledger::Digest;
    use assay_ledger::keyed::{Pair, SqliteStore, Store, Writes};
    use serde_json::json;
    use std::path::Path;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    const PATH: &str = "/v1/sessions/s/events";

    fn old_name(key: &str) -> String {
        let hex = |text: &str| Digest::of(text.as_bytes()).to_string();
        format!("requests/w/{}/{}", hex(PATH), hex(key))
    }

    /// A key as the first layout had it.
    fn old_rows(key: &str, expires_ms: u64) -> [(String, Option<Vec<u8>>); 2] {
        let asked = Digest::of(format!("POST\n{PATH}\nbody of {key}").as_bytes()).to_string();
        let answer = json!({"Ok": format!("answer to {key}")});
        let kept = json!({"fingerprint": asked, "expires_ms": expires_ms, "answer": answer});
        let at = old_name(key);
        let forget = format!("forget/{expires_ms:020}/{at}");
        [(at, Some(kept.to_string().into_bytes())), (forget, Some(b"null".to_vec()))]
    }

    fn kernel(directory: &Path) -> (Kernel, Arc<AtomicBool>) {
        let refuses = Arc::new(AtomicBool::new(false));
        let store = SqliteStore::open(directory).expect("a store");
        let stubborn = Stubborn { store, refuses: refuses.clone() };
        let (effects, _nobody) = tokio::sync::mpsc::unbounded_channel();
        let parts = (Arc::default(), Arc::default(), Arc::default());
        let started = Kernel::start(Box::new(stubborn), parts.0, parts.1, parts.2, effects);
        (started.expect("a thread").0, refuses)
    }

    fn all(store: &mut SqliteStore) -> Vec<Pair> {
        let all = KeyRange { from: String::new(), to: "~".into(), order: Order::Ascending };
        store.scan(&all, 10_000).expect("read")
    }

    #[test]
    fn answers_of_the_first_layout_are_given_again_and_nothing_of_it_is_left() {
        let directory = tempfile::tempdir().expect("a directory");
        let mut store = SqliteStore::open(directory.path()).expect("a new store");
        let (soon, gone) = (now_ms() + 600_000, now_ms() - 1);
        let keys: Vec<String> = (0..3 * PIECE).map(|number| format!("k-{number}")).collect();
        let rows = keys.iter().flat_map(|key| old_rows(key, soon));
        store.commit(&rows.chain(old_rows("old", gone)).collect::<Writes>()).expect("written");
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let (kernel, refuses) = kernel(directory.path());
        refuses.store(true, Ordering::SeqCst);
        runtime.block_on(upgrade_all(&kernel)).expect_err("the disk says no");
        refuses.store(false, Ordering::SeqCst);
        for _ in 0..2 {
            runtime.block_on(upgrade_all(&kernel)).expect("done, or done already");
            let left = all(&mut store);
            let count = |folder: &str| left.iter().filter(|(at, _)| at.starts_with(folder)).count();
            assert_eq!(count("forget/"), 0);
            assert_eq!(count("requests/"), keys.len(), "what is too old is gone");
            assert_eq!(count("answers/"), keys.len());
            assert!(left.iter().all(|(at, _)| at.len() < 120), "names are short");
        }
        let retry = |key: &'static str, body: String| {
            let guard = Guard::of("w", PATH, key.as_bytes(), body.as_bytes());
            let again = move |unit: &mut Unit| {
                once(unit, Some(&guard), |_| Ok(Answer::Text("twice".into())))
            };
            runtime.block_on(kernel.run(again)).and_then(|answer| answer)
        };
        assert_eq!(retry("k-7", "body of k-7".into()), Ok("answer to k-7".into()));
        assert_eq!(retry("k-7", "another".into()).map_err(|error| error.status), Err(400));
        assert_eq!(retry("old", "body of old".into()), Ok("twice".into()), "its day is over");
        // A session knows the old name of the key that made it.
        let forgotten = runtime.block_on(kernel.run(|unit| forget(unit, old_name("k-8"))));
        assert_eq!(forgotten, Ok(()));
        assert_eq!(retry("k-8", "body of k-8".into()), Ok("twice".into()));
    }

    #[test]
    fn a_later_layout_is_left_alone() {
        let directory = tempfile::tempdir().expect("a directory");
        let (kernel, _) = kernel(directory.path());
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let later = |unit: &mut Unit| unit.put("layout/requests".into(), &(REQUESTS_LAYOUT + 1));
        runtime.block_on(kernel.run(later)).expect("written");
        let error = runtime.block_on(upgrade_all(&kernel)).expect_err("nobody knows it");
        assert!(error.message.contains("layout 3"), "{}", error.message);
    }
}
