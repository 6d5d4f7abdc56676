//! Something that does operations on a system, one after the other.

use assay_workload::{Call, Reply};
use serde_json::Value;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

/// A client could not be made, or cannot go on.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{message}")]
pub struct ClientError {
    /// What, and what to do about it.
    pub message: String,
}

/// Whom a client talks to, and about what.
#[derive(Clone, PartialEq, Debug)]
pub struct Target {
    /// Where clients reach each node.
    pub addresses: Vec<SocketAddr>,
    /// What the nodes are called.
    pub names: Vec<String>,
    /// The client's own node, which gets every call that names no other.
    pub own: usize,
    /// What it will do, by the name of the generator.
    pub generator: String,
    /// What the system was told.
    pub options: BTreeMap<String, Value>,
    /// A number that no other client of the cluster has or had.
    pub session: usize,
}

/// A client of a running system.
pub trait Client: Send {
    /// Does one operation and waits for what comes of it, but not longer than `time_max`: then the
    /// reply is unknown. An answer that comes later must never be taken for that of another call.
    fn call(&mut self, call: &Call, time_max: Duration) -> Reply;

    /// Whether it can do nothing any more: every further call would fail without being sent.
    fn is_given_up(&self) -> bool {
        false
    }
}
