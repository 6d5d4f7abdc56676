//! One connection to a PostgreSQL, and what an error on it means.
//!
//! What matters is whether anything could have been committed. Until a statement is sent that can
//! do that, whatever goes wrong is a *fail*: a transaction without its `COMMIT` leaves nothing.

use crate::runtime::runtime;
use crate::trouble::Trouble;
use std::cell::Cell;
use std::net::SocketAddr;
use tokio::task::JoinHandle;
use tokio_postgres::config::SslMode;
use tokio_postgres::error::{Severity, SqlState};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Config, Error, NoTls, Row};

/// Why an operation ended without an output.
pub(super) enum Stop {
    /// By our own decision, before anything was committed.
    Refused(String),
    /// By an error.
    Error(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Stop {
        Stop::Error(error)
    }
}

/// A connection. Dropped, it is closed at once, whatever is under way.
pub(super) struct Session {
    client: Client,
    wire: JoinHandle<()>,
    /// Whether something was sent in this call that can commit.
    may_commit: Cell<bool>,
    /// Whether a transaction may still be open.
    in_doubt: Cell<bool>,
}

impl Drop for Session {
    fn drop(&mut self) {
        self.wire.abort();
    }
}

impl Session {
    pub(super) async fn connect(
        address: SocketAddr,
        user: &str,
        database: &str,
    ) -> Result<Session, Error> {
        let mut config = Config::new();
        config.host(address.ip().to_string()).port(address.port()).user(user).dbname(database);
        config.ssl_mode(SslMode::Disable).application_name("assay");
        let (client, connection) = config.connect(NoTls).await?;
        let wire = runtime().spawn(async move {
            // The client hears of the error when it asks for something.
            let _error = connection.await;
        });
        Ok(Session { client, wire, may_commit: Cell::new(false), in_doubt: Cell::new(false) })
    }

    /// Whether the next call may use it.
    pub(super) fn is_usable(&self) -> bool {
        !self.client.is_closed() && !self.in_doubt.get()
    }

    /// A new call: nothing is sent yet.
    pub(super) fn begin_call(&self) {
        self.may_commit.set(false);
    }

    /// The rows of a query. Its arguments are texts; the query casts them if need be.
    pub(super) async fn rows(&self, query: &str, arguments: &[&str]) -> Result<Vec<Row>, Error> {
        let arguments: Vec<(&(dyn ToSql + Sync), Type)> = arguments
            .iter()
            .map(|argument| (argument as &(dyn ToSql + Sync), Type::TEXT))
            .collect();
        self.client.query_typed(query, &arguments).await
    }

    /// A statement inside a transaction; how many rows it changed.
    pub(super) async fn change(&self, statement: &str, arguments: &[&str]) -> Result<u64, Error> {
        let arguments: Vec<(&(dyn ToSql + Sync), Type)> = arguments
            .iter()
            .map(|argument| (argument as &(dyn ToSql + Sync), Type::TEXT))
            .collect();
        self.client.execute_typed(statement, &arguments).await
    }

    /// A statement that is a transaction of its own.
    pub(super) async fn commit_change(
        &self,
        statement: &str,
        arguments: &[&str],
    ) -> Result<u64, Error> {
        self.may_commit.set(true);
        self.change(statement, arguments).await
    }

    /// Statements that answer nothing.
    pub(super) async fn batch(&self, statements: &str) -> Result<(), Error> {
        self.client.batch_execute(statements).await
    }

    /// Work between `BEGIN` and `COMMIT`, or `ROLLBACK` if it stops.
    pub(super) async fn transaction<T>(
        &self,
        isolation: &str,
        work: impl AsyncFnOnce(&Session) -> Result<T, Stop>,
    ) -> Result<T, Stop> {
        self.in_doubt.set(true);
        self.batch(&format!("BEGIN ISOLATION LEVEL {isolation}")).await?;
        let done = work(self).await;
        let end = match &done {
            Ok(_) => {
                self.may_commit.set(true);
                self.batch("COMMIT").await
            }
            Err(_) => self.batch("ROLLBACK").await,
        };
        // A `COMMIT` that was refused has ended the transaction as well.
        if end.as_ref().err().is_none_or(|error| error.as_db_error().is_some()) {
            self.in_doubt.set(false);
        }
        match done {
            Ok(output) => end.map(|()| output).map_err(Stop::from),
            stopped => stopped,
        }
    }

    /// What an error in this call says about its effect.
    pub(super) fn trouble(&self, error: &Error) -> Trouble {
        let text = words(error);
        if self.may_commit.get() && !is_refusal(error) {
            return Trouble::Unknown(text);
        }
        Trouble::Fail(text)
    }

    /// The same if no answer came in time.
    pub(super) fn no_answer(&self) -> Trouble {
        let text = "no answer in time".to_string();
        if self.may_commit.get() { Trouble::Unknown(text) } else { Trouble::Fail(text) }
    }
}

/// Whether the server says that the statement was undone. One that says good-bye says nothing
/// about what it was doing.
fn is_refusal(error: &Error) -> bool {
    error.as_db_error().is_some_and(|error| {
        error.parsed_severity() == Some(Severity::Error)
            && *error.code() != SqlState::T_R_STATEMENT_COMPLETION_UNKNOWN
    })
}

/// Whether another node should be asked from now on.
pub(super) fn is_change(error: &Error) -> bool {
    error.as_db_error().is_none_or(|error| {
        error.parsed_severity() != Some(Severity::Error)
            || *error.code() == SqlState::READ_ONLY_SQL_TRANSACTION
    })
}

/// An error with its code, which says more than the words.
pub(super) fn words(error: &Error) -> String {
    match error.as_db_error() {
        Some(error) => format!("{} {}", error.code().code(), error.message()),
        None => {
            std::iter::successors(Some(error as &dyn std::error::Error), |error| error.source())
                .map(ToString::to_string)
                .collect::<Vec<String>>()
                .join(": ")
        }
    }
}
