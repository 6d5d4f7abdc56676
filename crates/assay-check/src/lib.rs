//! x
mod budget;
mod calibrate;
mod certificate;
mod check;
mod fast;
mod hint;
mod kind;
mod model;
pub mod models;
mod partition;
mod relax;
mod report;
mod search;
mod verify;
mod witness;

pub use budget::Budget;
pub use calibrate::{Anomaly, CalibrationRow, calibrate};
pub use certificate::Certificate;
pub use check::{CheckError, CheckOptions, check};
pub use kind::{MODELS, ModelInfo, ModelKind};
pub use model::{Call, Effect, Model, Problem, Start};
pub use relax::Relaxation;
pub use report::{Algorithm, PartReport, PartialOrder, Refutation, Report, Unfinished};
pub use search::{Answer, Decision, decide};
pub use verify::{Verified, verify};
pub use witness::{phrase, sentence};
