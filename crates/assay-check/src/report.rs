//! What a check found, for people and programs.

use crate::certificate::Certificate;
use crate::kind::ModelKind;
use crate::search::Answer;
use crate::witness::{Reduced, StuckOrder};
use assay_history::{History, OpIndex, ValueId};
use serde::Serialize;

/// How a part was decided.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Algorithm {
    /// By a special case in O(n log n).
    Special,
    /// By search.
    Search,
}

/// The result of a check.
#[derive(Clone, Debug)]
pub struct Report {
    /// The model.
    pub model: ModelKind,
    /// The answer for the whole history: refuted if any part is, else undecided if any part is.
    pub answer: Answer,
    /// Operations in the history.
    pub ops_in: usize,
    /// Operations the checker consumed: all but those that certainly had no effect.
    pub ops_checked: usize,
    /// Operations of those whose outcome is known: without any, nothing could have been refuted.
    pub ops_known: usize,
    /// Objects checked apart.
    pub parts: usize,
    /// Parts that were left alone because another was refuted already.
    pub parts_skipped: usize,
    /// Parts decided by a special case.
    pub parts_special: usize,
    /// Parts decided by search.
    pub parts_search: usize,
    /// Refuted parts with their witness, by key.
    pub refutations: Vec<Refutation>,
    /// Refuted parts beyond the number of witnesses asked for.
    pub refuted_not_shown: usize,
    /// Parts the budget was too small for.
    pub unfinished: Vec<Unfinished>,
    /// Configurations that searches visited.
    pub configurations: u64,
    /// The most memory that searches held.
    pub memory_bytes_peak: usize,
}

impl Report {
    pub(crate) fn empty(model: ModelKind, ops_in: usize) -> Report {
        Report {
            model,
            answer: Answer::Linearizable,
            ops_in,
            ops_checked: 0,
            ops_known: 0,
            parts: 0,
            parts_skipped: 0,
            parts_special: 0,
            parts_search: 0,
            refutations: Vec::new(),
            refuted_not_shown: 0,
            unfinished: Vec::new(),
            configurations: 0,
            memory_bytes_peak: 0,
        }
    }

    pub(crate) fn count(&mut self, ops: usize, algorithm: Algorithm, answer: Answer) {
        self.parts += 1;
        self.ops_checked += ops;
        match algorithm {
            Algorithm::Special => self.parts_special += 1,
            Algorithm::Search => self.parts_search += 1,
        }
        self.answer = match (self.answer, answer) {
            (Answer::Refuted, _) | (_, Answer::Refuted) => Answer::Refuted,
            (Answer::Undecided, _) | (_, Answer::Undecided) => Answer::Undecided,
            (Answer::Linearizable, Answer::Linearizable) => Answer::Linearizable,
        };
    }
}

/// Which object a part is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PartReport {
    /// The key.
    pub key: ValueId,
    /// The element, where a set was cut by element.
    pub element: Option<ValueId>,
    /// How many operations it has.
    pub ops: usize,
    /// How it was decided.
    pub algorithm: Algorithm,
}

/// A part that no order explains.
#[derive(Clone, Debug)]
pub struct Refutation {
    /// Which object.
    pub part: PartReport,
    /// What can be re-checked.
    pub certificate: Certificate,
    /// The operations whose completions matter, by start.
    pub core: Vec<OpIndex>,
    /// Other operations that could have helped and do not, by start.
    pub context: Vec<OpIndex>,
    /// Whether the witness is 1-minimal; false only if the budget ran out while reducing.
    pub minimal: bool,
    /// The longest orders of the witness that the model allows, with what comes next and why it
    /// cannot.
    pub orders: Vec<PartialOrder>,
    /// Whether these are all of the longest ones, because every order was tried.
    pub orders_all: bool,
    /// What happened, in plain words.
    pub explanation: Vec<String>,
}

/// An order of witness operations that is legal but leaves one out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PartialOrder {
    /// The operations in order.
    pub placed: Vec<OpIndex>,
    /// Those that must come next and cannot.
    pub stuck: Vec<OpIndex>,
}

impl PartialOrder {
    pub(crate) fn of(order: &StuckOrder) -> PartialOrder {
        let ops = |calls: &[u32]| calls.iter().map(|&i| OpIndex(i)).collect();
        PartialOrder { placed: ops(&order.placed), stuck: ops(&order.stuck) }
    }
}

impl Refutation {
    pub(crate) fn new(
        history: &History,
        part: PartReport,
        certificate: Certificate,
        found: Reduced,
    ) -> Refutation {
        let by_start = |mut ops: Vec<OpIndex>| {
            ops.sort_by_key(|&op| (history.span(&history.op(op)).0, op));
            ops
        };
        let mut refutation = Refutation {
            part,
            core: by_start(found.core.iter().map(|&i| OpIndex(i)).collect()),
            context: by_start(found.context.iter().map(|&i| OpIndex(i)).collect()),
            certificate,
            minimal: found.minimal,
            orders: found.orders.longest.iter().map(PartialOrder::of).collect(),
            orders_all: found.orders.all,
            explanation: Vec::new(),
        };
        refutation.explanation = crate::witness::explain(history, &refutation);
        refutation
    }
}

/// A part that the budget was too small for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unfinished {
    /// Which object.
    pub part: PartReport,
    /// Everything that completed before this time can be explained.
    pub prefix_end: i64,
    /// How many operations that is.
    pub prefix_ops: usize,
    /// How many operations were open there.
    pub window_ops: usize,
}
