//! The ways such checks go wrong when they are set up badly, one test for each.

use crate::support::{check, check_history, kinds, try_history};
use assay_oracle::{
    Answer, FairnessLimits, Group, ORACLES, Options, OracleError, Origin, SloLimits, named, sketch,
};
use std::sync::Arc;

fn no(_: &mut Options) {}

#[test]
fn a_truncated_history_never_passes_any_oracle() {
    for oracle in ORACLES {
        let mut good = oracle.known_good();
        good.history.meta.sent = Some(good.history.len() as u64 + 1);
        let report = oracle.check(&good.history, &good.options).unwrap();
        assert_eq!(report.answer, Answer::Undecided, "{}", oracle.info().name);
        assert!(report.undecided_because[0].contains("not whole"), "{report:?}");
        good.history.meta.sent = None;
        good.history.meta.torn_tail = Some(3);
        let report = oracle.check(&good.history, &good.options).unwrap();
        assert_eq!(report.answer, Answer::Undecided, "{}", oracle.info().name);
    }
}

#[test]
fn a_truncated_history_that_is_refuted_stays_refuted() {
    for oracle in ORACLES {
        let mut bad = oracle.planted_bad();
        bad.history.meta.sent = Some(1_000);
        let report = oracle.check(&bad.history, &bad.options).unwrap();
        assert_eq!(report.answer, Answer::Refuted, "{}", oracle.info().name);
    }
}

#[test]
fn an_empty_history_passes_no_oracle() {
    for oracle in ORACLES {
        let options = oracle.known_good().options;
        let report = oracle.check(&sketch(""), &options).unwrap();
        assert_eq!(report.answer, Answer::NothingChecked, "{}", oracle.info().name);
    }
}

#[test]
fn pattern_2_an_assertion_that_never_fired_is_no_pass() {
    let expects = |o: &mut Options| o.assertions_expected = vec!["a".into(), "b".into()];
    let report = check("property", expects, "0 assert a - ok true\n0 assert a - ok true");
    assert_eq!(report.answer, Answer::Undecided);
    assert!(report.undecided_because[0].contains("assertion b never fired"), "{report:?}");
    assert_eq!(report.evidence, ["a: fired 2, passed 2"]);
}

#[test]
fn pattern_3_a_lenient_comparison_says_how_lenient_it_was() {
    let lenient = |o: &mut Options| o.ignore_fields = vec!["a".into(), "b".into()];
    let text = "0 dump - - ok {\"a\":1,\"b\":2,\"c\":3}\n0 replay - - ok {\"a\":7,\"b\":8,\"c\":3}";
    let report = check("replay-equivalence", lenient, text);
    assert_eq!(report.answer, Answer::Upheld);
    assert!(report.evidence[0].contains("1 leaves compared, 2 fields ignored"), "{report:?}");
}

fn slo(p99_ns: i64, window_ns: Option<i64>, origin: Origin) -> Options {
    let slo = SloLimits { p99_ns_max: Some(p99_ns), window_ns, origin, ..SloLimits::default() };
    Options { slo, ..Options::default() }
}

#[test]
fn pattern_4_a_window_too_short_or_a_limit_from_the_same_run_is_no_answer() {
    let thousand = "0 r - - ok\n".repeat(1_000);
    let history = sketch(&thousand);
    let long = check_history("slo", &history, &slo(5, None, Origin::FixedBefore));
    assert_eq!(long.answer, Answer::Upheld, "{long:?}");
    let slow = check_history("slo", &history, &slo(4, None, Origin::FixedBefore));
    assert_eq!(slow.answer, Answer::Refuted, "{slow:?}");
    let short = check_history("slo", &history, &slo(5, Some(1_000), Origin::FixedBefore));
    assert_eq!(short.answer, Answer::Undecided);
    assert!(short.undecided_because[0].contains("too short for p99"), "{short:?}");
    let derived = check_history("slo", &history, &slo(5, None, Origin::ThisRun));
    assert_eq!(derived.answer, Answer::Undecided);
    let longer_than_run =
        check_history("slo", &history, &slo(5, Some(1 << 40), Origin::FixedBefore));
    assert_eq!(longer_than_run.answer, Answer::Undecided);
    // One fewer than the thousand that a 99th percentile needs.
    let fewer = sketch(&"0 r - - ok\n".repeat(999));
    let fewer = check_history("slo", &fewer, &slo(5, None, Origin::FixedBefore));
    assert_eq!(fewer.answer, Answer::Undecided);
}

#[test]
fn pattern_4_operations_without_an_end_are_not_taken_for_quick_ones() {
    let text = "0 r - - ok\n".repeat(980) + &"0 r - - unknown\n".repeat(20);
    let report = check_history("slo", &sketch(&text), &slo(5, None, Origin::FixedBefore));
    assert_eq!(report.answer, Answer::Undecided, "{report:?}");
}

#[test]
fn pattern_4_operations_without_an_end_are_not_taken_for_slow_ones_either() {
    // Were the five unknown ones quick, the 990th of a thousand would be quick as well.
    let slow: String = (0..10).map(|i| format!("0 r - - ok @{i}..{}\n", i + 100)).collect();
    let text = "0 r - - ok\n".repeat(985) + &slow + &"0 r - - unknown\n".repeat(5);
    let report = check_history("slo", &sketch(&text), &slo(50, None, Origin::FixedBefore));
    assert_eq!(report.answer, Answer::Undecided, "{report:?}");
    let text = "0 r - - ok\n".repeat(984) + &slow + &"0 r - - ok @0..100\n".repeat(6);
    let report = check_history("slo", &sketch(&text), &slo(50, None, Origin::FixedBefore));
    assert_eq!(report.answer, Answer::Refuted, "{report:?}");
}

#[test]
fn pattern_4_an_operation_counts_from_when_it_was_due() {
    // Each takes 5 from its sending; how many of a thousand were due 100 before that.
    for (late, answer) in [(10, Answer::Upheld), (11, Answer::Refuted)] {
        let line = |i: i64| match i < late {
            true => format!("0 r - - ok @{}..{} due={}\n", 100 + i, 105 + i, i),
            false => format!("0 r - - ok @{}..{} due={}\n", 100 + i, 105 + i, 100 + i),
        };
        let history = sketch(&(0..1_000).map(line).collect::<String>());
        let report = check_history("slo", &history, &slo(5, None, Origin::FixedBefore));
        assert_eq!(report.answer, answer, "{late}: {report:?}");
    }
    // It counts in the window in which it was due: the first has the thousand it needs.
    let early = "0 r - - ok @1000..1005 due=0\n".repeat(1_000);
    let history = sketch(&(early + &"0 r - - ok @1000..1005\n".repeat(1_000)));
    let report = check_history("slo", &history, &slo(5, Some(500), Origin::FixedBefore));
    assert_eq!(kinds(&report), ["latency-exceeded"], "{report:?}");
    assert!(report.anomalies[0].explanation.contains("from 0 to 500"), "{report:?}");
}

#[test]
fn pattern_4_throughput_and_availability_are_judged() {
    let limits = |throughput, availability| Options {
        slo: SloLimits {
            throughput_min: throughput,
            availability_min: availability,
            origin: Origin::FixedBefore,
            ..SloLimits::default()
        },
        ..Options::default()
    };
    // Ten operations in 96 ns.
    let history = sketch(&("0 r - - ok\n".repeat(9) + "0 r - - fail"));
    for (throughput, availability, answer) in [
        (Some(9.0 / 96e-9), Some(0.9), Answer::Upheld),
        (Some(9.1 / 96e-9), None, Answer::Refuted),
        (None, Some(0.91), Answer::Refuted),
    ] {
        let report = check_history("slo", &history, &limits(throughput, availability));
        assert_eq!(report.answer, answer, "{report:?}");
    }
}

#[test]
fn pattern_5_one_run_against_one_run_is_refused() {
    let text = "0 sample baseline - ok 10\n1 sample candidate - ok 1000";
    let report = check("baseline", no, text);
    assert_eq!(report.answer, Answer::Undecided);
    assert!(report.undecided_because[0].contains("at least 3"), "{report:?}");
    // Many samples of one run are still one run.
    let many = "0 sample baseline - ok 10\n".repeat(9) + &"1 sample candidate - ok 99\n".repeat(9);
    assert_eq!(
        check_history("baseline", &sketch(&many), &Options::default()).answer,
        Answer::Undecided
    );
}

#[test]
fn pattern_6_a_reference_that_shares_the_bug_sees_nothing_and_the_oracle_says_so() {
    let same_bug = |o: &mut Options| o.reference = Some(Arc::new(sketch("0 read x - ok 99")));
    assert_eq!(check("differential", same_bug, "0 read x - ok 99").answer, Answer::Upheld);
    assert!(named("differential").unwrap().info().cannot_see.contains("reference shares"));
}

#[test]
fn pattern_7_a_reconnect_begins_a_new_session() {
    let unmarked = "0 write x 1 ok\n0 read x - ok null\n0 read x - ok 1\n0 read x - ok null";
    assert_eq!(check("read-your-writes", no, unmarked).answer, Answer::Refuted);
    let marked = "0 write x 1 ok\n0 reconnect - - ok\n0 read x - ok null";
    assert_eq!(check("read-your-writes", no, marked).answer, Answer::NothingChecked);
    let causal = "0 write x 1 ok\n0 reconnect - - ok\n0 read x - ok null";
    assert_eq!(check("causal", no, causal).answer, Answer::Upheld);
}

#[test]
fn pattern_8_clocks_never_order_versions() {
    // By the clock 1 is older than 2; the system never said so, and each is read once.
    let text = "%wall\n0 write x 1 ok\n1 write x 2 ok\n2 read x - ok 2\n2 read x - ok 1";
    let report = check("monotonic-reads", no, text);
    assert_eq!(report.answer, Answer::Upheld);
    assert!(report.scope_not_covered[0].contains("never taken from clocks"), "{report:?}");
    // With the system's own versions it is seen, wall clock or not.
    let text = "%wall\n2 read x - ok 2 rev=2\n2 read x - ok 1 rev=1";
    assert_eq!(check("monotonic-reads", no, text).answer, Answer::Refuted);
}

#[test]
fn pattern_9_a_window_that_is_not_declared_is_a_false_alarm_and_one_that_is_is_not() {
    let text = "0 send q 1 ok\n0 send q 2 ok\n0 send q 3 ok\n1 recv q - ok [2,1,3]";
    assert_eq!(check("order", no, text).answer, Answer::Refuted);
    assert_eq!(check("order", |o| o.reorder_window = 1, text).answer, Answer::Upheld);
}

#[test]
fn pattern_10_timeouts_are_neither_acknowledged_nor_rejected() {
    for present in ["[1]", "[1,2]"] {
        let text = format!("0 add - 1 ok\n0 add - 2 unknown\n0 final - - ok {present}");
        let report = check_history("no-lost-ack", &sketch(&text), &Options::default());
        assert_eq!(report.answer, Answer::Upheld, "{report:?}");
        assert_eq!(report.ops_checked, 1, "only the acknowledged one is counted");
        assert!(report.evidence[0].contains("1 acknowledged elements, 1 found"), "{report:?}");
    }
}

#[test]
fn pattern_11_a_business_key_that_is_the_op_id_is_an_error() {
    let text = "0 pay a {\"id\":0} ok\n0 pay a {\"id\":1} ok\n0 final - - ok [0,1]";
    let by_id = Options { business_key: Some("id".into()), ..Options::default() };
    for name in ["exactly-once", "at-least-once", "at-most-once"] {
        let error = try_history(name, &sketch(text), &by_id).unwrap_err();
        assert_eq!(error, OracleError::KeyIsOpId { path: "id".into(), ops: 2 });
    }
    // One operation that differs is enough to make the key mean something.
    let text = "0 pay a {\"id\":0} ok\n0 pay a {\"id\":0} ok\n0 final - - ok [0]";
    assert!(try_history("exactly-once", &sketch(text), &by_id).is_ok());
    let list = Options { business_key: Some("1".into()), ..Options::default() };
    let text = "0 pay a [9,\"k\"] ok\n0 final - - ok [\"k\",\"k\"]";
    assert_eq!(check_history("exactly-once", &sketch(text), &list).answer, Answer::Refuted);
}

#[test]
fn pattern_12_a_state_that_was_not_at_rest_is_undecided() {
    let sum = |o: &mut Options| o.invariant = Some("sum(*) == 3".into());
    let moving = "0 write x 1 ok @0..50\n1 final - - ok [1,1] @10..20";
    let report = check("invariant", sum, moving);
    assert_eq!(report.answer, Answer::Undecided);
    assert!(report.undecided_because[0].contains("not at rest"), "{report:?}");
    let still = "0 write x 1 ok @0..5\n1 final - - ok [1,2] @10..20";
    let report = check("invariant", sum, still);
    assert_eq!(report.answer, Answer::Upheld);
    assert_eq!(report.scope_not_covered.len(), 2, "both other parts of rest are named: {report:?}");
    let shown = |o: &mut Options| {
        o.invariant = Some("sum(*) == 3".into());
        (o.background_idle, o.replicas_converged) = (true, true);
    };
    assert!(check("invariant", shown, still).scope_not_covered.is_empty());
}

#[test]
fn pattern_13_replicas_compared_before_convergence_are_undecided() {
    let moving = "0 write x 1 ok @0..50\n1 dump - - ok [1] node=a @10..20\n\
                  1 dump - - ok [] node=b @10..20";
    assert_eq!(check("replicas", no, moving).answer, Answer::Undecided);
    let early = "0 write x 1 ok @0..5\n1 dump - - ok [1] node=a @10..20\n\
                 1 dump - - ok [] node=b @10..20";
    let window = |o: &mut Options| o.settle_ns = Some(6);
    let report = check("replicas", window, early);
    assert_eq!(report.answer, Answer::Undecided);
    assert!(report.undecided_because[0].contains("convergence window"), "{report:?}");
    assert_eq!(check("replicas", |o| o.settle_ns = Some(5), early).answer, Answer::Refuted);
    let nameless = "0 dump - - ok [1]\n0 dump - - ok [2]";
    assert_eq!(check("replicas", no, nameless).answer, Answer::Undecided);
}

#[test]
fn pattern_14_a_group_too_coarse_or_too_small_is_undecided() {
    let limits = FairnessLimits {
        p99_ratio_max: Some(2.0),
        origin: Origin::FixedBefore,
        ..FairnessLimits::default()
    };
    let by = |group| Options { group, fairness: limits.clone(), ..Options::default() };
    // Tenant b waits twenty times as long; grouped by node nobody sees it.
    let mut text = String::new();
    for i in 0..100 {
        let at = i * 1_000;
        text += &format!("0 r a - ok @{at}..{} node=n\n", at + 10);
        text += &format!("1 r b - ok @{at}..{} node=n\n", at + 210);
    }
    // All operations together have their 99th percentile among b's: compare with a larger crowd.
    for i in 100..10_100 {
        let at = i * 1_000;
        text += &format!("0 r a - ok @{at}..{} node=n\n", at + 10);
    }
    let history = sketch(&text);
    let fine = check_history("fairness", &history, &by(Group::Key));
    assert_eq!(fine.answer, Answer::Refuted, "{fine:?}");
    let coarse = check_history("fairness", &history, &by(Group::Node));
    assert_eq!(coarse.answer, Answer::Undecided);
    assert!(coarse.undecided_because[0].contains("too coarse"), "{coarse:?}");
    let small = check_history("fairness", &sketch("0 r a - ok\n1 r b - ok"), &by(Group::Key));
    assert_eq!(small.answer, Answer::Undecided);
    assert!(fine.evidence[0].contains("a 10,100, b 100"), "{fine:?}");
}

#[test]
fn pattern_14_a_group_whose_repeats_spread_is_seen() {
    let limits = FairnessLimits {
        repeat_spread_max: Some(1.5),
        repeats: 2,
        origin: Origin::FixedBefore,
        ..FairnessLimits::default()
    };
    let options = Options { group: Group::Key, fairness: limits, ..Options::default() };
    let mut text = String::new();
    for i in 0..400 {
        let (at, slow) = (i * 100, if i < 200 { 10 } else { 20 });
        text += &format!("0 r a - ok @{at}..{}\n1 r b - ok @{at}..{}\n", at + 10, at + slow);
    }
    let report = check_history("fairness", &sketch(&text), &options);
    assert_eq!(report.answer, Answer::Refuted, "{report:?}");
    assert_eq!(report.anomaly_count(), 1);
    assert!(report.anomalies[0].explanation.contains("group b"), "{report:?}");
    // The same if it is the sending that was late, and each answer came 5 after it.
    let late = |line: &str| {
        let (from, times) = line.split_once('@').expect("times");
        let (due, end) = times.split_once("..").expect("times");
        let end: i64 = end.parse().expect("a time");
        format!("{from}@{}..{end} due={due}\n", end - 5)
    };
    let late: String = text.lines().map(late).collect();
    let again = check_history("fairness", &sketch(&late), &options);
    assert_eq!(again.anomalies[0].explanation, report.anomalies[0].explanation);
}

#[test]
fn wall_clocks_without_a_declared_skew_leave_real_time_undecided() {
    let text = "%wall\n0 acquire l - ok @0..5\n1 acquire l - ok @6..10";
    assert_eq!(check("lock", no, text).answer, Answer::Undecided);
    assert_eq!(check("lock", |o| o.clock_skew_ns = Some(3), text).answer, Answer::Refuted);
    let released = "%wall\n0 acquire l - ok @0..5\n0 release l - ok @30..31\n\
                    1 acquire l - ok @20..25";
    assert_eq!(check("lock", |o| o.clock_skew_ns = Some(2), released).answer, Answer::Refuted);
    assert_eq!(check("lock", |o| o.clock_skew_ns = Some(3), released).answer, Answer::Upheld);
    let lost = "%wall\n0 add - 1 ok @0..5\n1 final - - ok [] @20..25";
    assert_eq!(check("no-lost-ack", no, lost).answer, Answer::Undecided);
    assert_eq!(check("no-lost-ack", |o| o.clock_skew_ns = Some(10), lost).answer, Answer::Refuted);
}

#[test]
fn options_that_only_the_user_can_decide_are_asked_for() {
    let names = ["exactly-once", "invariant", "lease", "fairness", "slo", "differential"];
    for name in names {
        let error = try_history(name, &sketch("0 read x - ok 1"), &Options::default()).unwrap_err();
        assert!(matches!(error, OracleError::OptionMissing { .. }), "{name}: {error}");
        assert!(error.to_string().contains("needs the option"), "{error}");
    }
}

#[test]
fn malformed_operations_are_errors_with_their_place() {
    let error = try_history(
        "bank",
        &sketch("0 read - - ok [1]\n0 transfer - 5 ok\n0 read - - ok [1]"),
        &Options::default(),
    )
    .unwrap_err();
    assert!(error.to_string().starts_with("line 2:"), "{error}");
    let text = "0 credit a {\"id\":1,\"amount\":5} ok\n0 credit a {\"id\":1,\"amount\":6} ok";
    assert!(try_history("ledger", &sketch(text), &Options::default()).is_err());
    let text = "0 send q 1 ok\n0 send q 1 ok";
    assert!(try_history("order", &sketch(text), &Options::default()).is_err());
}

#[test]
fn anomalies_beyond_the_number_asked_for_are_counted() {
    let text = "0 add - 1 ok\n0 add - 2 ok\n0 add - 3 ok\n0 final - - ok []";
    let report = check("no-lost-ack", |o| o.anomalies_max = 1, text);
    assert_eq!((report.anomalies.len(), report.anomalies_not_shown), (1, 2));
    let none = check("no-lost-ack", |o| o.anomalies_max = 0, text);
    assert_eq!((none.answer, none.anomaly_count()), (Answer::Refuted, 3));
}

#[test]
fn what_looks_like_something_else_is_not_held_against_the_system() {
    // Outputs that repeat the input are echoes, not versions that fall.
    let echo = "0 write x 5 ok 5\n0 write x 3 ok 3";
    assert_eq!(check("monotonic-writes", no, echo).answer, Answer::NothingChecked);
    // A number under a key is a counter, not a list that lacks its elements.
    let counter = "0 add c 1 ok\n0 add c 2 ok\n0 final - - ok {\"c\":3}";
    assert_eq!(check("no-lost-ack", no, counter).answer, Answer::NothingChecked);
    // A final state is looked at, not taken out: what it shows can be drained afterwards.
    let looked = "0 enqueue q 1 ok\n1 final q - ok [1]\n1 drain q - ok [1]";
    assert_eq!(check("queue", no, looked).answer, Answer::Upheld);
    // An acquire that was answered with false was not granted.
    let refused = "0 acquire l - ok true\n1 acquire l - ok false";
    assert_eq!(check("lock", no, refused).answer, Answer::Upheld);
}

#[test]
fn operations_that_several_states_were_asked_about_are_counted_once() {
    let text = "0 add - 1 ok\n0 final - - ok [1]\n0 final - - ok [1]\n0 final - - ok [1]\n\
                0 final - - ok [1]\n0 final - - ok [1]\n0 final - - ok [1]";
    let report = check("no-lost-ack", no, text);
    assert!(report.ops_checked <= report.ops_in, "{report:?}");
}

#[test]
fn an_element_that_is_a_map_is_one_element() {
    let history = sketch("1 enqueue q {\"id\":3} ok\n1 dequeue q - ok {\"id\":2}");
    let oracle = named("order").expect("it is listed");
    let report = oracle.check(&history, &Options::default()).expect("it fits");
    let inserted = report.anomalies.iter().find(|a| a.kind == "inserted").expect("nobody sent it");
    let verified = assay_oracle::verify(&history, None, &inserted.certificate);
    assert!(verified.is_ok(), "{verified:?}");
}

#[test]
fn a_final_state_that_is_neither_list_nor_map_shows_nothing() {
    let options = Options { business_key: Some("id".into()), ..Options::default() };
    for state in ["5", "\"x\"", "true"] {
        let history = sketch(&format!("0 add s {{\"id\":1}} ok\n1 final s - ok {state}"));
        for name in ["exactly-once", "at-least-once", "no-lost-ack"] {
            let oracle = named(name).expect("it is listed");
            let report = oracle.check(&history, &options).expect("it fits");
            assert!(report.anomalies.is_empty(), "{name}, {state}: {report:?}");
            assert_ne!(report.answer, Answer::Upheld, "{name}, {state}: {report:?}");
        }
    }
}

#[test]
fn the_first_record_of_a_jepsen_history_has_a_line() {
    let edn = "{:process 0, :type :invoke, :f :add, :value 1}\n\
               {:process 0, :type :ok, :f :add, :value 1}\n\
               {:process 1, :type :invoke, :f :final, :value nil}\n\
               {:process 1, :type :ok, :f :final, :value [2]}\n";
    let history = assay_history::read(edn.as_bytes(), &assay_history::ReadOptions::default());
    let oracle = named("no-lost-ack").expect("it is listed");
    let report = oracle.check(&history.expect("it is a history"), &Options::default());
    let lost = &report.expect("it fits").anomalies[0].explanation;
    assert!(lost.contains("[line 1]") && lost.contains("[line 3]"), "{lost}");
}

#[test]
fn what_an_oracle_needs_is_named_as_it_is_set() {
    let known: Vec<&str> = assay_oracle::SETTINGS.iter().map(|setting| setting.name).collect();
    for oracle in ORACLES {
        let info = oracle.info();
        let mut quoted = info.needs.split('`').skip(1).step_by(2);
        let unknown = quoted.find(|name| name.contains('_') && *name != "node_seen");
        assert_eq!(unknown, None, "{}: there are {known:?}", info.name);
    }
}

#[test]
fn amounts_at_the_limits_of_an_integer_are_judged_like_others() {
    let (least, most) = (i64::MIN, i64::MAX);
    let texts = [
        ("ledger", format!("0 debit a {{\"id\":1,\"amount\":{least}}} ok\n0 balance a - ok 5")),
        ("ledger", format!("0 credit a {{\"id\":1,\"amount\":{most}}} ok\n0 balance a - ok 5")),
        ("bank", format!("0 read - - ok [{most},{most}]\n0 read - - ok [5,5]")),
        (
            "bank",
            format!("0 read - - ok [5,5]\n0 transfer - [0,1,{least}] ok\n0 read - - ok [6,4]"),
        ),
    ];
    for (oracle, text) in texts {
        let history = sketch(&text);
        let report = try_history(oracle, &history, &Options::default()).unwrap_or_else(|error| {
            panic!("{oracle} of {text}: {error}");
        });
        assert!(!report.anomalies.is_empty(), "{oracle} finds nothing in {text}");
    }
}
