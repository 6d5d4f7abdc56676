//! Runs a coding agent once, with a fresh context, in a directory, and says how that ended.
//!
//! An [`Agent`] gets a [`Task`]: a prompt, a directory to work in, a drop box for what it hands
//! over, and [`Limits`]. What it does comes as [`AgentEvent`]s while it does it; how it ended is an
//! [`Outcome`], decided by what the kernel says and the clock, never by what the agent says. Which
//! program that is stands in an [`AgentConfig`]: Claude, Codex, anything that speaks the Agent
//! Client Protocol, any command, or a script of actions; or it is none of these but a session of
//! `assay serve`, whose server runs it (docs/formats/agents.md). [`agent_of`] makes either.
//!
//! ```no_run
//! use assay_agent::{Agent, AgentConfig, Helper, Limits, ProcessAgent, Task};
//!
//! let config = AgentConfig::parse("engine = 'command'\ncommand = ['my-agent', '--headless']")?;
//! let agent = ProcessAgent::new(config, Helper::this_program()?);
//! let task = Task::new("Make the tests pass.", "work".as_ref(), "drop".as_ref(), "log".as_ref())
//!     .limits(Limits::default())
//!     .variable("nonce", "4711");
//! let ran = agent.run(&task, &mut |event| println!("{event:?}"));
//! println!("{}, {}", ran.outcome, ran.protection);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Between an agent and whoever runs it stands a [keeper](keep): a process that adopts whatever the
//! agent starts and forgets, ends all of it with the agent, and ends the agent if its own parent
//! dies. The keeper is this program, started again; so is the player of [scripts](play).
//!
//! *Knows nothing of* what a prompt asks for and what an artifact means.

mod acp;
mod agent;
mod backoff;
mod call;
mod change;
mod config;
mod decode;
mod environment;
mod event;
mod hiding;
mod keeper;
mod leave;
mod outcome;
mod output;
mod sandbox;
mod script;
mod session;
mod streams;
mod supervise;
mod task;

pub use agent::{Agent, ProcessAgent, Ran, agent_of, run_patiently};
pub use backoff::Backoff;
pub use call::{CALL_BYTES_MAX, CallFacts, Location, Piece};
pub use config::{AgentConfig, ConfigError, Engine, SessionConfig};
pub use event::{AgentEvent, RateLimit, TEXT_BYTES_MAX, Usage};
pub use hiding::{Hidden, HidingError, probe_hiding};
pub use keeper::{Helper, keep};
pub use leave::{Decision, Leave, Questions};
pub use outcome::Outcome;
pub use sandbox::{Protection, Sandbox, probe};
pub use script::{ScriptError, play};
pub use session::SessionAgent;
pub use task::{Attachment, Cancel, Limits, ProcessLimits, Task};
