//! `assay check --checker` and the picker: other promises, and which one is meant.

use super::{json, rows, run, run_with, scratch, write};

/// Two acknowledged additions of which the final state holds one.
const LOST: &str = "\
{:process 0, :type :invoke, :f :add, :value 1}
{:process 0, :type :ok, :f :add, :value 1}
{:process 0, :type :invoke, :f :add, :value 2}
{:process 0, :type :ok, :f :add, :value 2}
{:process 1, :type :invoke, :f :final, :value nil}
{:process 1, :type :ok, :f :final, :value [1]}
";

#[test]
fn a_lost_acknowledged_write_is_refuted_with_a_certificate() {
    let run = run_with(&["check", "-", "--checker", "no-lost-ack"], LOST.as_bytes());
    assert_eq!(run.code, 1, "{}{}", run.out, run.err);
    assert!(run.out.starts_with("REFUTED"), "{}", run.out);
    assert!(run.out.contains("re-checked by the verifier"), "{}", run.out);
}

#[test]
fn json_output_carries_the_contract() {
    let args = ["check", "-", "--checker", "no-lost-ack", "--format", "json"];
    let report = json(&run_with(&args, LOST.as_bytes()));
    let checker = &report["checkers"][0];
    assert_eq!(checker["answer"], "refuted");
    for field in
        ["ops_in", "ops_checked", "scope_not_covered", "anomalies", "budget_used", "seconds"]
    {
        assert!(!checker[field].is_null(), "{field}: {checker}");
    }
    assert_eq!(checker["anomalies"][0]["verified"]["ok"], true);
}

#[test]
fn several_checkers_are_merged_and_the_worst_answer_counts() {
    let args = ["check", "-", "--checker", "no-lost-ack", "--checker", "set"];
    assert_eq!(run_with(&args, LOST.as_bytes()).code, 1);
    let upheld = LOST.replace("[1]", "[1 2]");
    assert_eq!(run_with(&args[..4], upheld.as_bytes()).code, 0);
    // A checker that had nothing to judge beside one that did: no pass.
    let args = ["check", "-", "--checker", "no-lost-ack", "--checker", "property"];
    assert_eq!(run_with(&args, upheld.as_bytes()).code, 2);
    assert_eq!(run_with(&["check", "-", "--checker", "property"], upheld.as_bytes()).code, 3);
}

#[test]
fn settings_are_typed_and_mistakes_are_one_clear_error() {
    for (setting, wanted) in [
        ("slo.p99", "NAME=VALUE"),
        ("slo.p99=fast", "time with its unit"),
        ("nonsense=1", "there is no option"),
    ] {
        let args = ["check", "-", "--checker", "slo", "--set", setting];
        let run = run_with(&args, LOST.as_bytes());
        assert_eq!(run.code, 64, "{setting}: {}", run.err);
        assert!(run.err.contains(wanted), "{setting}: {}", run.err);
    }
    let run = run_with(&["check", "-", "--checker", "exactly-once"], LOST.as_bytes());
    assert_eq!(run.code, 65, "a missing business key: {}{}", run.out, run.err);
    assert!(run.err.contains("business"), "{}", run.err);
}

#[test]
fn a_service_level_counts_what_was_sent_late_and_real_time_does_not() {
    // Each is answered 1 ms after it was sent; a tenth was sent 3 s after it was due.
    let ms = 1_000_000;
    let op = |i: i64| (0, "read", "null", "null", (4_000 + 10 * i) * ms, (4_001 + 10 * i) * ms);
    let sent = rows(&(0..1_000).map(op).collect::<Vec<_>>());
    let due = |(i, line): (usize, &str)| {
        let late = if i % 10 == 0 { 3_000 } else { 0 };
        let due = (4_000 + 10 * i as i64 - late) * ms;
        line.replace("\"op_type\"", &format!("\"due_ts\":{due},\"op_type\"")) + "\n"
    };
    let late: String = sent.lines().enumerate().map(due).collect();
    let args = ["check", "-", "--checker", "slo", "--set", "slo.p99=500ms"];
    let upheld = run_with(&args, sent.as_bytes());
    assert_eq!(upheld.code, 0, "{}{}", upheld.out, upheld.err);
    let refuted = run_with(&args, late.as_bytes());
    assert_eq!(refuted.code, 1, "{}{}", refuted.out, refuted.err);
    assert!(refuted.out.contains("re-checked by the verifier"), "{}", refuted.out);
    // A read that was due before a write and sent after it has seen it all the same.
    let stale = rows(&[(0, "write", "1", "null", 5, 6), (1, "read", "null", "null", 8, 9)]);
    let stale = stale.replace("\"invoke_ts\":8", "\"due_ts\":1,\"invoke_ts\":8");
    let run = run_with(&["check", "-", "--model", "register"], stale.as_bytes());
    assert_eq!(run.code, 1, "{}{}", run.out, run.err);
}

#[test]
fn calibration_plants_into_the_history_at_hand() {
    let upheld = LOST.replace("[1]", "[1 2]");
    let args = ["check", "-", "--checker", "no-lost-ack", "--calibrate", "5", "--format", "json"];
    let report = json(&run_with(&args, upheld.as_bytes()));
    let rows = report["checkers"][0]["calibration"].as_array().expect("rows").clone();
    assert!(!rows.is_empty());
    assert!(rows.iter().any(|row| row["caught"].as_u64() > Some(0)), "{rows:?}");
}

#[test]
fn without_a_model_the_picker_says_what_fits_and_why() {
    let directory = scratch();
    let file =
        |name: &str, text: &str| write(&directory, name, text.as_bytes()).display().to_string();
    let register =
        file("r.jsonl", &rows(&[(0, "write", "1", "null", 0, 1), (0, "read", "null", "1", 2, 3)]));
    let picked = run(&["check", &register]);
    assert_eq!(picked.code, 0, "{}{}", picked.out, picked.err);
    assert!(picked.err.contains("picked: linearizability:register"), "{}", picked.err);
    let txn = "{:process 0, :type :invoke, :f :txn, :value [[:r :x nil]]}\n\
               {:process 0, :type :ok, :f :txn, :value [[:r :x []]]}\n";
    let picked = run(&["check", &file("t.edn", txn)]);
    assert!(picked.err.contains("list-append"), "{}", picked.err);
}

#[test]
fn where_several_fit_the_picker_refuses_to_guess() {
    let directory = scratch();
    // Values with versions: a register, or sessions?
    let versioned = rows(&[
        (0, "write", "1", "1", 0, 1),
        (0, "read", "null", r#"{"value":1,"version":1}"#, 2, 3),
    ]);
    let file = write(&directory, "s.jsonl", versioned.as_bytes()).display().to_string();
    let unsure = run(&["check", &file]);
    assert_eq!(unsure.code, 64, "{}{}", unsure.out, unsure.err);
    assert!(unsure.err.contains("several checkers fit"), "{}", unsure.err);
    let odd = "{:process 0, :type :invoke, :f :dance, :value 1}\n\
               {:process 0, :type :ok, :f :dance, :value 1}\n";
    let nothing =
        run(&["check", &write(&directory, "d.edn", odd.as_bytes()).display().to_string()]);
    assert_eq!(nothing.code, 64, "{}{}", nothing.out, nothing.err);
    assert!(nothing.err.contains("dance"), "{}", nothing.err);
    assert_eq!(run_with(&["check", "-"], LOST.as_bytes()).code, 64);
}

#[test]
fn a_checker_that_does_not_fit_the_claim_is_an_error_that_names_the_right_one() {
    let directory = scratch();
    let file = write(&directory, "s.edn", LOST.as_bytes()).display().to_string();
    let wrong = run(&["check", &file, "--checker", "fairness", "--claim", "durability"]);
    assert_eq!(wrong.code, 64, "{}{}", wrong.out, wrong.err);
    assert!(wrong.err.contains("no-lost-ack"), "{}", wrong.err);
}
