//! TLA+ modules and the configurations they are checked with.

mod actions;
mod cfg;
mod cfg_rules;
mod modules;
pub mod mutants;
mod parse;
pub mod probes;
mod properties;
pub mod records;
mod terms;

pub use cfg::{Cfg, parse_cfg};
pub use modules::compare;
pub use parse::{Module, Operator, parse};
