//! Facts of a test run in, a verdict and its reason out.
//!
//! A verdict is a pure function of what was recorded: [`judge`] takes [`Facts`] and gives a
//! [`Judgement`], with the rules that were asked and one sentence that names the fact that
//! decided. It is total, it has no parameter to override it, and worse facts never give a better
//! verdict. The rules stand in one table, [`RULES`]; docs/verdicts.md is made from it.
//!
//! ```
//! use assay_verdict::{Facts, Operator, Verdict, judge};
//!
//! let facts = Facts::CapabilityMissing {
//!     capabilities: vec!["iptables".into()],
//!     operator: Operator::Told,
//! };
//! let judgement = judge(&facts);
//! assert_eq!(judgement.verdict, Verdict::InconclusiveEnv);
//! assert_eq!(judgement.sentence, "INCONCLUSIVE-env: missing before the start: iptables.");
//! ```
//!
//! Around it: [`Audits::of`] answers ten red flags and fourteen weak oracles from measured numbers,
//! [`Budgets::tier_met`] compares a run with its budgets, [`Landing`] proves that a fault took
//! hold, [`aggregate`] folds arms into a scenario and [`RunVerdict::of`] scenarios into a run, and
//! [`Exit`] is how a process ends.
//!
//! This crate does not know how facts are gathered: no files, no clock, no checkers.

mod arms;
pub mod audit;
mod blame;
mod budget;
pub mod exit;
mod facts;
mod judge;
mod landing;
mod named;
mod outcome;
mod rules;
mod run;
mod state;

pub use arms::{Aggregate, aggregate};
pub use audit::{Audits, Check, Effect, Exemption, Measured, RedFlag, WeakOracle};
pub use blame::{Blame, BugClass, BugTag, Severity};
pub use budget::{Budget, BudgetError, Budgets, Dimension, Release, Tier, readable_ms};
pub use exit::Exit;
pub use facts::{
    Calibration, Checker, Facts, Fault, HistoryFields, Operations, Operator, Rigour, RunFacts,
    SEEDS_AGREEING_MIN, Scope, Sharpness, Undecided, Violation,
};
pub use judge::{Annotation, Judgement, Step, judge, verdict};
pub use landing::{Landing, LandingState, Signal, landing_of};
pub use outcome::Outcome;
pub use rules::{RULES, Rule};
pub use run::{Expectation, RunVerdict};
pub use state::{Family, Level, Verdict};
