//! Pages of lists, and the cursors between them.
//!
//! A cursor names the thing at the edge of a page, the order, and what the list was filtered by; it
//! is never a time, because many things have the same. The workspace comes from the key of the
//! request, so that a cursor opens nothing by itself.

use crate::error::ApiError;
use crate::store::Reader;
use assay_ledger::keyed::{KeyRange, Order, Pair, Store};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// Pairs that are looked through at once.
const SCAN_PAGE: usize = 500;
/// Pairs that are read first: if they are large, no more than that was read in vain.
const FIRST_STEP: usize = 32;
/// How much more is read in the next step, where few are wanted.
const STEP_GROWTH: usize = 4;
/// Bytes that are looked through at once; the first step, or one pair, may have more.
const SCAN_BYTES: usize = 1024 * 1024;
const CURSOR_VERSION: u32 = 2;
const CURSOR_BYTES_MAX: usize = 2048;

/// Which page of which list.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// The folder of the list.
    pub folder: String,
    /// What it is filtered by: cursors of another list do not fit.
    pub filter: String,
    /// The order clients see.
    pub order: Order,
    /// How many.
    pub limit: usize,
    /// From where.
    pub page: Option<String>,
}

/// A page.
#[derive(Debug)]
pub struct Page {
    /// The pairs, in the order clients see.
    pub pairs: Vec<Pair>,
    /// To what follows.
    pub next: Option<String>,
    /// To what came before.
    pub previous: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct Cursor {
    v: u32,
    /// The key at the edge, without the folder.
    at: String,
    ascending: bool,
    /// Away from what follows.
    back: bool,
    /// The hash of what the list is filtered by: that may be longer than any address.
    filter: String,
}

/// Collects a page of those pairs that are wanted.
///
/// # Errors
/// If the cursor is none, or the store cannot be read.
pub async fn page(
    reader: &Reader,
    wanted: &Wanted,
    is_wanted: impl Fn(&mut dyn Store, &Pair) -> Result<bool, ApiError> + Send + Sync + 'static,
) -> Result<Page, ApiError> {
    let cursor = wanted.page.as_deref().map(|text| wanted.cursor(text)).transpose()?;
    let back = cursor.as_ref().is_some_and(|cursor| cursor.back);
    let order = if back { wanted.order.reversed() } else { wanted.order };
    let mut range = KeyRange::below(&wanted.folder, order);
    if let Some(cursor) = &cursor {
        range = range.after(&format!("{}/{}", wanted.folder, cursor.at));
    }
    let mut pairs = collect(reader, range, wanted.limit + 1, is_wanted).await?;
    let more = pairs.len() > wanted.limit;
    pairs.truncate(wanted.limit);
    if back {
        pairs.reverse();
    }
    let (first, last) = (pairs.first().cloned(), pairs.last().cloned());
    let follows = back || more;
    let precedes = if back { more } else { cursor.is_some() };
    let next = last.filter(|_| follows).map(|(key, _)| wanted.text(&key, false));
    let previous = first.filter(|_| precedes).map(|(key, _)| wanted.text(&key, true));
    Ok(Page { pairs, next, previous })
}

/// The first `limit` pairs of a range that are wanted. A long range takes several questions, so
/// that others who want to know something come in between: there is one thread that reads.
///
/// # Errors
/// If the store cannot be read.
pub async fn collect(
    reader: &Reader,
    mut range: KeyRange,
    limit: usize,
    is_wanted: impl Fn(&mut dyn Store, &Pair) -> Result<bool, ApiError> + Send + Sync + 'static,
) -> Result<Vec<Pair>, ApiError> {
    let (is_wanted, mut found) = (Arc::new(is_wanted), Vec::new());
    let mut step = FIRST_STEP.min(limit);
    while found.len() < limit {
        let (one, is_wanted, left) = (range.clone(), is_wanted.clone(), limit - found.len());
        let question = move |store: &mut dyn Store| look(store, one, left, step, &*is_wanted);
        let looked = reader.ask(question).await?;
        found.extend(looked.found);
        match looked.last {
            Some(last) => range = range.after(&last),
            None => break,
        }
        step = looked.step;
    }
    Ok(found)
}

/// What came of one question.
struct Looked {
    /// Those that are wanted.
    found: Vec<Pair>,
    /// Where it goes on, if it does.
    last: Option<String>,
    /// How many to read next.
    step: usize,
}

/// One question: those of the first pairs of a range that are wanted. No more is read than is
/// wanted, as long as everything is; otherwise more with every step, up to so many pairs or bytes.
fn look(
    store: &mut dyn Store,
    mut range: KeyRange,
    limit: usize,
    mut step: usize,
    is_wanted: &impl Fn(&mut dyn Store, &Pair) -> Result<bool, ApiError>,
) -> Result<Looked, ApiError> {
    let (mut found, mut looked, mut bytes) = (Vec::new(), 0, 0);
    loop {
        let count = step.min(SCAN_PAGE - looked);
        let pairs = store.scan(&range, count)?;
        let last = pairs.last().filter(|_| pairs.len() == count).map(|(key, _)| key.clone());
        looked += pairs.len();
        bytes += pairs.iter().map(|(_, value)| value.len()).sum::<usize>();
        for pair in pairs {
            if found.len() < limit && is_wanted(store, &pair)? {
                found.push(pair);
            }
        }
        let fitting = SCAN_BYTES / (bytes / looked.max(1)).max(1);
        step = (step * STEP_GROWTH).min(fitting).max(1);
        if found.len() == looked {
            // Nothing is filtered, as it seems.
            step = step.min(limit.saturating_sub(found.len()).max(1));
        }
        let Some(at) = last else { return Ok(Looked { found, last: None, step }) };
        if found.len() == limit || looked == SCAN_PAGE || bytes >= SCAN_BYTES {
            return Ok(Looked { found, last: Some(at), step });
        }
        range = range.after(&at);
    }
}

/// A page of a short list that is held as a whole, in the order of its ids; the cursor is the last
/// id that was seen.
///
/// # Errors
/// If the cursor is none.
pub fn short_page<T>(
    all: Vec<T>,
    id: impl Fn(&T) -> &str,
    limit: usize,
    page: Option<String>,
) -> Result<(Vec<T>, Option<String>), ApiError> {
    let bad = || ApiError::invalid("invalid page cursor");
    let after = match page {
        None => String::new(),
        Some(text) => {
            let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| bad())?;
            String::from_utf8(bytes).map_err(|_| bad())?
        }
    };
    let mut left = all.into_iter().filter(|one| id(one) > after.as_str()).peekable();
    let found: Vec<T> = left.by_ref().take(limit).collect();
    let next = left.peek().and(found.last()).map(|last| URL_SAFE_NO_PAD.encode(id(last)));
    Ok((found, next))
}

impl Wanted {
    fn cursor(&self, text: &str) -> Result<Cursor, ApiError> {
        let bad = || ApiError::invalid("invalid page cursor");
        if text.len() > CURSOR_BYTES_MAX {
            return Err(bad());
        }
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| bad())?;
        let cursor: Cursor = serde_json::from_slice(&bytes).map_err(|_| bad())?;
        if cursor.v != CURSOR_VERSION || cursor.at.contains('/') {
            return Err(bad());
        }
        if cursor.ascending != (self.order == Order::Ascending) {
            return Err(ApiError::invalid("page token order does not match request"));
        }
        match cursor.filter == self.filter_hash() {
            true => Ok(cursor),
            false => Err(ApiError::invalid("page token filters do not match request")),
        }
    }

    fn text(&self, key: &str, back: bool) -> String {
        let cursor = Cursor {
            v: CURSOR_VERSION,
            at: key.rsplit('/').next().unwrap_or_default().to_string(),
            ascending: self.order == Order::Ascending,
            back,
            filter: self.filter_hash(),
        };
        URL_SAFE_NO_PAD.encode(serde_json::to_vec(&cursor).unwrap_or_default())
    }

    fn filter_hash(&self) -> String {
        URL_SAFE_NO_PAD.encode(Sha256::digest(self.filter.as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_ledger::keyed::{SqliteStore, StoreError, Writes};
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// A store that keeps how many pairs and bytes each scan gave.
    struct Counting(SqliteStore, Arc<Mutex<Vec<(usize, usize)>>>);

    impl Store for Counting {
        fn get(&mut self, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
            self.0.get(key)
        }

        fn scan(&mut self, range: &KeyRange, limit: usize) -> Result<Vec<Pair>, StoreError> {
            let pairs = self.0.scan(range, limit)?;
            let bytes = pairs.iter().map(|(_, value)| value.len()).sum();
            self.1.lock().expect("nobody panics with it").push((pairs.len(), bytes));
            Ok(pairs)
        }

        fn commit(&mut self, writes: &Writes) -> Result<(), StoreError> {
            self.0.commit(writes)
        }
    }

    #[test]
    fn no_more_is_read_than_a_page_needs_and_no_question_reads_much() {
        // So many pairs of this size, of which every so many-th is wanted: how many are found, and
        // how many each scan reads.
        let check = |(count, size, each): (usize, usize, usize), limit, expected: &[usize]| {
            let directory = tempfile::tempdir().expect("a directory");
            let mut store = SqliteStore::open(directory.path()).expect("a new store");
            let pairs = (0..count).map(|at| (format!("x/{at:06}"), Some(vec![b'x'; size])));
            store.commit(&pairs.collect()).expect("written");
            let scans = Arc::new(Mutex::new(Vec::new()));
            let reader = Reader::start(Box::new(Counting(store, scans.clone())));
            let reader = reader.expect("a thread");
            let is_wanted = move |_: &mut dyn Store, (key, _): &Pair| {
                let at: usize = key[2..].parse().expect("a number");
                Ok(at.is_multiple_of(each))
            };
            let range = KeyRange::below("x", Order::Ascending);
            let runtime = tokio::runtime::Builder::new_current_thread().build();
            let found = collect(&reader, range, limit, is_wanted);
            let found = runtime.expect("a runtime").block_on(found).expect("read");
            let keys = found.into_iter().map(|(key, _)| key).collect::<Vec<_>>();
            let all = (0..count).step_by(each).take(limit).map(|at| format!("x/{at:06}"));
            assert_eq!(keys, all.collect::<Vec<_>>(), "{count} {size} {each} {limit}");
            let scans = scans.lock().expect("nobody panics with it");
            let counts = scans.iter().map(|(pairs, _)| *pairs).collect::<Vec<_>>();
            assert_eq!(counts, expected, "{count} {size} {each} {limit}");
            for (pairs, bytes) in &scans[1..] {
                assert!(*pairs == 1 || *bytes <= SCAN_BYTES, "{pairs} {bytes}");
            }
        };
        // What is not filtered.
        check((600, 10, 1), 2, &[2]);
        check((600, 10, 1), 21, &[21]);
        check((600, 10, 1), 101, &[32, 69]);
        check((50, 10, 1), 101, &[32, 18]);
        check((0, 10, 1), 101, &[0]);
        check((1, 10, 1), 1, &[1]);
        check((40, 500_000, 1), 2, &[2]);
        check((40, 500_000, 1), 40, &[32, 2, 2, 2, 2]);
        // Few are wanted.
        check((600, 10, 600), 2, &[2, 8, 32, 128, 330, 100]);
        check((40, 500_000, 40), 2, &[&[2; 20][..], &[0]].concat());
        check((12, 3_000_000, 12), 11, &[11, 1, 0]);
    }

    #[test]
    fn whoever_asks_while_a_long_list_is_looked_through_comes_in_between() {
        let directory = tempfile::tempdir().expect("a directory");
        let mut store = SqliteStore::open(directory.path()).expect("a new store");
        let count = SCAN_PAGE * 5 / 2;
        let pairs = (0..count).map(|number| (format!("x/{number:06}"), Some(Vec::new())));
        store.commit(&pairs.collect()).expect("written");
        let reader = Reader::start(Box::new(store)).expect("a thread");
        let looked = Arc::new(AtomicUsize::new(0));
        let (seen, range) = (looked.clone(), KeyRange::below("x", Order::Descending));
        let long = collect(&reader, range, 2, move |_, (key, _)| {
            seen.fetch_add(1, Ordering::SeqCst);
            Ok(key == "x/000000" || key == "x/000600")
        });
        let seen = looked.clone();
        let other = reader.ask(move |_| Ok(seen.load(Ordering::SeqCst)));
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let (long, other) = runtime.block_on(async { tokio::join!(long, other) });
        let keys: Vec<String> = long.expect("read").into_iter().map(|(key, _)| key).collect();
        assert_eq!(keys, ["x/000600", "x/000000"]);
        assert_eq!((other, looked.load(Ordering::SeqCst)), (Ok(SCAN_PAGE), count));
    }
}
