//! The client of etcd, through its JSON gateway.
//!
//! Registers are keys; an element of a set is a key of its own below the set's name. Every write is
//! one transaction or put, sent once. An error that names the leader or a timeout does not say
//! whether the write is in the log, so it is *unknown*.

mod base64;
mod request;

use crate::Driver;
use crate::client::{Client, ClientError, Target};
use crate::http::{Answer, Connection, HttpError};
use assay_workload::{Call, Reply};
use request::{Asked, Kind, Request, Settings};
use serde_json::Value;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The driver of etcd.
pub(crate) const DRIVER: Driver = Driver {
    name: "etcd",
    about: "etcd 3, by its JSON gateway",
    generators: &["register", "set"],
    open: |target| Ok(Box::new(EtcdClient::new(target)?)),
};

/// A client of etcd.
struct EtcdClient {
    kind: Kind,
    settings: Settings,
    connections: Vec<Connection>,
    own: usize,
    names: Vec<String>,
    /// Whether the keys that adds compare with are known to be there.
    seeded: bool,
}

/// Held by the client that writes the keys to compare with.
static SEEDING: Mutex<()> = Mutex::new(());

impl EtcdClient {
    fn new(target: Target) -> Result<EtcdClient, ClientError> {
        let settings = Settings::read(&target.options)?;
        let kind = if target.generator == "set" { Kind::Set } else { Kind::Register };
        let Target { addresses, names, own, .. } = target;
        let connections = addresses.into_iter().map(Connection::new).collect();
        let seeded = settings.compares == 0 || kind != Kind::Set;
        Ok(EtcdClient { kind, settings, connections, own, names, seeded })
    }

    fn send(&mut self, node: usize, request: &Request, deadline: Instant) -> Result<Value, Reply> {
        let body = request.body.to_string();
        let answer =
            self.connections[node].request("POST", request.path, body.as_bytes(), deadline);
        let name = Some(self.names[node].clone());
        match answer {
            Ok(answer) => understood(&answer).map_err(|error| match request.asked {
                Asked::Read => Reply::Fail { error, node: name },
                Asked::Write => Reply::Unknown { error, node: name },
            }),
            Err(HttpError::NotSent(error)) => {
                Err(Reply::Fail { error: format!("not sent: {error}"), node: name })
            }
            Err(error) if request.asked == Asked::Read => {
                Err(Reply::Fail { error: error.to_string(), node: name })
            }
            Err(error) => Err(Reply::Unknown { error: error.to_string(), node: name }),
        }
    }

    /// Writes the keys that every add compares with. Whoever comes first does, and the others wait
    /// for the keys.
    fn seed(&mut self, node: usize, deadline: Instant) -> Result<(), Reply> {
        if self.seeded {
            return Ok(());
        }
        let _turn = SEEDING.lock().unwrap_or_else(PoisonError::into_inner);
        let count = self.send(node, &request::seed_count(), deadline)?;
        let count = count["count"].as_str().and_then(|count| count.parse().ok()).unwrap_or(0);
        if self.settings.compares > count {
            for request in request::seeds(self.settings.compares) {
                self.send(node, &request, deadline)?;
            }
        }
        self.seeded = true;
        Ok(())
    }
}

/// The body of an answer, or what went wrong in words.
fn understood(answer: &Answer) -> Result<Value, String> {
    let text = || String::from_utf8_lossy(&answer.body).trim().to_string();
    let body: Value = serde_json::from_slice(&answer.body).map_err(|_| text())?;
    if answer.status == 200 && body["header"].is_object() {
        return Ok(body);
    }
    let message = body["message"].as_str().or(body["error"].as_str());
    Err(message.map_or_else(text, str::to_string))
}

impl Client for EtcdClient {
    fn call(&mut self, call: &Call, time_max: Duration) -> Reply {
        let deadline = Instant::now() + time_max;
        let node = call.node.unwrap_or(self.own);
        let Some(name) = self.names.get(node).cloned() else {
            return Reply::Fail { error: format!("there is no node number {node}"), node: None };
        };
        if let Err(reply) = self.seed(node, deadline) {
            // Nothing of the call itself was sent.
            let error = format!("the keys to compare with were not written: {reply:?}");
            return Reply::Fail { error, node: Some(name) };
        }
        let request = match Request::new(self.kind, &self.settings, call) {
            Ok(request) => request,
            Err(error) => return Reply::Fail { error, node: Some(name) },
        };
        match self.send(node, &request, deadline) {
            Ok(body) => request.reply(&body, name),
            Err(reply) => reply,
        }
    }
}
