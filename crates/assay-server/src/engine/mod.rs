//! What answers: engines, and who starts and stops them.

mod play;
mod runner;
mod script;

pub use runner::{Host, Runner, Stop};
pub use script::{Script, ScriptError};
