//! The evidence gate: what a claim must survive before anybody is asked for an opinion.
//!
//! Everything here is a pure function of what was measured: paths that changed, lines of a diff,
//! results of test runs. The shell measures, these functions judge, and what they say is written
//! down together with the evidence. None of them can be talked into a pass: an empty result is a
//! finding like any other.

pub mod asked;
pub mod beside;
pub mod citations;
pub mod diff;
pub mod gaming;
pub mod glob;
pub mod hooks;
pub mod hunks;
pub mod kept;
pub mod listing;
pub mod manifests;
pub mod mutants;
pub mod onward;
pub mod sabotage;
pub mod scope;
pub mod shadowed;
pub mod symbols;
pub mod tests;
pub mod weaker;

use serde::{Deserialize, Serialize};

/// How bad a finding is; the order is the order of fixing.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The claim is false, or evidence was tampered with.
    Critical,
    /// A criterion is not shown.
    Major,
    /// Worth saying.
    Minor,
}

/// Something that is wrong with a claim.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Finding {
    /// `US-001/AC-1`, or the check that found it (`scope`, `US-001/L1/1`).
    pub about: String,
    /// How bad.
    pub severity: Severity,
    /// What, where, what to do.
    pub text: String,
    /// Advice that binds nobody.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl Finding {
    /// A finding without advice.
    pub fn new(about: impl Into<String>, severity: Severity, text: impl Into<String>) -> Finding {
        Finding { about: about.into(), severity, text: text.into(), hint: None }
    }

    /// Whether work cannot be accepted with it.
    pub fn blocks(&self) -> bool {
        self.severity <= Severity::Major
    }
}
