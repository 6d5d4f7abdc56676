//! The database: one table of events, which can only grow.

use crate::chain::{Row, Tip};
use crate::error::{Break, LedgerError};
use crate::event::{Entry, blobs_text};
use crate::head;
use futures_util::TryStreamExt;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteRow, SqliteSynchronous};
use sqlx::{ConnectOptions, Connection, Row as _, SqliteConnection};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The format that is written. A ledger with a higher one is refused.
pub const FORMAT_VERSION: i64 = 1;
pub(crate) const DATABASE_NAME: &str = "ledger.sqlite";
/// What SQLite calls its write-ahead log.
pub(crate) const LOG_NAME: &str = "ledger.sqlite-wal";
/// `ALed` in the header of the file: whose database this is.
pub(crate) const APPLICATION_ID: i64 = 0x414c_6564;
/// How long a statement may wait for another program that has the database locked.
const BUSY_TIME_MAX: Duration = Duration::from_secs(5);
/// How many events are read at once.
const PAGE_EVENTS: i64 = 1000;
/// Frames of the write-ahead log, of 4 KiB, before they move to the database.
const CHECKPOINT_FRAMES: &str = "256";

/// Name and text of everything in the database, as SQLite keeps it.
const SCHEMA: [(&str, &str); 4] = [
    (
        "events",
        "CREATE TABLE events (seq INTEGER PRIMARY KEY, prev TEXT NOT NULL, at_ms INTEGER NOT NULL, \
         kind TEXT NOT NULL, blobs TEXT NOT NULL, payload TEXT NOT NULL, hash TEXT NOT NULL) \
         STRICT",
    ),
    (
        "events_never_change",
        "CREATE TRIGGER events_never_change BEFORE UPDATE ON events \
         BEGIN SELECT RAISE(ABORT, 'events never change'); END",
    ),
    (
        "events_never_go",
        "CREATE TRIGGER events_never_go BEFORE DELETE ON events \
         BEGIN SELECT RAISE(ABORT, 'events never go'); END",
    ),
    // Also keeps INSERT OR REPLACE from being a change.
    (
        "events_only_follow",
        "CREATE TRIGGER events_only_follow BEFORE INSERT ON events \
         WHEN NEW.seq IS NOT (SELECT coalesce(max(seq), 0) + 1 FROM events) \
         BEGIN SELECT RAISE(ABORT, 'events only follow'); END",
    ),
];

/// Whether something may be written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Access {
    Read,
    Write,
}

/// An open database.
#[derive(Debug)]
pub(crate) struct Store {
    connection: SqliteConnection,
    directory: PathBuf,
}

impl Store {
    /// Opens the database; makes it if it may be written and is not there, or not finished.
    pub(crate) async fn open(directory: &Path, access: Access) -> Result<Store, LedgerError> {
        let options = SqliteConnectOptions::new()
            .filename(directory.join(DATABASE_NAME))
            .busy_timeout(BUSY_TIME_MAX)
            .disable_statement_logging();
        let options = match access {
            Access::Read => options.read_only(true),
            Access::Write => options
                .create_if_missing(true)
                .journal_mode(SqliteJournalMode::Wal)
                .synchronous(SqliteSynchronous::Full)
                .pragma("wal_autocheckpoint", CHECKPOINT_FRAMES),
        };
        let directory = directory.to_path_buf();
        let connection = SqliteConnection::connect_with(&options).await;
        let connection = connection.map_err(|error| trouble(&directory, "open", error))?;
        let mut store = Store { connection, directory };
        store.check_format(access).await?;
        Ok(store)
    }

    async fn check_format(&mut self, access: Access) -> Result<(), LedgerError> {
        let application_id = self.number("PRAGMA application_id").await?;
        let found = self.number("PRAGMA user_version").await?;
        let path = self.directory.join(DATABASE_NAME);
        let is_new = (application_id, found) == (0, 0)
            && self.number("SELECT count(*) FROM sqlite_schema").await? == 0;
        let head = head::read(&self.directory)?;
        let has_events = matches!(&head, Some(Ok(tip)) if *tip != Tip::START);
        if is_new && access == Access::Write && !has_events {
            return self.make().await;
        }
        if application_id != APPLICATION_ID && head.is_some() {
            // Beside a head this was a ledger once, whatever it says now.
            let what = format!("its application id is {application_id}, and `head` is there");
            return Err(self.broken(Break::Database { what }));
        }
        if application_id != APPLICATION_ID {
            return Err(LedgerError::Foreign { path, application_id });
        }
        if found > FORMAT_VERSION {
            return Err(LedgerError::Newer { path, found });
        }
        self.check_schema().await
    }

    /// All or nothing: a writer killed here leaves an empty database, which is made again.
    async fn make(&mut self) -> Result<(), LedgerError> {
        let directory = self.directory.clone();
        let made = async {
            let mut transaction = self.connection.begin().await?;
            for (_, sql) in SCHEMA {
                sqlx::query(sql).execute(&mut *transaction).await?;
            }
            let header = [("application_id", APPLICATION_ID), ("user_version", FORMAT_VERSION)];
            for (name, value) in header {
                let sql = sqlx::AssertSqlSafe(format!("PRAGMA {name} = {value}"));
                sqlx::query(sql).execute(&mut *transaction).await?;
            }
            transaction.commit().await
        };
        made.await.map_err(|error| trouble(&directory, "make the tables", error))
    }

    /// A table without its triggers would be one that can be changed.
    async fn check_schema(&mut self) -> Result<(), LedgerError> {
        let rows = sqlx::query("SELECT name, sql FROM sqlite_schema ORDER BY name")
            .fetch_all(&mut self.connection)
            .await;
        let rows = rows.map_err(|error| trouble(&self.directory, "read the tables", error))?;
        let pair = |row: &SqliteRow| Some((row.try_get(0).ok()?, row.try_get(1).ok()?));
        let found: Vec<Option<(String, String)>> = rows.iter().map(pair).collect();
        let is_expected = |(found, (name, sql)): (&Option<(String, String)>, &(&str, &str))| {
            found.as_ref().is_some_and(|(n, s)| n == name && s == sql)
        };
        if found.len() == SCHEMA.len() && found.iter().zip(&SCHEMA).all(is_expected) {
            return Ok(());
        }
        let what = "a table or trigger is missing, changed or added".to_string();
        Err(self.broken(Break::Schema { what }))
    }

    /// Hands every event behind `tip` to `take`, checked, and moves `tip` to the last. Each is
    /// checked while the thread of the database looks for the next.
    pub(crate) async fn read(
        &mut self,
        tip: &mut Tip,
        mut take: impl FnMut(Entry),
    ) -> Result<(), LedgerError> {
        let Store { connection, directory } = self;
        loop {
            let before = tip.seq;
            let mut rows = sqlx::query(
                "SELECT seq, prev, at_ms, kind, blobs, payload, hash FROM events WHERE seq > ? \
                 ORDER BY seq LIMIT ?",
            )
            .bind(i64::try_from(before.0).unwrap_or(i64::MAX))
            .bind(PAGE_EVENTS)
            .fetch(&mut *connection);
            loop {
                let row = rows.try_next().await;
                let row = row.map_err(|error| trouble(directory, "read events", error))?;
                let Some(row) = row else { break };
                let entry = fields(&row, *tip).and_then(|row| tip.follow(row));
                take(entry.map_err(LedgerError::broken(directory))?);
            }
            if tip.seq == before {
                return Ok(());
            }
        }
    }

    /// Writes events in one transaction. They are durable when this returns.
    pub(crate) async fn append(&mut self, entries: &[Entry]) -> Result<(), LedgerError> {
        let directory = self.directory.clone();
        let appended = async {
            let mut transaction = self.connection.begin().await?;
            for entry in entries {
                sqlx::query(
                    "INSERT INTO events (seq, prev, at_ms, kind, blobs, payload, hash) \
                     VALUES (?, ?, ?, ?, ?, ?, ?)",
                )
                .bind(i64::try_from(entry.seq.0).unwrap_or(i64::MAX))
                .bind(entry.prev.to_string())
                .bind(i64::try_from(entry.at.0).unwrap_or(i64::MAX))
                .bind(&entry.kind)
                .bind(blobs_text(&entry.blobs))
                .bind(&entry.payload)
                .bind(entry.hash.to_string())
                .execute(&mut *transaction)
                .await?;
            }
            transaction.commit().await
        };
        appended.await.map_err(|error| trouble(&directory, "append", error))
    }

    /// Has SQLite look at all of its pages.
    pub(crate) async fn check_integrity(&mut self) -> Result<(), LedgerError> {
        let answer = sqlx::query_scalar::<_, String>("PRAGMA integrity_check")
            .fetch_all(&mut self.connection)
            .await;
        let answer = answer.map_err(|error| trouble(&self.directory, "check pages", error))?;
        match answer.first().map(String::as_str) {
            Some("ok") => Ok(()),
            first => {
                let what = first.unwrap_or("no answer to integrity_check").to_string();
                Err(self.broken(Break::Database { what }))
            }
        }
    }

    /// Closes it, which moves the write-ahead log into the database.
    pub(crate) async fn close(self) -> Result<(), LedgerError> {
        let closed = self.connection.close().await;
        closed.map_err(|error| trouble(&self.directory, "close", error))
    }

    async fn number(&mut self, sql: &'static str) -> Result<i64, LedgerError> {
        let number = sqlx::query_scalar(sql).fetch_one(&mut self.connection).await;
        number.map_err(|error| trouble(&self.directory, "open", error))
    }

    fn broken(&self, broken: Break) -> LedgerError {
        LedgerError::broken(&self.directory)(broken)
    }
}

fn fields(row: &SqliteRow, tip: Tip) -> Result<Row, Break> {
    let seq = crate::event::Seq(tip.seq.0 + 1);
    let bad = |error: sqlx::Error| Break::Row { seq, what: error.to_string() };
    Ok(Row {
        seq: row.try_get(0).map_err(bad)?,
        prev: row.try_get(1).map_err(bad)?,
        at_ms: row.try_get(2).map_err(bad)?,
        kind: row.try_get(3).map_err(bad)?,
        blobs: row.try_get(4).map_err(bad)?,
        payload: row.try_get(5).map_err(bad)?,
        hash: row.try_get(6).map_err(bad)?,
    })
}

/// Damage is a break of the record; everything else is trouble with the world.
fn trouble(directory: &Path, doing: &'static str, source: sqlx::Error) -> LedgerError {
    // Primary codes of SQLite: CORRUPT and NOTADB; ERROR is what a damaged schema leads to.
    let code = match &source {
        sqlx::Error::Database(error) => error.code().and_then(|code| code.parse::<u32>().ok()),
        _ => None,
    };
    let unreadable = matches!(source, sqlx::Error::ColumnDecode { .. } | sqlx::Error::Decode(_));
    if unreadable || matches!(code.map(|code| code & 0xff), Some(11 | 26)) {
        let broken = Break::Database { what: source.to_string() };
        return LedgerError::broken(directory)(broken);
    }
    LedgerError::Database { path: directory.join(DATABASE_NAME), doing, source }
}
