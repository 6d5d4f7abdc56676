//! A store is opened, and made or brought to today's format if it has to be.
//!
//! Several may come at once: a server and whoever makes a key for it. So what is there is looked at
//! again by whoever may write, before anything is changed.

use super::checkpoints::Checkpoints;
use super::commit::StoreSizes;
use super::recent::Recent;
use super::{SqliteStore, StoreError, statements};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};
use sqlx::{ConnectOptions, Connection, SqliteConnection};
use std::path::Path;
use std::time::{Duration, Instant};

/// The name of the file in its directory.
pub const STORE_NAME: &str = "store.sqlite";
/// `AKey` in the header of the file.
const APPLICATION_ID: i64 = 0x414b_6579;
pub(super) const FORMAT_VERSION: i64 = 2;
/// Before there was a journal.
const FORMAT_WITHOUT_JOURNAL: i64 = 1;
/// How long a statement may wait for another program that has the database locked.
const BUSY_TIME_MAX: Duration = Duration::from_secs(5);
/// How long one waits who was not let in, where SQLite does not wait itself.
const BUSY_PAUSE: Duration = Duration::from_millis(5);
/// Frames of the write-ahead log, of 4 KiB, before a commit moves to the database what nobody has
/// moved beside it.
const LOG_FRAMES_MAX: &str = "4000";
/// What SQLite says when somebody else has the database, in the part of its codes that all kinds of
/// it share.
const BUSY: i32 = 5;

/// What a file says of itself.
enum Found {
    /// It is as it must be.
    Good,
    /// It is new, or of the format before.
    Lacking,
    /// Of a later version.
    Newer(i64),
    /// Of another program.
    Foreign,
}

pub(super) fn open(directory: &Path, sizes: StoreSizes) -> Result<SqliteStore, StoreError> {
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
    let place = path.display().to_string();
    let opened = runtime.block_on(connect(&options));
    let (connection, found) = opened.map_err(|source| {
        let place = place.clone();
        StoreError::Database { place, doing: "open", source }
    })?;
    match found {
        Found::Good | Found::Lacking => {}
        Found::Newer(found) => return Err(StoreError::Newer { place, found }),
        Found::Foreign => return Err(StoreError::Foreign { place }),
    }
    let (recent, checkpoints) = (Recent::default(), Checkpoints::new(options));
    Ok(SqliteStore {
        place,
        runtime,
        connection,
        recent,
        walk: None,
        sizes,
        checkpoints,
        heard: None,
        is_lost: false,
    })
}

/// SQLite does not wait for another one who turns the log of a new file on in the same moment.
async fn connect(options: &SqliteConnectOptions) -> Result<(SqliteConnection, Found), sqlx::Error> {
    let begun = Instant::now();
    loop {
        match try_connect(options).await {
            Err(error) if is_busy(&error) && begun.elapsed() < BUSY_TIME_MAX => {
                tokio::time::sleep(BUSY_PAUSE).await;
            }
            connected => return connected,
        }
    }
}

fn is_busy(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(|error| error.code());
    let code = code.and_then(|code| code.parse::<i32>().ok());
    code.is_some_and(|code| code & super::PRIMARY_CODE == BUSY)
}

async fn try_connect(
    options: &SqliteConnectOptions,
) -> Result<(SqliteConnection, Found), sqlx::Error> {
    let mut connection = SqliteConnection::connect_with(options).await?;
    let mut found = look(&mut connection).await?;
    if !matches!(found, Found::Good) {
        // Another one may be about to make it: only whoever may write sees one moment here.
        let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
        found = look(&mut transaction).await?;
        if matches!(found, Found::Lacking) {
            make(&mut transaction).await?;
            found = Found::Good;
        }
        transaction.commit().await?;
    }
    Ok((connection, found))
}

async fn look(connection: &mut SqliteConnection) -> Result<Found, sqlx::Error> {
    let mut numbers = [0_i64; 3];
    let asked =
        ["PRAGMA application_id", "PRAGMA user_version", "SELECT count(*) FROM sqlite_schema"];
    for (number, sql) in numbers.iter_mut().zip(asked) {
        *number = sqlx::query_scalar(sql).fetch_one(&mut *connection).await?;
    }
    Ok(match numbers {
        [0, 0, 0] | [APPLICATION_ID, FORMAT_WITHOUT_JOURNAL, _] => Found::Lacking,
        [APPLICATION_ID, FORMAT_VERSION, _] => Found::Good,
        [APPLICATION_ID, found, _] => Found::Newer(found),
        _ => Found::Foreign,
    })
}

/// Makes what is missing, all or nothing.
async fn make(connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    for sql in
        [statements::PAIRS, statements::JOURNAL, statements::MOVED, statements::NOTHING_MOVED]
    {
        sqlx::query(sql).execute(&mut *connection).await?;
    }
    for (name, value) in [("application_id", APPLICATION_ID), ("user_version", FORMAT_VERSION)] {
        let sql = sqlx::AssertSqlSafe(format!("PRAGMA {name} = {value}"));
        sqlx::query(sql).execute(&mut *connection).await?;
    }
    Ok(())
}
