//! The tables, one for each kind of object. Values are JSON text.

use super::Kind;
use super::session::Session;
use tokio_postgres::Error;

/// The lock of those who make tables; a number nobody else is likely to use.
const MAKING: i64 = 0x0061_7373_6179;

/// The table of a kind and its columns.
pub(super) fn table(kind: Kind) -> (&'static str, &'static str) {
    match kind {
        Kind::Register | Kind::Registers => {
            ("assay_register", "key text PRIMARY KEY, value text NOT NULL")
        }
        Kind::Lists => ("assay_list", "key text PRIMARY KEY, elements text NOT NULL"),
        Kind::Set => ("assay_set", "key text NOT NULL, element text NOT NULL"),
        Kind::Bank => ("assay_account", "name text PRIMARY KEY, balance bigint NOT NULL"),
        Kind::Ledger { idempotency: true } => (
            "assay_entry_once",
            "place bigserial, account text NOT NULL, id text PRIMARY KEY, amount bigint NOT NULL",
        ),
        Kind::Ledger { idempotency: false } => (
            "assay_entry",
            "place bigserial, account text NOT NULL, id text NOT NULL, amount bigint NOT NULL",
        ),
    }
}

/// Makes the table of a kind unless it is there.
pub(super) async fn make(session: &Session, kind: Kind) -> Result<(), Error> {
    let (name, columns) = table(kind);
    let there = session.rows("SELECT 1 WHERE to_regclass($1) IS NOT NULL", &[name]).await?;
    if !there.is_empty() {
        return Ok(());
    }
    // Two who make it at the same time collide in spite of IF NOT EXISTS, in more ways than one:
    // each waits for the one before. Both statements are one transaction.
    let lock = format!("SELECT pg_advisory_xact_lock({MAKING})");
    session.batch(&format!("{lock}; CREATE TABLE IF NOT EXISTS {name} ({columns})")).await
}
