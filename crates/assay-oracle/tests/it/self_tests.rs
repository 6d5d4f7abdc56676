//! Every oracle proves that it can pass and that it can fail, and its planted anomalies are caught.

use assay_history::{History, ReadOptions, read};
use assay_oracle::{
    Answer, CheckReport, Example, ORACLES, Options, Oracle, OracleError, OracleInfo, Origin, Plant,
    SloLimits, calibrate, named, run_guarded, self_test, sketch, verify,
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

/// Longer good histories for oracles whose smallest one has no room for every plant.
fn roomy(name: &str) -> Option<&'static str> {
    Some(match name {
        "read-your-writes" | "causal" => {
            "0 read x - ok null\n0 write x 1 ok\n0 read x - ok 1\n0 write x 2 ok\n0 read x - ok 2"
        }
        "monotonic-reads" => {
            "0 write x 1 ok\n1 read x - ok null\n1 read x - ok 1\n0 write x 2 ok\n\
             1 read x - ok 2"
        }
        "order" => "0 send q 1 ok\n0 send q 2 ok\n1 recv q - ok 1\n1 recv q - ok 2",
        "fifo-producer" | "queue" => {
            "0 enqueue q 1 ok\n0 enqueue q 2 ok\n1 dequeue q - ok 1\n1 dequeue q - ok 2"
        }
        "lock" | "lease" => {
            "0 acquire l - ok 1 @0..5\n0 release l 1 ok @6..7\n1 acquire l - ok 2 @8..9\n\
             1 release l 2 ok @10..11\n0 acquire l - ok 3 @12..13"
        }
        "no-lost-ack" => {
            "0 add - 1 ok\n0 final - - ok [1]\n1 write x 1 ok\n1 write x 2 ok\n\
             1 final - - ok {\"x\":2,\"s\":[1]}"
        }
        _ => return None,
    })
}

/// A limit of any kind shows that it can be broken, in runs with unknown outcomes, too: a pass that
/// nothing could have spoilt would be worth nothing.
#[test]
fn every_limit_of_a_service_level_is_calibrated() {
    let outcome = |i: usize| if i.is_multiple_of(9) { "unknown" } else { "ok" };
    let ops: String = (0..20_000).map(|i| format!("0 r - - {}\n", outcome(i))).collect();
    let history = sketch(&ops);
    let none = || SloLimits { origin: Origin::FixedBefore, ..SloLimits::default() };
    let (latency, slo) = (Some(50_000_000), named("slo").expect("it is there"));
    for limits in [
        SloLimits { p50_ns_max: latency, ..none() },
        SloLimits { p99_ns_max: latency, ..none() },
        SloLimits { p999_ns_max: latency, ..none() },
        SloLimits { error_rate_max: Some(0.2), ..none() },
        SloLimits { throughput_min: Some(1.0), ..none() },
        SloLimits { availability_min: Some(0.5), ..none() },
    ] {
        let name = format!("{limits:?}");
        let options = Options { slo: limits, ..Options::default() };
        let rows = calibrate(slo, &history, &options, 3, 7).unwrap();
        let certain: u32 = rows.iter().map(|row| row.certain).sum();
        let caught: u32 = rows.iter().map(|row| row.certain_caught).sum();
        assert!(certain >= 3 && certain == caught, "{name}: {rows:?}");
    }
}

#[test]
fn every_plant_finds_a_place_and_is_caught() {
    for oracle in ORACLES {
        let mut good = oracle.known_good();
        let name = oracle.info().name;
        if let Some(text) = roomy(name) {
            good.history = sketch(text);
        }
        let before = oracle.check(&good.history, &good.options).unwrap();
        assert_eq!(before.answer, Answer::Upheld, "{name}: {before:?}");
        let rows = calibrate(oracle, &good.history, &good.options, 20, 7).unwrap();
        assert!(!rows.is_empty(), "{name} has nothing to plant");
        for row in &rows {
            assert_eq!(row.planted, 20, "{name}: {row:?}");
            assert!(row.caught > 0 && row.caught <= row.planted, "{name}: {row:?}");
        }
        let again = calibrate(oracle, &good.history, &good.options, 20, 7).unwrap();
        assert_eq!(rows, again, "{name}: the seed decides everything");
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

#[test]
fn histories_are_judged_as_they_are_read_from_files() {
    // Integer keys of operations are the string keys of a JSON map.
    let line = |id: &str, times: &str, what: &str, end: &str| {
        format!(
            "{{\"op_id\":{id:?},\"process_id\":0,{times},{what},{end},\"node_seen\":null,\
             \"fault_epoch\":null}}\n"
        )
    };
    let add = |n: u8| format!(r#""op_type":"add","key":7,"input":{{"n":{n}}},"output":null"#);
    let dump = r#""op_type":"final","key":null,"input":null,"output":{"7":[{"n":1}]}"#;
    let done = r#""error":null,"timeout_marker":false"#;
    let lost = r#""error":"timeout","timeout_marker":true"#;
    let lines = line("a", r#""invoke_ts":1,"complete_ts":2"#, &add(1), done)
        + &line("b", r#""invoke_ts":3,"complete_ts":4"#, &add(2), done)
        + &line("c", r#""invoke_ts":5,"complete_ts":null"#, &add(3), lost)
        + &line("d", r#""invoke_ts":6,"complete_ts":9"#, dump, done);
    let history = read(lines.as_bytes(), &ReadOptions::default()).unwrap();
    let report = named("no-lost-ack").unwrap().check(&history, &Options::default()).unwrap();
    assert_eq!((report.answer, report.anomaly_count()), (Answer::Refuted, 1));
    let words = &report.anomalies[0].explanation;
    assert!(words.contains("client 0's add of {\"n\":2} on 7 [line 2]"), "{words}");
    verify(&history, None, &report.anomalies[0].certificate).unwrap();

    let edn = "{:process 0, :type :invoke, :f :acquire, :value nil}
{:process 0, :type :ok, :f :acquire, :value nil}
{:process 1, :type :invoke, :f :acquire, :value nil}
{:process 1, :type :ok, :f :acquire, :value nil}
";
    let history = read(edn.as_bytes(), &ReadOptions::default()).unwrap();
    let report = named("lock").unwrap().check(&history, &Options::default()).unwrap();
    assert_eq!(report.answer, Answer::Refuted, "positions order a Jepsen history: {report:?}");
}
