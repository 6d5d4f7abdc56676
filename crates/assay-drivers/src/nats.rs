//! The client of NATS: sets and logs as streams of JetStream, one stream for each key.
//!
//! To add is to publish, and it has happened when the stream acknowledges it. To read is to read
//! the whole stream. A dump of a node is what a client of that node reads: JetStream does not say
//! which replica a message comes from.

mod session;
mod stream;

use crate::Driver;
use crate::client::{Client, ClientError, Target};
use crate::options::Options;
use crate::resend::Resending;
use crate::runtime::within;
use crate::trouble::{Trouble, key_name, reply};
use assay_workload::{Call, Reply};
use serde_json::{Map, Value, json};
use session::Session;
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// The most replicas a stream can have.
const REPLICAS_MAX: u64 = 5;

/// The driver of NATS.
pub(crate) const DRIVER: Driver = Driver {
    name: "nats",
    about: "NATS with JetStream",
    generators: &["set", "log"],
    open: |target| Ok(Box::new(Resending::new(Box::new(NatsClient::new(target)?)))),
};

/// What the calls of a generator are about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Set,
    Log,
}

/// A client of NATS.
struct NatsClient {
    kind: Kind,
    addresses: Vec<SocketAddr>,
    names: Vec<String>,
    own: usize,
    replicas: u64,
    /// How the names of all streams begin.
    prefix: String,
    /// The connection to its own node.
    session: Option<Session>,
    /// Streams that are there.
    made: BTreeSet<String>,
}

impl NatsClient {
    fn new(target: Target) -> Result<NatsClient, ClientError> {
        let options = Options(&target.options);
        let prefix = options.text("stream", "assay")?;
        if prefix.is_empty() || !is_name(&prefix) {
            let message = format!("the option `stream` is {prefix:?}, which names no stream");
            return Err(ClientError { message });
        }
        let kind = if target.generator == "log" { Kind::Log } else { Kind::Set };
        Ok(NatsClient {
            kind,
            replicas: options.natural("replicas", 1..=REPLICAS_MAX, 1)?,
            prefix,
            session: None,
            made: BTreeSet::new(),
            addresses: target.addresses,
            names: target.names,
            own: target.own,
        })
    }

    /// A connection to a node; not sent is a fail.
    fn connect(&self, node: usize, deadline: Instant) -> Result<Session, Trouble> {
        match within(deadline, Session::connect(self.addresses[node])) {
            Some(Ok(session)) => Ok(session),
            Some(Err(why)) => Err(Trouble::Fail(format!("not sent: {why}"))),
            None => Err(Trouble::Fail("not sent: no connection in time".to_string())),
        }
    }

    fn operate(&mut self, call: &Call, node: usize, deadline: Instant) -> Result<Value, Trouble> {
        let key = key_name(call.key.as_ref().unwrap_or(&Value::Null));
        if !is_name(&key) {
            return Err(mistake(&format!("the key {key}")));
        }
        let stream = format!("{}-{key}", self.prefix);
        let kept = self.session.take().filter(|old| old.is_usable() && node == self.own);
        let session = match kept {
            Some(session) => session,
            None => self.connect(node, deadline)?,
        };
        let writes = matches!(call.op.as_str(), "add" | "append");
        if writes && !self.made.contains(&stream) {
            match within(deadline, stream::make(&session, &stream, self.replicas)) {
                Some(made) => made?,
                None => return Err(Trouble::Fail("not sent: there is no stream yet".to_string())),
            }
            self.made.insert(stream.clone());
        }
        let Some(done) = within(deadline, carry_out(self.kind, &session, &stream, call)) else {
            // The connection goes with what is under way on it.
            let why = "no answer in time".to_string();
            return Err(if writes { Trouble::Unknown(why) } else { Trouble::Fail(why) });
        };
        if !matches!(done, Err(Trouble::Unknown(_))) && node == self.own {
            self.session = Some(session);
        }
        if writes { done } else { done.map_err(Trouble::of_reading) }
    }

    fn dump(&mut self, call: &Call, node: usize, deadline: Instant) -> Result<Value, Trouble> {
        if call.key.is_some() {
            let read = Call { op: "read".to_string(), input: Value::Null, ..call.clone() };
            return self.operate(&read, node, deadline);
        }
        let session = self.connect(node, deadline)?;
        let (kind, start) = (self.kind, format!("{}-", self.prefix));
        let dumped = within(deadline, async {
            let mut objects = Map::new();
            for name in stream::names(&session, &start).await? {
                let elements = stream::whole(&session, &name).await?;
                objects.insert(name[start.len()..].to_string(), shaped(kind, elements));
            }
            Ok(Value::Object(objects))
        });
        dumped.unwrap_or_else(|| Err(Trouble::Fail("no answer in time".to_string())))
    }
}

async fn carry_out(
    kind: Kind,
    session: &Session,
    stream: &str,
    call: &Call,
) -> Result<Value, Trouble> {
    let (input, id) = (&call.input, call.id.as_deref());
    match (kind, call.op.as_str()) {
        (Kind::Set, "add") => {
            stream::publish(session, stream, input, id).await?;
            Ok(Value::Null)
        }
        (Kind::Set, "contains") => Ok(json!(stream::whole(session, stream).await?.contains(input))),
        (Kind::Log, "append") => {
            let place = stream::publish(session, stream, input, id).await?;
            Ok(json!(place.saturating_sub(1)))
        }
        (Kind::Log, "read") if !input.is_null() => match input.as_u64() {
            Some(offset) => {
                let entry = stream::at(session, stream, offset.saturating_add(1)).await?;
                Ok(entry.unwrap_or_default())
            }
            None => Err(mistake(&format!("read of {input}"))),
        },
        (_, "read") => Ok(shaped(kind, stream::whole(session, stream).await?)),
        (kind, op) => Err(mistake(&format!("there is no `{op}` of {kind:?}"))),
    }
}

/// The elements of a set come once, those of a log as they are.
fn shaped(kind: Kind, mut elements: Vec<Value>) -> Value {
    if kind == Kind::Set {
        let mut seen = BTreeSet::new();
        elements.retain(|element| seen.insert(element.to_string()));
    }
    Value::Array(elements)
}

/// Whether a text can be a part of the name of a stream.
fn is_name(text: &str) -> bool {
    text.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_".contains(letter))
}

fn mistake(why: &str) -> Trouble {
    Trouble::Fail(format!("a call the client of nats has no words for: {why}"))
}

impl Client for NatsClient {
    fn call(&mut self, call: &Call, time_max: Duration) -> Reply {
        let deadline = Instant::now() + time_max;
        let node = call.node.unwrap_or(self.own);
        let Some(name) = self.names.get(node).cloned() else {
            let error = format!("there is no node number {node}");
            return Reply::Fail { error, node: None };
        };
        let outcome = match call.op.as_str() {
            "dump" => self.dump(call, node, deadline).map_err(Trouble::of_reading),
            _ => self.operate(call, node, deadline),
        };
        reply(outcome, Some(name))
    }
}
