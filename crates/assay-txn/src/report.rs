//! What a check found.

use crate::anomaly::{Anomaly, Kind};
use crate::models::{Model, Models, Strongest};
use crate::rw_register::Assume;
use crate::search::Searched;
use assay_history::Style;

/// The result of a check.
#[derive(Clone, Debug)]
pub struct Report {
    /// What the micro-operations are.
    pub style: Style,
    /// What was assumed about versions.
    pub assume: Assume,
    /// Transactions in the history.
    pub txns_in: usize,
    /// Those that committed.
    pub committed: usize,
    /// Those that aborted.
    pub aborted: usize,
    /// Those whose outcome nobody knows.
    pub unknown: usize,
    /// Reads of committed transactions: without any, nothing could have been refuted.
    pub reads: usize,
    /// Models that could not be decided, and with them those that imply them: real time was left
    /// out, or it would have taken too much memory.
    pub undecided: Vec<Model>,
    /// Micro-operations of all transactions.
    pub mops: usize,
    /// Dependencies that were inferred.
    pub edges: usize,
    /// Parts of the graph that cycles run through.
    pub cyclic_components: usize,
    /// How many anomalies of each kind there are.
    pub counts: Vec<(Kind, usize)>,
    /// The anomalies, the most basic first.
    pub anomalies: Vec<Anomaly>,
    /// The strongest models that are still possible.
    pub strongest: Strongest,
    /// The models that the anomalies rule out.
    pub ruled_out: Models,
    /// What a search for an order found, if there was one; see [`crate::prove`].
    pub searched: Option<Searched>,
    /// What nothing was concluded about.
    pub not_covered: Vec<String>,
}

impl Report {
    /// Whether an anomaly of this kind was found.
    pub fn has(&self, kind: Kind) -> bool {
        self.counts.iter().any(|&(known, _)| known == kind)
    }
}
