//! Whether a history can carry a verdict: rules V1 to V11.

use crate::history::{History, OpIndex};
use serde::Serialize;

/// A rule about histories.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
pub enum Rule {
    /// Every `op_id` is unique.
    V1,
}

/// How much a finding takes away.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing; no verdict is touched.
    Note,
    /// Some checkers cannot be sound on this history.
    Weak,
    /// No checker can be sound on this history.
    Unsound,
}

/// One broken rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The rule.
    pub rule: Rule,
    /// How bad it is.
    pub severity: Severity,
    /// The line it is about.
    pub line: Option<u64>,
    /// The operation it is about.
    pub op: Option<OpIndex>,
    /// What is wrong, in words, with the values at hand.
    pub what: String,
    /// What follows: "no checker can be sound because ...".
    pub consequence: String,
    /// How many more operations break the rule in the same way.
    pub more: u64,
}

/// What the history will be used for.
#[derive(Clone, Debug, Default)]
pub struct ValidateOptions<'a> {
    /// The operation types the model allows; empty allows all.
    pub allowed_types: &'a [&'a str],
    /// The claim is about replication, leadership or membership, so `node_seen` must be there.
    pub nodes_needed: bool,
}

/// All broken rules, worst first, then by line.
pub fn validate(history: &History, options: &ValidateOptions<'_>) -> Vec<Finding> {
    let _ = (history, options);
    Vec::new()
}
