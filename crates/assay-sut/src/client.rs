//! Something that does operations on a system, one after the other.

use assay_workload::{Call, Reply};
use std::time::Duration;

/// A client could not be made, or cannot go on.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{message}")]
pub struct ClientError {
    /// What, and what to do about it.
    pub message: String,
}

/// A client of a running system.
pub trait Client: Send {
    /// Does one operation and waits for what comes of it, but not longer than `time_max`: then the
    /// reply is unknown. An answer that comes later must never be taken for that of another call.
    fn call(&mut self, call: &Call, time_max: Duration) -> Reply;
}
