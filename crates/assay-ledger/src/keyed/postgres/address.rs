//! Where a database of PostgreSQL is, and as whom one enters.

use crate::keyed::StoreError;
use sqlx::ConnectOptions;
use sqlx::postgres::{PgConnectOptions, PgSslMode};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// Long enough for a database to be started again.
const AWAY_MAX: Duration = Duration::from_secs(60);
/// What an address may say behind its question mark. Whatever else is there would have no effect.
const PARAMETERS: [&str; 6] = ["sslmode", "host", "port", "dbname", "user", "password"];
/// What every connection asks for: durable commits, and backends that notice when nobody is there.
const SETTINGS: [(&str, &str); 6] = [
    ("synchronous_commit", "on"),
    ("tcp_keepalives_idle", "5"),
    ("tcp_keepalives_interval", "2"),
    ("tcp_keepalives_count", "3"),
    ("lock_timeout", "20s"),
    ("idle_in_transaction_session_timeout", "20s"),
];

/// The address of a database, `postgres://USER[:PASSWORD]@HOST[:PORT]/DATABASE`. What it does not
/// say is taken from the usual variables, a password from `PGPASSWORD`. It is never shown.
#[derive(Clone)]
pub struct PostgresAddress {
    pub(super) options: PgConnectOptions,
    pub(super) place: String,
    /// How long a database may be away before those who ask are told so.
    pub(super) away_max: Duration,
}

impl PostgresAddress {
    /// Whether a text means to be such an address.
    pub fn is_meant_by(text: &str) -> bool {
        text.starts_with("postgres://") || text.starts_with("postgresql://")
    }

    /// How long a database may be away before those who ask are told so; a minute otherwise.
    pub fn with_patience(mut self, away_max: Duration) -> PostgresAddress {
        self.away_max = away_max;
        self
    }
}

impl FromStr for PostgresAddress {
    type Err = StoreError;

    fn from_str(text: &str) -> Result<PostgresAddress, StoreError> {
        let bad = |why: &str| Err(StoreError::Address(why.to_string()));
        if !PostgresAddress::is_meant_by(text) {
            return bad("it begins with neither postgres:// nor postgresql://");
        }
        let query = text.split_once('?').map_or("", |(_, query)| query);
        for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
            let name = parameter.split('=').next().unwrap_or_default();
            if !PARAMETERS.contains(&name) {
                let name: String = name.chars().take(32).collect();
                return bad(&format!("the parameter `{name}` would have no effect"));
            }
        }
        let options = match PgConnectOptions::from_str(text) {
            Ok(options) => options.disable_statement_logging(),
            Err(error) => return bad(&error.to_string()),
        };
        if !matches!(
            options.get_ssl_mode(),
            PgSslMode::Disable | PgSslMode::Allow | PgSslMode::Prefer
        ) {
            return bad("sslmode asks for TLS, which stores do not speak; use a tunnel");
        }
        let host = match options.get_socket() {
            Some(socket) => socket.display().to_string(),
            None => options.get_host().to_string(),
        };
        let database = options.get_database().unwrap_or(options.get_username());
        let place = format!("postgres://{host}:{}/{database}", options.get_port());
        let options = options.application_name("assay").options(SETTINGS);
        Ok(PostgresAddress { options, place, away_max: AWAY_MAX })
    }
}

impl fmt::Debug for PostgresAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.place)
    }
}

impl fmt::Display for PostgresAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_says_where_and_never_the_password() {
        let text = "postgres://me:s3cret@db.example:5433/sessions?sslmode=disable";
        let address: PostgresAddress = text.parse().expect("an address");
        assert_eq!(address.to_string(), "postgres://db.example:5433/sessions");
        assert!(!format!("{address:?}").contains("s3cret"));
        for (bad, why) in [
            ("mysql://me:s3cret@db/x", "begins with"),
            ("postgres://me:s3cret@db/x?sslmode=require", "TLS"),
            ("postgres://me:s3cret@db/x?synchronous_commit=off", "synchronous_commit"),
            ("postgres://me:s3cret@db:port/x", "port"),
        ] {
            let error = PostgresAddress::from_str(bad).expect_err(bad).to_string();
            assert!(error.contains(why) && !error.contains("s3cret"), "{error}");
        }
    }
}
