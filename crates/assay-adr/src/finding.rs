//! What is wrong, where, and what to do.

use crate::config::Level;
use crate::kind::Kind;
use serde::Serialize;
use std::fmt;

/// A broken rule at a place.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
pub struct Finding {
    /// The file, from the root.
    pub path: String,
    /// The line, from 1.
    pub line: usize,
    /// The rule.
    pub rule: &'static str,
    /// What is wrong.
    pub message: String,
}

impl Finding {
    /// A finding.
    pub fn new(rule: &'static str, path: &str, line: usize, message: impl Into<String>) -> Finding {
        debug_assert!(crate::rules::find(rule).is_some(), "{rule} is not in the table");
        Finding { path: path.to_string(), line: line.max(1), rule, message: message.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: [{}] {}", self.path, self.line, self.rule, self.message)
    }
}

/// What was looked at, and what is wrong with it.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The records: kind and file.
    pub records: Vec<(Kind, String)>,
    /// Findings by file and line, with their levels.
    pub findings: Vec<Rated>,
}

/// A finding and its level.
#[derive(Clone, Debug, Serialize)]
pub struct Rated {
    /// What is wrong.
    #[serde(flatten)]
    pub finding: Finding,
    /// What that means.
    pub level: Level,
}

/// How a report ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// There are records, and nothing is wrong.
    Clean,
    /// There are warnings only.
    Warned,
    /// A rule is broken.
    Broken,
    /// There is no record, and so nothing was checked.
    Nothing,
}

impl Report {
    /// How it ends.
    pub fn outcome(&self) -> Outcome {
        let has = |level| self.findings.iter().any(|rated| rated.level == level);
        match (has(Level::Error), has(Level::Warn)) {
            (true, _) => Outcome::Broken,
            (false, true) => Outcome::Warned,
            _ if self.records.is_empty() => Outcome::Nothing,
            _ => Outcome::Clean,
        }
    }

    /// How many records of a kind were looked at.
    pub fn count(&self, kind: Kind) -> usize {
        self.records.iter().filter(|(own, _)| *own == kind).count()
    }

    /// Only what is about files that are wanted.
    pub fn only(mut self, wanted: impl Fn(&str) -> bool) -> Report {
        self.records.retain(|(_, path)| wanted(path));
        self.findings.retain(|rated| wanted(&rated.finding.path));
        self
    }
}
