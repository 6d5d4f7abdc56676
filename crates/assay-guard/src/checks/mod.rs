//! The configuration of checks: what runs, what fails a build, and which numbers it asks for.

mod commands;
mod flat;
mod rules;
mod settings;

pub use flat::settings;
pub use rules::{compare, is_configuration, own_configuration};
