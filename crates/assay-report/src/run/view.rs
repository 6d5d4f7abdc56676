//! What a page about a run shows beside its record: trials with their operations, and witnesses.
//!
//! A [`RunRecord`] holds numbers and texts, no histories. Whoever has the histories fills a
//! [`TrialView`] for each; the operations go into an [`OpTable`], which keeps them by column so
//! that a million of them stay small.
//!
//! ```
//! use assay_report::Outcome;
//! use assay_report::run::{OpRow, OpTable};
//!
//! let mut ops = OpTable::default();
//! let written = OpRow { process: "1", kind: "write", key: "x", input: "4", ..OpRow::default() };
//! assert_eq!(ops.push(&OpRow { end_ns: Some(900), ..written }), 0);
//! assert_eq!(ops.push(&OpRow { outcome: Outcome::Unknown, start_ns: 950, ..written }), 1);
//! assert_eq!(ops.len(), 2);
//! ```

use super::record::RunRecord;
use crate::timeline::Outcome;
use assay_verdict::{Check, Landing, LandingState, Signal};

pub use super::ops::{OpRow, OpTable};

/// Everything a page about a run shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunView {
    /// What was recorded; verdicts are computed from it and from nothing else.
    pub record: RunRecord,
    /// Its histories, in any order; may be empty.
    pub trials: Vec<TrialView>,
    /// What is known about findings beyond the record; may be empty.
    pub findings: Vec<FindingView>,
}

/// One run of an arm with one seed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrialView {
    /// The scenario it belongs to.
    pub scenario: String,
    /// The arm of it.
    pub arm: String,
    /// The seed.
    pub seed: u64,
    /// What it was run for: `smoke`, `hardening`, `reproduce`.
    pub purpose: String,
    /// How long it took; what happened later is shown all the same.
    pub duration_ns: u64,
    /// What clients did; times count from the start of the trial.
    pub ops: OpTable,
    /// What was counted when the trial ran. It stands beside the trial whether or not its
    /// operations do; without it the operations are counted.
    pub counts: Option<OpCounts>,
    /// Why the operations are not here, if they are not.
    pub ops_left_out: String,
    /// When faults were on.
    pub windows: Vec<WindowView>,
    /// Operations that are part of an anomaly.
    pub marks: Vec<MarkView>,
    /// Whether everything had come to rest before the final state was read.
    pub quiescence: Quiescence,
}

/// Operations of a trial, by how they ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpCounts {
    /// Took effect.
    pub ok: u64,
    /// Did not.
    pub fail: u64,
    /// Nobody knows.
    pub unknown: u64,
}

impl OpCounts {
    /// All of them.
    pub fn all(&self) -> u64 {
        self.ok + self.fail + self.unknown
    }
}

impl TrialView {
    /// Its operations: as they were counted, else as they are here.
    pub(super) fn op_counts(&self) -> OpCounts {
        let here = |outcome| self.ops.count(outcome) as u64;
        self.counts.unwrap_or_else(|| OpCounts {
            ok: here(Outcome::Ok),
            fail: here(Outcome::Fail),
            unknown: here(Outcome::Unknown),
        })
    }
}

/// A fault that was on for a time. Whether it landed is computed from the two signals.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WindowView {
    /// What was done, such as `partition n1 | n2 n3`.
    pub label: String,
    /// When it began.
    pub start_ns: u64,
    /// When it was healed; `None` if it never was.
    pub end_ns: Option<u64>,
    /// A counter of the injector.
    pub injector: Signal,
    /// A signal of a victim.
    pub victim: Signal,
    /// Whether it was healed, with the proof.
    pub healed: Check,
}

impl WindowView {
    /// Whether the fault took hold: the worse of its two sides.
    pub fn landed(&self) -> LandingState {
        let (injector, victim) = (self.injector.clone(), self.victim.clone());
        Landing { fault: String::new(), injector, victim }.state()
    }
}

/// An operation that is part of an anomaly.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MarkView {
    /// Which one, as [`OpTable::push`] numbered it.
    pub op: usize,
    /// The anomaly, in few words.
    pub title: String,
}

/// Whether everything had come to rest before the final state was read.
///
/// Three questions on their own: a final read proves little while something is still moving.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Quiescence {
    /// No client waited for an answer.
    pub none_in_flight: Check,
    /// Nothing was queued, being retried or being replicated.
    pub nothing_pending: Check,
    /// All replicas said the same.
    pub replicas_converged: Check,
}

/// What is known about a finding beyond the record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FindingView {
    /// The id of the finding in the record.
    pub finding: String,
    /// The witness in sentences.
    pub witness: Vec<String>,
    /// The picture of the witness, as SVG; may be empty. It is shown as an image, so nothing in it
    /// can run.
    pub picture: String,
    /// What was run again to find out whose fault it is.
    pub reruns: Vec<Rerun>,
}

/// A row of the matrix of re-runs that leads to a blame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rerun {
    /// What was changed, such as `another host` or `nothing: the same seed`.
    pub changed: String,
    /// How often it was run.
    pub runs: u64,
    /// How often the violation came back.
    pub violated: u64,
    /// What that says.
    pub says: String,
}

/// The outcome as one byte of the packed columns.
pub(super) const fn outcome_byte(outcome: Outcome) -> u8 {
    match outcome {
        Outcome::Ok => 0,
        Outcome::Fail => 1,
        Outcome::Unknown => 2,
    }
}
