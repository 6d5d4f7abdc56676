//! Whether a history can carry a verdict: rules V1 to V11.
//!
//! A checker believes every column it reads. So before one is run, these rules look for what a
//! broken or careless recorder leaves behind, and each finding says what follows from it.
//!
//! ```
//! use assay_history::{ReadOptions, Rule, ValidateOptions, read, validate};
//! let row = r#"{"op_id":7,"process_id":0,"invoke_ts":1,"complete_ts":2,"op_type":"read"}"#;
//! let history = read(format!("{row}\n{row}\n").as_bytes(), &ReadOptions::default())?;
//! let findings = validate(&history, &ValidateOptions::default());
//! assert_eq!(findings[0].rule, Rule::V1);
//! assert_eq!(findings[0].line, Some(2));
//! # Ok::<(), assay_history::ReadError>(())
//! ```

mod each;
mod faults;
mod rule;
mod whole;

pub use rule::Rule;

use crate::history::{History, Op, OpIndex};
use serde::Serialize;

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
    /// How many operations the checker took in, if it has run.
    pub consumed: Option<u64>,
}

/// All broken rules, worst first, then by line.
pub fn validate(history: &History, options: &ValidateOptions<'_>) -> Vec<Finding> {
    let mut findings = Findings { history, list: Vec::new() };
    whole::check(&mut findings, options);
    each::check(&mut findings, options);
    faults::check(&mut findings);
    let mut list = findings.list;
    list.sort_by_key(|f| (std::cmp::Reverse(f.severity), f.line, f.rule));
    list
}

/// How many findings of one rule and severity are told one by one; the rest are counted.
const TOLD_MAX: usize = 5;

struct Findings<'h> {
    history: &'h History,
    list: Vec<Finding>,
}

impl Findings<'_> {
    /// Adds a finding; `words` makes what is wrong and what follows, if it is told at all.
    fn add(
        &mut self,
        rule: Rule,
        severity: Severity,
        op: Option<&Op>,
        words: impl FnOnce(&History) -> (String, String),
    ) -> &mut Finding {
        let same = |f: &Finding| f.rule == rule && f.severity == severity;
        if self.list.iter().filter(|f| same(f)).count() == TOLD_MAX {
            let last = self.list.iter_mut().rfind(|f| same(f)).expect("five were just counted");
            last.more += 1;
            return last;
        }
        let line = op.map(|op| self.history.line(op.invoke_at));
        let (what, consequence) = words(self.history);
        let op = op.map(|op| op.index);
        self.list.push(Finding { rule, severity, line, op, what, consequence, more: 0 });
        self.list.last_mut().expect("one was just added")
    }
}
