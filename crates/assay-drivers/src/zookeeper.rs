//! The client of ZooKeeper: registers and sets as nodes.
//!
//! Each client has a session with its own node and with no other. A server answers reads from what
//! it has, which may be old. That is how `reads` are unless they are `synced`: then the server
//! first catches up with the leader. A server that leads catches up with nobody, although it may
//! have told others to apply what it has not applied itself yet. So only reads that are
//! `confirmed`, by a transaction of the same session that goes before them, are never old.

mod register;
mod session;
mod set;

use crate::Driver;
use crate::client::{Client, ClientError, Target};
use crate::options::Options;
use crate::resend::Resending;
use crate::runtime::within;
use crate::trouble::{Trouble, key_name, reply};
use assay_workload::{Call, Reply};
use serde_json::{Map, Value, json};
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use zookeeper_client::{Client as Session, Error};

/// The driver of ZooKeeper.
pub(crate) const DRIVER: Driver = Driver {
    name: "zookeeper",
    about: "ZooKeeper, each client at its own server",
    generators: &["register", "map", "session", "set"],
    open: |target| Ok(Box::new(Resending::new(Box::new(ZookeeperClient::new(target)?)))),
};

/// What the calls of a generator are about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Register,
    Set,
}

impl Kind {
    /// The node above all its objects.
    fn root(self) -> &'static str {
        match self {
            Kind::Register => "/assay-register",
            Kind::Set => "/assay-set",
        }
    }
}

/// What a server does before it answers a read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Reads {
    /// Nothing.
    Local,
    /// It catches up with the leader.
    Synced,
    /// It applies a transaction that a majority has agreed on.
    Confirmed,
}

/// A client of ZooKeeper.
struct ZookeeperClient {
    kind: Kind,
    addresses: Vec<SocketAddr>,
    names: Vec<String>,
    own: usize,
    reads: Reads,
    /// With its own node.
    session: Option<Session>,
    /// Whether the node above all others is there.
    has_root: bool,
}

impl ZookeeperClient {
    fn new(target: Target) -> Result<ZookeeperClient, ClientError> {
        let known =
            [("local", Reads::Local), ("synced", Reads::Synced), ("confirmed", Reads::Confirmed)];
        let reads = Options(&target.options).one_of("reads", &known)?;
        let kind = if target.generator == "set" { Kind::Set } else { Kind::Register };
        let Target { addresses, names, own, .. } = target;
        let (session, has_root) = (None, false);
        Ok(ZookeeperClient { kind, addresses, names, own, reads, session, has_root })
    }

    /// A session with a node; without one nothing is sent.
    fn connect(&self, node: usize, deadline: Instant) -> Result<Session, Trouble> {
        match within(deadline, session::connect(self.addresses[node])) {
            Some(Ok(session)) => Ok(session),
            Some(Err(error)) => Err(Trouble::Fail(format!("not sent: {error}"))),
            None => Err(Trouble::Fail("not sent: no session in time".to_string())),
        }
    }

    fn operate(&mut self, call: &Call, deadline: Instant) -> Result<Value, Trouble> {
        let session = match self.session.take().filter(session::is_usable) {
            Some(session) => session,
            None => self.connect(self.own, deadline)?,
        };
        let writes = matches!(call.op.as_str(), "write" | "cas" | "add");
        if writes && !self.has_root {
            match within(deadline, session.mkdir(self.kind.root(), &session::FOR_EVER)) {
                Some(Ok(())) => self.has_root = true,
                Some(Err(error)) => return Err(Trouble::Fail(format!("not sent: {error}"))),
                None => return Err(Trouble::Fail("not sent: no answer in time".to_string())),
            }
        }
        let done = match within(deadline, self.carry_out(&session, call)) {
            Some(done) => done,
            // The session goes with what is under way in it.
            None => Err(Trouble::Unknown("no answer in time".to_string())),
        };
        if !matches!(done, Err(Trouble::Unknown(_))) {
            self.session = Some(session);
        }
        if writes { done } else { done.map_err(Trouble::of_reading) }
    }

    async fn carry_out(&self, session: &Session, call: &Call) -> Result<Value, Trouble> {
        let key = key_name(call.key.as_ref().unwrap_or(&Value::Null));
        let (path, input) = (format!("{}/{key}", self.kind.root()), &call.input);
        let reads = matches!(call.op.as_str(), "read" | "contains");
        let up_to_date = match self.reads {
            Reads::Synced if reads => session.sync(&path).await,
            Reads::Confirmed if reads => register::confirm(session).await,
            _ => Ok(()),
        };
        up_to_date.map_err(|error| session::trouble(&error))?;
        let done: Result<Value, Error> = match (self.kind, call.op.as_str()) {
            (Kind::Register, "read") => register::read(session, &path).await,
            (Kind::Register, "write") => {
                register::write(session, &path, input).await.map(|()| Value::Null)
            }
            (Kind::Register, "cas") => {
                register::cas(session, &path, &input[0], &input[1]).await.map(Value::Bool)
            }
            (Kind::Set, "add") => set::add(session, &path, input).await.map(Value::Bool),
            (Kind::Set, "contains") => set::contains(session, &path, input).await.map(Value::Bool),
            (Kind::Set, "read") => set::read(session, &path).await,
            (kind, op) => {
                let why = format!("there is no `{op}` of {kind:?}");
                let text = format!("a call the client of zookeeper has no words for: {why}");
                return Err(Trouble::Fail(text));
            }
        };
        done.map_err(|error| session::trouble(&error))
    }

    fn dump(&mut self, call: &Call, node: usize, deadline: Instant) -> Result<Value, Trouble> {
        let session = self.connect(node, deadline)?;
        let dumped = within(deadline, objects(&session, self.kind));
        let mut objects = match dumped {
            Some(objects) => objects.map_err(|error| Trouble::Fail(error.to_string()))?,
            None => return Err(Trouble::Fail("no answer in time".to_string())),
        };
        let Some(key) = &call.key else { return Ok(Value::Object(objects)) };
        let absent = if self.kind == Kind::Set { json!([]) } else { Value::Null };
        Ok(objects.remove(&key_name(key)).unwrap_or(absent))
    }
}

/// What a server holds, by key.
async fn objects(session: &Session, kind: Kind) -> Result<Map<String, Value>, Error> {
    let keys = match session.list_children(kind.root()).await {
        Err(Error::NoNode) => Vec::new(),
        keys => keys?,
    };
    let mut objects = Map::new();
    for key in keys {
        let path = format!("{}/{key}", kind.root());
        let object = match kind {
            Kind::Register => register::read(session, &path).await?,
            Kind::Set => set::read(session, &path).await?,
        };
        objects.insert(key, object);
    }
    Ok(objects)
}

impl Client for ZookeeperClient {
    fn call(&mut self, call: &Call, time_max: Duration) -> Reply {
        let deadline = Instant::now() + time_max;
        let node = call.node.unwrap_or(self.own);
        let Some(name) = self.names.get(node).cloned() else {
            let error = format!("there is no node number {node}");
            return Reply::Fail { error, node: None };
        };
        let outcome = match call.op.as_str() {
            "dump" => self.dump(call, node, deadline),
            "reconnect" => {
                self.session = None;
                Ok(Value::Null)
            }
            _ if node != self.own => {
                let why = "the client of zookeeper has a session with its own node only";
                Err(Trouble::Fail(why.to_string()))
            }
            _ => self.operate(call, deadline),
        };
        reply(outcome, Some(name))
    }
}
