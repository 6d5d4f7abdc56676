//! One commit: a row of the journal, and a part of the move that may be under way.

use super::super::Writes;
use super::ask::{BrokeOff, Query, say};
use super::group::{self, Row, Said};
use super::recent::{Recent, Seq, Stride, Walk};
use super::statements::{self, Last, PLACES_MAX};
use super::take_in;
use sqlx::SqliteConnection;
use std::collections::BTreeSet;
use std::sync::Arc;

/// When what goes where, in bytes of keys and values.
#[derive(Clone, Copy, Debug)]
pub struct StoreSizes {
    /// When the journal is long enough to be moved. Whoever has the store open remembers at most
    /// about three times as much.
    pub move_bytes: usize,
    /// A value of so many bytes is not worth being written twice: it goes to its place at once.
    pub direct_bytes: usize,
    /// What one commit adds to the journal at most. Of one that writes more, what is largest goes
    /// to its place at once.
    pub row_bytes: usize,
}

impl Default for StoreSizes {
    fn default() -> StoreSizes {
        StoreSizes { move_bytes: 8 << 20, direct_bytes: 64 << 10, row_bytes: 1 << 20 }
    }
}

/// Keys that a commit looks at for the move, for each that it writes, and bytes that it moves, for
/// each that it adds to the journal: so the move ends before the journal has grown by half.
const LOOKS_PER_WRITE: usize = 2;
const MOVED_PER_WRITTEN: usize = 2;

/// Why a transaction was not written.
#[derive(Debug)]
pub(super) enum Failed {
    /// Before its end.
    Writing(sqlx::Error),
    /// In its end.
    Committing(sqlx::Error),
}

impl Failed {
    /// Whether the thread of SQLite is gone.
    pub(super) fn is_by_thread(&self) -> bool {
        let (Failed::Writing(error) | Failed::Committing(error)) = self;
        matches!(error, sqlx::Error::WorkerCrashed)
    }
}

impl From<sqlx::Error> for Failed {
    fn from(error: sqlx::Error) -> Failed {
        Failed::Writing(error)
    }
}

impl From<BrokeOff> for Failed {
    fn from(broke: BrokeOff) -> Failed {
        Failed::Writing(broke.error)
    }
}

/// What a commit has done, and what is known afterwards.
pub(super) struct Written {
    /// The row that the journal has more, unless nothing had to stand there.
    row: Option<(Seq, Row)>,
    /// Where the move stands, if one is under way.
    walk: Option<Walk>,
    /// The last row of those that were cut off, because the move was over.
    cut: Option<Seq>,
}

impl Written {
    /// Learns it; gives the move that is under way.
    pub(super) fn take_in(self, recent: &mut Recent) -> Option<Walk> {
        if let Some(through) = self.cut {
            recent.forget(through);
        }
        if let Some((seq, row)) = self.row {
            recent.learn(seq, row);
        }
        self.walk
    }
}

/// One transaction, begun and ended in words: SQLite ends one by itself when the disk is full, and
/// whoever counts them for us would believe for ever that it goes on. It begins with what others
/// have written meanwhile, so that `recent` is all of the journal.
pub(super) async fn write(
    connection: &mut SqliteConnection,
    recent: &mut Recent,
    walk: Option<&Walk>,
    sizes: StoreSizes,
    writes: &Writes,
) -> Result<Written, Failed> {
    let seen = recent.seen();
    let news = say(connection, statements::begin(), |query| query.bind(seen)).await?;
    take_in(recent, &news)?;
    let Split { direct, row, gone } = split(recent, sizes, writes);
    let begun = || (recent.bytes() >= sizes.move_bytes).then(|| recent.walk());
    let (mut puts, mut then, mut cut) = (direct, None, None);
    if let Some(walk) = walk.cloned().or_else(begun) {
        let keys = writes.len() * LOOKS_PER_WRITE;
        let stride = Stride { keys, bytes: group::size(&row) * MOVED_PER_WRITTEN };
        let steps = recent.steps(&walk, stride, |key| writes.contains_key(key));
        puts.extend(steps.pairs);
        cut = steps.then.is_none().then_some(walk.through);
        then = steps.then;
    }
    let row = (!row.is_empty()).then(|| (recent.seen() + 1, row));
    let end = End { puts, gone, cut, row: row.as_ref() };
    end.say(connection).await?;
    Ok(Written { row, walk: then, cut })
}

/// Where everything goes that is written.
struct Split<'a> {
    /// To its place at once.
    direct: Vec<(&'a str, &'a [u8])>,
    /// To the journal.
    row: Row,
    /// Away from its place.
    gone: Vec<&'a str>,
}

fn split<'a>(recent: &Recent, sizes: StoreSizes, writes: &'a Writes) -> Split<'a> {
    let large = large(sizes, writes);
    let mut row: Vec<(Arc<str>, Said)> = Vec::new();
    let (mut direct, mut gone) = (Vec::new(), Vec::new());
    for (key, value) in writes {
        let before = recent.get(key);
        let said = match value {
            Some(value) if !large.contains(key.as_str()) => {
                Some(Said::Value(Arc::from(value.as_slice())))
            }
            Some(value) => {
                direct.push((key.as_str(), value.as_slice()));
                // What the journal says of it would hide it.
                before.filter(|said| **said != Said::InTable).map(|_| Said::InTable)
            }
            None => {
                gone.push(key.as_str());
                matches!(before, Some(Said::Value(_))).then_some(Said::Gone)
            }
        };
        row.extend(said.map(|said| (Arc::from(key.as_str()), said)));
    }
    Split { direct, row: row.into(), gone }
}

/// The keys whose values are not worth being written twice.
fn large(sizes: StoreSizes, writes: &Writes) -> BTreeSet<&str> {
    let values = || writes.iter().filter_map(|(key, value)| Some((key.as_str(), value.as_ref()?)));
    let is_large = |value: &Vec<u8>| value.len() >= sizes.direct_bytes;
    let size = |(key, value): (&str, &Vec<u8>)| key.len() + value.len();
    let mut bytes: usize = values().filter(|(_, value)| !is_large(value)).map(size).sum();
    let mut large: BTreeSet<&str> =
        values().filter(|(_, value)| is_large(value)).map(|(key, _)| key).collect();
    if bytes > sizes.row_bytes {
        let mut others: Vec<_> = values().filter(|(_, value)| !is_large(value)).collect();
        others.sort_by_key(|(_, value)| value.len());
        while bytes > sizes.row_bytes
            && let Some(largest) = others.pop()
        {
            bytes -= size(largest);
            large.insert(largest.0);
        }
    }
    large
}

/// All that a transaction says after its beginning.
struct End<'a> {
    puts: Vec<(&'a str, &'a [u8])>,
    gone: Vec<&'a str>,
    cut: Option<Seq>,
    row: Option<&'a (Seq, Row)>,
}

impl End<'_> {
    /// In as few texts as it fits in: in one, as a rule.
    async fn say(&self, connection: &mut SqliteConnection) -> Result<(), Failed> {
        let (mut puts, mut gone) = (self.puts.as_slice(), self.gone.as_slice());
        while let Some((some, rest)) = puts.split_at_checked(PLACES_MAX)
            && !rest.is_empty()
        {
            say(connection, statements::put_many(), |query| bind_pairs(query, some)).await?;
            puts = rest;
        }
        while let Some((some, rest)) = gone.split_at_checked(PLACES_MAX)
            && !rest.is_empty()
        {
            say(connection, statements::delete_many(), |query| bind_keys(query, some)).await?;
            gone = rest;
        }
        let (cuts, appends) = (self.cut.is_some(), self.row.is_some());
        let last = Last { puts: puts.len(), deletes: gone.len(), cuts, appends };
        let text = last.text();
        let before_commit = text.statements - 1;
        let (pairs_left, keys_left) = last.left_over();
        let bind = |query| {
            let query = bind_nothing(bind_pairs(query, puts), 2 * pairs_left);
            let query = bind_nothing(bind_keys(query, gone), keys_left);
            let query =
                self.cut.into_iter().fold(query, |q, through| q.bind(through).bind(through));
            self.row.into_iter().fold(query, |q, (seq, row)| q.bind(*seq).bind(group::encode(row)))
        };
        say(connection, text, bind).await.map(|_| ()).map_err(|BrokeOff { done, error }| {
            // Of a thread that is lost nobody knows how far it came.
            match done >= before_commit || matches!(error, sqlx::Error::WorkerCrashed) {
                true => Failed::Committing(error),
                false => Failed::Writing(error),
            }
        })
    }
}

fn bind_pairs<'q>(query: Query<'q>, pairs: &[(&str, &[u8])]) -> Query<'q> {
    pairs
        .iter()
        .fold(query, |query, (key, value)| query.bind((*key).to_string()).bind(value.to_vec()))
}

/// Keys, in their order.
pub(super) fn bind_keys<'q>(query: Query<'q>, keys: &[&str]) -> Query<'q> {
    keys.iter().fold(query, |query, key| query.bind((*key).to_string()))
}

/// Leaves places empty.
pub(super) fn bind_nothing(query: Query<'_>, places: usize) -> Query<'_> {
    (0..places).fold(query, |query, _| query.bind(None::<i64>))
}
