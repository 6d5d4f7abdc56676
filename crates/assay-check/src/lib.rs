//! Decides whether a history satisfies a model, and shows why when it does not.
//!
//! A history is *linearizable* if its operations can be put in one order that respects real time
//! (an operation that ended before another began stands before it) and the model (every output is
//! what the object would have answered in that order). [`check`] decides that for a whole history:
//!
//! ```
//! use assay_check::{Answer, CheckOptions, ModelKind, check};
//! use assay_history::{ReadOptions, read};
//!
//! let log = "\
//! {:process 0, :type :invoke, :f :write, :value 1}
//! {:process 0, :type :ok, :f :write, :value 1}
//! {:process 1, :type :invoke, :f :read, :value nil}
//! {:process 1, :type :ok, :f :read, :value nil}
//! ";
//! let history = read(log.as_bytes(), &ReadOptions::default())?;
//! let report = check(&history, &CheckOptions::new(ModelKind::Register))?;
//! assert_eq!(report.answer, Answer::Refuted);
//! // Three lines say why, and a certificate that `verify` re-checks says it to programs.
//! assert!(report.refutations[0].explanation[0].contains("read null"));
//! assay_check::verify(&history, &report.refutations[0].certificate)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! How it works, in the order of the source:
//!
//! 1. `partition` cuts the history into objects (keys): linearizability is local.
//! 2. `fast` decides what needs no search: registers with unique values (also with
//!    compare-and-swap), FIFO queues, sets that only grow. O(n log n), linear memory.
//! 3. `search` decides the rest: a just-in-time search under a [`Budget`], for any [`Model`].
//! 4. `witness` reduces a refuted object to the operations that matter and explains them.
//! 5. `verify` re-checks the [`Certificate`] of a refutation; it shares no code with the others.
//! 6. `own` does the same for a [`Model`] of yours: [`check_own`].
//! 7. `calibrate` plants anomalies into copies of the history to see how sharp the check was.
//!
//! Nothing here reads a file, a clock or a random source of its own.

mod budget;
mod calibrate;
mod certificate;
mod check;
mod fast;
mod hint;
mod kind;
mod model;
pub mod models;
mod own;
mod partition;
mod relax;
mod report;
mod search;
mod self_test;
mod verify;
mod witness;

pub use budget::Budget;
pub use calibrate::{Anomaly, CalibrationRow, calibrate};
pub use certificate::Certificate;
pub use check::{CheckError, CheckOptions, Thoroughness, check};
pub use kind::{MODELS, ModelInfo, ModelKind};
pub use model::{Call, Effect, Model, Problem, Start};
pub use own::{OwnRefutation, OwnReport, check_own};
pub use relax::Relaxation;
pub use report::{Algorithm, PartReport, PartialOrder, Refutation, Report, Unfinished};
pub use search::{Answer, Decision, decide};
pub use self_test::self_test;
pub use verify::{Verified, verify};
pub use witness::{phrase, sentence};
