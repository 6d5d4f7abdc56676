//! What is not measured never helps: verdicts of trials in which everything else went well.

use super::*;
use crate::samples::{clean, machine, spec};
use Verdict::{InconclusiveOracleTooWeak, PartialModel, PartialSurface, PassHardening};
use assay_verdict::{Facts, Verdict, judge};

/// The facts of three good trials with this checker, under claims of these categories.
fn facts_of(checker: &str, categories: &[Category], worse: impl Fn(&mut TrialRecord)) -> ArmFacts {
    let machine = machine(checker);
    let mut trials: Vec<TrialRecord> =
        (1..=3).map(|seed| clean(&spec(&machine, Depth::Hardening, seed))).collect();
    trials.iter_mut().for_each(worse);
    let setting = Setting {
        machine: &machine,
        rigour: Rigour::Serious,
        depth: Depth::Hardening,
        any_size: false,
        oracles: vec![OracleKind::ClientHistory],
        no_hidden_retries: Some("every operation is sent once".to_string()),
        categories,
    };
    of(&trials.iter().collect::<Vec<_>>(), Violation::None, &setting)
}

fn ended(facts: &ArmFacts) -> (Verdict, String) {
    let judged = judge(&Facts::Ran(Box::new(facts.facts.clone())));
    (judged.verdict, judged.sentence)
}

const REGISTER: &str = "linearizability:register";

#[test]
fn a_claim_about_what_nobody_measured_is_not_hardened() {
    use Category::{Boundary, Fairness, PerformanceSlo, Safety};
    let none = |_: &mut TrialRecord| {};
    let three = |trial: &mut TrialRecord| trial.judged.groups = Some(3);
    let one = |trial: &mut TrialRecord| trial.judged.groups = Some(1);
    type Worse = fn(&mut TrialRecord);
    let rows: [(&str, &[Category], Worse, Verdict, &str); 7] = [
        (REGISTER, &[Safety], none, PassHardening, "3 seeds agree"),
        (REGISTER, &[Safety, Boundary], none, PartialSurface, "not measured: controls"),
        (REGISTER, &[Fairness], none, PartialModel, "not measured: groups"),
        ("fairness", &[Fairness], one, PartialModel, "1 groups apart"),
        ("fairness", &[Fairness], three, PassHardening, "3 seeds agree"),
        ("baseline", &[PerformanceSlo], none, InconclusiveOracleTooWeak, "digests of the harness"),
        ("slo", &[PerformanceSlo], none, PassHardening, "3 seeds agree"),
    ];
    for (checker, categories, worse, expected, words) in rows {
        let mut facts = facts_of(checker, categories, worse);
        if categories.iter().any(|category| category.has_surfaces()) {
            // As if every surface had been exercised: that is another audit.
            facts.set_surfaces(3, 3);
        }
        let (verdict, sentence) = ended(&facts);
        assert_eq!(verdict, expected, "{checker} {categories:?}: {sentence}");
        assert!(sentence.contains(words), "{checker} {categories:?}: {sentence}");
    }
}

#[test]
fn what_was_planted_is_told_by_kind_and_adds_up_to_what_the_verdict_counts() {
    let facts = facts_of(REGISTER, &[Category::Safety], |_| {});
    let rows = &facts.planted;
    assert_eq!((rows.len(), rows[0].kind.as_str()), (1, "stale-read"));
    assert_eq!((rows[0].planted, rows[0].caught), (36, 33));
    let (planted, caught) = (rows[0].certain, rows[0].certain_caught);
    assert_eq!(facts.facts.calibration, Calibration::Done { planted, caught });
}

#[test]
fn an_arm_that_did_not_run_is_a_surface_nobody_exercised() {
    let rows = [
        (3, 3, PassHardening, "3 seeds agree"),
        (3, 2, PartialSurface, "2 of 3 surfaces"),
        (1, 1, PartialSurface, "1 of 1 surfaces"),
    ];
    for (declared, exercised, expected, words) in rows {
        let mut facts = facts_of(REGISTER, &[Category::Safety], |_| {});
        facts.set_surfaces(declared, exercised);
        let (verdict, sentence) = ended(&facts);
        assert_eq!(verdict, expected, "{exercised} of {declared}: {sentence}");
        assert!(sentence.contains(words), "{sentence}");
    }
    let (verdict, sentence) = ended(&facts_of(REGISTER, &[Category::Boundary], |_| {}));
    assert_eq!(verdict, PartialSurface, "a boundary without arms: {sentence}");
    assert!(sentence.contains("1 of 1 surfaces"), "{sentence}");
}

#[test]
fn what_the_history_lacks_makes_the_oracle_too_weak() {
    let facts = facts_of("no-lost-ack", &[Category::Durability], |trial| {
        trial.judged.history = HistoryFields::Lacks(vec!["a system at rest".to_string()]);
    });
    let (verdict, sentence) = ended(&facts);
    assert_eq!(verdict, InconclusiveOracleTooWeak, "{sentence}");
    assert!(sentence.contains("a system at rest"), "{sentence}");
}
