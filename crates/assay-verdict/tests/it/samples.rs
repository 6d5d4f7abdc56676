//! Facts to start from.

use assay_verdict::{
    Audits, Calibration, Check, Checker, Facts, Fault, HistoryFields, Landing, Operations, RedFlag,
    Rigour, RunFacts, Scope, Signal, Tier, Violation, WeakOracle,
};

/// A fault of which both sides moved.
pub fn landed() -> Landing {
    Landing {
        fault: "cut off the leader".into(),
        injector: Signal::counted("packets dropped", 0, 14_712, 14_712),
        victim: Signal::counted("timeouts per second", 0, 142, 0),
    }
}

/// A planned fault with these landings and enough operations under it.
pub fn planned(landings: Vec<Landing>) -> Fault {
    Fault::Planned { landings, ops_during_fault: Some(400) }
}

/// Audits with every item clean.
pub fn clean_audits() -> Audits {
    let mut audits = Audits::default();
    for &item in RedFlag::ALL {
        audits.red_flags[item.number() - 1] = Check::Clean("seen".into());
    }
    for &item in WeakOracle::ALL {
        audits.weak_oracles[item.number() - 1] = Check::Clean("seen".into());
    }
    audits
}

/// A serious scenario with nothing to complain about.
pub fn all_good() -> RunFacts {
    RunFacts {
        rigour: Rigour::Serious,
        violation: Violation::None,
        fault: planned(vec![landed()]),
        checker: Checker::Completed,
        calibration: Calibration::Done { planted: 20, caught: 20 },
        history: HistoryFields::Complete,
        operations: Operations { sent: Some(5_000), recorded: Some(5_000), consumed: Some(5_000) },
        scope: Scope::Whole,
        tier: Tier::Hardening,
        seeds_agreeing: 3,
        audits: clean_audits(),
    }
}

/// The same, changed.
pub fn with(change: impl FnOnce(&mut RunFacts)) -> Facts {
    let mut facts = all_good();
    change(&mut facts);
    Facts::Ran(Box::new(facts))
}
