//! Requests that must not happen twice.
//!
//! A client that sends an `Idempotency-Key` may send the same request again, as often as it likes:
//! it happens once, and the first answer is given each time. What the key was used for and how that
//! was answered is written in the very commit that the request leads to, by the one thread that
//! writes; so there is no moment at which one is there without the other, and two at once are one
//! after the other. Errors of clients (4xx) are answers too. Errors of the server are none: nothing
//! was written then, and the same key may be tried again.
//!
//! Keys come in no order, and each is a page of the store here or there. So what stands at a key is
//! short: until when it counts. Answers stand in the order in which they are forgotten, which is
//! that in which they were written.

use super::serve::Call;
use crate::error::ApiError;
use crate::names::now_ms;
use crate::store::{Reader, Unit, folder};
use assay_ledger::keyed::{KeyRange, Order};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// How long an answer is kept.
const KEPT_MS: u64 = 24 * 60 * 60 * 1000;
/// Answers that are forgotten at once, and how often that is done at most: fast enough for 5,000
/// requests in a second, and looking for them costs most of those nothing.
const FORGET_AT_ONCE: usize = 100;
const FORGET_EVERY_MS: u64 = 20;
const KEY_BYTES_MAX: usize = 255;
/// Of a hash in a key of the store. Who looks for two that share them, for as long as that takes,
/// finds that his own workspace takes one key for the other.
const NAME_BYTES: usize = 16;
const HASH_BYTES: usize = 32;

/// A key of a client, with what it is used for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Guard {
    /// Where it stands until when the key counts.
    at: String,
    /// What was asked, byte by byte.
    fingerprint: String,
}

/// What a request is answered with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// JSON.
    Text(String),
    /// A list of events, which stand in a log.
    Events(Events),
}

/// Events that are answered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Events {
    /// The folder of their log.
    pub log: String,
    /// Which, and how they stand there, in their order.
    pub lines: Vec<(String, String)>,
}

impl Answer {
    /// What the client gets.
    pub fn into_text(self) -> String {
        match self {
            Answer::Text(text) => text,
            Answer::Events(events) => list(events.lines.iter().map(|(_, line)| line.as_str())),
        }
    }
}

/// The list of some events.
fn list<'a>(lines: impl Iterator<Item = &'a str>) -> String {
    let lines: Vec<&str> = lines.collect();
    format!("{{\"data\":[{}]}}", lines.join(","))
}

/// What is kept for a key: one of the two answers.
#[derive(Serialize, Deserialize)]
pub(super) struct Kept {
    fingerprint: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    answer: Option<Result<String, ApiError>>,
    /// The events stand in the log as they were answered, and are not written a second time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    events: Option<Listed>,
}

#[derive(Serialize, Deserialize)]
struct Listed {
    log: String,
    ids: Vec<String>,
}

impl Kept {
    /// An answer as it is.
    pub(super) fn text(fingerprint: String, answer: Result<String, ApiError>) -> Kept {
        Kept { fingerprint, answer: Some(answer), events: None }
    }

    fn of(fingerprint: String, answer: &Result<Answer, ApiError>) -> Kept {
        match answer {
            Ok(Answer::Events(Events { log, lines })) => {
                let ids = lines.iter().map(|(id, _)| id.clone()).collect();
                let events = Some(Listed { log: log.clone(), ids });
                Kept { fingerprint, answer: None, events }
            }
            Ok(Answer::Text(text)) => Kept::text(fingerprint, Ok(text.clone())),
            Err(error) => Kept::text(fingerprint, Err(error.clone())),
        }
    }

    /// The answer, byte for byte as it was given.
    fn given(self, unit: &mut Unit) -> Result<Result<String, ApiError>, ApiError> {
        let Listed { log, ids } = match (self.answer, self.events) {
            (Some(answer), _) => return Ok(answer),
            (None, Some(names)) => names,
            (None, None) => return Err(ApiError::internal()),
        };
        let mut lines = Vec::with_capacity(ids.len());
        for id in ids {
            let line = unit.transaction.get(&format!("{log}/{id}"))?;
            let line = line.and_then(|line| String::from_utf8(line).ok());
            lines.push(line.ok_or_else(ApiError::internal)?);
        }
        Ok(Ok(list(lines.iter().map(String::as_str))))
    }
}

/// The folder of all keys that were used on one path. Paths are as long as clients like; keys of
/// stores are not.
pub fn keys_of_path(workspace: &str, path: &str) -> String {
    format!("{}/{workspace}/{}", folder::REQUESTS, name(path.as_bytes()))
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
    Ok(Some(Guard::of(&call.workspace, &call.path, key, body)))
}

impl Guard {
    /// Of a request with a key.
    pub(super) fn of(workspace: &str, path: &str, key: &[u8], body: &[u8]) -> Guard {
        let asked = hash(&[b"POST\n", path.as_bytes(), b"\n", body]);
        let at = format!("{}/{}", keys_of_path(workspace, path), name(key));
        Guard { at, fingerprint: URL_SAFE_NO_PAD.encode(asked) }
    }

    /// Where the key stands: it goes with what was made.
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
    let expires_ms: Option<u64> = reader.get(guard.at.clone()).await?;
    Ok(expires_ms.is_some_and(|expires_ms| expires_ms > now_ms()))
}

fn hash(parts: &[&[u8]]) -> [u8; HASH_BYTES] {
    let mut hash = Sha256::new();
    parts.iter().for_each(|part| hash.update(part));
    hash.finalize().into()
}

fn name(of: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(&hash(&[of])[..NAME_BYTES])
}

/// Where the answer to a key stands that counts until then.
pub(super) fn answer_at(at: &str, expires_ms: u64) -> String {
    let key = at.split_once('/').map_or(at, |(_, key)| key);
    format!("{}/{expires_ms:020}/{key}", folder::ANSWERS)
}

/// A hash as the first layout of the store wrote it: in full, in hexadecimal digits.
fn from_hex(digits: &str) -> Option<Vec<u8>> {
    let is_hash = digits.len() == 2 * HASH_BYTES && digits.is_ascii();
    let byte = |index: usize| u8::from_str_radix(digits.get(2 * index..2 * index + 2)?, 16).ok();
    (0..HASH_BYTES).map(byte).collect::<Option<Vec<u8>>>().filter(|_| is_hash)
}

/// Where that stands today which the first layout had there.
pub(super) fn todays_name(at: &str) -> String {
    let short = |part: &str| match from_hex(part) {
        Some(hash) => URL_SAFE_NO_PAD.encode(&hash[..NAME_BYTES]),
        None => part.to_string(),
    };
    let mut parts = at.splitn(4, '/');
    match [parts.next(), parts.next(), parts.next(), parts.next()] {
        [Some(folder), Some(workspace), Some(path), Some(key)] => {
            format!("{folder}/{workspace}/{}/{}", short(path), short(key))
        }
        _ => at.to_string(),
    }
}

/// What was asked, as it is written today.
pub(super) fn todays_fingerprint(fingerprint: String) -> String {
    from_hex(&fingerprint).map_or(fingerprint, |hash| URL_SAFE_NO_PAD.encode(hash))
}

/// Forgets a key and its answer. Sessions that were made long ago know its name in the first layout
/// of the store.
///
/// # Errors
/// If the store cannot be read.
pub fn forget(unit: &mut Unit, at: String) -> Result<(), ApiError> {
    let at = todays_name(&at);
    if let Some(expires_ms) = unit.get::<u64>(&at)? {
        unit.transaction.delete(answer_at(&at, expires_ms));
        unit.transaction.delete(at);
    }
    Ok(())
}

/// Does `work`, unless the key says that it was done. The answer is JSON.
///
/// # Errors
/// Those of `work`, now or then; or that the key was used for something else.
pub fn once(
    unit: &mut Unit,
    guard: Option<&Guard>,
    work: impl FnOnce(&mut Unit) -> Result<Answer, ApiError>,
) -> Result<Result<String, ApiError>, ApiError> {
    let Some(guard) = guard else { return work(unit).map(|answer| Ok(answer.into_text())) };
    let now = now_ms();
    if unit.may_forget(now, FORGET_EVERY_MS) {
        forget_some(unit, now)?;
    }
    if let Some(expires_ms) = unit.get::<u64>(&guard.at)?
        && expires_ms > now
    {
        let kept: Option<Kept> = unit.get(&answer_at(&guard.at, expires_ms))?;
        let kept = kept.ok_or_else(ApiError::internal)?;
        if kept.fingerprint == guard.fingerprint {
            return kept.given(unit);
        }
        let what = "`Idempotency-Key` was already used for a different request";
        return Err(ApiError::invalid(what));
    }
    let before = unit.savepoint();
    let answer = work(unit);
    match &answer {
        Ok(_) => {}
        Err(error) if error.status >= 500 || error.status == 429 => return Err(error.clone()),
        // Nothing of it counts but that it was answered.
        Err(_) => unit.roll_back(before),
    }
    let kept = Kept::of(guard.fingerprint.clone(), &answer);
    let expires_ms = now + KEPT_MS;
    unit.put(guard.at.clone(), &expires_ms)?;
    unit.put(answer_at(&guard.at, expires_ms), &kept)?;
    Ok(answer.map(Answer::into_text))
}

/// Forgets a few answers that are too old, so that nobody has to come by and do it.
fn forget_some(unit: &mut Unit, now: u64) -> Result<(), ApiError> {
    let range = KeyRange {
        from: format!("{}/", folder::ANSWERS),
        to: format!("{}/{now:020}", folder::ANSWERS),
        order: Order::Ascending,
    };
    for (key, _) in unit.transaction.scan(&range, FORGET_AT_ONCE)? {
        let at = key.splitn(3, '/').nth(2).unwrap_or_default();
        let at = format!("{}/{at}", folder::REQUESTS);
        // It may have been used again since.
        if unit.get::<u64>(&at)?.is_some_and(|expires_ms| expires_ms <= now) {
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
    use assay_ledger::keyed::{SqliteStore, Store, Transaction};

    #[test]
    fn of_events_that_stand_in_a_log_a_key_keeps_the_names() {
        let directory = tempfile::tempdir().expect("a directory");
        let mut store = SqliteStore::open(directory.path()).expect("a new store");
        let (names, counters) = (Names::default(), Counters::default());
        let lines = [("e1", r#"{"id":"e1","text":"\u00e4 \"x\""}"#), ("e2", r#"{"id":"e2"}"#)];
        let lines = lines.map(|(id, line)| (id.to_string(), line.to_string())).to_vec();
        let events = Events { log: "events/w/s".into(), lines: lines.clone() };
        let guard = Guard::of("w", "/p", b"k", b"body");
        let mut ask = || {
            let mut unit = Unit::new(Transaction::new(&mut store), &names, &counters);
            let given = once(&mut unit, Some(&guard), |unit| {
                for (id, line) in &events.lines {
                    unit.transaction.put(format!("events/w/s/{id}"), line.clone().into_bytes());
                }
                Ok(Answer::Events(events.clone()))
            });
            unit.transaction.commit().expect("written");
            given.and_then(|given| given).expect("an answer")
        };
        let (first, again) = (ask(), ask());
        assert_eq!(first, format!("{{\"data\":[{},{}]}}", lines[0].1, lines[1].1));
        assert_eq!(again, first, "byte for byte");
        let range = KeyRange::below(folder::ANSWERS, Order::Ascending);
        let kept = store.scan(&range, 10).expect("read");
        let text = String::from_utf8(kept[0].1.clone()).expect("text");
        assert!(!text.contains("text") && text.contains("e2"), "{text}");
    }

    #[test]
    fn a_key_counts_for_a_day_and_then_it_is_as_if_it_had_never_been_used() {
        let directory = tempfile::tempdir().expect("a directory");
        let mut store = SqliteStore::open(directory.path()).expect("a new store");
        let (names, counters) = (Names::default(), Counters::default());
        let mut unit = Unit::new(Transaction::new(&mut store), &names, &counters);
        let guard = |what: &str| Guard { at: "requests/w/p/k".into(), fingerprint: what.into() };
        let ask = |unit: &mut Unit, what: &str, gives: &str| {
            let answer = once(unit, Some(&guard(what)), |_| Ok(Answer::Text(gives.to_string())));
            answer.and_then(|answer| answer)
        };
        let at = "requests/w/p/k";
        let expires = |unit: &mut Unit| unit.get::<u64>(at).expect("read");
        let kept = |unit: &mut Unit| {
            let answers = KeyRange::below(folder::ANSWERS, Order::Ascending);
            unit.transaction.scan(&answers, 10).expect("read").len()
        };
        let age = |unit: &mut Unit, expires_ms: u64| {
            let before = answer_at(at, expires(unit).expect("kept"));
            let answer: Kept = unit.get(&before).expect("read").expect("kept");
            forget(unit, at.to_string()).expect("read");
            unit.put(at.into(), &expires_ms).expect("collected");
            unit.put(answer_at(at, expires_ms), &answer).expect("collected");
        };
        assert_eq!(ask(&mut unit, "a", "1"), Ok("1".to_string()));
        let left = expires(&mut unit).expect("kept") - now_ms();
        assert!(left <= KEPT_MS && left > KEPT_MS - 60_000, "{left}");
        assert_eq!(ask(&mut unit, "a", "2"), Ok("1".to_string()), "done once");
        assert_eq!(ask(&mut unit, "b", "3").map_err(|error| error.status), Err(400));
        age(&mut unit, now_ms() + 60_000);
        assert_eq!(ask(&mut unit, "a", "4"), Ok("1".to_string()), "not yet");
        age(&mut unit, now_ms() - 1);
        assert_eq!(ask(&mut unit, "b", "5"), Ok("5".to_string()), "also for something else");
        // What is old goes by itself, and what was used again since does not.
        assert_eq!(kept(&mut unit), 2);
        forget_some(&mut unit, now_ms() + KEPT_MS / 2).expect("read");
        assert_eq!((expires(&mut unit).is_some(), kept(&mut unit)), (true, 1));
        assert_eq!(ask(&mut unit, "b", "6"), Ok("5".to_string()));
        forget_some(&mut unit, now_ms() + 2 * KEPT_MS).expect("read");
        assert_eq!((expires(&mut unit), kept(&mut unit)), (None, 0));
        // What a session made goes with it at once.
        assert_eq!(ask(&mut unit, "b", "7"), Ok("7".to_string()));
        forget(&mut unit, at.to_string()).expect("read");
        assert_eq!((expires(&mut unit), kept(&mut unit)), (None, 0));
    }
}
