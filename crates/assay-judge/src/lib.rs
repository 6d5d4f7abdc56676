//! The checkers a plan names, run on a recorded history, and how sharp they are on it.
//!
//! A plan names checkers by what they judge: `linearizability:register`, `list-append`,
//! `no-lost-ack`. They come from three crates with three reports. A [`Panel`] puts those that were
//! asked for together, once, before anything is run: a name that does not exist, an option of the
//! wrong kind or a checker that fails its own test is an error there, not in the middle of a run.
//! Then it judges histories, each with one [`Judgement`]:
//!
//! ```
//! use assay_judge::{Ask, Limits, Panel};
//! use assay_verdict::Outcome;
//!
//! let names = ["linearizability:register".to_string()];
//! let panel = Panel::new(&Ask::of(&names))?;
//! let history = assay_oracle::sketch("
//!     0 write x 1 ok
//!     0 write x 2 ok
//!     1 read  x - ok 1
//! ");
//! let judgement = panel.judge(&history, &Limits::default());
//! assert_eq!(judgement.outcome, Outcome::Refuted);
//! assert_eq!(judgement.ops_checked, 3);
//! assert!(judgement.anomalies[0].picture.is_some());
//! # Ok::<(), assay_judge::PanelError>(())
//! ```
//!
//! What holds for every judgement:
//! - Several checkers are one answer by [`assay_verdict::Outcome::merge`]: refuted beats undecided
//!   beats upheld, and a checker that found nothing to judge leaves the whole undecided.
//! - A history that cannot carry a verdict is not judged; what it lacks is named.
//! - A checker that panics, or whose certificate does not hold when the separate verifier looks
//!   at it, has not judged anything.
//! - [`Panel::calibrate`] plants anomalies into copies of the same history. Only copies that are
//!   anomalous by construction count.
//!
//! This crate does not know how a history came to be, and nothing of plans, files and exit codes.

mod ask;
mod deadline;
mod groups;
mod judgement;
mod objects;
mod oracles;
mod panel;
pub mod picture;
mod seat;
mod sharpness;
mod transactions;

pub use ask::{Ask, PanelError};
pub use deadline::within;
pub use judgement::{Anomaly, Certificate, CheckerReport, Judgement, Limits};
pub use panel::Panel;
pub use picture::Picture;
pub use sharpness::{Sharpness, SharpnessRow};
