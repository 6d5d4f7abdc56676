//! `assay check --model set-add` and `counter-inc`: transactions over sets and counters.

use super::{json, run, run_with, scratch, write};

/// Two readers saw two adds in opposite orders; sets in every spelling.
const LONG_FORK: &str = "\
{:process 0, :type :invoke, :f :txn, :value [[:add :x 1]]}
{:process 1, :type :invoke, :f :txn, :value [[:add :x 2]]}
{:process 2, :type :invoke, :f :txn, :value [[:r :x nil]]}
{:process 3, :type :invoke, :f :txn, :value [[:r :x nil]]}
{:process 0, :type :ok, :f :txn, :value [[:add :x 1]]}
{:process 1, :type :ok, :f :txn, :value [[:add :x 2]]}
{:process 2, :type :ok, :f :txn, :value [[:r :x #{1}]]}
{:process 3, :type :ok, :f :txn, :value [[:r :x [2]]]}
";

/// A reader that saw one increment of a transaction and not the other.
const READ_SKEW: &str = r#"
{"process":0,"type":"invoke","f":"txn","value":[["inc","x",2],["inc","y",1]]}
{"process":1,"type":"invoke","f":"txn","value":[["r","x",null],["r","y",null]]}
{"process":0,"type":"ok","f":"txn","value":[["inc","x",2],["inc","y",1]]}
{"process":1,"type":"ok","f":"txn","value":[["r","x",2],["r","y",null]]}
"#;

#[test]
fn a_long_fork_inside_a_set_is_told_in_words() {
    let run = run_with(&["check", "-", "--model", "set-add"], LONG_FORK.as_bytes());
    assert_eq!(run.code, 1, "{}{}", run.out, run.err);
    for wanted in [
        "G-nonadjacent",
        "added 1 to x, and",
        "read x without 2, which",
        "re-checked by the verifier",
        "update-serializable",
    ] {
        assert!(run.out.contains(wanted), "{wanted}: {}", run.out);
    }
    let weaker = ["check", "-", "--model", "set-add", "-c", "parallel-snapshot-isolation"];
    assert_eq!(run_with(&weaker, LONG_FORK.as_bytes()).code, 0);
}

#[test]
fn a_counter_that_was_half_incremented_is_told_in_words() {
    let run = run_with(&["check", "-", "--model", "counter-inc"], READ_SKEW.as_bytes());
    assert_eq!(run.code, 1, "{}{}", run.out, run.err);
    for wanted in [
        "G-single",
        "added 2 in x, and T1 read 2, which no other increments make",
        "added 1 in y, and T1 read 0, which is too little to hold that",
        "not covered: counters show sums",
        "re-checked by the verifier",
    ] {
        assert!(run.out.contains(wanted), "{wanted}: {}", run.out);
    }
}

/// One operation per row: process, begin, end, input, output.
fn rows(ops: &[(u32, u32, u32, &str, &str)]) -> String {
    let row = |(id, &(process, start, end, input, output)): (
        usize,
        &(u32, u32, u32, &str, &str),
    )| {
        format!(
            "{{\"op_id\":{id},\"process_id\":{process},\"invoke_ts\":{start},\"complete_ts\":{end},\
             \"op_type\":\"txn\",\"key\":null,\"input\":{input},\"output\":{output},\"error\":null,\
             \"timeout_marker\":false,\"node_seen\":null,\"fault_epoch\":null}}\n"
        )
    };
    ops.iter().enumerate().map(row).collect()
}

#[test]
fn assays_own_recordings_are_read_and_picked_without_a_model() {
    let directory = scratch();
    let add = r#"[["add","x","a"],["add","x","b"]]"#;
    let sets =
        rows(&[(0, 0, 1, add, add), (1, 2, 3, r#"[["r","x",null]]"#, r#"[["r","x",["b","a"]]]"#)]);
    let inc = r#"[["inc","x",3]]"#;
    let counters =
        rows(&[(0, 0, 1, inc, inc), (1, 2, 3, r#"[["r","x",null]]"#, r#"[["r","x",3]]"#)]);
    for (name, text) in [("set-add", sets), ("counter-inc", counters)] {
        let file = write(&directory, &format!("{name}.jsonl"), text.as_bytes());
        let file = file.display().to_string();
        let named = run(&["check", &file, "--model", name]);
        assert_eq!(named.code, 0, "{name}: {}{}", named.out, named.err);
        let picked = run(&["check", &file]);
        assert_eq!(picked.code, 0, "{name}: {}{}", picked.out, picked.err);
        assert!(picked.err.contains(name), "{}", picked.err);
    }
}

#[test]
fn bad_sets_and_counters_are_one_clear_error_with_a_line() {
    for (model, value, wanted) in [
        ("set-add", "[[:append :x 1]]", "use list-append"),
        ("list-append", "[[:add :x 1]]", "use set-add"),
        ("rw-register", "[[:inc :x 1]]", "use counter-inc"),
        ("set-add", "[[:add :x nil]]", "writes null"),
        ("set-add", "[[:r :x 7]]", "which is no list"),
        ("counter-inc", "[[:inc :x 0]]", "only by a positive integer"),
        ("counter-inc", "[[:inc :x -2]]", "only by a positive integer"),
        ("counter-inc", "[[:inc :x 1.5]]", "only by a positive integer"),
        ("counter-inc", "[[:inc :x \"1\"]]", "only by a positive integer"),
        ("counter-inc", "[[:r :x [1]]]", "no integer"),
        ("counter-inc", "[[:r :x \"many\"]]", "no integer"),
    ] {
        let record =
            |kind: &str, value: &str| format!("{{:process 0, :type :{kind}, :value {value}}}\n");
        let good = record("invoke", "[]") + &record("ok", "[]");
        let history = good + &record("invoke", value) + &record("ok", value);
        let run = run_with(&["check", "-", "--model", model], history.as_bytes());
        assert_eq!(run.code, 65, "{model} {value}: {}{}", run.out, run.err);
        assert!(run.err.contains(wanted), "{model} {value}: {}", run.err);
        assert!(run.err.contains(":4"), "the line of {value}: {}", run.err);
    }
    let bad = rows(&[(0, 0, 1, r#"[["r","x",null]]"#, r#"[["r","x",true]]"#)]);
    let run = run_with(&["check", "-", "--model", "counter-inc"], bad.as_bytes());
    assert_eq!(run.code, 65, "{}{}", run.out, run.err);
    assert!(run.err.contains("-:1"), "{}", run.err);
}

#[test]
fn promises_about_versions_are_refused_where_they_mean_nothing() {
    for (model, flag, code) in [
        ("set-add", "--wfr-keys", 64),
        ("set-add", "--linearizable-keys", 64),
        ("counter-inc", "--sequential-keys", 64),
        ("counter-inc", "--recording-complete", 64),
        ("counter-inc", "--wfr-keys", 1),
    ] {
        let history = if model == "set-add" { LONG_FORK } else { READ_SKEW };
        let run = run_with(&["check", "-", "--model", model, flag], history.as_bytes());
        assert_eq!(run.code, code, "{model} {flag}: {}", run.err);
    }
}

#[test]
fn an_element_that_was_added_twice_is_not_covered() {
    let txn = |p: u32, value: &str| {
        format!(
            "{{:process {p}, :type :invoke, :value {value}}}\n\
             {{:process {p}, :type :ok, :value {value}}}\n"
        )
    };
    let history = txn(0, "[[:add :x 1]]") + &txn(1, "[[:add :x 1]]") + &txn(2, "[[:r :x #{}]]");
    let run = run_with(&["check", "-", "--model", "set-add"], history.as_bytes());
    assert_eq!(run.code, 0, "{}{}", run.out, run.err);
    assert!(run.out.contains("1 values were written more than once"), "{}", run.out);
}

#[test]
fn calibration_plants_what_sets_and_counters_can_show() {
    let txn = |p: u32, sent: &str, seen: &str| {
        format!(
            "{{:process {p}, :type :invoke, :value {sent}}}\n\
             {{:process {p}, :type :ok, :value {seen}}}\n"
        )
    };
    let sets = txn(0, "[[:add x 1]]", "[[:add x 1]]")
        + &txn(0, "[[:add x 2]]", "[[:add x 2]]")
        + &txn(1, "[[:r x nil]]", "[[:r x #{1 2}]]");
    let counters = txn(0, "[[:inc x 1]]", "[[:inc x 1]]")
        + &txn(0, "[[:inc x 2] [:r x nil]]", "[[:inc x 2] [:r x 3]]")
        + &txn(1, "[[:r x nil]]", "[[:r x 3]]");
    for (model, history, kinds) in [
        ("set-add", sets, &["stale-read", "phantom", "aborted-read", "lost-write"][..]),
        ("counter-inc", counters, &["stale-read", "phantom"]),
    ] {
        let args = ["check", "-", "--model", model, "--calibrate", "5", "--format", "json"];
        let report = json(&run_with(&args, history.as_bytes()));
        assert_eq!(report["verdict"], "upheld", "{model}");
        for row in report["calibration"].as_array().expect("rows") {
            let kind = row["kind"].as_str().expect("a name");
            let planted = if kinds.contains(&kind) { 5 } else { 0 };
            assert_eq!(
                (&row["planted"], &row["caught"]),
                (&planted.into(), &planted.into()),
                "{row}"
            );
        }
    }
}

#[test]
fn both_have_a_page() {
    for name in ["set-add", "counter-inc"] {
        let page = run(&["explain", name]);
        assert_eq!(page.code, 0, "{}", page.err);
        assert!(page.out.contains(name), "{}", page.out);
    }
}
