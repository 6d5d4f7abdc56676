//! What is said to SQLite.

/// The pairs, but for what the journal says.
pub(super) const PAIRS: &str = "CREATE TABLE IF NOT EXISTS pairs \
     (key TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT, WITHOUT ROWID";
/// What was written together since the last move to the pairs.
pub(super) const JOURNAL: &str =
    "CREATE TABLE journal (seq INTEGER PRIMARY KEY, writes BLOB NOT NULL) STRICT";
/// The last row of the journal that was moved, in one row.
pub(super) const MOVED: &str = "CREATE TABLE moved (through INTEGER NOT NULL) STRICT";
pub(super) const NOTHING_MOVED: &str = "INSERT INTO moved (through) VALUES (0)";
/// What others have done since a row: how far they have moved it, and what they have written.
pub(super) const NEWS: &str = "SELECT through AS seq, NULL AS key, NULL AS value FROM moved \
     UNION ALL SELECT seq, NULL, writes FROM journal WHERE seq > ?";
pub(super) const APPEND: &str = "INSERT INTO journal (seq, writes) VALUES (?, ?)";
pub(super) const CUT: &str = "DELETE FROM journal WHERE seq <= ?";
pub(super) const MARK: &str = "UPDATE moved SET through = max(through, ?)";

/// How many pairs one statement reads or writes, as many as fit.
const STATEMENT_PAIRS: [usize; 4] = [64, 16, 4, 1];

/// Cuts a list into pieces of a few sizes, large ones first. Each statement goes to the thread of
/// the database and back, which takes longer than what it does there; and there are only so many
/// sizes, so that each has its statement prepared.
pub(super) fn portions<T>(mut list: &[T]) -> impl Iterator<Item = &[T]> {
    std::iter::from_fn(move || {
        let size = STATEMENT_PAIRS.into_iter().find(|size| *size <= list.len())?;
        let (some, rest) = list.split_at(size);
        list = rest;
        Some(some)
    })
}

pub(super) fn put(pairs: usize) -> String {
    let places = vec!["(?, ?)"; pairs].join(", ");
    format!(
        "INSERT INTO pairs (key, value) VALUES {places} ON CONFLICT (key) DO UPDATE SET value = \
         excluded.value"
    )
}

pub(super) fn delete(keys: usize) -> String {
    format!("DELETE FROM pairs WHERE key IN ({})", vec!["?"; keys].join(", "))
}

/// News, and what stands at some keys: one statement sees one moment.
pub(super) fn get(keys: usize) -> String {
    let places = vec!["?"; keys].join(", ");
    format!("{NEWS} UNION ALL SELECT NULL, key, value FROM pairs WHERE key IN ({places})")
}

/// News, and the first pairs of a range.
pub(super) fn scan(order: &str) -> String {
    format!(
        "{NEWS} UNION ALL SELECT NULL, key, value FROM (SELECT key, value FROM pairs \
         WHERE key >= ? AND key < ? ORDER BY key {order} LIMIT ?)"
    )
}
