//! The configuration of checks: what runs, what fails a build, and which numbers it asks for.

mod commands;
mod environment;
mod flat;
mod maven;
mod rules;
mod settings;
mod targets;
mod triggers;

pub use flat::settings;
pub use rules::{compare, is_configuration, own_configuration};
