//! The client of PostgreSQL: transactions, registers, sets, banks and ledgers in tables of its own.
//!
//! With several nodes, of which one takes writes, the client goes to its own and, if that is gone
//! or in recovery, to the first that is not; there it stays until something goes wrong. Only a
//! dump reads the node it names, whatever its role.

mod dump;
mod money;
mod session;
mod single;
mod tables;
mod txn;

use crate::Driver;
use crate::client::{Client, ClientError, Target};
use crate::options::Options;
use crate::resend::Resending;
use crate::runtime::within;
use crate::trouble::{Trouble, reply};
use assay_workload::{Call, Reply};
use serde_json::Value;
use session::{Session, Stop, is_change, words};
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use tokio_postgres::Row;
use tokio_postgres::error::SqlState;
use txn::Objects;

/// The driver of PostgreSQL.
pub(crate) const DRIVER: Driver = Driver {
    name: "postgres",
    about: "PostgreSQL, alone or with standbys",
    generators: Kind::GENERATORS,
    open: |target| Ok(Box::new(Resending::new(Box::new(PostgresClient::new(target)?)))),
};

/// What the calls of a generator are about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Register,
    /// Registers in transactions.
    Registers,
    Lists,
    Set,
    Bank,
    Ledger {
        /// Whether a request that comes again is booked once.
        idempotency: bool,
    },
}

impl Kind {
    /// Every generator there are tables for.
    const GENERATORS: &[&str] =
        &["list-append", "rw-register", "register", "map", "session", "set", "bank", "ledger"];

    /// Of a generator.
    fn named(generator: &str, idempotency: bool) -> Option<Kind> {
        Some(match generator {
            "register" | "map" | "session" => Kind::Register,
            "rw-register" => Kind::Registers,
            "list-append" => Kind::Lists,
            "set" => Kind::Set,
            "bank" => Kind::Bank,
            "ledger" => Kind::Ledger { idempotency },
            _ => return None,
        })
    }
}

/// A client of PostgreSQL.
struct PostgresClient {
    kind: Kind,
    isolation: &'static str,
    user: String,
    database: String,
    addresses: Vec<SocketAddr>,
    names: Vec<String>,
    own: usize,
    /// The node that takes writes, since it was found.
    primary: Option<(usize, Session)>,
    /// Whether the table is there.
    has_table: bool,
}

impl PostgresClient {
    fn new(target: Target) -> Result<PostgresClient, ClientError> {
        let options = Options(&target.options);
        let levels = ["read committed", "repeatable read", "serializable"];
        let isolation = options.one_of("isolation", &levels.map(|level| (level, level)))?;
        let idempotency = options.flag("idempotency", true)?;
        let kind = Kind::named(&target.generator, idempotency).ok_or_else(|| ClientError {
            message: format!("postgres has nothing for the generator `{}`", target.generator),
        })?;
        let user = options.text("user", "postgres")?;
        let database = options.text("database", "postgres")?;
        let Target { addresses, names, own, .. } = target;
        let (primary, has_table) = (None, false);
        Ok(PostgresClient {
            kind,
            isolation,
            user,
            database,
            addresses,
            names,
            own,
            primary,
            has_table,
        })
    }

    /// The node that takes writes, with a connection to it. Whatever goes wrong here is a fail: the
    /// call is not sent yet.
    fn find_primary(&mut self, deadline: Instant) -> Result<(usize, Session), Trouble> {
        if let Some((node, session)) = self.primary.take().filter(|(_, old)| old.is_usable()) {
            return Ok((node, session));
        }
        let count = self.addresses.len();
        let mut reasons = Vec::new();
        for step in 0..count {
            let node = (self.own + step) % count;
            // A node that hangs must leave time for the others, and for the call.
            let left = deadline.saturating_duration_since(Instant::now());
            let share = Instant::now() + left / (count - step + 1) as u32;
            let share = if count == 1 { deadline } else { share };
            match self.connect(node, share) {
                Ok((session, false)) => return Ok((node, session)),
                Ok((_, true)) => reasons.push(format!("{} is in recovery", self.names[node])),
                Err(why) => reasons.push(format!("{}: {why}", self.names[node])),
            }
        }
        Err(Trouble::Fail(format!("no node takes writes: {}", reasons.join("; "))))
    }

    /// A connection, and whether the node is in recovery.
    fn connect(&self, node: usize, deadline: Instant) -> Result<(Session, bool), String> {
        let connected = within(deadline, async {
            let session =
                Session::connect(self.addresses[node], &self.user, &self.database).await?;
            let query = "SELECT 1 WHERE pg_is_in_recovery()";
            let recovers = !session.rows(query, &[]).await?.is_empty();
            Ok((session, recovers))
        });
        match connected {
            Some(connected) => connected.map_err(|error: tokio_postgres::Error| words(&error)),
            None => Err("no answer in time".to_string()),
        }
    }

    fn operate(&mut self, call: &Call, deadline: Instant) -> Reply {
        let (node, session) = match self.find_primary(deadline) {
            Ok(primary) => primary,
            Err(trouble) => return trouble.reply(Some(self.names[self.own].clone())),
        };
        session.begin_call();
        let done = within(deadline, async {
            if !self.has_table {
                tables::make(&session, self.kind).await?;
            }
            self.carry_out(&session, call).await
        });
        let (outcome, keep) = match done {
            None => (Err(session.no_answer()), false),
            Some(Ok(output)) => (Ok(output), true),
            Some(Err(Stop::Refused(why))) => (Err(Trouble::Fail(why)), true),
            Some(Err(Stop::Error(error))) => (Err(session.trouble(&error)), {
                self.has_table &= error.code() != Some(&SqlState::UNDEFINED_TABLE);
                !is_change(&error)
            }),
        };
        self.has_table |= outcome.is_ok();
        if keep {
            self.primary = Some((node, session));
        }
        let reads = call.op == "txn" && txn::only_reads(&call.input);
        let outcome = if reads { outcome.map_err(Trouble::of_reading) } else { outcome };
        reply(outcome, Some(self.names[node].clone()))
    }

    async fn carry_out(&self, session: &Session, call: &Call) -> Result<Value, Stop> {
        let (isolation, input) = (self.isolation, &call.input);
        match (self.kind, call.op.as_str()) {
            (Kind::Register, _) => single::register(session, call).await,
            (Kind::Registers, "txn") => {
                txn::operate(session, Objects::Registers, isolation, input).await
            }
            (Kind::Lists, "txn") => txn::operate(session, Objects::Lists, isolation, input).await,
            (Kind::Set, _) => single::set(session, call).await,
            (Kind::Bank, _) => money::bank(session, isolation, call).await,
            (Kind::Ledger { .. }, _) => {
                money::ledger(session, tables::table(self.kind).0, call).await
            }
            (Kind::Registers | Kind::Lists, op) => Err(not_understood(op)),
        }
    }

    fn dump(&mut self, call: &Call, node: usize, deadline: Instant) -> Result<Value, Trouble> {
        let (session, _) = self.connect(node, deadline).map_err(Trouble::Fail)?;
        let key = call.key.as_ref().filter(|_| self.kind != Kind::Bank);
        match within(deadline, dump::dump(&session, self.kind, key)) {
            None => Err(Trouble::Fail("no answer in time".to_string())),
            Some(Err(Stop::Refused(why))) => Err(Trouble::Fail(why)),
            Some(Err(Stop::Error(error))) => Err(Trouble::Fail(words(&error))),
            Some(Ok(output)) => Ok(output),
        }
    }
}

impl Client for PostgresClient {
    fn call(&mut self, call: &Call, time_max: Duration) -> Reply {
        let deadline = Instant::now() + time_max;
        let node = call.node.unwrap_or(self.own);
        let Some(name) = self.names.get(node).cloned() else {
            let error = format!("there is no node number {node}");
            return Reply::Fail { error, node: None };
        };
        match call.op.as_str() {
            "dump" => reply(self.dump(call, node, deadline), Some(name)),
            "reconnect" => {
                self.primary = None;
                reply(Ok(Value::Null), Some(name))
            }
            _ if call.node.is_some() => {
                let why = "the client of postgres goes where writes go; only a dump names a node";
                reply(Err(Trouble::Fail(why.to_string())), Some(name))
            }
            _ => self.operate(call, deadline),
        }
    }
}

/// A call nobody has written a statement for.
fn not_understood(what: &str) -> Stop {
    Stop::Refused(format!("a call the client of postgres has no words for: {what}"))
}

fn text_at(row: &Row, column: usize) -> Result<String, Stop> {
    Ok(row.try_get(column)?)
}

fn number_at(row: &Row, column: usize) -> Result<i64, Stop> {
    Ok(row.try_get(column)?)
}

fn json_at(row: &Row, column: usize) -> Result<Value, Stop> {
    json_of(&text_at(row, column)?)
}

fn json_of(text: &str) -> Result<Value, Stop> {
    let wrong = |_| Stop::Refused(format!("a value that is no JSON: {text}"));
    serde_json::from_str(text).map_err(wrong)
}
