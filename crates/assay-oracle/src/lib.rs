//! Judges histories against promises that are not linearizability.
//!
//! Sessions, durability, exactly-once, order, sets, queues, logs, replicas, invariants, money,
//! locks, membership, fairness, service levels, regressions, references and assertions: each has an
//! [`Oracle`] in [`ORACLES`], with one contract for all. An oracle reads the operations of a
//! [`assay_history::History`] and gives a [`CheckReport`]: an [`Answer`], what it rests on, what it
//! did not look at, and for each anomaly a [`Certificate`] that [`verify`] re-checks.
//!
//! ```
//! use assay_oracle::{Answer, Options, named, sketch, verify};
//!
//! let history = sketch("
//!     0 add - 1 ok
//!     0 add - 2 ok
//!     1 add - 3 unknown
//!     0 final - - ok [1]
//! ");
//! let report = named("no-lost-ack").unwrap().check(&history, &Options::default())?;
//! assert_eq!(report.answer, Answer::Refuted);
//! assert_eq!(report.anomalies.len(), 1, "2 is lost; 3 timed out and may be absent");
//! verify(&history, None, &report.anomalies[0].certificate)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! What holds for all of them:
//! - An operation of unknown outcome neither hides nor invents an anomaly.
//! - An oracle that found nothing to judge says [`Answer::NothingChecked`], never upheld.
//! - A history that is cut short is undecided at best.
//! - Each proves before use that it can fail ([`self_test`]) and can be calibrated on the history
//!   at hand ([`calibrate`]).
//! - [`picker::pick`] proposes which to use; [`run_guarded`] runs one so that its own bugs are
//!   never a pass.
//!
//! Nothing here reads a file, a clock or a random source of its own.

mod bank;
pub mod baseline;
mod built_in;
mod causal;
mod certain;
mod contract;
mod differential;
mod draft;
mod durable;
mod effects;
pub mod expr;
mod fairness;
mod guard;
mod invariant;
mod ledger;
mod lock;
mod log;
mod measure;
mod membership;
mod options;
mod order;
pub mod picker;
mod plants;
mod queue;
mod registers;
mod registry;
mod session;
mod set;
mod settings;
mod sketch;
mod slo;
mod state;
mod states;
mod table;
mod tally;
mod verify;

pub use contract::{
    Anomaly, Answer, Arg, BudgetUsed, Certificate, CheckReport, Example, Fact, Oracle, OracleError,
    OracleInfo, merge,
};
pub use draft::{Draft, DraftOp, Plant};
pub use fairness::GROUP_OPS_MIN;
pub use guard::{CalibrationRow, calibrate, plant, run_guarded, self_test};
pub use options::{BaselineLimits, FairnessLimits, Group, Options, Origin, SloLimits};
pub use registry::{ORACLES, named};
pub use settings::{SETTINGS, Setting};
pub use sketch::sketch;
pub use table::knows_verb;
pub use verify::{VerifyError, verify};
