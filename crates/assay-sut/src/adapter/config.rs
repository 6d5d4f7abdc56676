//! What an adapter is, and what it is told.

use super::protocol::{PROTOCOL, Say};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

/// How long an adapter may take to say that it is ready.
pub const READY_TIME_MAX: Duration = Duration::from_secs(30);
/// How often an adapter that ended is started again, over the life of a client.
pub const RESTARTS_MAX: u64 = 16;
/// Calls that may be without an answer at the same time. One more, and the adapter is taken for
/// stuck and started again.
pub const UNANSWERED_MAX: usize = 8;

/// An adapter and its client.
#[derive(Clone, PartialEq, Debug)]
pub struct AdapterConfig {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Variables of its environment, beside those Assay has.
    pub environment: BTreeMap<String, String>,
    /// The directory it runs in; `None`: Assay's own.
    pub directory: Option<PathBuf>,
    /// Where its standard error goes. Appended to: a restart does not lose what was said before.
    pub log: PathBuf,
    /// The number of the client, from 0.
    pub client: usize,
    /// The names of the nodes.
    pub names: Vec<String>,
    /// Where this client reaches them, in the same order.
    pub addresses: Vec<SocketAddr>,
    /// Which of them is the client's own, from 0.
    pub own: usize,
    /// Where its randomness comes from, if it has any.
    pub seed: u64,
    /// Whatever else it wants to know.
    pub options: Map<String, Value>,
    /// How long it may take to be ready.
    pub ready_time_max: Duration,
    /// How often it may be started again.
    pub restarts_max: u64,
    /// How many calls may be without an answer.
    pub unanswered_max: usize,
}

impl AdapterConfig {
    /// Client 0 with this command, the usual limits, and nothing else.
    pub fn new(command: Vec<String>) -> AdapterConfig {
        AdapterConfig {
            command,
            environment: BTreeMap::new(),
            directory: None,
            log: PathBuf::new(),
            client: 0,
            names: Vec::new(),
            addresses: Vec::new(),
            own: 0,
            seed: 0,
            options: Map::new(),
            ready_time_max: READY_TIME_MAX,
            restarts_max: RESTARTS_MAX,
            unanswered_max: UNANSWERED_MAX,
        }
    }

    /// What is wrong with it, in words.
    pub(super) fn check(&self) -> Result<(), String> {
        if self.command.is_empty() {
            return Err("an adapter needs a command".to_string());
        }
        if self.names.len() != self.addresses.len() || self.own >= self.names.len() {
            return Err(format!(
                "an adapter needs an address for each node and one of them as its own: {} names, \
                 {} addresses, own node number {}",
                self.names.len(),
                self.addresses.len(),
                self.own
            ));
        }
        Ok(())
    }

    pub(super) fn program(&self) -> &str {
        self.command.first().map_or("", String::as_str)
    }

    pub(super) fn command(&self) -> Result<Command, String> {
        let log = OpenOptions::new().create(true).append(true).open(&self.log);
        let log = log.map_err(|error| format!("cannot open {}: {error}", self.log.display()))?;
        let mut command = Command::new(self.program());
        command.args(self.command.iter().skip(1)).envs(&self.environment).stderr(Stdio::from(log));
        if let Some(directory) = &self.directory {
            command.current_dir(directory);
        }
        Ok(command)
    }

    pub(super) fn init(&self) -> Say {
        let nodes = self.names.iter().cloned();
        Say::Init {
            protocol: PROTOCOL,
            client: self.client,
            node: self.names.get(self.own).cloned().unwrap_or_default(),
            nodes: nodes.zip(self.addresses.iter().map(SocketAddr::to_string)).collect(),
            seed: self.seed,
            options: self.options.clone(),
        }
    }
}
