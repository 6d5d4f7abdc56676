//! Pages of lists, and the cursors between them.
//!
//! A cursor names the thing at the edge of a page, the order, and what the list was filtered by; it
//! is never a time, because many things have the same. The workspace comes from the key of the
//! request, so that a cursor opens nothing by itself.

use crate::error::ApiError;
use assay_ledger::keyed::{KeyRange, Order, Pair, Store};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};

/// Pairs that are looked through at once.
const SCAN_PAGE: usize = 500;
const CURSOR_VERSION: u32 = 1;
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
    filter: String,
}

/// Collects a page of those pairs that are wanted.
///
/// # Errors
/// If the cursor is none, or the store cannot be read.
pub fn page(
    store: &mut dyn Store,
    wanted: &Wanted,
    is_wanted: impl Fn(&mut dyn Store, &Pair) -> Result<bool, ApiError>,
) -> Result<Page, ApiError> {
    let cursor = wanted.page.as_deref().map(|text| wanted.cursor(text)).transpose()?;
    let back = cursor.as_ref().is_some_and(|cursor| cursor.back);
    let order = if back { wanted.order.reversed() } else { wanted.order };
    let mut range = KeyRange::below(&wanted.folder, order);
    if let Some(cursor) = &cursor {
        range = range.after(&format!("{}/{}", wanted.folder, cursor.at));
    }
    let mut pairs = collect(store, range, wanted.limit + 1, &is_wanted)?;
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

/// The first `limit` pairs of a range that are wanted.
///
/// # Errors
/// If the store cannot be read.
pub fn collect(
    store: &mut dyn Store,
    mut range: KeyRange,
    limit: usize,
    is_wanted: &impl Fn(&mut dyn Store, &Pair) -> Result<bool, ApiError>,
) -> Result<Vec<Pair>, ApiError> {
    let mut found = Vec::new();
    loop {
        let pairs = store.scan(&range, SCAN_PAGE)?;
        let (count, last) = (pairs.len(), pairs.last().map(|(key, _)| key.clone()));
        for pair in pairs {
            if is_wanted(store, &pair)? {
                found.push(pair);
                if found.len() == limit {
                    return Ok(found);
                }
            }
        }
        match last {
            Some(last) if count == SCAN_PAGE => range = range.after(&last),
            _ => return Ok(found),
        }
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
        match cursor.filter == self.filter {
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
            filter: self.filter.clone(),
        };
        URL_SAFE_NO_PAD.encode(serde_json::to_vec(&cursor).unwrap_or_default())
    }
}
