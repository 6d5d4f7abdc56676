//! Pairs in SQLite: one file, one commit at a time.
//!
//! Keys that are written together stand far from each other, and a page of the file for each would
//! cost many times what they say. So a commit is one row at the end of a journal, and what the
//! journal says hides what stands in the table of pairs. Whoever has the store open knows the
//! journal by heart ([`recent::Recent`]). When it has become long, every commit also moves a few of
//! its pairs, in the order of their keys, so that neighbours share their pages; once all that stood
//! there when the move began is in the table, those rows are cut off. Large values go to the table
//! at once, and the journal says no more of them than that, and only if it has said something else
//! before. What is taken away leaves the table at once, too: so nobody who looks for the first
//! pairs of a range has to look past what is gone.
//!
//! News of the journal and pairs of the table are read by one statement, which sees one moment;
//! and every change is one transaction. So nothing depends on who moves what when.

mod ask;
mod checkpoints;
mod commit;
mod feed;
mod group;
mod opening;
mod recent;
mod statements;
#[cfg(test)]
mod tests;

use self::ask::{BrokeOff, Query, say};
use self::checkpoints::Checkpoints;
pub use self::commit::StoreSizes;
use self::commit::{Failed, bind_keys, bind_nothing, write};
use self::feed::Feed;
pub use self::opening::STORE_NAME;
use self::recent::{Recent, Walk};
use self::statements::{PLACES_MAX, Text};
use super::{KeyRange, Order, Pair, Store, StoreError, Writes, check_sizes, in_order};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};
use std::path::Path;
use std::sync::Arc;
use tokio::runtime::Runtime;

/// What SQLite calls an error of the disk, in the part of its codes that all kinds of it share.
const IO_ERROR: i32 = 10;
const PRIMARY_CODE: i32 = 0xff;

/// Pairs in a file. Several may be open at once, also in several processes; each commit of any of
/// them is seen by all.
#[derive(Debug)]
pub struct SqliteStore {
    place: String,
    runtime: Runtime,
    connection: SqliteConnection,
    recent: Recent,
    /// The move that is under way, if we have begun one.
    walk: Option<Walk>,
    sizes: StoreSizes,
    checkpoints: Checkpoints,
    /// Rows that another one of this process has learned.
    heard: Option<Arc<Feed>>,
    /// Whether the thread of SQLite is gone. Whoever asks it then may wait for ever.
    is_lost: bool,
}

impl SqliteStore {
    /// Opens the store of a directory, and makes it if there is none.
    ///
    /// # Errors
    /// If the directory cannot be written, or what is there is none of ours or too new.
    pub fn open(directory: &Path) -> Result<SqliteStore, StoreError> {
        SqliteStore::open_sized(directory, StoreSizes::default())
    }

    /// The same with other sizes. They may be others each time, and for each who has it open.
    ///
    /// # Errors
    /// As above.
    pub fn open_sized(directory: &Path, sizes: StoreSizes) -> Result<SqliteStore, StoreError> {
        opening::open(directory, sizes)
    }

    /// Opens it twice, for one thread that writes and one that reads: what the first one writes,
    /// the second one need not ask SQLite for.
    ///
    /// # Errors
    /// As above.
    pub fn open_pair(directory: &Path) -> Result<(SqliteStore, SqliteStore), StoreError> {
        let (mut writes, mut reads) =
            (SqliteStore::open(directory)?, SqliteStore::open(directory)?);
        let feed = Arc::new(Feed::default());
        writes.recent.tell(feed.clone());
        reads.heard = Some(feed);
        Ok((writes, reads))
    }

    fn trouble(&self, doing: &'static str) -> impl FnOnce(sqlx::Error) -> StoreError {
        let place = self.place.clone();
        move |source| match source {
            // Without its thread nothing is read or written any more.
            sqlx::Error::WorkerCrashed => StoreError::Away { place, source },
            source => StoreError::Database { place, doing, source },
        }
    }

    /// Asks for news of the journal, which are learned, and for pairs of the table, as they are at
    /// the same moment. `bind` gives what stands behind the question for news.
    fn ask<'q>(
        &mut self,
        text: Text,
        bind: impl FnOnce(Query<'q>) -> Query<'q>,
    ) -> Result<Vec<Pair>, StoreError> {
        if let Some(heard) = &self.heard {
            self.recent.overhear(heard);
        }
        self.check_thread("read")?;
        let seen = self.recent.seen();
        let said = say(&mut self.connection, text, |query| bind(query.bind(seen)));
        let rows = self.runtime.block_on(said).map_err(|BrokeOff { error, .. }| error);
        let pairs = rows.and_then(|rows| take_in(&mut self.recent, &rows));
        self.is_lost = matches!(pairs, Err(sqlx::Error::WorkerCrashed));
        pairs.map_err(self.trouble("read"))
    }

    fn check_thread(&self, doing: &'static str) -> Result<(), StoreError> {
        match self.is_lost {
            true => Err(self.trouble(doing)(sqlx::Error::WorkerCrashed)),
            false => Ok(()),
        }
    }
}

/// Learns the news among some rows, and gives the pairs among them.
fn take_in(recent: &mut Recent, rows: &[SqliteRow]) -> Result<Vec<Pair>, sqlx::Error> {
    let (mut pairs, mut news) = (Vec::new(), Vec::new());
    for row in rows {
        let (seq, value): (Option<i64>, Option<&[u8]>) = (row.try_get(0)?, row.try_get(2)?);
        match (seq, value) {
            (Some(through), None) => recent.forget(through),
            (Some(seq), Some(row)) => news.push((seq, row)),
            (None, value) => pairs.push((row.try_get(1)?, value.unwrap_or_default().to_vec())),
        }
    }
    news.sort_unstable_by_key(|(seq, _)| *seq);
    for (seq, row) in news {
        let damaged = || sqlx::Error::Decode("a row of the journal is damaged".into());
        recent.learn(seq, group::decode(row).ok_or_else(damaged)?);
    }
    Ok(pairs)
}

impl Store for SqliteStore {
    fn get(&mut self, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let pairs = self.ask(statements::get(1), |query| query.bind(key.to_string()))?;
        Ok(self.recent.over(key, pairs.into_iter().next().map(|(_, value)| value)))
    }

    fn get_many(&mut self, keys: &[String]) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
        let mut found: Vec<Option<Vec<u8>>> = Vec::with_capacity(keys.len());
        for some in keys.chunks(PLACES_MAX) {
            let wanted: Vec<&str> = some.iter().map(String::as_str).collect();
            let left = statements::places(some.len()) - some.len();
            let bind = |query| bind_nothing(bind_keys(query, &wanted), left);
            let pairs = self.ask(statements::get(some.len()), bind)?;
            let stored = in_order(some, pairs);
            let values = some.iter().zip(stored).map(|(key, stored)| self.recent.over(key, stored));
            found.extend(values);
        }
        Ok(found)
    }

    fn scan(&mut self, range: &KeyRange, limit: usize) -> Result<Vec<Pair>, StoreError> {
        let text = match range.order {
            Order::Ascending => statements::scan("ASC"),
            Order::Descending => statements::scan("DESC"),
        };
        let stored = self.ask(text, |query| {
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            query.bind(range.from.clone()).bind(range.to.clone()).bind(limit)
        })?;
        Ok(self.recent.merged(range, stored, limit))
    }

    fn commit(&mut self, writes: &Writes) -> Result<(), StoreError> {
        check_sizes(writes)?;
        if writes.is_empty() {
            return Ok(());
        }
        self.check_thread("write")?;
        let SqliteStore { connection, recent, walk, sizes, is_lost, .. } = self;
        let written = self.runtime.block_on(async {
            let written = write(connection, recent, walk.as_ref(), *sizes, writes).await;
            *is_lost = written.as_ref().is_err_and(Failed::is_by_thread);
            if written.is_err() && !*is_lost {
                // A disk that is full has rolled it back already, and then there is none.
                let _none = sqlx::query("ROLLBACK").execute(&mut *connection).await;
            }
            written
        });
        match written {
            Ok(written) => {
                *walk = written.take_in(recent);
                let size = |(key, value): (&String, &Option<Vec<u8>>)| {
                    key.len() + value.as_ref().map_or(0, Vec::len)
                };
                self.checkpoints.count(writes.iter().map(size).sum());
            }
            Err(Failed::Committing(error)) if is_unknown(&error) => {
                let source = Some(Box::new(self.trouble("write")(error)));
                return Err(StoreError::Unknown { place: self.place.clone(), source });
            }
            Err(Failed::Writing(error) | Failed::Committing(error)) => {
                return Err(self.trouble("write")(error));
            }
        }
        Ok(())
    }
}

/// A commit that broke off in the middle: what of it is on the disk is seen when the store is
/// opened again. Only if SQLite itself says why, and that is not the disk, nothing of it counts:
/// one that finds no room has ended before that.
fn is_unknown(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(|error| error.code());
    let code = code.and_then(|code| code.parse::<i32>().ok());
    code.is_none_or(|code| code & PRIMARY_CODE == IO_ERROR)
}
