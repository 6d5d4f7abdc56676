//! The embedded system under test: a small replicated store on Raft, with named defects.
//!
//! A tool that judges other systems needs one it can break at will. This crate is that system:
//! three or five nodes, each a process of the `assay` binary, replicate one state machine with the
//! `openraft` library, keep a log and snapshots on disk, and answer JSON over HTTP. It is honest by
//! default. Each [`Defect`] switches on one mistake that real systems have shipped; the page
//! `docs/systems/kv.md` tells which.
//!
//! The parts, from the inside out:
//! - [`state`]: what the store promises about its objects. Pure and deterministic: time and the
//!   rules for retries come with each batch of commands.
//! - [`storage`]: the log file, the snapshot file, and how both survive `kill -9`.
//! - [`parse`]: requests as types; whatever is wrong with one is said here.
//! - `network`, `server`, `node`: peers, clients, and the process that holds it all together.
//!
//! ```
//! use assay_kv::state::{Batch, Outcome, State};
//! use serde_json::json;
//!
//! let request = br#"{"op": "register.write", "key": "x", "input": 5}"#;
//! let command = assay_kv::parse::request(request)?;
//! let mut state = State::default();
//! let outcomes = state.apply(&Batch::of(vec![command]));
//! assert_eq!(outcomes, [Outcome::Ok(json!(null))]);
//! # Ok::<(), assay_kv::parse::BadRequest>(())
//! ```
//!
//! It does not inject faults, record histories or judge: other crates do that to it.

mod counters;
mod defect;
mod network;
mod node;
pub mod parse;
mod propose;
mod raft;
mod reads;
mod server;
pub mod state;
pub mod storage;

pub use defect::{Defect, Defects};
pub use node::{NodeError, NodeOptions, run};
pub use raft::NodeId;
