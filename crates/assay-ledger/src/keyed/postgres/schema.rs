//! The tables, and whether a database can have them.
//!
//! They stand in a schema of their own. `pairs` holds what is kept; `writer` has one row, which
//! says who may write and how many commits that one has made: see [`super::writer`].

use crate::keyed::StoreError;
use sqlx::{Connection, PgConnection, Row};

const APPLICATION: &str = "assay keyed store";
const FORMAT_VERSION: i64 = 1;
/// The oldest PostgreSQL that is known to do.
const SERVER_VERSION_MIN: i32 = 130_000;
/// Who makes the tables is one at a time, too: `AKey`, and 1.
const MAKING: i64 = 0x414b_6579_0000_0001;

const TABLES: [&str; 5] = [
    "CREATE SCHEMA IF NOT EXISTS assay",
    "CREATE TABLE assay.format (application text NOT NULL, version bigint NOT NULL)",
    // Bytes, because they have one order everywhere.
    "CREATE TABLE assay.pairs (key bytea PRIMARY KEY, value bytea NOT NULL)",
    "CREATE TABLE assay.writer (only_one boolean PRIMARY KEY CHECK (only_one), \
     owner text NOT NULL, number bigint NOT NULL)",
    "INSERT INTO assay.writer VALUES (true, '', 0)",
];

/// What a database is, before anything is written there.
pub(super) enum Found {
    /// One that can be a store.
    Fit,
    /// One that cannot.
    Unfit(String),
}

/// Whether the server can promise what a store promises.
pub(super) async fn fitness(connection: &mut PgConnection) -> Result<Found, sqlx::Error> {
    let sql = "SELECT current_setting('server_version_num')::int, pg_is_in_recovery(), \
               current_setting('fsync'), current_setting('synchronous_commit'), \
               current_setting('transaction_read_only')";
    let row = sqlx::query(sql).fetch_one(connection).await?;
    let version: i32 = row.try_get(0)?;
    let is_standby: bool = row.try_get(1)?;
    let [fsync, durable, read_only]: [String; 3] =
        [row.try_get(2)?, row.try_get(3)?, row.try_get(4)?];
    let why = match () {
        () if version < SERVER_VERSION_MIN => {
            format!("PostgreSQL {} is too old; 13 or later is needed", version / 10_000)
        }
        () if is_standby => "it is a standby, which takes no writes; name the primary".to_string(),
        () if read_only != "off" => "its transactions are read-only".to_string(),
        () if fsync != "on" => {
            "its `fsync` is off, so that nothing it confirms is durable; turn it on".to_string()
        }
        () if durable != "on" => {
            format!("`synchronous_commit` is {durable} although it was asked to be on")
        }
        () => return Ok(Found::Fit),
    };
    Ok(Found::Unfit(why))
}

/// Makes the tables if nothing is there; otherwise finds out whether they are ours.
pub(super) async fn prepare(
    connection: &mut PgConnection,
    place: &str,
) -> Result<Result<(), StoreError>, sqlx::Error> {
    let mut transaction = connection.begin().await?;
    sqlx::query("SELECT pg_advisory_xact_lock($1)").bind(MAKING).execute(&mut *transaction).await?;
    let sql = "SELECT count(*) FROM pg_class WHERE relnamespace = to_regnamespace('assay')";
    let relations: i64 = sqlx::query_scalar(sql).fetch_one(&mut *transaction).await?;
    if relations == 0 {
        for sql in TABLES {
            sqlx::query(sql).execute(&mut *transaction).await?;
        }
        let sql = "INSERT INTO assay.format VALUES ($1, $2)";
        let insert = sqlx::query(sql).bind(APPLICATION).bind(FORMAT_VERSION);
        insert.execute(&mut *transaction).await?;
        transaction.commit().await?;
        return Ok(Ok(()));
    }
    let place = place.to_string();
    let sql = "SELECT count(*) FROM pg_attribute WHERE attrelid = to_regclass('assay.format') \
               AND attname IN ('application', 'version')";
    let columns: i64 = sqlx::query_scalar(sql).fetch_one(&mut *transaction).await?;
    if columns != 2 {
        return Ok(Err(StoreError::Foreign { place }));
    }
    let sql = "SELECT application::text, version::bigint FROM assay.format LIMIT 2";
    let rows: Vec<(String, i64)> = sqlx::query_as(sql).fetch_all(&mut *transaction).await?;
    Ok(match &rows[..] {
        [(application, FORMAT_VERSION)] if application == APPLICATION => Ok(()),
        [(application, found)] if application == APPLICATION => {
            Err(StoreError::Newer { place, found: *found })
        }
        _ => Err(StoreError::Foreign { place }),
    })
}
