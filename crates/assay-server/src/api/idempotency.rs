//! Requests that must not happen twice.
//!
//! A client that sends an `Idempotency-Key` may send the same request again, as often as it likes:
//! it happens once, and the first answer is given each time. What the key was used for and how that
//! was answered is written in the very commit that the request leads to, by the one thread that
//! writes; so there is no moment at which one is there without the other, and two at once are one
//! after the other. Errors of clients (4xx) are answers too. Errors of the server are none: nothing
//! was written then, and the same key may be tried again.

use super::serve::Call;
use crate::error::ApiError;
use crate::names::now_ms;
use crate::store::{Reader, Unit, folder};
use assay_ledger::keyed::{KeyRange, Order};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// How long an answer is kept.
const KEPT_MS: u64 = 24 * 60 * 60 * 1000;
/// Answers that are forgotten at once, and how often that is done at most: fast enough for 5,000
/// requests in a second, and looking for them costs most of those nothing.
const FORGET_AT_ONCE: usize = 100;
const FORGET_EVERY_MS: u64 = 20;
const KEY_BYTES_MAX: usize = 255;

/// A key of a client, with what it is used for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Guard {
    /// Where the answer is kept.
    at: String,
    /// What was asked, byte by byte.
    fingerprint: String,
}

#[derive(Serialize, Deserialize)]
struct Kept {
    fingerprint: String,
    expires_ms: u64,
    answer: Result<String, ApiError>,
}

/// The folder of all keys that were used on one path. Paths are as long as clients like; keys of
/// stores are not.
pub fn keys_of_path(workspace: &str, path: &str) -> String {
    format!("{}/{workspace}/{}", folder::REQUESTS, hex(&[path.as_bytes()]))
}

/// Reads the header, if there is one.
///
/// # Errors
/// If it cannot be a key.
pub fn guard(call: &Call, body: &[u8]) -> Result<Option<Guard>, ApiError> {
    let Some(value) = call.headers.get("idempotency-key") else { return Ok(None) };
    let key = value.as_bytes();
    let is_visible = key.iter().all(|byte| (0x21..=0x7e).contains(byte));
    if key.is_empty() || key.len() > KEY_BYTES_MAX || !is_visible {
        let what = "`Idempotency-Key` must have 1 to 255 visible ASCII characters";
        return Err(ApiError::invalid(what));
    }
    let path = keys_of_path(&call.workspace, &call.path);
    let fingerprint = hex(&[b"POST\n", call.path.as_bytes(), b"\n", body]);
    Ok(Some(Guard { at: format!("{path}/{}", hex(&[key])), fingerprint }))
}

impl Guard {
    /// Where the answer is kept: it goes with what was made.
    pub fn at(&self) -> String {
        self.at.clone()
    }
}

/// Whether the key has an answer already. It may still be for something else.
///
/// # Errors
/// If the store cannot be read.
pub async fn is_answered(reader: &Reader, guard: Option<&Guard>) -> Result<bool, ApiError> {
    let Some(guard) = guard else { return Ok(false) };
    let kept: Option<Kept> = reader.get(guard.at.clone()).await?;
    Ok(kept.is_some_and(|kept| kept.expires_ms > now_ms()))
}

fn hex(parts: &[&[u8]]) -> String {
    let mut hash = Sha256::new();
    parts.iter().for_each(|part| hash.update(part));
    let digit = |four: u8| char::from_digit(u32::from(four), 16).expect("four bits");
    hash.finalize().iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// Does `work`, unless the key says that it was done. The answer is JSON.
///
/// # Errors
/// Those of `work`, now or then; or that the key was used for something else.
pub fn once(
    unit: &mut Unit,
    guard: Option<&Guard>,
    work: impl FnOnce(&mut Unit) -> Result<String, ApiError>,
) -> Result<Result<String, ApiError>, ApiError> {
    let Some(guard) = guard else { return work(unit).map(Ok) };
    let now = now_ms();
    if unit.may_forget(now, FORGET_EVERY_MS) {
        forget_some(unit, now)?;
    }
    if let Some(kept) = unit.get::<Kept>(&guard.at)?
        && kept.expires_ms > now
    {
        if kept.fingerprint == guard.fingerprint {
            return Ok(kept.answer);
        }
        let what = "`Idempotency-Key` was already used for a different request";
        return Err(ApiError::invalid(what));
    }
    let before = unit.savepoint();
    let answer = work(unit);
    match &answer {
        Ok(_) => {}
        Err(error) if error.status >= 500 || error.status == 429 => return answer.map(Ok),
        // Nothing of it counts but that it was answered.
        Err(_) => unit.roll_back(before),
    }
    let fingerprint = guard.fingerprint.clone();
    let kept = Kept { fingerprint, expires_ms: now + KEPT_MS, answer };
    unit.put(guard.at.clone(), &kept)?;
    unit.put(format!("{}/{:020}/{}", folder::FORGET, kept.expires_ms, guard.at), &())?;
    Ok(kept.answer)
}

/// Forgets a few answers that are too old, so that nobody has to come by and do it.
fn forget_some(unit: &mut Unit, now: u64) -> Result<(), ApiError> {
    let range = KeyRange {
        from: format!("{}/", folder::FORGET),
        to: format!("{}/{now:020}", folder::FORGET),
        order: Order::Ascending,
    };
    for (key, _) in unit.transaction.scan(&range, FORGET_AT_ONCE)? {
        let at = key.splitn(3, '/').nth(2).unwrap_or_default().to_string();
        let is_old = |kept: &Kept| kept.expires_ms <= now;
        if unit.get::<Kept>(&at)?.as_ref().is_some_and(is_old) {
            unit.transaction.delete(at);
        }
        unit.transaction.delete(key);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counters::Counters;
    use crate::names::Names;
    use assay_ledger::keyed::{SqliteStore, Transaction};

    #[test]
    fn a_key_counts_for_a_day_and_then_it_is_as_if_it_had_never_been_used() {
        let directory = tempfile::tempdir().expect("a directory");
        let mut store = SqliteStore::open(directory.path()).expect("a new store");
        let (names, counters) = (Names::default(), Counters::default());
        let mut unit = Unit::new(Transaction::new(&mut store), &names, &counters);
        let guard = |what: &str| Guard { at: "requests/w/p/k".into(), fingerprint: what.into() };
        let ask = |unit: &mut Unit, what: &str, gives: &str| {
            let answer = once(unit, Some(&guard(what)), |_| Ok(gives.to_string()));
            answer.and_then(|answer| answer)
        };
        let kept = |unit: &mut Unit| unit.get::<Kept>("requests/w/p/k").expect("read");
        let age = |unit: &mut Unit, expires_ms: u64| {
            let kept = kept(unit).expect("kept");
            unit.put("requests/w/p/k".into(), &Kept { expires_ms, ..kept }).expect("collected");
        };
        assert_eq!(ask(&mut unit, "a", "1"), Ok("1".to_string()));
        let left = kept(&mut unit).expect("kept").expires_ms - now_ms();
        assert!(left <= KEPT_MS && left > KEPT_MS - 60_000, "{left}");
        assert_eq!(ask(&mut unit, "a", "2"), Ok("1".to_string()), "done once");
        assert_eq!(ask(&mut unit, "b", "3").map_err(|error| error.status), Err(400));
        age(&mut unit, now_ms() + 60_000);
        assert_eq!(ask(&mut unit, "a", "4"), Ok("1".to_string()), "not yet");
        age(&mut unit, now_ms() - 1);
        assert_eq!(ask(&mut unit, "b", "5"), Ok("5".to_string()), "also for something else");
        // What is old goes by itself, and what was used again since does not.
        forget_some(&mut unit, now_ms() + KEPT_MS / 2).expect("read");
        assert!(kept(&mut unit).is_some());
        forget_some(&mut unit, now_ms() + 2 * KEPT_MS).expect("read");
        assert!(kept(&mut unit).is_none());
    }
}
