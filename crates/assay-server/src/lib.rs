//! Agent sessions over REST and server-sent events.
//!
//! Serves the contract of Managed Agents, which the official clients speak: agents, environments,
//! sessions and their events, files. What is promised and what is not stands in
//! `docs/formats/sessions-api.md`. [`run`] serves until it is told to stop.
//!
//! How it is made: [`store`] has one thread that writes, and takes the pure steps of
//! `assay-session` in transactions of [`assay_ledger::keyed`]; `hub` tells streams what is durable;
//! [`api`] checks and answers requests; [`engine`] plays the turns, with a script, a model behind
//! an endpoint or an agent that is a program; [`net`] is who is asked for that, and `oauth` renews
//! what they are shown; [`console`] is for people.
//!
//! *Leaves to others* the machine of a session (`assay-session`), the database (`assay-ledger`),
//! where tools run (`assay-sandbox`) and how programs are supervised (`assay-agent`).

pub mod api;
mod arranging;
pub mod console;
mod counters;
mod durable;
pub mod engine;
mod error;
mod hiding;
mod hub;
mod limits;
mod listen;
mod log;
mod names;
mod nesting;
pub mod net;
mod oauth;
mod patience;
mod placing;
mod run;
mod sealing;
mod seats;
pub mod store;
mod trees;

pub use error::{ApiError, ErrorType};
pub use hub::{Hub, Listener};
pub use limits::Limits;
pub use names::Names;
pub use run::{Demo, Ready, ServeError, ServeOptions, run};
pub use sealing::{MasterKeyError, MasterKeySource};
