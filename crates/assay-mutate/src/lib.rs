//! Whether the properties of a TLA+ module can fail at all.
//!
//! A checker that says "no error" says it of a property that is always true as well. So the model
//! gets mistakes, one at a time, and it is written down which property notices which: a property
//! that notices nothing says nothing, and one that notices less than before got weaker, whatever
//! its text looks like. Mutants and questions are made by `assay-guard`, which reads modules;
//! this crate has them explored by an external checker behind one trait, [`Engine`], under limits
//! of time, memory and output, and compares what came out with what is on record.
//!
//! What it does not do: explore by itself, or judge a text. A checker that is missing is an error
//! and never a pass.

mod bounded;
pub mod campaign;
pub mod engine;
pub mod findings;
mod found;
pub mod model;
pub mod picture;
mod scratch;
pub mod show;
mod tla_checker;
mod tlc;
mod tlc_messages;
pub mod vacuity;

pub use bounded::stop_flag;
pub use engine::{Answer, CannotCheck, Engine, Limits, Question};
pub use found::{EngineChoice, Presence, choose, look};
pub use model::{Model, ModelError};
