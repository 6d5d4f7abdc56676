//! The process between an agent and whoever runs it.
//!
//! It has three jobs. It starts the agent from a thread that has restricted itself. It adopts
//! whatever the agent starts and leaves behind, however often that forks and whatever group or
//! session it moves to (it is a *subreaper*), and ends all of it when the agent has ended. And it
//! watches its own parent: if that is killed, however hard, everything here ends at once.
//!
//! What it is to do stands in a file, `keeper.json`; how it went in another, `ended.json`, which is
//! written when nobody is left who could write to it. Its standard streams are the agent's: the
//! keeper itself neither reads nor writes them.

mod family;
mod run;

pub use run::keep;

use crate::hiding::Hidden;
use crate::sandbox::{Protection, Sandbox};
use crate::task::ProcessLimits;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};

/// In the log directory: what the keeper is to do.
pub(crate) const PLAN_NAME: &str = "keeper.json";
/// In the log directory: how it went.
pub(crate) const REPORT_NAME: &str = "ended.json";

/// This program, and the arguments that lead to its commands for agents: `keep LOG` and
/// `scripted FILE` follow them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Helper {
    /// The program.
    pub program: PathBuf,
    /// What comes first.
    pub args: Vec<String>,
}

impl Helper {
    /// `assay agent`, whatever file that is here.
    ///
    /// # Errors
    /// If the system does not say which program this is.
    pub fn this_program() -> io::Result<Helper> {
        Ok(Helper { program: std::env::current_exe()?, args: vec!["agent".to_string()] })
    }
}

/// What a keeper is to do.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Plan {
    /// Who waits for it.
    pub parent: u32,
    /// Program and arguments.
    pub argv: Vec<String>,
    /// Where the agent may write.
    pub writable: Vec<PathBuf>,
    /// What it cannot read.
    pub hidden: Hidden,
    pub sandbox: Sandbox,
    /// What each of its processes may have.
    pub each: ProcessLimits,
}

/// How it went.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Report {
    pub end: End,
    pub protection: Protection,
    /// Processes the agent had left running.
    pub stragglers: u32,
}

/// How the agent's own process ended.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum End {
    Exited(i32),
    Signalled(i32),
    /// It was told to end.
    Ended,
    SpawnFailed(String),
}

impl Plan {
    pub(crate) fn write(&self, log: &Path) -> io::Result<()> {
        std::fs::write(log.join(PLAN_NAME), serde_json::to_vec(self)?)
    }
}

impl Report {
    /// What a keeper left; `None` if it did not get that far.
    pub(crate) fn read(log: &Path) -> Option<Report> {
        serde_json::from_slice(&std::fs::read(log.join(REPORT_NAME)).ok()?).ok()
    }
}
