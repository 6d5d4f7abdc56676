//! Pairs in SQLite: one file, one table, one commit at a time.

use super::{KeyRange, Order, Pair, Store, StoreError, Writes, check_sizes, in_order};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};
use sqlx::{ConnectOptions, Connection, SqliteConnection};
use std::path::Path;
use std::time::Duration;
use tokio::runtime::Runtime;

/// The name of the file in its directory.
pub const STORE_NAME: &str = "store.sqlite";
/// `AKey` in the header of the file.
const APPLICATION_ID: i64 = 0x414b_6579;
const FORMAT_VERSION: i64 = 1;
/// How long a statement may wait for another program that has the database locked.
const BUSY_TIME_MAX: Duration = Duration::from_secs(5);
/// Frames of the write-ahead log, of 4 KiB, before they move to the database.
const CHECKPOINT_FRAMES: &str = "1000";
/// How many pairs one statement reads or writes, as many as fit.
const STATEMENT_PAIRS: [usize; 4] = [64, 16, 4, 1];
/// What SQLite calls an error of the disk, in the part of its codes that all kinds of it share.
const IO_ERROR: i32 = 10;
const PRIMARY_CODE: i32 = 0xff;
const TABLE: &str = "CREATE TABLE IF NOT EXISTS pairs (key TEXT PRIMARY KEY, value BLOB NOT NULL) \
                     STRICT, WITHOUT ROWID";

/// Pairs in a file. Several may be open at once, also in several processes; each commit of any of
/// them is seen by all.
#[derive(Debug)]
pub struct SqliteStore {
    place: String,
    runtime: Runtime,
    connection: SqliteConnection,
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
            .pragma("wal_autocheckpoint", CHECKPOINT_FRAMES)
            .disable_statement_logging();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
        let runtime = runtime.map_err(StoreError::Start)?;
        let connection = runtime.block_on(SqliteConnection::connect_with(&options));
        let connection = connection.map_err(|source| {
            let place = path.display().to_string();
            StoreError::Database { place, doing: "open", source }
        })?;
        let place = path.display().to_string();
        let mut store = SqliteStore { place, runtime, connection };
        store.check_format()?;
        Ok(store)
    }

    fn check_format(&mut self) -> Result<(), StoreError> {
        let application_id = self.number("PRAGMA application_id")?;
        let found = self.number("PRAGMA user_version")?;
        let tables = self.number("SELECT count(*) FROM sqlite_schema")?;
        match (application_id, found, tables) {
            (0, 0, 0) => self.make(),
            (APPLICATION_ID, FORMAT_VERSION, _) => Ok(()),
            (APPLICATION_ID, _, _) => Err(StoreError::Newer { place: self.place.clone(), found }),
            _ => Err(StoreError::Foreign { place: self.place.clone() }),
        }
    }

    /// All or nothing; two that make it at once make it once.
    fn make(&mut self) -> Result<(), StoreError> {
        let connection = &mut self.connection;
        let made = self.runtime.block_on(async {
            let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
            sqlx::query(TABLE).execute(&mut *transaction).await?;
            for (name, value) in
                [("application_id", APPLICATION_ID), ("user_version", FORMAT_VERSION)]
            {
                let sql = sqlx::AssertSqlSafe(format!("PRAGMA {name} = {value}"));
                sqlx::query(sql).execute(&mut *transaction).await?;
            }
            transaction.commit().await
        });
        made.map_err(self.trouble("make the table"))
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
}

impl Store for SqliteStore {
    fn get(&mut self, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let query = sqlx::query_scalar("SELECT value FROM pairs WHERE key = ?").bind(key);
        let value = self.runtime.block_on(query.fetch_optional(&mut self.connection));
        value.map_err(self.trouble("read"))
    }

    fn get_many(&mut self, keys: &[String]) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
        let mut found: Vec<Pair> = Vec::new();
        for some in portions(keys) {
            let mut query = sqlx::query_as(sqlx::AssertSqlSafe(get_sql(some.len())));
            for key in some {
                query = query.bind(key);
            }
            let pairs = self.runtime.block_on(query.fetch_all(&mut self.connection));
            found.extend(pairs.map_err(self.trouble("read"))?);
        }
        Ok(in_order(keys, found))
    }

    fn scan(&mut self, range: &KeyRange, limit: usize) -> Result<Vec<Pair>, StoreError> {
        let sql = match range.order {
            Order::Ascending => {
                "SELECT key, value FROM pairs WHERE key >= ? AND key < ? ORDER BY key LIMIT ?"
            }
            Order::Descending => {
                "SELECT key, value FROM pairs WHERE key >= ? AND key < ? ORDER BY key DESC LIMIT ?"
            }
        };
        let query = sqlx::query_as(sql)
            .bind(&range.from)
            .bind(&range.to)
            .bind(i64::try_from(limit).unwrap_or(i64::MAX));
        let pairs = self.runtime.block_on(query.fetch_all(&mut self.connection));
        pairs.map_err(self.trouble("read"))
    }

    fn commit(&mut self, writes: &Writes) -> Result<(), StoreError> {
        check_sizes(writes)?;
        if writes.is_empty() {
            return Ok(());
        }
        let connection = &mut self.connection;
        let written = self.runtime.block_on(async {
            let written = write_all(connection, writes).await;
            if written.is_err() {
                // A disk that is full has rolled it back already, and then there is none.
                let _none = sqlx::query("ROLLBACK").execute(&mut *connection).await;
            }
            written
        });
        written.map_err(|failed| match failed {
            Failed::Committing(error) if is_unknown(&error) => {
                let source = Some(Box::new(self.trouble("write")(error)));
                StoreError::Unknown { place: self.place.clone(), source }
            }
            Failed::Writing(error) | Failed::Committing(error) => self.trouble("write")(error),
        })
    }
}

/// A commit that broke off in the middle: what of it is on the disk is seen when the store is
/// opened again. One that finds no room has ended before anything of it counts.
fn is_unknown(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(|error| error.code());
    let code = code.and_then(|code| code.parse::<i32>().ok());
    code.is_some_and(|code| code & PRIMARY_CODE == IO_ERROR)
}

/// Why a transaction was not written.
enum Failed {
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

/// One transaction, begun and ended in words: SQLite ends one by itself when the disk is full, and
/// whoever counts them for us would believe for ever that it goes on.
async fn write_all(connection: &mut SqliteConnection, writes: &Writes) -> Result<(), Failed> {
    sqlx::query("BEGIN IMMEDIATE").execute(&mut *connection).await?;
    let put: Vec<(&String, &Vec<u8>)> =
        writes.iter().filter_map(|(key, value)| Some((key, value.as_ref()?))).collect();
    for some in portions(&put) {
        let mut query = sqlx::query(sqlx::AssertSqlSafe(put_sql(some.len())));
        for (key, value) in some {
            query = query.bind(*key).bind(*value);
        }
        query.execute(&mut *connection).await?;
    }
    let gone: Vec<&String> =
        writes.iter().filter(|(_, value)| value.is_none()).map(|(key, _)| key).collect();
    for some in portions(&gone) {
        let mut query = sqlx::query(sqlx::AssertSqlSafe(gone_sql(some.len())));
        for key in some {
            query = query.bind(*key);
        }
        query.execute(&mut *connection).await?;
    }
    let committed = sqlx::query("COMMIT").execute(&mut *connection).await;
    committed.map(drop).map_err(Failed::Committing)
}

/// Cuts a list into pieces of a few sizes, large ones first. Each statement goes to the thread of
/// the database and back, which takes longer than what it does there; and there are only so many
/// sizes, so that each has its statement prepared.
fn portions<T>(mut list: &[T]) -> impl Iterator<Item = &[T]> {
    std::iter::from_fn(move || {
        let size = STATEMENT_PAIRS.into_iter().find(|size| *size <= list.len())?;
        let (some, rest) = list.split_at(size);
        list = rest;
        Some(some)
    })
}

fn put_sql(pairs: usize) -> String {
    let places = vec!["(?, ?)"; pairs].join(", ");
    format!(
        "INSERT INTO pairs (key, value) VALUES {places} ON CONFLICT (key) DO UPDATE SET value = \
         excluded.value"
    )
}

fn get_sql(keys: usize) -> String {
    format!("SELECT key, value FROM pairs WHERE key IN ({})", vec!["?"; keys].join(", "))
}

fn gone_sql(keys: usize) -> String {
    format!("DELETE FROM pairs WHERE key IN ({})", vec!["?"; keys].join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_number_of_pairs_is_written_and_removed_whole() {
        let directory = tempfile::tempdir().expect("a directory");
        let mut store = SqliteStore::open(directory.path()).expect("a new store");
        let all = KeyRange::below("x", Order::Ascending);
        for count in [1, 3, 4, 5, 21, 63, 64, 65, 200] {
            let key = |number: usize| format!("x/{number:04}");
            let put: Writes = (0..count).map(|n| (key(n), Some(vec![n as u8]))).collect();
            store.commit(&put).expect("room");
            let mut changed: Writes = (0..count).step_by(2).map(|n| (key(n), None)).collect();
            changed.extend((1..count).step_by(2).map(|n| (key(n), Some(vec![1, n as u8]))));
            store.commit(&changed).expect("room");
            let wanted: Vec<Pair> =
                (1..count).step_by(2).map(|n| (key(n), vec![1, n as u8])).collect();
            assert_eq!(store.scan(&all, 1000).expect("readable"), wanted, "{count}");
            let gone: Writes = (0..count).map(|n| (key(n), None)).collect();
            store.commit(&gone).expect("room");
            assert_eq!(store.scan(&all, 1000).expect("readable"), [], "{count}");
        }
    }

    #[test]
    fn a_store_that_was_full_takes_what_comes_when_there_is_room() {
        let directory = tempfile::tempdir().expect("a directory");
        let mut store = SqliteStore::open(directory.path()).expect("a new store");
        let pages = store.number("PRAGMA max_page_count = 8").expect("a setting");
        assert_eq!(pages, 8);
        let large: Writes = [("x/1".to_string(), Some(vec![1; 1 << 20]))].into_iter().collect();
        for _ in 0..3 {
            let refused = store.commit(&large).expect_err("there is no room");
            assert!(refused.to_string().contains("full"), "{refused}");
        }
        assert_eq!(store.get("x/1").expect("readable"), None, "all or nothing");
        store.number("PRAGMA max_page_count = 10000").expect("a setting");
        store.commit(&large).expect("there is room again");
        assert_eq!(store.get("x/1").expect("readable").map(|value| value.len()), Some(1 << 20));
    }
}
