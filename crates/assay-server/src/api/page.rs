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
    loop {
        let (one, is_wanted, left) = (range.clone(), is_wanted.clone(), limit - found.len());
        let looked = reader.ask(move |store| look(store, &one, left, is_wanted.as_ref())).await?;
        found.extend(looked.0);
        match looked.1 {
            Some(last) if found.len() < limit => range = range.after(&last),
            _ => return Ok(found),
        }
    }
}

/// One question: those of the first pairs of a range that are wanted, and where it goes on.
fn look(
    store: &mut dyn Store,
    range: &KeyRange,
    limit: usize,
    is_wanted: &impl Fn(&mut dyn Store, &Pair) -> Result<bool, ApiError>,
) -> Result<(Vec<Pair>, Option<String>), ApiError> {
    let pairs = store.scan(range, SCAN_PAGE)?;
    let last = pairs.last().filter(|_| pairs.len() == SCAN_PAGE).map(|(key, _)| key.clone());
    let mut found = Vec::new();
    for pair in pairs {
        if found.len() == limit {
            break;
        }
        if is_wanted(store, &pair)? {
            found.push(pair);
        }
    }
    Ok((found, last))
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
    use assay_ledger::keyed::SqliteStore;
    use std::sync::atomic::{AtomicUsize, Ordering};

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
