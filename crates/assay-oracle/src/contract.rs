//! What every checker takes and gives: one report, four answers, anomalies with certificates.
//!
//! Any checker can fill a [`CheckReport`] (the crates that decide linearizability and transactions
//! are adapted to it from outside), and what follows a check reads nothing else.
//!
//! ```
//! use assay_oracle::Answer;
//! use Answer::*;
//! assert_eq!(Upheld.merge(Refuted), Refuted);
//! // A part that checked nothing cannot hide behind one that did.
//! assert_eq!(Upheld.merge(NothingChecked), Undecided);
//! assert_eq!(NothingChecked.merge(NothingChecked), NothingChecked);
//! ```

use crate::draft::Plant;
use crate::options::Options;
use assay_history::{History, OpIndex};
use serde::Serialize;
use std::borrow::Cow;

/// What a checker concluded.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// Everything that was checked keeps the promise.
    Upheld,
    /// The promise is broken, and there is an anomaly to show for it.
    Refuted,
    /// The history cannot carry an answer; the report says why.
    Undecided,
    /// Not one operation had anything to say about the promise. Never a pass.
    NothingChecked,
}

impl Answer {
    /// The answer of two parts together: associative, commutative and idempotent.
    ///
    /// Refuted beats undecided beats upheld. Nothing checked stays itself only among its like:
    /// beside an upheld part the whole is undecided, for half of it was never looked at.
    pub fn merge(self, other: Answer) -> Answer {
        match (self, other) {
            (a, b) if a == b => a,
            (Answer::Refuted, _) | (_, Answer::Refuted) => Answer::Refuted,
            _ => Answer::Undecided,
        }
    }

    /// Its name in words.
    pub fn name(self) -> &'static str {
        match self {
            Answer::Upheld => "upheld",
            Answer::Refuted => "refuted",
            Answer::Undecided => "undecided",
            Answer::NothingChecked => "nothing checked",
        }
    }
}

/// What a check cost, in units that do not depend on the machine.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
pub struct BudgetUsed {
    /// Operations, elements or configurations visited.
    pub steps: u64,
    /// The most memory held beside the history, as far as it was counted.
    pub memory_bytes: usize,
}

/// What a check found, for people and programs.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct CheckReport {
    /// The checker's name.
    pub checker: Cow<'static, str>,
    /// Operations in the history.
    pub ops_in: usize,
    /// Operations that had something to say about the promise.
    pub ops_checked: usize,
    /// The answer.
    pub answer: Answer,
    /// What was found, at most as many as were asked for.
    pub anomalies: Vec<Anomaly>,
    /// Anomalies beyond that number.
    pub anomalies_not_shown: usize,
    /// Why the answer is undecided, if it is.
    pub undecided_because: Vec<String>,
    /// What this check did not look at.
    pub scope_not_covered: Vec<String>,
    /// What the answer rests on, counted.
    pub evidence: Vec<String>,
    /// What the check cost.
    pub budget_used: BudgetUsed,
    /// How long it took; filled in by whoever has a clock.
    pub seconds: Option<f64>,
}

impl CheckReport {
    /// A report of a checker that has not looked at anything yet.
    pub fn new(checker: impl Into<Cow<'static, str>>, ops_in: usize) -> CheckReport {
        CheckReport {
            checker: checker.into(),
            ops_in,
            ops_checked: 0,
            answer: Answer::NothingChecked,
            anomalies: Vec::new(),
            anomalies_not_shown: 0,
            undecided_because: Vec::new(),
            scope_not_covered: Vec::new(),
            evidence: Vec::new(),
            budget_used: BudgetUsed::default(),
            seconds: None,
        }
    }

    /// How many anomalies were found, shown or not.
    pub fn anomaly_count(&self) -> usize {
        self.anomalies.len() + self.anomalies_not_shown
    }
}

/// Several reports as one, in their order. Evidence and reasons are prefixed with the checker.
pub fn merge(reports: &[CheckReport]) -> CheckReport {
    let ops_in = reports.iter().map(|r| r.ops_in).max().unwrap_or(0);
    let names: Vec<&str> = reports.iter().map(|r| r.checker.as_ref()).collect();
    let mut whole = CheckReport::new(names.join(" + "), ops_in);
    let answers = reports.iter().map(|r| r.answer);
    whole.answer = answers.reduce(Answer::merge).unwrap_or(Answer::NothingChecked);
    for part in reports {
        let named = |line: &String| format!("{}: {line}", part.checker);
        whole.ops_checked = whole.ops_checked.max(part.ops_checked);
        whole.anomalies.extend(part.anomalies.iter().cloned());
        whole.anomalies_not_shown += part.anomalies_not_shown;
        whole.undecided_because.extend(part.undecided_because.iter().map(named));
        if part.answer == Answer::NothingChecked {
            let reason = "nothing was checked".to_string();
            whole.undecided_because.push(named(&reason));
        }
        whole.scope_not_covered.extend(part.scope_not_covered.iter().map(named));
        whole.evidence.extend(part.evidence.iter().map(named));
        whole.budget_used.steps += part.budget_used.steps;
        let memory = whole.budget_used.memory_bytes.max(part.budget_used.memory_bytes);
        whole.budget_used.memory_bytes = memory;
        whole.seconds = match (whole.seconds, part.seconds) {
            (Some(a), Some(b)) => Some(a + b),
            (a, b) => a.or(b),
        };
    }
    whole
}

/// One broken promise.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Anomaly {
    /// What kind, in kebab case: `lost-ack`, `two-holders`, ...
    pub kind: Cow<'static, str>,
    /// The operations it shows in.
    pub ops: Vec<OpIndex>,
    /// What happened, in plain words.
    pub explanation: String,
    /// The facts it follows from.
    pub certificate: Certificate,
}

/// The facts an anomaly follows from; [`crate::verify`] looks them up in the history and checks
/// that together they make an anomaly of this kind.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Certificate {
    /// The kind of anomaly.
    pub kind: Cow<'static, str>,
    /// What is true of the history.
    pub facts: Vec<Fact>,
}

/// One statement about a history: `before 3 7`, `ok 3`, `sent 3 "x"`.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Fact {
    /// The predicate.
    pub claim: Cow<'static, str>,
    /// What it is said of.
    pub args: Vec<Arg>,
}

/// What a fact is said of.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(untagged)]
pub enum Arg {
    /// An operation.
    Op(OpIndex),
    /// A whole number.
    Int(i64),
    /// A measured number.
    Real(f64),
    /// A value as JSON text, a field path, or a name.
    Text(String),
}

impl From<OpIndex> for Arg {
    fn from(op: OpIndex) -> Arg {
        Arg::Op(op)
    }
}

impl From<i64> for Arg {
    fn from(number: i64) -> Arg {
        Arg::Int(number)
    }
}

impl From<usize> for Arg {
    fn from(number: usize) -> Arg {
        Arg::Int(number as i64)
    }
}

impl From<f64> for Arg {
    fn from(number: f64) -> Arg {
        Arg::Real(number)
    }
}

impl From<String> for Arg {
    fn from(text: String) -> Arg {
        Arg::Text(text)
    }
}

impl From<&str> for Arg {
    fn from(text: &str) -> Arg {
        Arg::Text(text.to_string())
    }
}

/// Builds a [`Fact`]: `fact!("before", a, b)`.
#[macro_export]
macro_rules! fact {
    ($claim:expr $(, $arg:expr)* $(,)?) => {
        $crate::Fact { claim: $claim.into(), args: vec![$($crate::Arg::from($arg)),*] }
    };
}

/// What a checker says about itself; the documentation is made from it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct OracleInfo {
    /// Its name.
    pub name: &'static str,
    /// Other names it answers to.
    pub aliases: &'static [&'static str],
    /// The oracle patterns it implements, by number.
    pub patterns: &'static [u8],
    /// The claim it can refute.
    pub claim: &'static str,
    /// The operation types, fields and options it needs.
    pub needs: &'static str,
    /// How it decides.
    pub algorithm: &'static str,
    /// What that costs.
    pub cost: &'static str,
    /// What it cannot see.
    pub cannot_see: &'static str,
    /// How this kind of check goes wrong when it is set up badly, and what is done about it.
    pub failure_mode: &'static str,
    /// The kinds of anomaly it reports.
    pub kinds: &'static [&'static str],
}

/// A history with the options it is to be checked with.
#[derive(Clone, Debug)]
pub struct Example {
    /// What happened.
    pub history: History,
    /// How to check it.
    pub options: Options,
}

/// A checker.
pub trait Oracle: Sync {
    /// What it says about itself.
    fn info(&self) -> &'static OracleInfo;

    /// Judges a history.
    ///
    /// # Errors
    /// When an option is missing or the history does not follow the oracle's conventions.
    fn check(&self, history: &History, options: &Options) -> Result<CheckReport, OracleError>;

    /// A tiny history that keeps the promise.
    fn known_good(&self) -> Example;

    /// A tiny history that breaks it.
    fn planted_bad(&self) -> Example;

    /// Ways to break the promise in a copy of another history.
    fn plants(&self) -> &'static [Plant];
}

/// Why a history could not be judged at all.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum OracleError {
    /// An option has to be decided by the user.
    #[error("{oracle} needs the option `{option}`: {why}")]
    OptionMissing {
        /// The oracle.
        oracle: &'static str,
        /// The option.
        option: &'static str,
        /// What it decides.
        why: &'static str,
    },
    /// The business key equals `op_id` everywhere: every group would have one member.
    #[error(
        "the business key `{path}` equals op_id in all {ops} operations, so no retry could ever \
         share a key and the check would be vacuous: name a field that retries repeat"
    )]
    KeyIsOpId {
        /// The field.
        path: String,
        /// How many operations have it.
        ops: usize,
    },
    /// An operation does not follow the oracle's conventions.
    #[error("{place}: {what}")]
    BadOperation {
        /// Which operation.
        place: String,
        /// What is wrong with it, and what was expected.
        what: String,
    },
    /// The expression of an invariant cannot be read.
    #[error("invariant, column {column}: {what}")]
    BadExpression {
        /// Where, from 1.
        column: usize,
        /// What is wrong.
        what: String,
    },
    /// An option has a value that makes no sense.
    #[error("the option `{option}` {what}")]
    BadOption {
        /// The option.
        option: &'static str,
        /// What is wrong.
        what: String,
    },
}
