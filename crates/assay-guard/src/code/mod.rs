//! Tests and checks in programs.
//!
//! Each parser has a front end that fills one small syntax tree (`ast`); from there on all
//! languages are the same: `analyse` finds tests, assertions, skips and what says how much is
//! tried, `assertions` knows what the names of frameworks ask for, and `compare` holds the rules.

mod analyse;
mod assertions;
mod ast;
mod binders;
mod calls;
mod compare;
mod flow;
mod generators;
mod grammar;
mod heard;
mod inlining;
mod knobs;
mod logic;
mod matching;
mod model;
mod names;
mod open;
mod rules;
pub(crate) mod rust;
mod snapshots;
mod stubs;

pub use analyse::analyse;
pub use compare::compare;
pub use grammar::Language;
pub use model::{Check, Checks, Function, Kind};

use crate::config::Config;

/// Reads what a file of a known language checks; nothing for other files, or if a parser gave up.
pub fn read(path: &str, source: &str, config: &Config) -> Option<Checks> {
    let program = match crate::tree::extension(path).as_str() {
        "rs" => rust::parse(source),
        _ => grammar::parse(Language::of(path)?, source)?,
    };
    Some(analyse(path, source, &program, config))
}

/// Whether a path is that of a program that is looked into.
pub fn is_program(path: &str) -> bool {
    crate::tree::extension(path) == "rs" || Language::of(path).is_some()
}

/// Whether an enum of this name lists invariants.
fn is_registry(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    lower.contains("invariant") && (lower.ends_with("id") || lower.ends_with("ids"))
        || lower == "invariants"
        || lower == "invariant"
}
