//! Pairs in SQLite: one file, one commit at a time.
//!
//! Keys that are written together stand far from each other, and a page of the file for each would
//! cost many times what they say. So a commit is one row at the end of a journal, and what the
//! journal says hides what stands in the table of pairs. Whoever has the store open knows the
//! journal by heart ([`recent::Recent`]). When it has become long, every commit also moves a few of
//! its pairs, in the order of their keys, so that neighbours share their pages; once all that stood
//! there when the move began is in the table, those rows are cut off. A large commit ends the
//! journal and goes to the table at once. What is taken away leaves the table at once, too: so
//! nobody who looks for the first pairs of a range has to look past what is gone.
//!
//! News of the journal and pairs of the table are read by one statement, which sees one moment;
//! and every change is one transaction. So nothing depends on who moves what when.

mod checkpoints;
mod commit;
mod group;
mod recent;
mod statements;
#[cfg(test)]
mod tests;

use self::checkpoints::Checkpoints;
use self::commit::{Failed, Sizes, write};
use self::recent::{Recent, Walk};
use self::statements::portions;
use super::{KeyRange, Order, Pair, Store, StoreError, Writes, check_sizes, in_order};
use sqlx::sqlite::{
    SqliteArguments, SqliteConnectOptions, SqliteJournalMode, SqliteRow, SqliteSynchronous,
};
use sqlx::{ConnectOptions, Connection, Row, SqliteConnection};
use std::path::Path;
use std::time::Duration;
use tokio::runtime::Runtime;

/// The name of the file in its directory.
pub const STORE_NAME: &str = "store.sqlite";
/// `AKey` in the header of the file.
const APPLICATION_ID: i64 = 0x414b_6579;
const FORMAT_VERSION: i64 = 2;
/// Before there was a journal.
const FORMAT_WITHOUT_JOURNAL: i64 = 1;
/// How long a statement may wait for another program that has the database locked.
const BUSY_TIME_MAX: Duration = Duration::from_secs(5);
/// Frames of the write-ahead log, of 4 KiB, before a commit moves to the database what nobody has
/// moved beside it.
const LOG_FRAMES_MAX: &str = "4000";
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
    sizes: Sizes,
    checkpoints: Checkpoints,
}

impl SqliteStore {
    /// Opens the store of a directory, and makes it if there is none.
    ///
    /// # Errors
    /// If the directory cannot be written, or what is there is none of ours or too new.
    pub fn open(directory: &Path) -> Result<SqliteStore, StoreError> {
        let path = directory.join(STORE_NAME);
        let options = SqliteConnectOptions::new()
            .filename(&path)
            .busy_timeout(BUSY_TIME_MAX)
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .pragma("wal_autocheckpoint", LOG_FRAMES_MAX)
            .disable_statement_logging();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
        let runtime = runtime.map_err(StoreError::Start)?;
        let connection = runtime.block_on(SqliteConnection::connect_with(&options));
        let connection = connection.map_err(|source| {
            let place = path.display().to_string();
            StoreError::Database { place, doing: "open", source }
        })?;
        let place = path.display().to_string();
        let (recent, walk, sizes) = (Recent::default(), None, Sizes::default());
        let checkpoints = Checkpoints::new(options);
        let mut store =
            SqliteStore { place, runtime, connection, recent, walk, sizes, checkpoints };
        store.check_format()?;
        Ok(store)
    }

    fn check_format(&mut self) -> Result<(), StoreError> {
        let application_id = self.number("PRAGMA application_id")?;
        let found = self.number("PRAGMA user_version")?;
        let tables = self.number("SELECT count(*) FROM sqlite_schema")?;
        match (application_id, found, tables) {
            (0, 0, 0) | (APPLICATION_ID, FORMAT_WITHOUT_JOURNAL, _) => self.make(),
            (APPLICATION_ID, FORMAT_VERSION, _) => Ok(()),
            (APPLICATION_ID, _, _) => Err(StoreError::Newer { place: self.place.clone(), found }),
            _ => Err(StoreError::Foreign { place: self.place.clone() }),
        }
    }

    /// Makes what is missing, all or nothing; two that do it at once do it once.
    fn make(&mut self) -> Result<(), StoreError> {
        let connection = &mut self.connection;
        let made = self.runtime.block_on(async {
            let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
            for table in [statements::PAIRS, statements::JOURNAL, statements::MOVED] {
                sqlx::query(table).execute(&mut *transaction).await?;
            }
            sqlx::query(statements::NOTHING_MOVED).execute(&mut *transaction).await?;
            for (name, value) in
                [("application_id", APPLICATION_ID), ("user_version", FORMAT_VERSION)]
            {
                let sql = sqlx::AssertSqlSafe(format!("PRAGMA {name} = {value}"));
                sqlx::query(sql).execute(&mut *transaction).await?;
            }
            transaction.commit().await
        });
        made.map_err(self.trouble("make the tables"))
    }

    fn number(&mut self, sql: &'static str) -> Result<i64, StoreError> {
        let query = sqlx::query_scalar(sql).fetch_one(&mut self.connection);
        let number = self.runtime.block_on(query);
        number.map_err(self.trouble("open"))
    }

    fn trouble(&self, doing: &'static str) -> impl FnOnce(sqlx::Error) -> StoreError {
        let place = self.place.clone();
        move |source| StoreError::Database { place, doing, source }
    }

    /// Asks for news of the journal, which are learned, and for pairs of the table, as they are at
    /// the same moment. `bind` gives what stands behind the question for news.
    fn ask<'q>(
        &mut self,
        sql: String,
        bind: impl FnOnce(Query<'q>) -> Query<'q>,
    ) -> Result<Vec<Pair>, StoreError> {
        let query = bind(sqlx::query(sqlx::AssertSqlSafe(sql)).bind(self.recent.seen()));
        let rows = self.runtime.block_on(query.fetch_all(&mut self.connection));
        let pairs = rows.and_then(|rows| take_in(&mut self.recent, &rows));
        pairs.map_err(self.trouble("read"))
    }
}

type Query<'q> = sqlx::query::Query<'q, sqlx::Sqlite, SqliteArguments>;

/// Learns the news among some rows, and gives the pairs among them.
fn take_in(recent: &mut Recent, rows: &[SqliteRow]) -> Result<Vec<Pair>, sqlx::Error> {
    let (mut pairs, mut news) = (Vec::new(), Vec::new());
    for row in rows {
        let (seq, value): (Option<i64>, Option<&[u8]>) = (row.try_get(0)?, row.try_get(2)?);
        match (seq, value) {
            (Some(through), None) => recent.forget(through),
            (Some(seq), Some(writes)) => news.push((seq, writes)),
            (None, value) => pairs.push((row.try_get(1)?, value.unwrap_or_default().to_vec())),
        }
    }
    news.sort_unstable_by_key(|(seq, _)| *seq);
    for (seq, writes) in news {
        let damaged = || sqlx::Error::Decode("a row of the journal is damaged".into());
        recent.learn(seq, group::decode(writes).ok_or_else(damaged)?);
    }
    Ok(pairs)
}

impl Store for SqliteStore {
    fn get(&mut self, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let pairs = self.ask(statements::get(1), |query| query.bind(key.to_string()))?;
        Ok(match self.recent.get(key) {
            Some(value) => value.cloned(),
            None => pairs.into_iter().next().map(|(_, value)| value),
        })
    }

    fn get_many(&mut self, keys: &[String]) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
        let mut found: Vec<Option<Vec<u8>>> = Vec::with_capacity(keys.len());
        for some in portions(keys) {
            let bind = |query| some.iter().cloned().fold(query, Query::bind);
            let pairs = self.ask(statements::get(some.len()), bind)?;
            let stored = in_order(some, pairs);
            let values = some.iter().zip(stored).map(|(key, stored)| match self.recent.get(key) {
                Some(value) => value.cloned(),
                None => stored,
            });
            found.extend(values);
        }
        Ok(found)
    }

    fn scan(&mut self, range: &KeyRange, limit: usize) -> Result<Vec<Pair>, StoreError> {
        let sql = match range.order {
            Order::Ascending => statements::scan("ASC"),
            Order::Descending => statements::scan("DESC"),
        };
        let stored = self.ask(sql, |query| {
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
        let SqliteStore { connection, recent, walk, sizes, .. } = self;
        let written = self.runtime.block_on(async {
            let written = write(connection, recent, walk.as_ref(), *sizes, writes).await;
            if written.is_err() {
                // A disk that is full has rolled it back already, and then there is none.
                let _none = sqlx::query("ROLLBACK").execute(&mut *connection).await;
            }
            written
        });
        match written {
            Ok(written) => {
                *walk = written.take_in(recent);
                self.checkpoints.count(group::size(writes));
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
/// opened again. One that finds no room has ended before anything of it counts.
fn is_unknown(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(|error| error.code());
    let code = code.and_then(|code| code.parse::<i32>().ok());
    code.is_some_and(|code| code & PRIMARY_CODE == IO_ERROR)
}
