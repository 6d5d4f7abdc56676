//! The desk: campaigns of coding agents whose end is computed from evidence.
//!
//! Loops of agents with fresh contexts finish long tasks, and all of them end because an agent said
//! so. The desk keeps the loop and takes the word away: *an agent may lower a result, never raise
//! it*. A Worker builds one story of a [`contract`] in a working tree of its own; the Leader, which
//! is this program, runs every command itself on the claimed tree ([`gate`], [`results`]), sees the
//! tests fail without the work and pass with it, and only then asks a Verifier, who may find
//! something wrong but cannot make anything right. What happened is a list of [`event`]s;
//! [`step()`] folds them to a [`state`], and [`facts`] says when the list means COMPLETE.
//!
//! Contract, gate, results, artifacts, state and facts are pure. The rest is what touches the
//! world: git, processes, the record.

pub mod artifact;
pub mod contract;
pub mod event;
pub mod facts;
pub mod gate;
mod import;
pub mod invariants;
pub mod report;
pub mod results;
pub mod shell;
pub mod state;
mod step;

pub use import::{ImportError, Imported, import};
pub use step::{Refusal, apply, step};
