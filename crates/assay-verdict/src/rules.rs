//! The decision as a table: rules in order, the first that fires decides.
//!
//! Every rule fires on *bad* facts, and the rules are sorted by the level of their verdict, worst
//! first. That is the whole argument for monotony: a fact that gets worse can only make more rules
//! fire, so the first one to fire moves up the table, to a verdict of the same level or a lower
//! one. A test checks the order of this table, another checks the claim on every combination.

use crate::audit::{Effect, RedFlag, WeakOracle};
use crate::budget::Tier;
use crate::facts::{
    Calibration, Checker, HistoryFields, RunFacts, SEEDS_AGREEING_MIN, Scope, Sharpness,
};
use crate::facts::{Fault, Violation};
use crate::landing::LandingState;
use crate::state::Verdict;

/// One question about the facts of a run.
pub struct Rule {
    /// A short name, for the path through the rules.
    pub name: &'static str,
    /// When it decides, in words.
    pub when: &'static str,
    /// The verdict if it does.
    pub verdict: Verdict,
    /// Whether it does.
    pub(crate) fires: fn(&RunFacts) -> bool,
    /// The fact behind it; only asked where it fires.
    pub(crate) because: fn(&RunFacts) -> String,
}

/// All rules about a scenario that ran; if none fires, it is a PASS-hardening.
pub static RULES: &[Rule] = &[
    Rule {
        name: "violation-reproduced",
        when: "a violation came back with the same seed",
        verdict: Verdict::FailReproducible,
        fires: |f| f.violation == Violation::Reproduced,
        because: |_| "a violation was registered and came back with the same seed".into(),
    },
    Rule {
        name: "violation",
        when: "a violation was registered",
        verdict: Verdict::FailNondeterministic,
        fires: |f| f.violation != Violation::None,
        because: |f| match f.violation {
            Violation::NotRerun => "a violation was registered; the seed was not run again".into(),
            _ => "a violation was registered; the same seed did not show it again".into(),
        },
    },
    Rule {
        name: "fault-not-proven",
        when: "a fault was planned and its landing is not proven (red flags 3 and 4 included)",
        verdict: Verdict::InconclusiveFaultNotProven,
        fires: |f| f.fault != Fault::NotPlanned && !f.fault_proven(),
        because: fault_not_proven,
    },
    Rule {
        name: "checker-not-run",
        when: "the declared checker did not run",
        verdict: Verdict::PartialSurface,
        fires: |f| f.checker == Checker::NotRun,
        because: |_| "the declared checker did not run".into(),
    },
    Rule {
        name: "oracle-skipped",
        when: "red flag 2 is open",
        verdict: Verdict::PartialSurface,
        fires: |f| !f.audits.red_flags_settled(Effect::Surface, &f.fault),
        because: |f| open_red_flags(f, Effect::Surface),
    },
    Rule {
        name: "checker-undecided",
        when: "the checker came to no answer",
        verdict: Verdict::InconclusiveOracleTooWeak,
        fires: |f| matches!(f.checker, Checker::Undecided(_)),
        because: |f| match f.checker {
            Checker::Undecided(why) => format!("the checker came to no answer ({why})"),
            _ => "the checker came to no answer".into(),
        },
    },
    Rule {
        name: "nothing-consumed",
        when: "the checker consumed no operation, or more than were sent",
        verdict: Verdict::InconclusiveOracleTooWeak,
        fires: |f| nothing_consumed(f).is_some(),
        because: |f| nothing_consumed(f).unwrap_or_default(),
    },
    Rule {
        name: "history-spoiled",
        when: "the harness itself spoiled the history (connections turned away, clients given up, \
               a clock that jumped)",
        verdict: Verdict::InconclusiveOracleTooWeak,
        fires: |f| matches!(f.history, HistoryFields::Spoiled(_)),
        because: |f| match &f.history {
            HistoryFields::Spoiled(lacks) if !lacks.is_empty() => {
                format!("the harness itself spoiled the history, which lacks {}", lacks.join(", "))
            }
            _ => "the harness itself spoiled the history".into(),
        },
    },
    Rule {
        name: "history-weak",
        when: "the history lacks what the checker needs (serious scenarios)",
        verdict: Verdict::InconclusiveOracleTooWeak,
        fires: |f| f.is_serious() && f.history != HistoryFields::Complete,
        because: |f| match &f.history {
            HistoryFields::Lacks(fields) if !fields.is_empty() => {
                format!("the history lacks what the checker needs: {}", fields.join(", "))
            }
            HistoryFields::Lacks(_) => "the history lacks what the checker needs".into(),
            _ => "nobody looked whether the history has what the checker needs".into(),
        },
    },
    Rule {
        name: "checker-blind",
        when: "the checker caught none of the planted anomalies",
        verdict: Verdict::InconclusiveOracleTooWeak,
        fires: |f| f.calibration.sharpness() == Sharpness::Blind,
        because: caught,
    },
    Rule {
        name: "pending-audit",
        when: "one of the red flags 1, 5, 7, 8, 9, 10 is open",
        verdict: Verdict::InconclusiveOracleTooWeak,
        fires: |f| !f.audits.red_flags_settled(Effect::Held, &f.fault),
        because: |f| format!("the result is held, {}", open_red_flags(f, Effect::Held)),
    },
    Rule {
        name: "below-smoke",
        when: "not even the smoke budget was met",
        verdict: Verdict::PartialSurface,
        fires: |f| f.tier == Tier::None,
        because: |_| "not even the smoke budget was met".into(),
    },
    Rule {
        name: "weak-oracle-surface",
        when: "one of the weak oracles 1, 2, 3, 5, 12, 13 is open (serious scenarios)",
        verdict: Verdict::PartialSurface,
        fires: |f| f.is_serious() && !f.audits.weak_oracles_settled(Effect::Surface, &f.fault),
        because: |f| open_weak_oracles(f, Effect::Surface),
    },
    Rule {
        name: "not-covered",
        when: "the checker did not cover everything (serious scenarios)",
        verdict: Verdict::PartialModel,
        fires: |f| f.is_serious() && not_covered(f).is_some(),
        because: |f| not_covered(f).unwrap_or_default(),
    },
    Rule {
        name: "no-fault-active",
        when: "no fault was active while clients worked",
        verdict: Verdict::PassSmoke,
        fires: |f| !f.fault_active(),
        because: |f| match f.fault {
            Fault::NotPlanned => "everything was judged and held; no fault was planned".into(),
            Fault::Planned { .. } => {
                "everything was judged and held; no operation is known to overlap the fault".into()
            }
        },
    },
    Rule {
        name: "smoke-budget",
        when: "only the smoke budget was met",
        verdict: Verdict::PassSmoke,
        fires: |f| f.tier < Tier::Hardening,
        because: |_| "everything held under the fault; only the smoke budget was met".into(),
    },
    Rule {
        name: "duration-not-proven",
        when: "red flag 6 is open",
        verdict: Verdict::PassSmoke,
        fires: |f| !f.audits.red_flags_settled(Effect::SmokeCap, &f.fault),
        because: |f| {
            format!("everything held under the fault; {}", open_red_flags(f, Effect::SmokeCap))
        },
    },
    Rule {
        name: "few-seeds",
        when: "fewer than three seeds agree",
        verdict: Verdict::PartialModel,
        fires: |f| f.seeds_agreeing < SEEDS_AGREEING_MIN,
        because: |f| {
            let seeds = f.seeds_agreeing;
            format!("only {seeds} of the {SEEDS_AGREEING_MIN} seeds wanted agree")
        },
    },
    Rule {
        name: "checker-not-calibrated",
        when: "the checker missed planted anomalies, or (serious scenarios) nobody planted any",
        verdict: Verdict::PartialModel,
        fires: not_calibrated,
        because: |f| match f.calibration.sharpness() {
            Sharpness::Dull => caught(f),
            _ => "nobody tried whether the checker sees planted anomalies".into(),
        },
    },
    Rule {
        name: "weak-oracle-model",
        when: "one of the weak oracles 4, 6, 7, 8, 9, 10, 11, 14 is open (serious scenarios)",
        verdict: Verdict::PartialModel,
        fires: |f| f.is_serious() && !f.audits.weak_oracles_settled(Effect::Model, &f.fault),
        because: |f| open_weak_oracles(f, Effect::Model),
    },
];

fn fault_not_proven(facts: &RunFacts) -> String {
    let Fault::Planned { landings, .. } = &facts.fault else { return String::new() };
    let missed = landings.iter().find(|landing| landing.state() != LandingState::Landed);
    match (missed, landings.is_empty()) {
        (_, true) => "a fault was planned, and no counter was read".into(),
        (Some(landing), _) => {
            format!("the fault is not proven to have landed ({})", landing.evidence())
        }
        (None, _) => open_red_flags(facts, Effect::FaultNotProven),
    }
}

fn nothing_consumed(facts: &RunFacts) -> Option<String> {
    match (facts.operations.consumed, facts.operations.sent) {
        (None, _) => Some("nobody counted the operations the checker consumed".into()),
        (Some(0), _) => Some("the checker consumed 0 operations".into()),
        (Some(consumed), Some(sent)) if consumed > sent => {
            Some(format!("the counts disagree: {consumed} operations consumed, {sent} sent"))
        }
        _ => None,
    }
}

fn not_covered(facts: &RunFacts) -> Option<String> {
    if let Scope::Part(parts) = &facts.scope {
        return Some(format!("the checker did not cover: {}", parts.join(", ")));
    }
    match (facts.operations.consumed, facts.operations.sent) {
        (Some(consumed), Some(sent)) if consumed < sent => {
            Some(format!("the checker consumed {consumed} of {sent} operations"))
        }
        (_, None) => Some("nobody counted the operations that were sent".into()),
        _ => None,
    }
}

fn not_calibrated(facts: &RunFacts) -> bool {
    match facts.calibration.sharpness() {
        Sharpness::Sharp => false,
        Sharpness::Untried => facts.is_serious(),
        Sharpness::Dull | Sharpness::Blind => true,
    }
}

fn caught(facts: &RunFacts) -> String {
    match facts.calibration {
        Calibration::Done { planted, caught } => {
            format!("the checker caught {caught} of {planted} planted anomalies")
        }
        Calibration::NotDone => "no anomaly was planted".into(),
    }
}

fn open_red_flags(facts: &RunFacts, effect: Effect) -> String {
    let describe = |item: RedFlag| {
        let check = facts.audits.red_flag(item);
        format!("{} ({}: {})", item.number(), check.word(), check.text())
    };
    let items: Vec<String> =
        facts.audits.open_red_flags(effect, &facts.fault).map(describe).collect();
    format!("red flag {}", items.join(", "))
}

fn open_weak_oracles(facts: &RunFacts, effect: Effect) -> String {
    let describe = |item: WeakOracle| {
        let check = facts.audits.weak_oracle(item);
        format!("{} ({}: {})", item.number(), check.word(), check.text())
    };
    let items: Vec<String> =
        facts.audits.open_weak_oracles(effect, &facts.fault).map(describe).collect();
    format!("weak oracle {}", items.join(", "))
}
