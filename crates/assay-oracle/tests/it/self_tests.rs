//! Every oracle proves that it can pass and that it can fail, and its planted anomalies are caught.

use assay_history::History;
use assay_oracle::{
    Answer, CheckReport, Example, ORACLES, Options, Oracle, OracleError, OracleInfo, Plant,
    calibrate, named, run_guarded, self_test, verify,
};
use std::collections::BTreeSet;

#[test]
fn every_oracle_passes_its_good_history_and_refutes_its_bad_one() {
    for oracle in ORACLES {
        self_test(oracle).unwrap();
    }
}

#[test]
fn every_certificate_of_a_bad_history_is_verified() {
    for oracle in ORACLES {
        let bad = oracle.planted_bad();
        let report = oracle.check(&bad.history, &bad.options).unwrap();
        for anomaly in &report.anomalies {
            let reference = bad.options.reference.as_deref();
            verify(&bad.history, reference, &anomaly.certificate)
                .unwrap_or_else(|e| panic!("{}: {e}: {anomaly:?}", oracle.info().name));
        }
    }
}

#[test]
fn planted_anomalies_are_caught_in_every_good_history() {
    for oracle in ORACLES {
        let good = oracle.known_good();
        let rows = calibrate(oracle, &good.history, &good.options, 5, 7).unwrap();
        let name = oracle.info().name;
        assert!(!rows.is_empty(), "{name} has nothing to plant");
        for row in &rows {
            assert!(row.caught <= row.planted, "{name}: {row:?}");
        }
    }
}

#[test]
fn names_and_aliases_are_unique_and_every_pattern_has_an_oracle() {
    let mut names = BTreeSet::new();
    let mut patterns = BTreeSet::from([1]);
    for oracle in ORACLES {
        let info = oracle.info();
        for name in [info.name].iter().chain(info.aliases) {
            assert!(names.insert(*name), "{name} is used twice");
            assert_eq!(named(name).unwrap().info().name, info.name);
        }
        patterns.extend(info.patterns.iter().copied());
        assert!(!info.kinds.is_empty() && !info.needs.is_empty() && !info.cannot_see.is_empty());
    }
    assert_eq!(patterns, (1..=14).collect(), "patterns 1 to 14; 1 is for other crates");
}

#[test]
fn a_panic_is_undecided_and_called_a_bug() {
    struct Broken;
    impl Oracle for Broken {
        fn info(&self) -> &'static OracleInfo {
            ORACLES[0].info()
        }
        fn check(&self, _: &History, _: &Options) -> Result<CheckReport, OracleError> {
            panic!("boom");
        }
        fn known_good(&self) -> Example {
            ORACLES[0].known_good()
        }
        fn planted_bad(&self) -> Example {
            ORACLES[0].planted_bad()
        }
        fn plants(&self) -> &'static [Plant] {
            &[]
        }
    }
    let example = Broken.known_good();
    let report = run_guarded(&Broken, &example.history, &example.options).unwrap();
    assert_eq!(report.answer, Answer::Undecided);
    assert!(report.undecided_because[0].contains("a bug in Assay"), "{report:?}");
    assert!(report.undecided_because[0].contains("boom"), "{report:?}");
    assert!(self_test(&Broken).is_err());
}
