//! Certificates: what the oracles give is accepted, what somebody changed is not.

use crate::table::{Of, Row, rows};
use assay_history::OpIndex;
use assay_oracle::{
    Arg, Certificate, Example, ORACLES, Options, Oracle, VerifyError, fact, named, sketch, verify,
};

/// Arguments that may be stated otherwise and still prove the point: margins and windows, and what
/// the user decided, which the history does not have (totals, invariants, paths, limits).
fn is_free(kind: &str, claim: &str, place: usize) -> bool {
    match claim {
        "before" | "last_change" => place == 2,
        "apart" => place == 4,
        "never_delivered" | "cannot_be_last" => place == 3,
        "nowhere" | "false" => place == 1,
        "holding" => place >= 1,
        "moved_wrong" => place == 6,
        "out_of_bounds" => [1, 6].contains(&place),
        "overspent" => [1, 4].contains(&place),
        "twice" => place == 2 && ["duplicate-effect", "repeated-delivery"].contains(&kind),
        "unequal" => place == 1 && kind == "wrong-total",
        // A group that was expected and never came is as absent as any other name.
        "group_measure" => place >= 4 || (place == 2 && kind == "group-starved"),
        "window_measure" => [1, 2, 4].contains(&place),
        "mean_ratio" => place == 1,
        _ => false,
    }
}

fn changed(arg: &Arg, ops: usize) -> Arg {
    match arg {
        Arg::Op(op) => Arg::Op(OpIndex((op.0 + 1) % (ops as u32 + 1))),
        Arg::Int(int) => Arg::Int(int + 1),
        Arg::Real(real) => Arg::Real(real + 1.0),
        Arg::Text(text) => Arg::Text(format!("{text}7")),
    }
}

/// Every bad history there is: those the oracles bring, and those of the table.
fn bad_histories() -> Vec<(&'static dyn Oracle, Example)> {
    let mut all: Vec<(&'static dyn Oracle, Example)> =
        ORACLES.iter().map(|&oracle| (oracle, oracle.planted_bad())).collect();
    for &Row(name, of, set, text) in rows() {
        if matches!(of, Of::Fail(_)) {
            let mut options = Options::default();
            set(&mut options);
            all.push((named(name).unwrap(), Example { history: sketch(text), options }));
        }
    }
    all
}

#[test]
fn a_changed_certificate_is_refused() {
    let mut tried = 0;
    for (oracle, bad) in bad_histories() {
        let report = oracle.check(&bad.history, &bad.options).unwrap();
        for anomaly in &report.anomalies {
            let good = &anomaly.certificate;
            for (i, fact) in good.facts.iter().enumerate() {
                for place in 0..fact.args.len() {
                    if is_free(&good.kind, &fact.claim, place) {
                        continue;
                    }
                    let mut forged = good.clone();
                    forged.facts[i].args[place] = changed(&fact.args[place], bad.history.len());
                    let result = verify(&bad.history, bad.options.reference.as_deref(), &forged);
                    assert!(result.is_err(), "{}: {forged:?}\n{good:?}", oracle.info().name);
                    tried += 1;
                }
            }
        }
    }
    assert!(tried > 600, "{tried} forgeries were tried");
}

#[test]
fn a_certificate_that_lacks_a_fact_or_has_another_kind_is_refused() {
    for oracle in ORACLES {
        let bad = oracle.planted_bad();
        let report = oracle.check(&bad.history, &bad.options).unwrap();
        let reference = bad.options.reference.as_deref();
        for anomaly in &report.anomalies {
            let mut empty = anomaly.certificate.clone();
            empty.facts.clear();
            assert!(matches!(
                verify(&bad.history, reference, &empty),
                Err(VerifyError::NotEnough(_))
            ));
            let mut renamed = anomaly.certificate.clone();
            renamed.kind = "no-such-kind".into();
            assert!(verify(&bad.history, reference, &renamed).is_err());
            // A declared total is a fact the history does not have.
            for i in 0..anomaly.certificate.facts.len() {
                let mut less = anomaly.certificate.clone();
                less.facts.remove(i);
                assert!(verify(&bad.history, reference, &less).is_err(), "{less:#?}");
            }
        }
    }
}

#[test]
fn a_certificate_of_another_history_is_refused() {
    let oracle = named("no-lost-ack").unwrap();
    let bad = oracle.planted_bad();
    let report = oracle.check(&bad.history, &bad.options).unwrap();
    let certificate = &report.anomalies[0].certificate;
    let kept = sketch("0 add - 1 ok\n0 add - 2 ok\n0 final - - ok [1,2]");
    assert!(verify(&kept, None, certificate).is_err());
    assert!(verify(&sketch(""), None, certificate).is_err(), "operations that do not exist");
}

#[test]
fn facts_that_make_no_sense_are_refused() {
    let history = sketch("0 add - 1 ok\n0 final - - ok []");
    let facts = [
        fact!("ok", 3i64),
        fact!("ok"),
        fact!("frobnicates", OpIndex(0)),
        fact!("before", OpIndex(0), OpIndex(1)),
        fact!("term", OpIndex(0), "median", "*", "1"),
        fact!("nowhere", OpIndex(1), 0i64),
        fact!("path"),
        fact!("path", OpIndex(0)),
    ];
    for fact in facts {
        let certificate = Certificate { kind: "lost-ack".into(), facts: vec![fact] };
        assert!(verify(&history, None, &certificate).is_err(), "{certificate:?}");
    }
}

#[test]
fn a_false_refutation_cannot_be_certified() {
    // The element timed out: `ok` is not true of it.
    let history = sketch("0 add - 1 unknown\n0 final - - ok []");
    let (add, dump) = (OpIndex(0), OpIndex(1));
    let certificate = Certificate {
        kind: "lost-ack".into(),
        facts: vec![
            fact!("ok", add),
            fact!("before", add, dump, 0i64),
            fact!("sent", add, "", "1"),
            fact!("holds", dump, add, "", "1", 0i64),
            fact!("kept", add),
        ],
    };
    let error = verify(&history, None, &certificate).unwrap_err();
    assert_eq!(error, VerifyError::Untrue("ok #0".into()));
}

#[test]
fn a_loss_counted_twice_is_one_loss() {
    // One element is missing and one dequeue may have it: naming the element twice changes nothing.
    let history = sketch("0 enqueue q 1 ok\n1 dequeue q - unknown\n2 drain q - ok []");
    let (enqueue, drain) = (OpIndex(0), OpIndex(2));
    let facts = vec![fact!("nowhere", drain, 0i64, enqueue, enqueue)];
    let certificate = Certificate { kind: "lost".into(), facts };
    assert!(verify(&history, None, &certificate).is_err());
}
