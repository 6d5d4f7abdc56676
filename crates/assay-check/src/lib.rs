//! x
mod budget;
mod certificate;
mod hint;
mod kind;
mod model;
pub mod models;
mod relax;
mod search;

pub use budget::Budget;
pub use certificate::Certificate;
pub use kind::{MODELS, ModelInfo, ModelKind};
pub use model::{Call, Effect, Model, Problem, Start};
pub use relax::Relaxation;
pub use search::{Answer, Decision, decide};
