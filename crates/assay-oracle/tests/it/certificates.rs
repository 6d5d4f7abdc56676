//! Certificates: what the oracles give is accepted, what somebody changed is not.

use assay_history::OpIndex;
use assay_oracle::{Arg, Certificate, ORACLES, VerifyError, fact, sketch, verify};

/// Arguments that no rule binds: a margin or a window may be stated more cautiously than needed.
fn is_free(kind: &str, claim: &str, place: usize) -> bool {
    // A declared total is not in the history.
    // Nor is an invariant: another that is false as well is as good.
    if [("wrong-total", "unequal"), ("invariant-broken", "false")].contains(&(kind, claim)) {
        return place == 1;
    }
    matches!((claim, place), ("before", 2) | ("apart", 4) | ("never_delivered", 3))
        || (claim == "holding" && place >= 1)
        || matches!((claim, place), ("last_change", 2) | ("window_measure", 1 | 2))
        || matches!((claim, place), ("nowhere", 1) | ("overspent", 4) | ("group_measure", 5))
        || matches!((claim, place), ("moved_wrong", 6) | ("out_of_bounds", 6))
}

fn changed(arg: &Arg, ops: usize) -> Arg {
    match arg {
        Arg::Op(op) => Arg::Op(OpIndex((op.0 + 1) % (ops as u32 + 1))),
        Arg::Int(int) => Arg::Int(int + 1),
        Arg::Real(real) => Arg::Real(real + 1.0),
        Arg::Text(text) => Arg::Text(format!("{text}7")),
    }
}

#[test]
fn a_changed_certificate_is_refused() {
    let mut tried = 0;
    for oracle in ORACLES {
        let bad = oracle.planted_bad();
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
                    assert!(result.is_err(), "{}: {forged:#?}", oracle.info().name);
                    tried += 1;
                }
            }
        }
    }
    assert!(tried > 100, "{tried} forgeries were tried");
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
    let oracle = assay_oracle::named("no-lost-ack").unwrap();
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
