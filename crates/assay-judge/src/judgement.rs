//! What a panel says about a history.

use crate::picture::Picture;
use assay_history::{Finding, OpIndex};
use assay_verdict::{Checker, HistoryFields, Outcome, Undecided};
use serde::Serialize;
use std::time::Duration;

/// What judging may cost. Running out is an answer, never a crash.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// For all checkers of a panel together.
    pub time: Duration,
    /// What searches may hold.
    pub memory_bytes: usize,
    /// How many configurations searches may visit.
    pub states: u64,
}

impl Default for Limits {
    /// A minute and two gibibytes, as `assay check` has it.
    fn default() -> Limits {
        Limits { time: Duration::from_secs(60), memory_bytes: 2 << 30, states: u64::MAX }
    }
}

/// What a panel says about a history.
///
/// **What `ops_checked` counts.** An operation is *consumed* when a checker that came to an answer
/// took it in and that answer accounts for it. Accounting for it may mean to set it aside for a
/// reason the promise itself gives: an operation that failed had no effect, and an intermediate
/// read says nothing about durability. So a check that ran to its end consumes every operation it
/// knows how to read, even where few of them had something to say (that smaller number stands in
/// [`CheckerReport::ops_judged`]). Not consumed are
/// - all operations of an object whose search ran out of budget;
/// - all operations, as far as a checker is concerned that crashed, came to no answer or found
///   nothing to judge;
/// - operations of a type the checker does not know, such as a dump of the state beside a
///   linearizability checker.
///
/// The panel's number is the size of the union: the dump is consumed if a second checker compares
/// it. Complete is a check that consumed as many operations as were sent, which is what the rules
/// of `assay-verdict` ask.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Judgement {
    /// The answer of all checkers together. Of a history that cannot carry a verdict: nothing
    /// checked, or undecided if it was cut short.
    pub outcome: Outcome,
    /// Why there is no answer, if the outcome is undecided.
    pub undecided: Option<Undecided>,
    /// Operations in the history.
    pub ops_in: u64,
    /// Operations that were consumed, see above.
    pub ops_checked: u64,
    /// What is wrong with the history, worst first.
    pub findings: Vec<Finding>,
    /// Whether the history has what the checkers need.
    pub history: HistoryFields,
    /// What nobody looked at.
    pub scope_not_covered: Vec<String>,
    /// Why there is no answer, in words, each line with its checker.
    pub undecided_because: Vec<String>,
    /// What the answer rests on, counted.
    pub evidence: Vec<String>,
    /// What was found, the first of each checker.
    pub anomalies: Vec<Anomaly>,
    /// How many were found, shown or not.
    pub anomalies_total: u64,
    /// Each checker apart, in the order of the panel.
    pub reports: Vec<CheckerReport>,
}

impl Judgement {
    /// How the checkers ended, as a fact for the verdict of a run.
    pub fn checker(&self) -> Checker {
        match (self.undecided, self.outcome) {
            (Some(why), Outcome::Undecided) => Checker::Undecided(why),
            _ if self.reports.is_empty() => Checker::NotRun,
            _ => Checker::Completed,
        }
    }
}

/// One checker's share of a judgement.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct CheckerReport {
    /// Its name.
    pub name: String,
    /// Its answer.
    pub outcome: Outcome,
    /// Why it came to none.
    pub undecided: Option<Undecided>,
    /// Operations it consumed.
    pub ops_checked: u64,
    /// Operations that had something to say about its promise.
    pub ops_judged: u64,
    /// How long it took.
    pub seconds: f64,
}

/// Whether the separate verifier agrees.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case", tag = "state", content = "why")]
pub enum Certificate {
    /// It does.
    Verified,
    /// It would take too long to look at it again.
    TooLarge,
    /// It does not: a bug, and then the checker has not judged anything.
    DoesNotHold(String),
}

impl Certificate {
    /// From what a verifier says.
    pub(crate) fn of<T>(verified: Result<T, String>) -> Certificate {
        match verified {
            Ok(_) => Certificate::Verified,
            Err(why) if why.starts_with("too large") => Certificate::TooLarge,
            Err(why) => Certificate::DoesNotHold(why),
        }
    }
}

/// One anomaly: what, why, and the operations that show it.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Anomaly {
    /// The checker that found it.
    pub checker: String,
    /// What kind: `not-linearizable`, `G2-item`, `lost-ack`, ...
    pub kind: String,
    /// One line.
    pub title: String,
    /// What happened, in plain words.
    pub explanation: Vec<String>,
    /// The object it is about, if it is about one.
    pub key: Option<String>,
    /// The operations that show it, no more than needed.
    pub ops: Vec<OpIndex>,
    /// What the separate verifier says.
    pub certificate: Certificate,
    /// It as a picture.
    #[serde(skip)]
    pub picture: Option<Picture>,
}
