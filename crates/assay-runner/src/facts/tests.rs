//! What is not measured never helps: verdicts of trials in which everything else went well.

use super::*;
use crate::samples::{clean, machine, refuted, spec};
use Verdict::{
    InconclusiveFaultNotProven, InconclusiveOracleTooWeak, PartialModel, PartialSurface,
    PassHardening,
};
use assay_verdict::{Facts, Verdict, judge};

/// The facts of three good trials with this checker, under claims of these categories.
fn facts_of(checker: &str, categories: &[Category], worse: impl Fn(&mut TrialRecord)) -> ArmFacts {
    let machine = machine(checker);
    let mut trials: Vec<TrialRecord> =
        (1..=3).map(|seed| clean(&spec(&machine, Depth::Hardening, seed))).collect();
    trials.iter_mut().for_each(worse);
    facts_under(&machine, Rigour::Serious, categories, &trials)
}

fn facts_under(
    machine: &Machine,
    rigour: Rigour,
    categories: &[Category],
    trials: &[TrialRecord],
) -> ArmFacts {
    let setting = Setting {
        machine,
        rigour,
        depth: Depth::Hardening,
        any_size: false,
        oracles: vec![OracleKind::ClientHistory],
        no_hidden_retries: Some("every operation is sent once".to_string()),
        categories,
        not_done: &[],
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
    let facts = facts_of(REGISTER, &[Category::Safety], |trial| {
        let sharpness = trial.sharpness.as_mut().expect("it was calibrated");
        sharpness.left_out.push("time was up".to_string());
    });
    let seeds = facts.seeds.iter();
    let left_out: Vec<String> = seeds.map(|seed| format!("seed {seed}: time was up")).collect();
    assert_eq!(facts.planted_less, left_out);
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

/// What the harness did to one of three trials costs the pass, whatever kind of scenario it is.
#[test]
fn what_the_harness_spoiled_is_no_pass_of_any_scenario() {
    type Worse = fn(&mut TrialRecord);
    let rows: [(&str, Worse, &str); 5] = [
        ("refuted, and connections turned away", |t| t.turned_away = 3, "turned 3 away"),
        ("refuted, and the clock jumped", |t| t.clock_jumps = 2, "2 jumps were seen"),
        ("upheld, and connections turned away", |t| t.turned_away = 3, "turned 3 away"),
        ("upheld, and the clock jumped", |t| t.clock_jumps = 2, "2 jumps were seen"),
        (
            "upheld, and clients given up",
            |t| t.lost = vec!["client 4 is given up: line 5 is no answer".to_string()],
            "client 4 is given up",
        ),
    ];
    let machine = machine("slo");
    for (case, worse, words) in rows {
        for rigour in [Rigour::NotSerious, Rigour::Serious] {
            let all = (1..=3).map(|seed| spec(&machine, Depth::Hardening, seed));
            let mut trials: Vec<TrialRecord> = all.map(|spec| clean(&spec)).collect();
            if case.starts_with("refuted") {
                trials[1] = refuted(&trials[1].spec.clone(), 500);
                trials[1].judged.anomalies[0].checker = "slo".to_string();
            }
            worse(&mut trials[1]);
            assert!(trials.iter().all(|trial| !trial.is_violation()), "{case}");
            let facts = facts_under(&machine, rigour, &[Category::PerformanceSlo], &trials);
            let (verdict, sentence) = ended(&facts);
            assert_eq!(verdict, InconclusiveOracleTooWeak, "{case}: {sentence}");
            assert!(sentence.contains(words) && sentence.contains("seed 2"), "{case}: {sentence}");
        }
    }
}

#[test]
fn a_fault_that_was_not_healed_holds_the_result() {
    let facts = facts_of(REGISTER, &[Category::Safety], |trial| {
        if trial.spec.seed == 3 {
            trial.windows[1].unhealed = Some("n2 did not become ready".to_string());
        }
    });
    let (verdict, sentence) = ended(&facts);
    assert_eq!(verdict, InconclusiveOracleTooWeak, "{sentence}");
    for words in ["red flag 8 (raised", "seed 3: ", "n2 did not become ready"] {
        assert!(sentence.contains(words), "{sentence}");
    }
}

#[test]
fn a_node_that_does_not_run_at_the_end_holds_the_result() {
    let facts = facts_of(REGISTER, &[Category::Safety], |trial| {
        if trial.spec.seed == 3 {
            trial.down = vec!["n2".to_string()];
            assert!(trial.could_have_shown().is_err(), "nor is it a trial that shows nothing");
        }
    });
    let (verdict, sentence) = ended(&facts);
    assert_eq!(verdict, InconclusiveOracleTooWeak, "{sentence}");
    assert!(sentence.contains("seed 3: n2 does not run at the end"), "{sentence}");
}

#[test]
fn a_client_that_stops_before_the_end_is_known_by_its_silence() {
    // A closed loop with a timeout of a second: what is silent for longer than two of them.
    for (silent_ms, expected) in [(900, PassHardening), (2_001, InconclusiveOracleTooWeak)] {
        let facts = facts_of(REGISTER, &[Category::Safety], |trial| {
            trial.spec.workload.rate = None;
            trial.silent_ms = Some(silent_ms);
        });
        let (verdict, sentence) = ended(&facts);
        assert_eq!(verdict, expected, "{silent_ms}: {sentence}");
    }
}

#[test]
fn links_that_nobody_could_watch_prove_no_fault() {
    let facts = facts_of(REGISTER, &[Category::Safety], |trial| {
        trial.unwatched = Some("this machine does not tell its connections".to_string());
    });
    let (verdict, sentence) = ended(&facts);
    assert_eq!(verdict, InconclusiveFaultNotProven, "{sentence}");
    assert!(sentence.contains("does not tell its connections"), "{sentence}");
}

#[test]
fn a_trial_that_could_not_be_done_is_named_and_missed() {
    let machine = machine(REGISTER);
    let trials: Vec<TrialRecord> =
        (1..=2).map(|seed| clean(&spec(&machine, Depth::Hardening, seed))).collect();
    let not_done = ["hardening-seed-3 could not be done: the system did not start".to_string()];
    let setting = Setting {
        machine: &machine,
        rigour: Rigour::Serious,
        depth: Depth::Hardening,
        any_size: false,
        oracles: vec![OracleKind::ClientHistory],
        no_hidden_retries: None,
        categories: &[Category::Safety],
        not_done: &not_done,
    };
    let facts = of(&trials.iter().collect::<Vec<_>>(), Violation::None, &setting);
    let (verdict, sentence) = ended(&facts);
    assert_eq!(verdict, PartialSurface, "{sentence}");
    for words in ["2 of 3 cycles judged", "the system did not start"] {
        assert!(sentence.contains(words), "{sentence}");
    }
}
