//! A fault: what it is called, whom it hits, when, and what is done.

use crate::catalog::{CATALOG, CatalogRow};
use crate::clock::Clock;
use crate::files::{Corruption, Fill};
use crate::means::ByMeans;
use crate::process::Process;
use crate::proxy::{LinkId, LinkRule};

/// A name out of the catalogue of faults, such as `pause` or `part-asym`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FaultId(&'static str);

impl FaultId {
    /// The id, if there is such a fault.
    pub fn named(id: &str) -> Option<FaultId> {
        CATALOG.iter().find(|row| row.id == id).map(|row| FaultId(row.id))
    }

    /// The id as a word.
    pub fn name(self) -> &'static str {
        self.0
    }

    /// What the catalogue says about it.
    pub fn row(self) -> &'static CatalogRow {
        let row = CATALOG.iter().find(|row| row.id == self.0);
        row.expect("ids are made from rows of the catalogue only")
    }
}

impl std::fmt::Display for FaultId {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.pad(self.0)
    }
}

/// When a fault is meant to be on, in milliseconds since the start of the run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Window {
    /// From.
    pub from_ms: u64,
    /// To.
    pub to_ms: u64,
}

/// What is done.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Action {
    /// Rules are imposed on links.
    Links(Vec<LinkRule>),
    /// The open connections of links are reset, once.
    Reset(Vec<LinkId>),
    /// Processes are stopped.
    Pause(Vec<Process>),
    /// Processes are killed (SIGKILL).
    Kill(Vec<Process>),
    /// Processes are asked to end (SIGTERM).
    Terminate(Vec<Process>),
    /// A file is damaged.
    Corrupt(Corruption),
    /// A disk is filled.
    Fill(Fill),
    /// The clock of processes is moved.
    Skew(Skew),
    /// A mechanism of the kernel is set to work.
    By(ByMeans),
}

/// A clock that is wrong.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Skew {
    /// The clock the processes were started with.
    pub clock: Clock,
    /// How far it is off, in milliseconds; negative is behind.
    pub offset_ms: i64,
    /// Those who are to notice.
    pub processes: Vec<Process>,
}

/// A fault that can be injected.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// What it is called.
    pub id: FaultId,
    /// Whom it hits, in words: "leader n2".
    pub target: String,
    /// When it is meant to be on.
    pub window: Window,
    /// What is done.
    pub action: Action,
}

impl Fault {
    /// `pause of leader n2`, for evidence.
    pub fn title(&self) -> String {
        format!("{} of {}", self.id, self.target)
    }
}
