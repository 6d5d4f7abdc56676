//! What is said to SQLite.
//!
//! Each text goes to the thread of the database and back, which takes longer than what it does
//! there. So a text says as much as it can, and has one of a few sizes, so that each is prepared
//! once: places that are left over are NULL, which is nothing to any of them.

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
const NEWS: &str = "SELECT through AS seq, NULL AS key, NULL AS value FROM moved \
     UNION ALL SELECT seq, NULL, writes FROM journal WHERE seq > ?";
const CUT: &str = "DELETE FROM journal WHERE seq <= ?";
const MARK: &str = "UPDATE moved SET through = max(through, ?)";
const APPEND: &str = "INSERT INTO journal (seq, writes) VALUES (?, ?)";

/// How many pairs or keys one text has places for.
const PLACES: [usize; 4] = [1, 8, 64, PLACES_MAX];
/// The most of them. A list that is longer goes in several texts.
pub(super) const PLACES_MAX: usize = 256;

/// Places for so many, which are no more than fit.
pub(super) fn places(count: usize) -> usize {
    PLACES.into_iter().find(|places| *places >= count).unwrap_or(PLACES_MAX)
}

/// A text, what it needs beside what is bound to it, and of how many statements it is.
#[derive(Default)]
pub(super) struct Text {
    /// What is said.
    pub(super) sql: String,
    /// How many statements that are.
    pub(super) statements: usize,
}

impl Text {
    /// One more statement.
    pub(super) fn add(&mut self, sql: &str) {
        if self.statements > 0 {
            self.sql.push_str("; ");
        }
        self.sql.push_str(sql);
        self.statements += 1;
    }
}

/// Statements that are said together.
pub(super) fn of(statements: &[&str]) -> Text {
    let mut text = Text::default();
    statements.iter().for_each(|sql| text.add(sql));
    text
}

/// Begins a transaction, with the news behind a row.
pub(super) fn begin() -> Text {
    of(&["BEGIN IMMEDIATE", NEWS])
}

/// The last text of a transaction: what it says is there with everything before, or not at all.
#[derive(Clone, Copy, Debug)]
pub(super) struct Last {
    /// Pairs that go to the table.
    pub(super) puts: usize,
    /// Keys that leave it.
    pub(super) deletes: usize,
    /// Whether rows of the journal are cut off.
    pub(super) cuts: bool,
    /// Whether it gets another one.
    pub(super) appends: bool,
}

impl Last {
    /// The places that are left over for pairs, and for keys.
    pub(super) fn left_over(&self) -> (usize, usize) {
        let left = |count: usize| if count == 0 { 0 } else { places(count) - count };
        (left(self.puts), left(self.deletes))
    }

    /// The text.
    pub(super) fn text(&self) -> Text {
        let mut text = Text::default();
        if self.puts > 0 {
            text.add(&put(places(self.puts)));
        }
        if self.deletes > 0 {
            text.add(&format!("DELETE FROM pairs WHERE key IN ({})", list(places(self.deletes))));
        }
        if self.cuts {
            text.add(CUT);
            text.add(MARK);
        }
        if self.appends {
            text.add(APPEND);
        }
        text.add("COMMIT");
        text
    }
}

/// A part of what goes to the table, with all its places taken.
pub(super) fn put_many() -> Text {
    of(&[&put(PLACES_MAX)])
}

/// A part of what leaves it.
pub(super) fn delete_many() -> Text {
    of(&[&format!("DELETE FROM pairs WHERE key IN ({})", list(PLACES_MAX))])
}

fn put(places: usize) -> String {
    let places = vec!["(?, ?)"; places].join(", ");
    format!(
        "INSERT INTO pairs (key, value) SELECT column1, column2 FROM (VALUES {places}) \
         WHERE column1 IS NOT NULL ON CONFLICT (key) DO UPDATE SET value = excluded.value"
    )
}

fn list(places: usize) -> String {
    vec!["?"; places].join(", ")
}

/// News, and what stands at some keys: one statement sees one moment.
pub(super) fn get(keys: usize) -> Text {
    let keys = list(places(keys));
    of(&[&format!("{NEWS} UNION ALL SELECT NULL, key, value FROM pairs WHERE key IN ({keys})")])
}

/// News, and the first pairs of a range.
pub(super) fn scan(order: &str) -> Text {
    of(&[&format!(
        "{NEWS} UNION ALL SELECT NULL, key, value FROM (SELECT key, value FROM pairs \
         WHERE key >= ? AND key < ? ORDER BY key {order} LIMIT ?)"
    )])
}
