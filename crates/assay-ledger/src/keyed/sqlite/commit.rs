//! One commit: a row of the journal, and a part of the move that may be under way.

use super::super::Writes;
use super::recent::{Recent, Seq, Walk};
use super::statements::{self, portions};
use super::{group, take_in};
use sqlx::SqliteConnection;

/// When what goes where.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    /// When the journal is long enough to be moved, in bytes of keys and values. Whoever has the
    /// store open remembers at most about as much.
    pub(super) move_bytes: usize,
    /// A commit of so many bytes is not worth a journal.
    pub(super) direct_bytes: usize,
}

impl Default for Sizes {
    fn default() -> Sizes {
        Sizes { move_bytes: 8 << 20, direct_bytes: 1 << 20 }
    }
}

/// Keys that a commit looks at for the move, for each that it writes: so the move ends before the
/// journal has grown by as much again.
const LOOKS_PER_WRITE: usize = 2;
const LOOKS_MIN: usize = 64;

/// Why a transaction was not written.
pub(super) enum Failed {
    /// Before its end.
    Writing(sqlx::Error),
    /// In its end.
    Committing(sqlx::Error),
}

impl From<sqlx::Error> for Failed {
    fn from(error: sqlx::Error) -> Failed {
        Failed::Writing(error)
    }
}

/// What a commit has done, and what is known afterwards.
pub(super) enum Written {
    /// The journal has a row more, unless nothing had to stand there.
    Journal {
        /// The row.
        row: Option<(Seq, Writes)>,
        /// Where the move stands, if one is under way.
        walk: Option<Walk>,
        /// The last row of those that were cut off, because the move was over.
        cut: Option<Seq>,
    },
    /// Everything is in the table.
    Table,
}

impl Written {
    /// Learns it; gives the move that is under way.
    pub(super) fn take_in(self, recent: &mut Recent) -> Option<Walk> {
        match self {
            Written::Journal { row, walk, cut } => {
                if let Some(through) = cut {
                    recent.forget(through);
                }
                if let Some((seq, writes)) = row {
                    recent.learn(seq, writes);
                }
                walk
            }
            Written::Table => {
                recent.forget(recent.seen());
                None
            }
        }
    }
}

/// One transaction, begun and ended in words: SQLite ends one by itself when the disk is full, and
/// whoever counts them for us would believe for ever that it goes on. It begins with what others
/// have written meanwhile, so that `recent` is all of the journal.
pub(super) async fn write(
    connection: &mut SqliteConnection,
    recent: &mut Recent,
    walk: Option<&Walk>,
    sizes: Sizes,
    writes: &Writes,
) -> Result<Written, Failed> {
    sqlx::query("BEGIN IMMEDIATE").execute(&mut *connection).await?;
    let news = sqlx::query(statements::NEWS).bind(recent.seen()).fetch_all(&mut *connection);
    let news = news.await?;
    take_in(recent, &news)?;
    let written = match group::size(writes) >= sizes.direct_bytes {
        true => to_table(connection, recent, writes).await?,
        false => to_journal(connection, recent, walk, sizes, writes).await?,
    };
    let committed = sqlx::query("COMMIT").execute(&mut *connection).await;
    committed.map(|_| written).map_err(Failed::Committing)
}

async fn to_journal(
    connection: &mut SqliteConnection,
    recent: &Recent,
    walk: Option<&Walk>,
    sizes: Sizes,
    writes: &Writes,
) -> Result<Written, sqlx::Error> {
    let begun = || (recent.bytes() >= sizes.move_bytes).then(|| recent.walk());
    let (mut then, mut cut) = (None, None);
    if let Some(walk) = walk.cloned().or_else(begun) {
        let steps = recent.steps(&walk, LOOKS_MIN.max(writes.len() * LOOKS_PER_WRITE));
        put(connection, &steps.pairs).await?;
        if steps.then.is_none() {
            cut_off(connection, walk.through).await?;
            cut = Some(walk.through);
        }
        then = steps.then;
    }
    // Behind the move, which may just have put there what goes now.
    delete(connection, writes).await?;
    let must_stand = |(key, value): &(&String, &Option<Vec<u8>>)| {
        value.is_some() || recent.get(key).is_some_and(|value| value.is_some())
    };
    let row = writes.iter().filter(must_stand).map(|(key, value)| (key.clone(), value.clone()));
    let row: Writes = row.collect();
    let seq = recent.seen() + 1;
    if row.is_empty() {
        return Ok(Written::Journal { row: None, walk: then, cut });
    }
    let append = sqlx::query(statements::APPEND).bind(seq).bind(group::encode(&row));
    append.execute(&mut *connection).await?;
    Ok(Written::Journal { row: Some((seq, row)), walk: then, cut })
}

async fn to_table(
    connection: &mut SqliteConnection,
    recent: &Recent,
    writes: &Writes,
) -> Result<Written, sqlx::Error> {
    let all = recent.steps(&recent.walk(), usize::MAX);
    put(connection, &all.pairs).await?;
    let own: Vec<(&String, &Vec<u8>)> =
        writes.iter().filter_map(|(key, value)| Some((key, value.as_ref()?))).collect();
    put(connection, &own).await?;
    delete(connection, writes).await?;
    cut_off(connection, recent.seen()).await?;
    Ok(Written::Table)
}

async fn cut_off(connection: &mut SqliteConnection, through: Seq) -> Result<(), sqlx::Error> {
    sqlx::query(statements::CUT).bind(through).execute(&mut *connection).await?;
    sqlx::query(statements::MARK).bind(through).execute(&mut *connection).await?;
    Ok(())
}

async fn put(
    connection: &mut SqliteConnection,
    pairs: &[(&String, &Vec<u8>)],
) -> Result<(), sqlx::Error> {
    for some in portions(pairs) {
        let mut query = sqlx::query(sqlx::AssertSqlSafe(statements::put(some.len())));
        for (key, value) in some {
            query = query.bind(*key).bind(*value);
        }
        query.execute(&mut *connection).await?;
    }
    Ok(())
}

async fn delete(connection: &mut SqliteConnection, writes: &Writes) -> Result<(), sqlx::Error> {
    let gone: Vec<&String> =
        writes.iter().filter(|(_, value)| value.is_none()).map(|(key, _)| key).collect();
    for some in portions(&gone) {
        let mut query = sqlx::query(sqlx::AssertSqlSafe(statements::delete(some.len())));
        for key in some {
            query = query.bind(*key);
        }
        query.execute(&mut *connection).await?;
    }
    Ok(())
}
