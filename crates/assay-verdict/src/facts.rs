//! What a verdict is computed from. Everything here was counted or read, nothing was concluded.
//!
//! What cannot happen cannot be written: a scenario that was not attempted has no violation, and a
//! fault that was not planned has no landing. What was not measured is `None` or `Unknown`, and
//! never helps.

use crate::audit::{Audits, Effect};
use crate::budget::Tier;
use crate::landing::{Landing, LandingState, landing_of};
use crate::named::named;
use serde::{Deserialize, Serialize};

/// Below this many agreeing seeds nothing is called hardened.
pub const SEEDS_AGREEING_MIN: u32 = 3;

/// What is known about one scenario, or one arm of it, after a run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "state", rename_all = "kebab-case")]
pub enum Facts {
    /// Nobody tried.
    NotAttempted {
        /// Why not.
        reason: String,
    },
    /// It could not start: something it needs is not there.
    CapabilityMissing {
        /// What is missing.
        capabilities: Vec<String>,
        /// Whether the operator heard of it before the scenario was given up.
        operator: Operator,
    },
    /// It ran.
    Ran(Box<RunFacts>),
}

named! {
    /// Whether the operator was told.
    pub enum Operator {
        /// Yes, and could have done something about it.
        Told = "told",
        /// No.
        NotTold = "not-told",
    }
}

named! {
    /// Whether the claim is of a kind that needs a model, a history and a checker.
    pub enum Rigour {
        /// Safety, durability, idempotency, isolation, ordering, membership, and every arm.
        Serious = "serious",
        /// Service levels, liveness, operations: judged by the oracle the scenario names.
        NotSerious = "not-serious",
    }
}

named! {
    /// Whether a violation was registered, by any oracle, and whether it came back.
    pub enum Violation {
        /// None.
        None = "none",
        /// One, and nobody has run the same seed again yet.
        NotRerun = "seen-not-rerun",
        /// One, and the same seed did not show it again.
        NotReproduced = "seen-not-reproduced",
        /// One, and the same seed showed it again.
        Reproduced = "reproduced",
    }
}

/// The fault of a scenario.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", rename_all_fields = "snake_case", deny_unknown_fields)]
pub enum Fault {
    /// There is none: the happy path.
    NotPlanned,
    /// There is at least one.
    Planned {
        /// What was read on both sides of each.
        landings: Vec<Landing>,
        /// Operations that overlap the fault; none, and no fault was active for the clients.
        ops_during_fault: Option<u64>,
    },
}

named! {
    /// Why a checker came to no answer.
    pub enum Undecided {
        /// Its budget of time, memory or states ran out.
        BudgetExhausted = "budget-exhausted",
        /// It crashed: a bug in the checker.
        Crashed = "crashed",
        /// The history ends before the run does.
        HistoryCutShort = "history-cut-short",
        /// It judges another kind of promise than the claim makes.
        WrongChecker = "wrong-checker",
    }
}

/// How the declared checker (or, if not serious, the named oracle) ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Checker {
    /// It came to an answer; [`Violation`] says which.
    Completed,
    /// It came to none.
    Undecided(Undecided),
    /// It did not run.
    NotRun,
}

/// Whether the same checker goes red on copies of the same history with planted anomalies.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Calibration {
    /// Nobody tried.
    NotDone,
    /// So many anomalies were planted, so many were caught.
    Done {
        /// Anomalies planted. Count only copies that are anomalous by construction.
        planted: u64,
        /// Anomalies caught.
        caught: u64,
    },
}

named! {
    /// How sharp the checker has shown itself.
    pub enum Sharpness {
        /// It caught everything.
        Sharp = "sharp",
        /// It was not tried.
        Untried = "not calibrated",
        /// It caught some.
        Dull = "missed some",
        /// It caught nothing.
        Blind = "missed all",
    }
}

impl Calibration {
    /// How sharp the checker has shown itself.
    pub const fn sharpness(self) -> Sharpness {
        match self {
            Calibration::NotDone | Calibration::Done { planted: 0, .. } => Sharpness::Untried,
            Calibration::Done { caught: 0, .. } => Sharpness::Blind,
            Calibration::Done { planted, caught } if caught < planted => Sharpness::Dull,
            Calibration::Done { .. } => Sharpness::Sharp,
        }
    }
}

/// Whether the history has what the checker needs.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum HistoryFields {
    /// All of it.
    Complete,
    /// Not these fields.
    Lacks(Vec<String>),
    /// Not these, and it is the harness that took them away: it had no room for connections, lost a
    /// client, or its clock jumped. Then no kind of scenario can rest on it.
    Spoiled(Vec<String>),
    /// Nobody looked.
    Unknown,
}

/// Operations, counted at three places; `None` was not counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Operations {
    /// Sent by the workload.
    pub sent: Option<u64>,
    /// Found in the history.
    pub recorded: Option<u64>,
    /// Consumed by the checker.
    pub consumed: Option<u64>,
}

/// What the checker looked at.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Scope {
    /// All the claim speaks of.
    Whole,
    /// Not these parts, such as promises across keys.
    Part(Vec<String>),
}

/// What is known about a run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RunFacts {
    /// Whether a model checker is needed.
    pub rigour: Rigour,
    /// Whether a violation was registered.
    pub violation: Violation,
    /// The fault and its landing.
    pub fault: Fault,
    /// How the checker ended.
    pub checker: Checker,
    /// Whether the checker goes red on planted anomalies.
    pub calibration: Calibration,
    /// Whether the history has what the checker needs.
    pub history: HistoryFields,
    /// Operations sent, recorded and consumed.
    pub operations: Operations,
    /// What the checker looked at.
    pub scope: Scope,
    /// The largest budget that was met.
    pub tier: Tier,
    /// Seeds that ran and agree.
    pub seeds_agreeing: u32,
    /// The answers to both audits; what is left out is unknown.
    #[serde(default)]
    pub audits: Audits,
}

impl RunFacts {
    /// The state of all planned faults; `None` if there are none.
    pub fn landing(&self) -> Option<LandingState> {
        match &self.fault {
            Fault::NotPlanned => None,
            Fault::Planned { landings, .. } => Some(landing_of(landings)),
        }
    }

    /// Whether the planned fault is proven: both sides moved, and no red flag about it is open.
    pub fn fault_proven(&self) -> bool {
        self.landing() == Some(LandingState::Landed)
            && self.audits.red_flags_settled(Effect::FaultNotProven, &self.fault)
    }

    /// Whether clients worked while a fault was on.
    pub fn fault_active(&self) -> bool {
        matches!(self.fault, Fault::Planned { ops_during_fault: Some(ops), .. } if ops > 0)
    }

    /// Whether a model checker is needed.
    pub fn is_serious(&self) -> bool {
        self.rigour == Rigour::Serious
    }
}
