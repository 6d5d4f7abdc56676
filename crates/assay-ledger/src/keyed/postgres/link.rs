//! A connection that comes back.

use super::address::PostgresAddress;
use crate::keyed::StoreError;
use sqlx::postgres::{PgDatabaseError, PgSeverity};
use sqlx::{ConnectOptions, PgConnection};
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

/// How long one question may take. Longer than a lock is waited for.
const ANSWER_MAX: Duration = Duration::from_secs(30);
/// How long connecting may take.
const CONNECT_MAX: Duration = Duration::from_secs(10);
/// Between two tries.
const PAUSE: Duration = Duration::from_millis(50);
/// After a try that was in vain others are told so without another one: each can take as long as
/// connecting may, and many may wait for theirs.
const VAIN: Duration = Duration::from_secs(1);

/// What came of a question.
pub(super) enum Asked<T> {
    /// An answer.
    Answer(T),
    /// A refusal: the database lives, and did nothing.
    Refused(sqlx::Error),
    /// No answer: the connection is gone, and what the database did is unknown.
    Lost(sqlx::Error),
}

/// A connection, or the wish for one.
pub(super) struct Link {
    pub(super) address: PostgresAddress,
    runtime: Runtime,
    connection: Option<PgConnection>,
    /// When somebody last waited in vain, and why: others get their answer at once.
    given_up: Option<(Instant, String)>,
}

impl Link {
    /// Connects. A database that is just starting is waited for; one that is not there is not.
    pub(super) fn open(address: PostgresAddress) -> Result<Link, StoreError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(StoreError::Start)?;
        let mut link = Link { address, runtime, connection: None, given_up: None };
        let until = Instant::now() + link.address.away_max;
        loop {
            match link.try_connect() {
                Ok(()) => return Ok(link),
                Err(error) if is_starting(&error) && Instant::now() < until => link.pause(),
                Err(source) => return Err(link.trouble("connect", source)),
            }
        }
    }

    fn try_connect(&mut self) -> Result<(), sqlx::Error> {
        let connecting = self.address.options.connect();
        let connected =
            self.runtime.block_on(async { tokio::time::timeout(CONNECT_MAX, connecting).await });
        self.connection = Some(connected.unwrap_or_else(|_| Err(silent(CONNECT_MAX)))?);
        self.given_up = None;
        Ok(())
    }

    /// Whether there is a connection, as far as it is known.
    pub(super) fn is_connected(&self) -> bool {
        self.connection.is_some()
    }

    /// How long to try from now.
    pub(super) fn patience(&self) -> Instant {
        let now = Instant::now();
        if self.given_up.is_some() { now } else { now + self.address.away_max }
    }

    /// Connects again if the connection is gone, as often as the time allows, and once at least,
    /// but for those who come right after a try that was in vain.
    pub(super) fn connect(&mut self, until: Instant) -> Result<(), StoreError> {
        while self.connection.is_none() {
            if let Some((at, why)) = &self.given_up
                && at.elapsed() < VAIN
            {
                let source = sqlx::Error::Io(std::io::Error::other(why.clone()));
                return Err(StoreError::Away { place: self.place(), source });
            }
            let Err(source) = self.try_connect() else { return Ok(()) };
            if !is_passing(&source) || Instant::now() >= until {
                return Err(self.give_up(source));
            }
            self.pause();
        }
        Ok(())
    }

    /// Asks once. Whoever has no connection has lost it.
    pub(super) fn ask<T>(
        &mut self,
        question: impl AsyncFnOnce(&mut PgConnection) -> Result<T, sqlx::Error>,
    ) -> Asked<T> {
        let Some(connection) = &mut self.connection else {
            return Asked::Lost(sqlx::Error::WorkerCrashed);
        };
        let asked = self.runtime.block_on(async {
            let answer = tokio::time::timeout(ANSWER_MAX, question(connection)).await;
            answer.unwrap_or_else(|_| Err(silent(ANSWER_MAX)))
        });
        match asked {
            Ok(answer) => Asked::Answer(answer),
            Err(error) if is_lost(&error) => {
                self.drop_connection();
                Asked::Lost(error)
            }
            Err(error) => Asked::Refused(error),
        }
    }

    /// Asks until there is an answer, on any connection; for questions that may be asked twice.
    pub(super) fn read<T>(
        &mut self,
        doing: &'static str,
        question: impl AsyncFn(&mut PgConnection) -> Result<T, sqlx::Error>,
    ) -> Result<T, StoreError> {
        self.read_on(doing, Link::connect, question)
    }

    /// The same on connections that `connect` is content with.
    pub(super) fn read_on<T>(
        &mut self,
        doing: &'static str,
        mut connect: impl FnMut(&mut Link, Instant) -> Result<(), StoreError>,
        question: impl AsyncFn(&mut PgConnection) -> Result<T, sqlx::Error>,
    ) -> Result<T, StoreError> {
        let until = self.patience();
        loop {
            connect(self, until)?;
            match self.ask(async |connection| question(connection).await) {
                Asked::Answer(answer) => return Ok(answer),
                Asked::Refused(source) => return Err(self.trouble(doing, source)),
                Asked::Lost(source) if Instant::now() >= until => return Err(self.give_up(source)),
                Asked::Lost(_) => {}
            }
        }
    }

    /// Gives the connection up. The runtime has to be there while it goes.
    pub(super) fn drop_connection(&mut self) {
        let _inside = self.runtime.enter();
        self.connection = None;
    }

    pub(super) fn give_up(&mut self, source: sqlx::Error) -> StoreError {
        self.given_up = Some((Instant::now(), source.to_string()));
        StoreError::Away { place: self.place(), source }
    }

    pub(super) fn pause(&self) {
        self.runtime.block_on(async { tokio::time::sleep(PAUSE).await });
    }

    pub(super) fn place(&self) -> String {
        self.address.place.clone()
    }

    pub(super) fn trouble(&self, doing: &'static str, source: sqlx::Error) -> StoreError {
        StoreError::Database { place: self.place(), doing, source }
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.drop_connection();
    }
}

fn silent(after: Duration) -> sqlx::Error {
    let what = format!("no answer within {} s", after.as_secs());
    sqlx::Error::Io(std::io::Error::new(std::io::ErrorKind::TimedOut, what))
}

fn code(error: &sqlx::Error) -> String {
    let code = error.as_database_error().and_then(|error| error.code());
    code.map(|code| code.into_owned()).unwrap_or_default()
}

/// Whether the connection went with it.
fn is_lost(error: &sqlx::Error) -> bool {
    let Some(database) = error.as_database_error() else {
        return matches!(
            error,
            sqlx::Error::Io(_) | sqlx::Error::Protocol(_) | sqlx::Error::WorkerCrashed
        );
    };
    let severity = database.try_downcast_ref::<PgDatabaseError>().map(PgDatabaseError::severity);
    matches!(severity, Some(PgSeverity::Fatal | PgSeverity::Panic))
        || code(error).starts_with("57P")
        || code(error).starts_with("08")
}

fn is_starting(error: &sqlx::Error) -> bool {
    code(error) == "57P03"
}

/// Whether connecting may succeed later: the server is away, starts, stops or is full. A wrong
/// password stays wrong.
fn is_passing(error: &sqlx::Error) -> bool {
    let code = code(error);
    error.as_database_error().is_none() || code.starts_with("57P") || code == "53300"
}
