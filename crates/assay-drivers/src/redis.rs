//! The client of Redis: registers, sets, counters, queues, locks and leases as its own data types.
//!
//! Without the option `sentinel` the client talks to its own node and to no other. With it the
//! addresses are those of Sentinels: the client asks them for the master, and asks again when the
//! master is gone or has become a replica. With the option `wait` a write counts as done when so
//! many replicas have it.

mod dump;
mod jobs;
mod leases;
mod link;
mod locks;
mod request;
mod sentinel;

use crate::Driver;
use crate::client::{Client, ClientError, Target};
use crate::options::Options;
use crate::resend::Resending;
use crate::trouble::{Trouble, reply};
use assay_workload::{Call, Reply};
use jobs::{Acknowledge, Jobs};
use leases::Leases;
use link::{Link, LinkError};
use locks::Locks;
use redis::{Value, cmd};
use request::{Kind, Request};
use serde_json::Value as Json;
use std::time::{Duration, Instant};

/// The most replicas a write can wait for.
const WAIT_MAX: u64 = 100;

/// The driver of Redis.
pub(crate) const DRIVER: Driver = Driver {
    name: "redis",
    about: "Redis, alone or behind Sentinels",
    generators: Kind::GENERATORS,
    open: |target| Ok(Box::new(Resending::new(Box::new(RedisClient::new(target)?)))),
};

/// A client of Redis.
struct RedisClient {
    kind: Kind,
    names: Vec<String>,
    own: usize,
    /// To the nodes, or to the Sentinels if there are any.
    links: Vec<Link>,
    /// The master's name with the Sentinels; empty: there are none.
    sentinel: String,
    /// The master, since they named it.
    master: Option<Link>,
    wait: u64,
    locks: Locks,
    leases: Leases,
    jobs: Jobs,
}

impl RedisClient {
    fn new(target: Target) -> Result<RedisClient, ClientError> {
        let options = Options(&target.options);
        let kind = Kind::named(&target.generator).ok_or_else(|| ClientError {
            message: format!("redis has nothing for the generator `{}`", target.generator),
        })?;
        Ok(RedisClient {
            kind,
            sentinel: options.text("sentinel", "")?,
            master: None,
            wait: options.natural("wait", 0..=WAIT_MAX, 0)?,
            locks: Locks::new(&options, target.session)?,
            leases: Leases::new(&options)?,
            jobs: Jobs::new(&options)?,
            names: target.names,
            own: target.own,
            links: target.addresses.into_iter().map(Link::new).collect(),
        })
    }

    /// The connection for a call that names no node.
    fn deciding(&mut self, deadline: Instant) -> Result<&mut Link, Trouble> {
        if self.sentinel.is_empty() {
            return Ok(&mut self.links[self.own]);
        }
        let master = match self.master.take() {
            Some(master) => master,
            None => self.find_master(deadline)?,
        };
        Ok(self.master.insert(master))
    }

    /// Sentinels can be behind the times: who they name must say itself that it is a master.
    fn find_master(&mut self, deadline: Instant) -> Result<Link, Trouble> {
        let address = sentinel::master(&mut self.links, self.own, &self.sentinel, deadline)?;
        let mut link = Link::new(address);
        let role = link.ask(&cmd("ROLE"), deadline);
        let role = role.map_err(|error| Trouble::from(error).of_reading())?;
        let is_master = matches!(&role, Value::Array(parts)
            if parts.first() == Some(&Value::BulkString(b"master".to_vec())));
        if is_master { Ok(link) } else { Err(Trouble::Fail(format!("{address} is no master"))) }
    }

    /// The name of the node that decides. Behind Sentinels it is known only where each host has
    /// one node.
    fn decided_by(&self, node: Option<usize>) -> Option<String> {
        if self.sentinel.is_empty() || node.is_some() {
            return self.names.get(node.unwrap_or(self.own)).cloned();
        }
        let host = self.master.as_ref()?.address.ip();
        let mut here =
            self.links.iter().zip(&self.names).filter(|(link, _)| link.address.ip() == host);
        match (here.next(), here.next()) {
            (Some((_, name)), None) => Some(name.clone()),
            _ => None,
        }
    }

    fn operate(&mut self, call: &Call, deadline: Instant) -> Reply {
        let request = match self.kind {
            Kind::Lease => self.leases.request(call),
            kind => Request::new(kind, call, &mut self.locks),
        };
        let request = match request {
            Ok(request) => request,
            Err(trouble) => return trouble.reply(self.decided_by(call.node)),
        };
        let wait = self.wait;
        let link = match call.node {
            Some(node) if self.sentinel.is_empty() => Ok(&mut self.links[node]),
            Some(_) => Err(Trouble::Fail("behind Sentinels only a dump names a node".to_string())),
            None => self.deciding(deadline),
        };
        let answer = match link {
            Ok(link) => link.ask(&request.command, deadline),
            Err(trouble) => return trouble.reply(self.decided_by(call.node)),
        };
        let node = self.decided_by(call.node);
        let mut outcome = match &answer {
            Ok(answer) => request.output(answer),
            Err(error) => Err(error.clone().into()),
        };
        if request.only_reads() {
            outcome = outcome.map_err(Trouble::of_reading);
        }
        if wait > 0 && outcome.as_ref().is_ok_and(|output| request.has_written(output)) {
            outcome = self.replicated(call.node, deadline).and(outcome);
        } else if wait > 0 && call.op == "add" && outcome == Ok(Json::Bool(false)) {
            // Another sending added it, and WAIT knows only of what this connection wrote.
            let why = "was there, and nobody says how many replicas have it";
            outcome = Err(Trouble::Unknown(why.to_string()));
        }
        if answer.as_ref().is_err_and(LinkError::is_change) {
            self.master = None;
        }
        reply(outcome, node)
    }

    /// Waits until as many replicas as wanted have what this connection wrote.
    fn replicated(&mut self, node: Option<usize>, deadline: Instant) -> Result<(), Trouble> {
        // Redis ends the wait a little before we do, so that its answer is still heard.
        let left = deadline.saturating_duration_since(Instant::now());
        let wait_ms = (left.as_millis() as u64 * 9 / 10).max(1);
        let command = cmd("WAIT").arg(self.wait).arg(wait_ms).to_owned();
        let link = match node {
            Some(node) => &mut self.links[node],
            None => self.master.as_mut().unwrap_or(&mut self.links[self.own]),
        };
        match link.ask_next(&command, deadline) {
            Ok(Value::Int(replicas)) if replicas as u64 >= self.wait => Ok(()),
            Ok(answer) => {
                let (wait, found) = (self.wait, answer);
                Err(Trouble::Unknown(format!("written, but of {wait} replicas have it {found:?}")))
            }
            Err(error) => {
                self.master = None;
                Err(Trouble::Unknown(format!("written, but WAIT was not answered: {error:?}")))
            }
        }
    }

    fn dump(&mut self, call: &Call, node: usize, deadline: Instant) -> Result<Json, Trouble> {
        let prefix = match self.kind {
            Kind::Queue => self.jobs.dumped(),
            kind => kind.prefix().to_string(),
        };
        let command = dump::command(self.kind, prefix);
        let answer = if self.sentinel.is_empty() {
            self.links[node].ask(&command, deadline)
        } else {
            let address = sentinel::neighbour(&mut self.links[node], &self.sentinel, deadline)?;
            Link::new(address).ask(&command, deadline)
        };
        let answer = answer.map_err(|error| Trouble::from(error).of_reading())?;
        dump::shaped(self.kind, &answer, call.key.as_ref())
    }
}

impl Client for RedisClient {
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
                self.links.iter_mut().for_each(Link::close);
                self.master = None;
                reply(Ok(Json::Null), Some(name))
            }
            "dequeue" if self.jobs.acknowledge != Acknowledge::AtOnce => {
                reply(self.job(call, deadline), Some(name))
            }
            _ => self.operate(call, deadline),
        }
    }
}
