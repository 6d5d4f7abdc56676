//! The checker, the verifier and brute force agree on hundreds of thousands of small histories.
//!
//! A failure prints the history and how to run it again:
//! `ASSAY_CASE=queue:small:17 cargo test -p assay-check --test agreement one_case -- --nocapture`

mod support;

use assay_check::{
    Answer, Certificate, CheckOptions, MODELS, ModelKind, Relaxation, Start, calibrate, check,
    verify,
};
use assay_history::OpIndex;
use support::brute::{self, Part};
use support::generate::{Dice, LONG, SMALL, Size, generate};
use support::harness::{Judge, Trial};
use support::text::parse;
use support::{Case, End};

const CHECKED_PER_MODEL: u64 = 100_000;
const VERIFIED_PER_MODEL: u64 = 50_000;
const LONG_PER_MODEL: u64 = 1_000;
const PARTS_PER_CASE: usize = 3;
const CANARY_CASES: u64 = 5_000;
const PLANTED_PER_MODEL: u64 = 2_000;

/// The checker must say what brute force says, and prove it when it refutes.
fn judge_checker(_seed: u64, case: &Case, explained: bool) -> Result<(), String> {
    let (history, initial) = case.history();
    let options = CheckOptions { initial, ..CheckOptions::new(case.model) };
    let report = check(&history, &options).map_err(|error| format!("not checked: {error}"))?;
    let right = if explained { Answer::Linearizable } else { Answer::Refuted };
    if report.answer != right {
        return Err(format!("the checker says {:?}, brute force {right:?}", report.answer));
    }
    if report.refutations.is_empty() != explained {
        return Err(format!("{} refutations", report.refutations.len()));
    }
    for refutation in &report.refutations {
        let certificate = &refutation.certificate;
        if let Err(why) = verify(&history, certificate) {
            return Err(format!("the verifier rejects {certificate:?}: {why}"));
        }
        // Reducing has a limit of its own, which a handful of operations must not reach.
        if !refutation.minimal && case.ops.len() as i64 <= SMALL.ops_max {
            return Err(format!("{certificate:?} is not said to be minimal"));
        } else if !refutation.minimal {
            continue;
        }
        for i in 0..certificate.core.len() {
            let mut smaller = certificate.clone();
            let forgotten = smaller.core.remove(i);
            match verify(&history, &smaller) {
                Err(why) if why.starts_with("an explanation exists") => {}
                other => {
                    return Err(format!(
                        "{certificate:?} is not minimal: without {forgotten:?} {other:?}"
                    ));
                }
            }
        }
    }
    Ok(())
}

/// The verifier must confirm that a part has no explanation iff brute force finds none. The parts
/// are random, since the checker shows only the best ones.
fn judge_verifier(seed: u64, case: &Case, _explained: bool) -> Result<(), String> {
    let (history, initial) = case.history();
    let mut dice = Dice::new(seed);
    for _ in 0..PARTS_PER_CASE {
        let part = random_part(case, &mut dice);
        let start = if part.any { Start::Any } else { Start::Initial };
        let index = case.ops.iter().position(|op| op.key == part.key).expect("taken from there");
        let certificate = Certificate {
            model: case.model,
            initial,
            key: history.key(history.op(OpIndex(index as u32)).key),
            part: Relaxation { start, from: part.from, cut: part.cut },
            core: part.core.iter().map(|&i| OpIndex(i as u32)).collect(),
        };
        let explained = match verify(&history, &certificate) {
            Ok(_) => false,
            Err(why) if why.starts_with("an explanation exists") => true,
            Err(why) => return Err(format!("the verifier gives up: {why}")),
        };
        if explained != brute::explains_part(case, &part) {
            return Err(format!("the verifier says explained {explained} of {part:?}"));
        }
    }
    Ok(())
}

fn random_part(case: &Case, dice: &mut Dice) -> Part {
    let count = case.ops.len() as i64;
    let mut op = || &case.ops[dice.below(count) as usize];
    let (key, from, cut) = (op().key.clone(), op().start, op().end);
    let any = case.model == ModelKind::Register && dice.percent(40);
    let (from, cut) = (from, if dice.percent(60) { i64::MAX } else { cut });
    let keep = [100, 90, 70, 50][dice.below(4) as usize];
    let mut core = Vec::new();
    for (i, op) in case.ops.iter().enumerate() {
        let fits = op.key == key && op.how == End::Ok && op.end <= cut;
        if fits && (!any || op.start >= from) && dice.percent(keep) {
            core.push(i);
        }
    }
    Part { key, core, any, from, cut }
}

macro_rules! agreement {
    ($($model:ident $name:ident;)*) => {$(
        mod $name {
            use super::*;

            fn trial(size: Size, count: u64, judge: &Judge) {
                Trial { model: ModelKind::$model, size, count }
                    .run(judge)
                    .unwrap_or_else(|objection| panic!("{objection}"));
            }

            #[test]
            fn checker_agrees_with_brute_force() {
                trial(SMALL, CHECKED_PER_MODEL, &judge_checker);
            }

            #[test]
            fn checker_agrees_with_the_verifier_on_longer_histories() {
                trial(LONG, LONG_PER_MODEL, &judge_checker);
            }

            #[test]
            fn verifier_agrees_with_brute_force() {
                trial(SMALL, VERIFIED_PER_MODEL, &judge_verifier);
            }
        }
    )*};
}

agreement! {
    Register register;
    Kv kv;
    Counter counter;
    Set set;
    Queue queue;
    Stack stack;
    Log log;
    Mutex mutex;
    Lease lease;
}

/// Histories that a checker once got wrong, named after what was wrong with it.
const REGRESSIONS: [(&str, ModelKind, &str); 5] = [
    (
        "two unknown operations in a row put back a value that was there before",
        ModelKind::Register,
        "0 0..1 put 1 | 1 3..? put 1 | 2 12..? cas [1,2] | 1 15..17 put 3 | 0 15..16 cas [2,4] \
         | 0 19..19 read -> 4",
    ),
    (
        "the same, and a witness that left them out",
        ModelKind::Register,
        "0 0..1 put 1 | 1 3..3 put 1 | 2 12..13 cas [1,2] | 1 15..17 put 3 | 0 15..16 cas [2,2] \
         | 0 19..19 read -> 2",
    ),
    (
        "a write that changes nothing hides another",
        ModelKind::Register,
        "0 0..1 put 1 | 0 10..20 put 1 | 1 10..20 put 3 | 2 10..15 cas [1,2] | 0 30..31 read -> 2",
    ),
    ("nothing but unknown reads", ModelKind::Counter, "0 0..? read | 1 0..? read"),
    (
        "a value nobody enqueued, after others",
        ModelKind::Queue,
        "0 0..9 enqueue 1 | 1 5..? dequeue | 0 10..19 enqueue 2 | 1 20..29 dequeue -> 3",
    ),
];

#[test]
fn regressions_stay_fixed() {
    for (claim, model, line) in REGRESSIONS {
        let case = parse(model, line);
        let judged = judge_checker(0, &case, brute::linearizable(&case));
        assert_eq!(judged, Ok(()), "{claim}: {line}");
    }
}

/// What is called wrong by construction has no order, for the checker and so for brute force.
#[test]
fn planted_anomalies_that_are_certain_are_refuted() {
    for info in &MODELS {
        let mut certain = 0;
        for seed in 0..PLANTED_PER_MODEL {
            let (history, initial) = generate(info.kind, LONG, seed).history();
            let options = CheckOptions { initial, ..CheckOptions::new(info.kind) };
            let Ok(rows) = calibrate(&history, &options, 2, seed) else { continue };
            for row in rows {
                let what = format!("{}: seed {seed}: {row:?}", info.names[0]);
                // A search that ran out of its budget has not objected.
                assert!(row.certain <= row.certain_caught + row.undecided, "{what}");
                certain += row.certain;
            }
        }
        assert!(u64::from(certain) > PLANTED_PER_MODEL / 10, "{}: {certain}", info.names[0]);
    }
}

/// A checker that answers like this must be caught, whatever the model but for `harmless` ones.
fn assert_caught(harmless: &[ModelKind], answer: fn(&Case) -> bool) {
    let judge = move |_seed: u64, case: &Case, explained: bool| {
        if answer(case) == explained { Ok(()) } else { Err("wrong".to_owned()) }
    };
    for info in MODELS.iter().filter(|info| !harmless.contains(&info.kind)) {
        let objection = Trial { model: info.kind, size: SMALL, count: CANARY_CASES }.run(&judge);
        assert!(objection.is_err(), "{}: nobody noticed", info.names[0]);
    }
}

#[test]
fn canary_a_checker_that_always_says_linearizable_is_caught() {
    assert_caught(&[], |_| true);
}

#[test]
fn canary_a_checker_that_ignores_unknown_operations_is_caught() {
    // Nothing that is unknown about a lease ever makes another operation legal: see docs/models.md.
    assert_caught(&[ModelKind::Lease], |case| {
        let ops = case.ops.iter().filter(|op| !op.how.is_unknown()).cloned().collect();
        brute::linearizable(&Case { ops, ..case.clone() })
    });
}

#[test]
fn canary_a_checker_that_takes_equal_times_for_an_order_is_caught() {
    assert_caught(&[], |case| {
        let mut case = case.clone();
        for op in case.ops.iter_mut().filter(|op| op.end > op.start) {
            (op.start, op.end) = (op.start * 2, op.end * 2 - 1);
        }
        for op in case.ops.iter_mut().filter(|op| op.end == op.start) {
            (op.start, op.end) = (op.start * 2, op.end * 2);
        }
        brute::linearizable(&case)
    });
}

/// A judge that minds one thing must be shown a history with that thing and nothing else.
#[test]
fn canary_what_does_not_matter_is_left_out_of_a_failing_history() {
    let judge = |_seed: u64, case: &Case, _explained: bool| {
        let fails = case.ops.iter().filter(|op| op.how == End::Fail).count();
        if fails < 2 { Ok(()) } else { Err("two have failed".to_owned()) }
    };
    let trial = Trial { model: ModelKind::Register, size: LONG, count: CANARY_CASES };
    let objection = trial.run(&judge).expect_err("some history has two");
    assert_eq!(objection.matches("\"refused\"").count(), 2, "{objection}");
    assert_eq!(objection.matches("\"op_id\"").count(), 2, "{objection}");
}

/// The case that `ASSAY_CASE=model:size:seed` names, in full; some case if it names none.
#[test]
fn one_case() {
    let wanted = std::env::var("ASSAY_CASE").unwrap_or_else(|_| "queue:small:17".to_owned());
    let (trial, seed) = Trial::named(&wanted).expect("ASSAY_CASE is model:small:seed or so");
    let case = trial.case(seed);
    let explained = trial.oracle(&case).expect("the oracle decides it");
    println!("{}\nexplained: {explained}", trial.report(seed, &case, "the case"));
    println!("verifier: {:?}", judge_verifier(seed, &case, explained));
    judge_checker(seed, &case, explained).unwrap_or_else(|what| panic!("{what}"));
}
