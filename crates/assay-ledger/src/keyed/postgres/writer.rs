//! The one who writes: named in the database, and counted.

use super::link::{Asked, Link};
use super::write;
use crate::keyed::{StoreError, Writes};
use sqlx::{Connection, PgConnection};
use std::time::{Duration, Instant};

/// The lock of the server, which ends with its connection: `AKey`, and 0.
const SERVING: i64 = 0x414b_6579_0000_0000;
/// How long a server that begins waits for one whose connection is just being noticed to be gone.
const HELD_MAX: Duration = Duration::from_secs(10);

/// What makes a store's server the only one.
pub(super) struct Writer {
    /// A name nobody else has; the database made it up.
    owner: String,
    /// Commits it has made.
    number: i64,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Writing,
    /// Another server has the store.
    Fenced,
    /// What was written last is not known.
    Unknown,
}

/// What a try to commit came to.
enum Claim {
    /// It is written.
    Written,
    /// The row was not as it should be: this is how it is.
    Other(String, i64),
}

impl Writer {
    /// Takes the lock, then the row: from here on nothing an earlier server sends is written.
    pub(super) fn begin(link: &mut Link) -> Result<Writer, StoreError> {
        let owner = enter(link, Instant::now() + HELD_MAX, None)?;
        Ok(Writer { owner, number: 0, state: State::Writing })
    }

    /// After a break: the lock again, and a look whether the row still names this one.
    pub(super) fn come_back(&mut self, link: &mut Link, until: Instant) -> Result<(), StoreError> {
        match self.state {
            State::Writing if link.is_connected() => return Ok(()),
            State::Writing => {}
            State::Fenced => return Err(StoreError::Fenced { place: link.place() }),
            State::Unknown => {
                return Err(StoreError::Unknown { place: link.place(), source: None });
            }
        }
        let entered = enter(link, until, Some(&self.owner));
        if matches!(entered, Err(StoreError::Fenced { .. })) {
            self.state = State::Fenced;
        }
        entered.map(drop)
    }

    /// Writes all or nothing, once, whatever happens to the connection meanwhile.
    pub(super) fn commit(&mut self, link: &mut Link, writes: &Writes) -> Result<(), StoreError> {
        let until = link.patience();
        if writes.is_empty() {
            return self.come_back(link, until);
        }
        let mut may_be_written = false;
        loop {
            if let Err(error) = self.come_back(link, until) {
                return Err(self.settle(link, may_be_written, error));
            }
            let (owner, from) = (self.owner.clone(), self.number);
            let mut is_sent = false;
            let asked = link.ask(async |connection| {
                let claim = try_commit(connection, &owner, from, writes, &mut is_sent);
                claim.await
            });
            let error = match asked {
                Asked::Answer(Claim::Written) => break,
                // The row has waited for whatever an earlier try left: this is how that ended.
                Asked::Answer(Claim::Other(owner, number))
                    if may_be_written && owner == self.owner && number == from + 1 =>
                {
                    break;
                }
                Asked::Answer(Claim::Other(..)) => {
                    self.state = State::Fenced;
                    return Err(StoreError::Fenced { place: link.place() });
                }
                Asked::Refused(source) if !may_be_written => {
                    return Err(link.trouble("write", source));
                }
                Asked::Lost(source) => {
                    may_be_written |= is_sent;
                    StoreError::Away { place: link.place(), source }
                }
                Asked::Refused(source) => link.trouble("write", source),
            };
            if Instant::now() >= until {
                return Err(self.settle(link, may_be_written, error));
            }
            link.pause();
        }
        self.number += 1;
        Ok(())
    }

    /// Gives up. If a commit may have been written, nothing more can be said by this server.
    fn settle(&mut self, link: &Link, may_be_written: bool, error: StoreError) -> StoreError {
        if !may_be_written || matches!(error, StoreError::Fenced { .. }) {
            return error;
        }
        self.state = State::Unknown;
        StoreError::Unknown { place: link.place(), source: Some(Box::new(error)) }
    }
}

async fn row(connection: &mut PgConnection) -> Result<(String, i64), sqlx::Error> {
    sqlx::query_as("SELECT owner, number FROM assay.writer").fetch_one(connection).await
}

/// Counts up and writes, if the row is as it was left.
async fn try_commit(
    connection: &mut PgConnection,
    owner: &str,
    from: i64,
    writes: &Writes,
    is_sent: &mut bool,
) -> Result<Claim, sqlx::Error> {
    let mut transaction = connection.begin().await?;
    let sql = "UPDATE assay.writer SET number = $2 + 1 WHERE owner = $1 AND number = $2";
    let claimed = sqlx::query(sql).bind(owner).bind(from).execute(&mut *transaction).await?;
    if claimed.rows_affected() != 1 {
        let (owner, number) = row(&mut transaction).await?;
        return Ok(Claim::Other(owner, number));
    }
    write(&mut transaction, writes).await?;
    *is_sent = true;
    transaction.commit().await?;
    Ok(Claim::Written)
}

/// Connects, takes the lock and looks at the row: it has to name `mine`, or is made to name a new
/// writer. A lock that was just left is waited for.
fn enter(link: &mut Link, until: Instant, mine: Option<&str>) -> Result<String, StoreError> {
    loop {
        link.connect(until)?;
        let asked = link.ask(async |connection| {
            let query = sqlx::query_scalar("SELECT pg_try_advisory_lock($1)").bind(SERVING);
            let is_locked: bool = query.fetch_one(&mut *connection).await?;
            let owner = match (is_locked, mine) {
                (true, None) => {
                    let sql = "UPDATE assay.writer SET owner = gen_random_uuid()::text, \
                               number = 0 RETURNING owner";
                    sqlx::query_scalar(sql).fetch_one(&mut *connection).await?
                }
                _ => row(connection).await?.0,
            };
            Ok((is_locked, owner))
        });
        let is_late = Instant::now() >= until;
        match asked {
            Asked::Answer((_, owner)) if mine.is_some_and(|mine| mine != owner) => {
                link.drop_connection();
                return Err(StoreError::Fenced { place: link.place() });
            }
            Asked::Answer((true, owner)) => return Ok(owner),
            Asked::Answer((false, _)) if is_late => {
                let by = link.read("lock", holder)?;
                link.drop_connection();
                return Err(StoreError::Held { place: link.place(), by });
            }
            Asked::Refused(source) => {
                link.drop_connection();
                return Err(link.trouble("lock", source));
            }
            Asked::Lost(source) if is_late => return Err(link.give_up(source)),
            Asked::Answer((false, _)) | Asked::Lost(_) => {}
        }
        // Only a connection with the lock is one.
        link.drop_connection();
        link.pause();
    }
}

/// Who has the lock, for the message.
async fn holder(connection: &mut PgConnection) -> Result<String, sqlx::Error> {
    let sql = "SELECT 'process ' || a.pid || ' of the database, for ' || \
               coalesce(host(a.client_addr), 'a client on its machine') \
               FROM pg_locks l JOIN pg_stat_activity a USING (pid) \
               WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1 \
               AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database()) \
               AND (l.classid::bigint << 32 | l.objid::bigint) = $1";
    let found: Option<String> =
        sqlx::query_scalar(sql).bind(SERVING).fetch_optional(connection).await?;
    Ok(found.unwrap_or_else(|| "it is not known which".to_string()))
}
