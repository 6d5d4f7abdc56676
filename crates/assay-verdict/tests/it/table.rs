//! The published cases, one line each.

use crate::samples::{landed, planned, with};
use assay_verdict::{
    Annotation, Calibration, Check, Checker, Exemption, Facts, Fault, HistoryFields, Landing,
    Operations, Operator, RedFlag, Rigour, Scope, Signal, Tier, Undecided, Verdict, Violation,
    WeakOracle, judge, verdict,
};

/// Checks verdict, sentence and annotations.
#[track_caller]
fn check(case: &str, facts: &Facts, expected: &str, names: &str, notes: &[Annotation]) {
    let judgement = judge(facts);
    assert_eq!(judgement.verdict.name(), expected, "{case}: {}", judgement.sentence);
    assert!(judgement.sentence.starts_with(&format!("{expected}: ")), "{}", judgement.sentence);
    assert!(judgement.sentence.contains(names), "{case}: {}", judgement.sentence);
    assert_eq!(judgement.annotations, notes, "{case}");
    assert_eq!(judgement.path.iter().filter(|step| step.decided).count(), 1, "{case}");
    assert!(judgement.path.last().is_some_and(|step| step.decided), "{case}");
    assert_eq!(judgement.verdict, verdict(facts), "{case}");
}

fn missed() -> Fault {
    let victim = Signal::counted("timeouts per second", 0, 0, 0);
    planned(vec![Landing { victim, ..landed() }])
}

#[test]
fn the_published_cases_b1_to_b12() {
    use Annotation::*;
    let fails = with(|f| (f.fault, f.violation) = (missed(), Violation::Reproduced));
    let b: [(&str, Facts, &str, &str, &[Annotation]); 13] = [
        ("B1", with(|f| f.fault = missed()), "INCONCLUSIVE-fault-not-proven", "0 → 0 → 0", &[]),
        ("B2", fails, "FAIL-reproducible", "same seed", &[FaultNotProven]),
        ("B3", with(|f| f.checker = Checker::NotRun), "PARTIAL-surface", "did not run", &[]),
        (
            "B4",
            with(|f| f.history = HistoryFields::Lacks(vec!["fault_epoch".into()])),
            "INCONCLUSIVE-oracle-too-weak",
            "fault_epoch",
            &[],
        ),
        (
            "B5",
            with(|f| f.scope = Scope::Part(vec!["promises across keys".into()])),
            "PARTIAL-model",
            "across keys",
            &[],
        ),
        ("B6", with(|_| ()), "PASS-hardening", "3 seeds", &[]),
        ("B7", with(|f| f.seeds_agreeing = 1), "PARTIAL-model", "only 1", &[CappedBySeeds]),
        (
            "B8",
            with(|f| f.tier = Tier::Smoke),
            "PASS-smoke",
            "smoke budget",
            &[FaultActive, CappedByBudget],
        ),
        ("B9", with(|f| f.fault = Fault::NotPlanned), "PASS-smoke", "no fault was planned", &[]),
        (
            "B10",
            Facts::CapabilityMissing {
                capabilities: vec!["iptables".into()],
                operator: Operator::Told,
            },
            "INCONCLUSIVE-env",
            "iptables",
            &[],
        ),
        (
            "B11",
            Facts::NotAttempted { reason: "time ran out".into() },
            "NOT-RUN",
            "time ran out",
            &[],
        ),
        (
            "B12",
            with(|f| f.violation = Violation::NotReproduced),
            "FAIL-nondeterministic",
            "did not show it again",
            &[],
        ),
        ("release", with(|f| f.tier = Tier::Release), "PASS-hardening", "landed", &[Release]),
    ];
    for (case, facts, expected, names, notes) in &b {
        check(case, facts, expected, names, notes);
    }
}

#[test]
fn what_the_tree_leaves_open_is_decided_and_never_a_pass() {
    use Annotation::*;
    let weak = "INCONCLUSIVE-oracle-too-weak";
    let ops = |sent, consumed| Operations { sent, recorded: sent, consumed };
    let undecided = |why| with(|f| f.checker = Checker::Undecided(why));
    let calibrated =
        |planted, caught| with(|f| f.calibration = Calibration::Done { planted, caught });
    let counted = |sent, consumed| with(|f| f.operations = ops(sent, consumed));
    let not_told = Facts::CapabilityMissing { capabilities: vec![], operator: Operator::NotTold };
    let cases: [(&str, Facts, &str, &str, &[Annotation]); 17] = [
        ("budget ran out", undecided(Undecided::BudgetExhausted), weak, "budget-exhausted", &[]),
        ("checker panicked", undecided(Undecided::Crashed), weak, "crashed", &[]),
        ("history cut", undecided(Undecided::HistoryCutShort), weak, "cut-short", &[]),
        ("wrong checker", undecided(Undecided::WrongChecker), weak, "wrong-checker", &[]),
        ("ate nothing", counted(Some(9), Some(0)), weak, "consumed 0 operations", &[]),
        ("uncounted", counted(Some(9), None), weak, "nobody counted", &[]),
        ("ate too much", counted(Some(9), Some(10)), weak, "disagree", &[]),
        ("ate some", counted(Some(9), Some(8)), "PARTIAL-model", "8 of 9", &[]),
        ("sent uncounted", counted(None, Some(8)), "PARTIAL-model", "nobody counted", &[]),
        ("history unknown", with(|f| f.history = HistoryFields::Unknown), weak, "nobody", &[]),
        ("blind", calibrated(20, 0), weak, "0 of 20", &[CappedByCalibration]),
        ("dull", calibrated(20, 19), "PARTIAL-model", "19 of 20", &[CappedByCalibration]),
        ("planted none", calibrated(0, 0), "PARTIAL-model", "nobody", &[CappedByCalibration]),
        (
            "below smoke",
            with(|f| f.tier = Tier::None),
            "PARTIAL-surface",
            "smoke budget",
            &[CappedByBudget],
        ),
        ("operator not told", not_told, "NOT-RUN", "never told", &[OperatorNotTold]),
        (
            "not run again",
            with(|f| f.violation = Violation::NotRerun),
            "FAIL-nondeterministic",
            "not run again",
            &[NotRerun],
        ),
        (
            "fault while nobody looked",
            with(|f| {
                f.fault = Fault::Planned { landings: vec![landed()], ops_during_fault: Some(0) };
            }),
            "PASS-smoke",
            "no operation",
            &[],
        ),
    ];
    for (case, facts, expected, names, notes) in &cases {
        check(case, facts, expected, names, notes);
    }
}

#[test]
fn scenarios_that_are_not_serious_need_no_model_but_an_oracle_that_ran() {
    let not_serious = |change: fn(&mut assay_verdict::RunFacts)| {
        with(|f| {
            f.rigour = Rigour::NotSerious;
            change(f);
        })
    };
    let cases: [(Facts, Verdict); 9] = [
        (not_serious(|f| f.history = HistoryFields::Unknown), Verdict::PassHardening),
        (not_serious(|f| f.scope = Scope::Part(vec![])), Verdict::PassHardening),
        (not_serious(|f| f.calibration = Calibration::NotDone), Verdict::PassHardening),
        (not_serious(|f| f.audits.weak_oracles = Default::default()), Verdict::PassHardening),
        (not_serious(|f| f.fault = Fault::NotPlanned), Verdict::PassSmoke),
        (not_serious(|f| f.checker = Checker::NotRun), Verdict::PartialSurface),
        (not_serious(|f| f.operations = Operations::default()), Verdict::InconclusiveOracleTooWeak),
        (
            not_serious(|f| f.audits.red_flags = Default::default()),
            Verdict::InconclusiveFaultNotProven,
        ),
        (not_serious(|f| f.seeds_agreeing = 2), Verdict::PartialModel),
    ];
    for (facts, expected) in cases {
        assert_eq!(verdict(&facts), expected, "{facts:?}");
    }
}

/// What an item does when it is open, from the published mapping.
const RED_FLAGS: [&str; 10] = [
    "INCONCLUSIVE-oracle-too-weak",
    "PARTIAL-surface",
    "INCONCLUSIVE-fault-not-proven",
    "INCONCLUSIVE-fault-not-proven",
    "INCONCLUSIVE-oracle-too-weak",
    "PASS-smoke",
    "INCONCLUSIVE-oracle-too-weak",
    "INCONCLUSIVE-oracle-too-weak",
    "INCONCLUSIVE-oracle-too-weak",
    "INCONCLUSIVE-oracle-too-weak",
];
const WEAK_ORACLES: [&str; 14] = [
    "PARTIAL-surface",
    "PARTIAL-surface",
    "PARTIAL-surface",
    "PARTIAL-model",
    "PARTIAL-surface",
    "PARTIAL-model",
    "PARTIAL-model",
    "PARTIAL-model",
    "PARTIAL-model",
    "PARTIAL-model",
    "PARTIAL-model",
    "PARTIAL-surface",
    "PARTIAL-surface",
    "PARTIAL-model",
];

/// The states of an item, and whether it is open then under a planned fault.
fn states(exemption: Exemption) -> [(Check, bool); 5] {
    [
        (Check::Clean("seen".into()), false),
        (Check::Raised("seen".into()), true),
        (Check::Unknown("not seen".into()), true),
        (Check::NotApplicable(" ".into()), true),
        (Check::NotApplicable("no failover here".into()), exemption != Exemption::WithReason),
    ]
}

#[test]
fn each_red_flag_lowers_a_pass_unless_it_is_settled() {
    for (&item, expected) in RedFlag::ALL.iter().zip(RED_FLAGS) {
        for (state, open) in states(item.exemption()) {
            let facts = with(|f| f.audits.red_flags[item.number() - 1] = state.clone());
            let judgement = judge(&facts);
            let expected = if open { expected } else { "PASS-hardening" };
            assert_eq!(judgement.verdict.name(), expected, "{item} {state:?}");
            let named = judgement.sentence.contains(&format!("red flag {} ", item.number()));
            assert_eq!(named, open, "{}", judgement.sentence);
        }
    }
}

#[test]
fn each_weak_oracle_lowers_a_pass_unless_it_is_settled() {
    for (&item, expected) in WeakOracle::ALL.iter().zip(WEAK_ORACLES) {
        for (state, open) in states(item.exemption()) {
            let facts = with(|f| f.audits.weak_oracles[item.number() - 1] = state.clone());
            let judgement = judge(&facts);
            let expected = if open { expected } else { "PASS-hardening" };
            assert_eq!(judgement.verdict.name(), expected, "{item} {state:?}");
            let named = judgement.sentence.contains(&format!("weak oracle {} ", item.number()));
            assert_eq!(named, open, "{}", judgement.sentence);
        }
    }
}

#[test]
fn fault_items_do_not_apply_where_no_fault_is_planned() {
    for item in [RedFlag::FaultOneSided, RedFlag::FaultNoOp, RedFlag::NotRecovered] {
        let facts = with(|f| {
            f.fault = Fault::NotPlanned;
            f.audits.red_flags[item.number() - 1] = Check::NotApplicable("no fault".into());
        });
        assert_eq!(verdict(&facts), Verdict::PassSmoke, "{item}");
    }
}

#[test]
fn facts_survive_being_written_and_read() {
    let facts = with(|f| {
        f.checker = Checker::Undecided(Undecided::Crashed);
        f.history = HistoryFields::Lacks(vec!["key".into()]);
        f.calibration = Calibration::NotDone;
    });
    let text = serde_json::to_string(&facts).expect("facts are data");
    assert_eq!(serde_json::from_str::<Facts>(&text).expect("facts are data"), facts);
    let names: Vec<String> =
        Verdict::ALL.iter().map(|v| serde_json::to_string(v).expect("a name")).collect();
    let quoted: Vec<String> = Verdict::ALL.iter().map(|v| format!("\"{}\"", v.name())).collect();
    assert_eq!(names, quoted);
    assert!(serde_json::from_str::<Facts>(r#"{"state":"ran","verdict":"PASS"}"#).is_err());
}
