//! One checker of a panel: what it is, what it looks at, and what it leaves to others.

use crate::judgement::{Anomaly, Certificate};
use assay_check::ModelKind;
use assay_history::{History, OpIndex, Style};
use assay_oracle::Oracle;
use assay_txn::{CheckOptions, Model};
use assay_verdict::audit::OracleKind;
use assay_verdict::{Outcome, Undecided};
use std::borrow::Cow;

/// Where a checker comes from.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    /// Linearizability of single objects.
    Objects(ModelKind),
    /// Isolation of transactions.
    Transactions(Style),
    /// Everything else.
    Oracle(&'static dyn Oracle),
}

/// A checker of a panel.
#[derive(Clone)]
pub(crate) struct Seat {
    pub name: String,
    pub kind: Kind,
}

impl Seat {
    /// What it looks at.
    pub fn looks_at(&self) -> OracleKind {
        match self.name.as_str() {
            "replicas" | "replay-equivalence" | "invariant" => OracleKind::FinalState,
            "slo" | "fairness" | "baseline" => OracleKind::ServiceLevels,
            _ => OracleKind::ClientHistory,
        }
    }

    /// Whether it reads dumps of the final state.
    pub fn reads_dumps(&self) -> bool {
        matches!(
            self.name.as_str(),
            "replicas"
                | "replay-equivalence"
                | "invariant"
                | "no-lost-ack"
                | "exactly-once"
                | "at-least-once"
                | "at-most-once"
                | "queue"
                | "fifo-producer"
        )
    }

    /// Whether its answer counts only once the system has come to rest: it takes the last reads
    /// for the final state, and while something still moves there is no such state.
    pub fn needs_rest(&self) -> bool {
        self.reads_dumps() || self.name == "membership"
    }

    /// Whether its claim is about nodes, so that `node_seen` has to be there.
    pub fn needs_nodes(&self) -> bool {
        matches!(self.name.as_str(), "replicas" | "membership")
    }

    /// Proves that it can pass and fail.
    pub fn self_test(&self) -> Result<(), String> {
        match self.kind {
            Kind::Objects(model) => assay_check::self_test(model),
            Kind::Transactions(style) => assay_txn::self_test(style),
            Kind::Oracle(oracle) => assay_oracle::self_test(oracle),
        }
    }
}

/// When an order is searched for that proves a claim about registers in transactions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Search {
    /// If nothing is declared about versions.
    Auto,
    Always,
    Never,
}

/// What was set, for all seats.
pub(crate) struct Settings {
    pub oracle: assay_oracle::Options,
    /// A register's value before the first write, as JSON.
    pub initial: String,
    pub claim: Model,
    pub check: CheckOptions,
    pub search: Search,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            oracle: assay_oracle::Options::default(),
            initial: "null".to_string(),
            claim: Model::StrictSerializable,
            check: CheckOptions::default(),
            search: Search::Auto,
        }
    }
}

/// What one checker said.
pub(crate) struct Part {
    pub outcome: Outcome,
    pub undecided: Option<Undecided>,
    /// By operation: whether it was consumed.
    pub consumed: Vec<bool>,
    pub ops_judged: u64,
    pub anomalies: Vec<Anomaly>,
    pub anomalies_total: u64,
    pub scope_not_covered: Vec<String>,
    pub undecided_because: Vec<String>,
    pub evidence: Vec<String>,
    /// What the history lacks for this checker.
    pub lacks: Vec<String>,
}

impl Part {
    /// A checker that has consumed these operations and found nothing so far.
    pub fn new(outcome: Outcome, consumed: Vec<bool>) -> Part {
        Part {
            outcome,
            undecided: None,
            consumed,
            ops_judged: 0,
            anomalies: Vec::new(),
            anomalies_total: 0,
            scope_not_covered: Vec::new(),
            undecided_because: Vec::new(),
            evidence: Vec::new(),
            lacks: Vec::new(),
        }
    }

    /// A checker that came to no answer, and so consumed nothing.
    pub fn undecided(ops: usize, undecided: Undecided, why: impl Into<String>) -> Part {
        let mut part = Part::new(Outcome::Undecided, vec![false; ops]);
        part.undecided = Some(undecided);
        part.undecided_because.push(why.into());
        part
    }

    /// A checker that cannot judge this history: `why` is what is missing or does not fit.
    pub fn unfit(ops: usize, why: impl Into<String>) -> Part {
        let why = why.into();
        let mut part = Part::undecided(ops, Undecided::WrongChecker, why.clone());
        part.lacks.push(why);
        part
    }

    /// A certificate that does not hold takes everything back: it is a bug in the checker.
    pub fn checked_again(self) -> Part {
        let wrong = self.anomalies.iter().find_map(|anomaly| match &anomaly.certificate {
            Certificate::DoesNotHold(why) => Some(why.clone()),
            Certificate::Verified | Certificate::TooLarge => None,
        });
        let Some(why) = wrong else { return self };
        let why = format!(
            "a certificate does not hold ({why}). This is a bug in Assay: please report it with \
             this history"
        );
        let crashed = Part::undecided(self.consumed.len(), Undecided::Crashed, why);
        Part { anomalies: self.anomalies, anomalies_total: self.anomalies_total, ..crashed }
    }

    /// What follows from the outcome: without an answer, nothing was consumed.
    pub fn settled(mut self) -> Part {
        // Where only some objects ran out of budget, the others were judged.
        if matches!(self.outcome, Outcome::Undecided | Outcome::NothingChecked)
            && self.undecided != Some(Undecided::BudgetExhausted)
        {
            self.consumed.fill(false);
        }
        self
    }
}

/// Operations that show the whole state and change nothing.
pub(crate) const DUMPS: [&str; 3] = ["final", "dump", "final-read"];

/// The part of a history that a checker takes in.
pub(crate) struct Cut<'h> {
    pub history: Cow<'h, History>,
    whole: usize,
    /// Where each operation stands in the whole; `None` if this is the whole.
    places: Option<Vec<OpIndex>>,
}

impl<'h> Cut<'h> {
    /// Leaves out dumps of the state, unless `knows` says they are understood. Nothing else may be
    /// left out: a dump has no effect, so leaving it out can hide none.
    pub fn without_dumps(history: &'h History, knows: impl Fn(&str) -> bool) -> Cut<'h> {
        let out = |name: &str| DUMPS.contains(&name) && !knows(name);
        let whole = history.len();
        if !history.types().any(|t| out(history.type_name(t))) {
            return Cut { history: Cow::Borrowed(history), whole, places: None };
        }
        let (cut, places) = history.select(|op| !out(history.type_name(op.op_type)));
        Cut { history: Cow::Owned(cut), whole, places: Some(places) }
    }

    /// Where an operation stands in the whole history.
    pub fn place(&self, op: OpIndex) -> OpIndex {
        self.places.as_ref().map_or(op, |places| places[op.0 as usize])
    }

    /// Which operations of the whole are in this part and pass a test.
    pub fn marked(&self, test: impl Fn(OpIndex) -> bool) -> Vec<bool> {
        let mut marks = vec![false; self.whole];
        for op in (0..self.history.len() as u32).map(OpIndex).filter(|&op| test(op)) {
            marks[self.place(op).0 as usize] = true;
        }
        marks
    }
}
