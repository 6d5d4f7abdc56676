//! What touches the world: git, processes, files, the record. Thin, and without opinions.
//!
//! [`Leader`] asks the state what comes next, does it, writes down what came of it, and only then
//! goes on. Everything it knows it can read again from the record; so it may be killed anywhere.

mod around;
mod audit;
mod begun;
mod campaign;
mod checks;
mod confine;
mod desk;
mod dispatch;
mod elsewhere;
mod engines;
mod git;
mod leader;
mod left;
mod objects;
mod plain;
mod projections;
mod prompt;
mod protect;
mod reach;
mod seats;
mod settings;
mod taking;
mod trees;

pub use audit::{Audit, audit};
pub use campaign::{Campaign, CampaignError, Recorded, fold};
pub use desk::{Desk, DeskError};
pub use dispatch::{Engines, EnginesError, Executed, Execution, Order, Ran, Seen};
pub use engines::Processes;
pub use git::{Git, GitError};
pub use leader::{Leader, LeaderError, Pause, Screen};
pub use projections::{escalation, fix_text, phase, status};
pub use trees::TreeError;
