//! The client of the embedded store: calls of the generators as requests of docs/systems/kv.md.
//!
//! One client serves one generator, because `read` means something else of a register than of a
//! set. It holds a connection to each node it talks to, sends each call once, and never guesses:
//! what was not sent is a *fail*, what was sent and not answered is *unknown*.

mod dump;
mod request;

use crate::Driver;
use crate::client::{Client, ClientError, Target};
use crate::http::{Answer, Connection, HttpError};
use assay_workload::{Call, Reply};
use request::{Kind, Request};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// How long a replica that is behind is left alone before it is asked again.
const CATCH_UP_PAUSE: Duration = Duration::from_millis(10);

/// The driver of the embedded store.
pub(crate) const DRIVER: Driver = Driver {
    name: "kv",
    about: "the embedded store, by HTTP",
    generators: Kind::GENERATORS,
    open: |target| {
        let Target { addresses, names, own, generator, .. } = target;
        Ok(Box::new(KvClient::new(&generator, addresses, own, names)?))
    },
};

/// A client of the embedded store.
pub struct KvClient {
    kind: Kind,
    connections: Vec<Connection>,
    own: usize,
    names: Vec<String>,
}

impl KvClient {
    /// A client for the calls of `generator`. `addresses` are those of all nodes, in the order of
    /// their ids from 1, and `names` what the history calls them; `own` is the place of the node
    /// that gets every call which names no other.
    ///
    /// # Errors
    /// If the store has nothing for this generator, or nodes and names do not fit.
    pub fn new(
        generator: &str,
        addresses: Vec<SocketAddr>,
        own: usize,
        names: Vec<String>,
    ) -> Result<KvClient, ClientError> {
        let wrong = |message: String| ClientError { message };
        let kind = Kind::named(generator).ok_or_else(|| {
            wrong(format!("the embedded store `kv` has nothing for the generator `{generator}`"))
        })?;
        if own >= addresses.len() || names.len() != addresses.len() {
            let (nodes, names) = (addresses.len(), names.len());
            return Err(wrong(format!("node {own} of {nodes} nodes with {names} names")));
        }
        let connections = addresses.into_iter().map(Connection::new).collect();
        Ok(KvClient { kind, connections, own, names })
    }

    /// The name of the node with an id of the store, which count from 1.
    fn name(&self, id: &Value) -> Option<String> {
        let place = usize::try_from(id.as_u64()?).ok()?.checked_sub(1)?;
        self.names.get(place).cloned()
    }

    fn operate(&mut self, call: &Call, node: usize, deadline: Instant) -> Reply {
        let request = match Request::new(self.kind, call) {
            Ok(request) => request,
            Err(why) => return self.mistake(node, &why),
        };
        let body = request.body.to_string();
        match self.connections[node].request("POST", "/op", body.as_bytes(), deadline) {
            Ok(answer) => self.understand(&request, node, &answer),
            Err(error) => self.unanswered(node, &error),
        }
    }

    fn understand(&self, request: &Request, node: usize, answer: &Answer) -> Reply {
        let body: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
        let asked = self.names[node].clone();
        let decided = Some(self.name(&body["node"]).unwrap_or_else(|| asked.clone()));
        let text = || String::from_utf8_lossy(&answer.body).into_owned();
        let reason = |field: &str| body[field].as_str().map_or_else(text, str::to_string);
        match answer.status {
            200 => match request.output(&body["ok"]) {
                Some(output) => {
                    let revision = body["index"].as_i64().filter(|_| request.positioned);
                    Reply::Ok { output, node: decided, revision }
                }
                // It happened, but nobody can say with which output.
                None => {
                    Reply::Unknown { error: format!("not understood: {}", text()), node: decided }
                }
            },
            409 => Reply::Fail { error: reason("fail"), node: decided },
            400 | 404 | 405 | 413 => self.mistake(node, &reason("error")),
            503 => Reply::Unknown { error: reason("unknown"), node: decided },
            status => {
                Reply::Unknown { error: format!("status {status}: {}", text()), node: decided }
            }
        }
    }

    /// A request that the store does not take. Nothing happened.
    fn mistake(&self, node: usize, why: &str) -> Reply {
        let error = format!("a bug in the client of kv, whose request was refused: {why}");
        Reply::Fail { error, node: Some(self.names[node].clone()) }
    }

    fn unanswered(&self, node: usize, error: &HttpError) -> Reply {
        let (text, node) = (error.to_string(), Some(self.names[node].clone()));
        match error {
            HttpError::NotSent(_) => Reply::Fail { error: text, node },
            HttpError::NoAnswer(_) | HttpError::Malformed(_) => {
                Reply::Unknown { error: text, node }
            }
        }
    }

    /// A `GET` that must succeed. It changes nothing, so whatever goes wrong is a fail.
    fn get(&mut self, node: usize, path: &str, deadline: Instant) -> Result<Value, Reply> {
        let fail = |error: String, name: &str| Reply::Fail { error, node: Some(name.to_string()) };
        let answer = self.connections[node].request("GET", path, b"", deadline);
        let answer = answer.map_err(|error| fail(error.to_string(), &self.names[node]))?;
        match serde_json::from_slice(&answer.body) {
            Ok(body) if answer.status == 200 => Ok(body),
            _ => Err(fail(format!("{path} was answered {}", answer.status), &self.names[node])),
        }
    }

    /// The members by the node's own account; a linearizable read would show the leader's.
    fn members(&mut self, node: usize, deadline: Instant) -> Result<Value, Reply> {
        let status = self.get(node, "/status", deadline)?;
        let voters = status["voters"].as_array().into_iter().flatten();
        Ok(voters.map(|id| self.name(id).map_or_else(|| id.clone(), |name| json!(name))).collect())
    }

    /// The state of one replica, once it has caught up with what is committed now: a replica that
    /// is merely late has not lost anything. One that does not catch up in time is no final state.
    fn replica(&mut self, call: &Call, node: usize, deadline: Instant) -> Result<Value, Reply> {
        if self.kind == Kind::Membership {
            return self.members(node, deadline);
        }
        let committed = self.committed(deadline)?;
        loop {
            let dump = self.get(node, "/dump", deadline)?;
            let applied = dump["applied"].as_u64().unwrap_or(0);
            if applied >= committed {
                return Ok(dump::shaped(self.kind, &dump["state"], call.key.as_ref()));
            }
            if Instant::now() + CATCH_UP_PAUSE >= deadline {
                let error = format!("has applied {applied} of {committed} entries");
                return Err(Reply::Fail { error, node: Some(self.names[node].clone()) });
            }
            std::thread::park_timeout(CATCH_UP_PAUSE);
        }
    }

    /// The log index that a linearizable read shows now.
    fn committed(&mut self, deadline: Instant) -> Result<u64, Reply> {
        let own = self.own;
        let body = json!({ "op": "members" }).to_string();
        let answer = self.connections[own].request("POST", "/op", body.as_bytes(), deadline);
        let answer = answer.map_err(|error| self.unanswered(own, &error))?;
        let body: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
        let index = body["index"].as_u64().filter(|_| answer.status == 200);
        index.ok_or_else(|| Reply::Fail {
            error: format!("what is committed cannot be read: status {}", answer.status),
            node: Some(self.names[own].clone()),
        })
    }
}

impl Client for KvClient {
    fn call(&mut self, call: &Call, time_max: Duration) -> Reply {
        let deadline = Instant::now() + time_max;
        let node = call.node.unwrap_or(self.own);
        let Some(name) = self.names.get(node).cloned() else {
            let error = format!("there is no node number {node}");
            return Reply::Fail { error, node: None };
        };
        let seen = match call.op.as_str() {
            "dump" => self.replica(call, node, deadline),
            "view" => self.members(node, deadline),
            "reconnect" => {
                self.connections.iter_mut().for_each(Connection::close);
                Ok(Value::Null)
            }
            _ => return self.operate(call, node, deadline),
        };
        match seen {
            Ok(output) => Reply::Ok { output, node: Some(name), revision: None },
            Err(reply) => reply,
        }
    }
}
