//! What answers: engines, and who starts and stops them.
//!
//! An [`Engine`] plays one turn with what its [`Host`] gives it. Which there are is decided when
//! the server is put together ([`Engines`]): scripts, models behind an endpoint, agents that are
//! programs. The [`Runner`] starts one for each turn; tools run in the [`Room`] of the turn.

mod acp;
mod attached;
mod course;
mod deeds;
mod engines;
mod fetch;
mod host;
mod keyring;
mod lending;
mod mcp;
mod memory;
mod model;
mod options;
mod order;
mod outputs;
mod play;
mod prices;
mod room;
mod runner;
mod script;
mod toolbox;

pub use attached::{check_type, named_file};
pub use engines::{Engines, Offer};
pub use host::{Host, Stop, remember_interrupt};
pub use lending::{Lends, clash};
pub use memory::Entry;
pub use options::{AcpConfig, ConfigError, EngineConfig, EngineError, EngineOptions, ModelConfig};
pub use outputs::forget_outputs;
pub use prices::Prices;
pub use room::{Gave, Room, Sandboxes};
pub use runner::Runner;
pub use script::{Script, ScriptError};
pub use toolbox::Wanted;

pub(crate) use mcp::MCP_PREFIX;

use std::future::Future;
use std::pin::Pin;

/// The model of agents that play a script.
pub const SCRIPTED: &str = "scripted";

/// A turn while it is played.
pub type Turn = Pin<Box<dyn Future<Output = Result<(), Stop>> + Send>>;

/// Plays turns. Dropping a turn ends it; what it started in its room is ended there.
pub trait Engine: Send + Sync + std::fmt::Debug {
    /// Plays one, until it has said that it ends.
    fn play(&self, host: Host) -> Turn;
}
