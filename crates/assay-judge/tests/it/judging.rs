//! Good, bad, borderline and empty histories, through every family of checkers.

use crate::support::{appends, limits, panel, register};
use assay_history::History;
use assay_judge::{Certificate, Judgement, Limits};
use assay_oracle::{CheckReport, Example, Options, Oracle, OracleError, OracleInfo, Plant, sketch};
use assay_verdict::Outcome::{self, NothingChecked, Refuted, Undecided, Upheld};
use assay_verdict::{Checker, HistoryFields, Undecided as Why};
use serde_json::{Value, json};
use std::time::Duration;

const REGISTER: &str = "linearizability:register";
const COUNTER: &str = "linearizability:counter";
const GOOD: &str = "0 write x 1 ok\n1 read x - ok 1\n0 write x 2 fail\n1 read x - ok 1";
const BAD: &str = "0 write x 1 ok\n0 write x 2 ok\n1 read x - ok 1";
const KEPT: &str = "0 add - 1 ok\n0 add - 2 unknown\n0 final - - ok [1]";
const READ_TOO: &str = "0 add - 1 ok\n0 read - - ok [1]\n0 final - - ok [1]";
const LOST: &str = "0 add - 1 ok\n0 add - 2 ok\n0 final - - ok [1]";
const SKEW: &str = r#"
    0 txn - [["r","x",null],["append","y",1]] ok [["r","x",[]],["append","y",1]] @0..9
    1 txn - [["r","y",null],["append","x",2]] ok [["r","y",[]],["append","x",2]] @1..8"#;
const DIRTY: &str = r#"
    0 txn - [["append","x",1]] fail
    1 txn - [["r","x",null]] ok [["r","x",[1]]]"#;

#[test]
fn the_answer_and_what_was_consumed() {
    let weak = json!({"consistency-model": "snapshot-isolation"});
    #[rustfmt::skip]
    let rows: &[(&[&str], Value, &str, Outcome, u64)] = &[
        // Single objects. A failed operation is consumed: that it had no effect is checked.
        (&[REGISTER], json!({}), GOOD, Upheld, 4),
        (&[REGISTER], json!({}), BAD, Refuted, 3),
        (&[REGISTER], json!({}), "0 write x 1 ok @0..9\n1 read x - ok null @9..12", Upheld, 2),
        (&[REGISTER], json!({}), "0 write x 1 ok @0..9\n1 read x - ok null @10..12", Refuted, 2),
        (&[REGISTER], json!({}), "", NothingChecked, 0),
        (&[REGISTER], json!({}), "0 write x 1 unknown", NothingChecked, 0),
        (&["linearizability:queue"], json!({}), "0 enqueue q 1 ok\n0 dequeue q - ok 1", Upheld, 2),
        (&["linearizability:queue"], json!({}), "0 enqueue q 1 ok\n0 dequeue q - ok 2", Refuted, 2),
        // Transactions.
        (&["list-append"], json!({}), SKEW, Refuted, 2),
        (&["list-append"], weak, SKEW, Upheld, 2),
        (&["list-append"], json!({}), DIRTY, Refuted, 2),
        (&["list-append"], json!({}), "0 txn - [[\"append\",\"x\",1]] ok", NothingChecked, 0),
        (&["list-append"], json!({}), "", NothingChecked, 0),
        (&["rw-register"], json!({}),
            "0 txn - [[w,x,1]] ok\n1 txn - [[r,x,null]] ok [[r,x,null]]", Refuted, 2),
        // All others: reads in between say nothing about durability, and are consumed.
        (&["no-lost-ack"], json!({}), KEPT, Upheld, 3),
        (&["no-lost-ack"], json!({}), LOST, Refuted, 3),
        (&["no-lost-ack"], json!({}), READ_TOO, Upheld, 3),
        (&["no-lost-ack"], json!({}), "0 add - 1 ok\n0 frob - - ok\n0 final - - ok [1]", Upheld, 2),
        (&["no-lost-ack"], json!({}), "0 add - 1 ok", NothingChecked, 0),
        (&["no-lost-ack"], json!({}), "", NothingChecked, 0),
        (&["replicas"], json!({}), "0 final - - ok [1] node=a", Undecided, 0),
        // Several at once: a dump is for one of them, and both answers count.
        (&[REGISTER, "no-lost-ack"], json!({}), "0 write x 1 ok\n0 final - - ok {x:1}", Upheld, 2),
        (&[REGISTER], json!({}), "0 write x 1 ok\n0 final - - ok {x:1}", Upheld, 1),
        (&[REGISTER, "no-lost-ack"], json!({}), "0 write x 1 ok\n0 final - - ok {x:2}", Refuted, 2),
        (&[REGISTER, "no-lost-ack"], json!({}), GOOD, Undecided, 4),
        (&[REGISTER, "no-lost-ack"], json!({}), BAD, Refuted, 3),
        (&["no-lost-ack", "order"], json!({}), "", NothingChecked, 0),
    ];
    for (names, options, text, outcome, consumed) in rows {
        let judged = panel(names, options.clone()).judge(&sketch(text), &limits());
        let found = (judged.outcome, judged.ops_checked);
        assert_eq!(found, (*outcome, *consumed), "{names:?} {text}\n{judged:#?}");
        assert_eq!(judged.undecided.is_some(), *outcome == Undecided, "{names:?} {text}");
        assert_eq!(!judged.anomalies.is_empty(), *outcome == Refuted, "{names:?} {text}");
        assert_eq!(judged.anomalies_total > 0, *outcome == Refuted, "{names:?} {text}");
        assert!(judged.anomalies.iter().all(|a| a.certificate == Certificate::Verified));
        assert_eq!(judged.reports.len(), names.len());
        serde_json::to_value(&judged).expect("it goes into a record");
    }
}

/// Checker, history, kind of anomaly, its operations and key.
type Shown = (&'static str, &'static str, &'static str, &'static [u32], Option<&'static str>);

#[test]
fn an_anomaly_has_a_witness_a_reason_and_a_picture() {
    let cases: [Shown; 3] = [
        (REGISTER, BAD, "not-linearizable", &[0, 1, 2], Some("\"x\"")),
        ("list-append", SKEW, "G2-item", &[0, 1], None),
        ("no-lost-ack", LOST, "lost-ack", &[1, 2], None),
    ];
    for (name, text, kind, ops, key) in cases {
        let judged = panel(&[name], json!({})).judge(&sketch(text), &limits());
        let anomaly = &judged.anomalies[0];
        assert_eq!((anomaly.checker.as_str(), anomaly.kind.as_str()), (name, kind));
        let mut found: Vec<u32> = anomaly.ops.iter().map(|op| op.0).collect();
        found.sort_unstable();
        assert_eq!(found, ops, "{name}");
        assert_eq!(anomaly.key.as_deref(), key, "{name}");
        assert!(!anomaly.title.contains('\n') && !anomaly.explanation.is_empty(), "{anomaly:?}");
        let svg = anomaly.picture.as_ref().expect("there is something to draw").svg();
        assert!(svg.contains("<svg"), "{name}");
    }
}

#[test]
fn witnesses_speak_of_the_whole_history_where_a_dump_was_left_out() {
    let text = "0 final - - ok {}\n0 write x 1 ok\n0 write x 2 ok\n1 read x - ok 1";
    let judged = panel(&[REGISTER], json!({})).judge(&sketch(text), &limits());
    let ops: Vec<u32> = judged.anomalies[0].ops.iter().map(|op| op.0).collect();
    assert_eq!(ops, [1, 2, 3]);
}

fn check_lacks(judged: &Judgement, rule: &str) {
    let HistoryFields::Lacks(lacks) = &judged.history else { panic!("{judged:?}") };
    assert!(lacks.iter().any(|what| what.contains(rule)), "{rule}: {lacks:?}");
}

#[test]
fn a_history_that_cannot_carry_a_verdict_gets_none() {
    // The same op_id twice: an anomaly in it proves nothing.
    let twice = "0 write x 1 ok id=7\n0 write x 2 ok id=7\n1 read x - ok 1";
    let judged = panel(&[REGISTER, "no-lost-ack"], json!({})).judge(&sketch(twice), &limits());
    assert_eq!((judged.outcome, judged.ops_checked), (NothingChecked, 0));
    assert_eq!(judged.checker(), Checker::NotRun);
    check_lacks(&judged, "V1");
    assert!(judged.findings[0].consequence.contains("no checker can be sound"));
    // An operation that the model does not have.
    let judged = panel(&[REGISTER], json!({})).judge(&sketch("0 frob x 1 ok"), &limits());
    assert_eq!(judged.outcome, NothingChecked);
    check_lacks(&judged, "V9");
    // Beside another checker, only the model cannot judge it.
    let mixed = "0 add x 1 ok\n0 final - - ok [1]";
    let judged = panel(&[REGISTER, "no-lost-ack"], json!({})).judge(&sketch(mixed), &limits());
    assert_eq!((judged.outcome, judged.undecided), (Undecided, Some(Why::WrongChecker)));
    check_lacks(&judged, "linearizability:register");
    // A weaker finding lowers what the history has; the checkers still run.
    let overlap = "0 write x 1 ok @0..9\n0 write x 2 ok @5..12\n1 read x - ok 2 @20..21";
    let judged = panel(&[REGISTER], json!({})).judge(&sketch(overlap), &limits());
    assert_eq!(judged.outcome, Upheld);
    check_lacks(&judged, "V6");
}

#[test]
fn a_history_that_was_cut_short_is_never_upheld() {
    let text = format!("{GOOD}\n%sent 5");
    for names in [&[REGISTER][..], &["no-lost-ack"], &["list-append"]] {
        let judged = panel(names, json!({})).judge(&sketch(&text), &limits());
        assert_eq!(judged.undecided, Some(Why::HistoryCutShort), "{judged:?}");
        assert_eq!(judged.checker(), Checker::Undecided(Why::HistoryCutShort));
        assert_eq!(judged.ops_checked, 0);
        check_lacks(&judged, "V11");
    }
    let mut torn = sketch(GOOD);
    torn.meta.torn_tail = Some(5);
    let judged = panel(&[REGISTER], json!({})).judge(&torn, &limits());
    assert_eq!(judged.checker(), Checker::Undecided(Why::HistoryCutShort));
    let mut torn = sketch(BAD);
    torn.meta.torn_tail = Some(4);
    assert_eq!(panel(&[REGISTER], json!({})).judge(&torn, &limits()).outcome, Refuted);
}

#[test]
fn out_of_budget_is_undecided_and_consumes_only_what_was_decided() {
    // Which of sixteen concurrent additions came before the read? Another key needs no search.
    let mut text = String::new();
    for i in 0..16 {
        text += &format!("{i} add x {} ok @{i}..1000\n", 3 << i);
    }
    text += "98 read x - ok 7 @500..501\n99 add y 1 ok @0..5\n99 read y - ok 1 @6..7";
    let history = sketch(&text);
    let few = Limits { memory_bytes: 32 << 10, ..limits() };
    let judged = panel(&[COUNTER], json!({})).judge(&history, &few);
    let expected = (Undecided, Some(Why::BudgetExhausted), 2);
    assert_eq!((judged.outcome, judged.undecided, judged.ops_checked), expected, "{judged:?}");
    assert!(judged.undecided_because[0].contains("budget"));
    let judged = panel(&[COUNTER], json!({})).judge(&history, &limits());
    assert_eq!(judged.outcome, Refuted, "with enough of it there is an answer");
    let never = Limits { time: Duration::ZERO, ..limits() };
    let judged = panel(&[COUNTER, "no-lost-ack"], json!({})).judge(&history, &never);
    assert_eq!(judged.checker(), Checker::Undecided(Why::BudgetExhausted));
    assert_eq!(judged.ops_checked, 0);
}

/// A checker that passes its own test and goes wrong on anything larger.
struct Broken(fn(CheckReport) -> CheckReport);

static INFO: OracleInfo = OracleInfo {
    name: "broken",
    aliases: &[],
    patterns: &[],
    claim: "",
    needs: "",
    algorithm: "",
    cost: "",
    cannot_see: "",
    failure_mode: "",
    kinds: &[],
};

impl Oracle for Broken {
    fn info(&self) -> &'static OracleInfo {
        &INFO
    }

    fn check(&self, history: &History, options: &Options) -> Result<CheckReport, OracleError> {
        let report = assay_oracle::named("no-lost-ack").expect("it exists").check(history, options);
        if history.len() < 4 { report } else { report.map(self.0) }
    }

    fn known_good(&self) -> Example {
        Example { history: sketch(KEPT), options: Options::default() }
    }

    fn planted_bad(&self) -> Example {
        Example { history: sketch(LOST), options: Options::default() }
    }

    fn plants(&self) -> &'static [Plant] {
        &[]
    }
}

static FALLS: Broken = Broken(|_| panic!("an index that was out of range"));

/// Refutes, and its certificate is about an element that is there.
static LIES: Broken = Broken(|mut report| {
    let facts = vec![assay_oracle::fact!("ok", assay_history::OpIndex(0))];
    report.answer = assay_oracle::Answer::Refuted;
    report.anomalies.push(assay_oracle::Anomaly {
        kind: "lost-ack".into(),
        ops: vec![assay_history::OpIndex(0)],
        explanation: "it is not there".into(),
        certificate: assay_oracle::Certificate { kind: "lost-ack".into(), facts },
    });
    report
});

#[test]
fn a_refutation_whose_certificate_does_not_hold_is_a_crash() {
    let mut panel = panel(&["no-lost-ack"], json!({}));
    panel.add(&LIES).expect("it passes its own test");
    let history = sketch("0 add - 1 ok\n0 add - 2 ok\n0 add - 3 ok\n0 final - - ok [1,2,3]");
    let judged = panel.judge(&history, &limits());
    assert_eq!(judged.checker(), Checker::Undecided(Why::Crashed), "{judged:?}");
    assert!(matches!(judged.anomalies[0].certificate, Certificate::DoesNotHold(_)));
    assert!(judged.undecided_because[0].contains("a certificate does not hold"));
}

#[test]
fn a_checker_that_panics_has_crashed_and_the_others_have_not() {
    let mut panel = panel(&[REGISTER], json!({}));
    panel.add(&FALLS).expect("it passes its own test");
    let judged = panel.judge(&sketch(GOOD), &limits());
    assert_eq!(judged.checker(), Checker::Undecided(Why::Crashed));
    assert_eq!(judged.reports[0].outcome, Upheld);
    assert!(judged.undecided_because[0].contains("out of range"), "{judged:?}");
    let refuted = format!("{BAD}\n1 read x - ok 2");
    assert_eq!(panel.judge(&sketch(&refuted), &limits()).outcome, Refuted);
}

#[test]
fn histories_of_a_run_are_upheld_as_a_whole() {
    let judged = panel(&[REGISTER], json!({})).judge(&register(5_000, true), &limits());
    assert_eq!((judged.outcome, judged.ops_checked, judged.ops_in), (Upheld, 5_000, 5_000));
    assert_eq!(judged.history, HistoryFields::Complete);
    assert_eq!(judged.checker(), Checker::Completed);
    let judged = panel(&["list-append"], json!({})).judge(&appends(300), &limits());
    assert_eq!((judged.outcome, judged.ops_checked), (Upheld, 300), "{judged:?}");
}
