//! How a run of an agent ended.

use crate::event::RateLimit;
use serde::{Deserialize, Serialize};
use std::fmt;

/// How a run ended: what the kernel, the clock and the engine's own protocol say. Whether the agent
/// did its work is another question.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Outcome {
    /// It ended by itself.
    Exited {
        /// With this code.
        code: i32,
    },
    /// A signal ended it, none of ours.
    Signalled {
        /// The number of the signal.
        signal: i32,
    },
    /// It was silent for too long, and was ended.
    IdleTimeout,
    /// It took too long, and was ended.
    WallTimeout,
    /// It wrote too much, and was ended.
    OutputLimit,
    /// It was called off, and was ended.
    Cancelled,
    /// It could not be started.
    SpawnFailed {
        /// Why, and what to do.
        why: String,
    },
    /// Its service asked to come back later.
    RateLimited {
        /// What it said about when.
        limit: RateLimit,
    },
    /// Whoever ran it for us says that it did not get to its end.
    Failed {
        /// Why.
        why: String,
    },
    /// It does not speak the protocol it was said to speak, and was ended.
    Unintelligible {
        /// What was wrong.
        why: String,
    },
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Exited { code } => write!(f, "exited with {code}"),
            Outcome::Signalled { signal } => write!(f, "ended by signal {signal}"),
            Outcome::IdleTimeout => write!(f, "ended: silent for too long"),
            Outcome::WallTimeout => write!(f, "ended: took too long"),
            Outcome::OutputLimit => write!(f, "ended: wrote too much"),
            Outcome::Cancelled => write!(f, "ended: called off"),
            Outcome::SpawnFailed { why } => write!(f, "not started: {why}"),
            Outcome::RateLimited { .. } => write!(f, "its service asked to come back later"),
            Outcome::Failed { why } => write!(f, "failed: {why}"),
            Outcome::Unintelligible { why } => write!(f, "ended: {why}"),
        }
    }
}
