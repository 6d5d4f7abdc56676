//! `assay check`: verdicts, witnesses, budgets, pictures.

use super::{assay, example, json, rows, run, run_with, scratch};

#[test]
fn an_upheld_history_says_so_first_and_exits_0() {
    let run = run(&["check", &example("register-upheld.jsonl"), "--model", "register"]);
    assert_eq!(run.code, 0, "{}", run.err);
    let first = run.out.lines().next().unwrap_or("");
    assert!(first.starts_with("UPHELD"), "{first}");
    assert!(run.out.contains("240 of 240 operations consumed"), "{}", run.out);
}

#[test]
fn a_refuted_history_explains_itself_and_exits_1() {
    let run = run(&["check", &example("register-refuted.jsonl"), "--model", "register"]);
    assert_eq!(run.code, 1, "{}", run.err);
    assert!(run.out.starts_with("REFUTED"), "{}", run.out);
    assert!(run.out.contains("although every write of"), "{}", run.out);
    assert!(run.out.contains("re-checked by the verifier"), "{}", run.out);
}

#[test]
fn json_output_carries_the_witness_and_the_certificate() {
    let path = example("register-refuted.jsonl");
    let run = run(&["check", &path, "--model", "register", "--format", "json"]);
    let report = json(&run);
    assert_eq!(report["verdict"], "refuted");
    assert_eq!(report["exit_code"], 1);
    let refutation = &report["refutations"][0];
    assert_eq!(refutation["verified"]["ok"], true);
    assert_eq!(refutation["witness"]["minimal"], true);
    let core = refutation["witness"]["core"].as_array().expect("a list").len();
    assert_eq!(core, refutation["certificate"]["core"].as_array().expect("a list").len());
    assert!((2..=6).contains(&core), "a witness is small: {core}");
}

#[test]
fn the_worst_of_several_files_decides_the_exit_code() {
    let (good, bad) = (example("register-upheld.jsonl"), example("register-refuted.jsonl"));
    assert_eq!(run(&["check", &good, &bad, &good, "--model", "register"]).code, 1);
    assert_eq!(run(&["check", &good, "no-such-file", "--model", "register"]).code, 69);
    assert_eq!(run(&["check", &bad, "no-such-file", "--model", "register"]).code, 1);
}

#[test]
fn a_budget_that_runs_out_is_undecided_with_the_prefix_and_never_a_pass() {
    // Twelve pushes at once, popped one by one; the last pop takes what nobody pushed. To see that
    // no order helps, a search must try very many.
    let values: Vec<String> = (0..12).map(|value| value.to_string()).collect();
    let mut ops = Vec::new();
    for (client, value) in values.iter().enumerate() {
        ops.push((client as u32, "push", value.as_str(), "null", 0, 1_000 + client as i64));
    }
    for (i, value) in ["5", "3", "8", "99"].iter().enumerate() {
        ops.push((20, "pop", "null", *value, 2_000 + 10 * i as i64, 2_005 + 10 * i as i64));
    }
    let history = rows(&ops);
    let args = ["check", "-", "--model", "stack", "--format", "json"];
    let short = run_with(&[&args[..], &["--states", "300"]].concat(), history.as_bytes());
    assert_eq!(short.code, 2, "{}{}", short.out, short.err);
    let report = json(&short);
    assert_eq!(report["verdict"], "undecided");
    let prefix = report["undecided"][0]["prefix_ops"].as_u64();
    assert!(
        prefix.is_some_and(|ops| (12..=15).contains(&ops)),
        "all pushes have an order: {report}"
    );
    assert!(report["refutations"].as_array().expect("a list").is_empty());
    let small = run_with(&[&args[..], &["--budget", "1ms"]].concat(), history.as_bytes());
    assert_ne!(small.code, 0, "{}", small.out);
    let possible = history.replace("\"output\":99", "\"output\":11");
    assert_eq!(run_with(&args, possible.as_bytes()).code, 0);
}

/// A register per key, each written and read a few times; every third key reads what nobody wrote.
fn many_keys(keys: usize, ops: usize) -> String {
    let mut lines = String::new();
    for i in 0..keys * ops {
        let (key, nth) = (i % keys, i / keys);
        let (start, end) = (10 * i, 10 * i + 5);
        let (op_type, input, output) = match nth % 2 {
            0 => ("write", nth.to_string(), "null".to_string()),
            _ if key % 3 == 2 && nth == ops - 1 => ("read", "null".to_string(), "-1".to_string()),
            _ => ("read", "null".to_string(), (nth - 1).to_string()),
        };
        lines += &format!(
            "{{\"op_id\":{i},\"process_id\":0,\"invoke_ts\":{start},\"complete_ts\":{end},\
             \"op_type\":\"{op_type}\",\"key\":\"k{key}\",\"input\":{input},\"output\":{output},\
             \"error\":null,\"timeout_marker\":false,\"node_seen\":null,\"fault_epoch\":null}}\n"
        );
    }
    lines
}

#[test]
fn fail_fast_stops_at_the_first_refuted_object_and_counts_the_others() {
    let args = ["check", "-", "--model", "register", "--format", "json"];
    for (keys, ops) in [(9, 4), (3_000, 4)] {
        let history = many_keys(keys, ops);
        let whole = json(&run_with(&args, history.as_bytes()));
        assert_eq!(whole["objects_refuted"], keys / 3);
        assert_eq!(whole["objects_skipped"], 0);
        let fast = || run_with(&[&args[..], &["--fail-fast"]].concat(), history.as_bytes());
        let (first, again) = (json(&fast()), json(&fast()));
        assert_eq!(fast().code, 1);
        assert_eq!(first["objects_refuted"], 1);
        assert_eq!(first["objects"], 3, "two are upheld before it");
        assert_eq!(first["objects_skipped"], keys - 3);
        assert_eq!(first["refutations"], again["refutations"], "threads change nothing");
    }
    let upheld =
        json(&run_with(&[&args[..], &["--fail-fast"]].concat(), &many_keys(2, 4).into_bytes()));
    assert_eq!((&upheld["verdict"], &upheld["objects_skipped"]), (&"upheld".into(), &0.into()));
}

#[test]
fn fail_fast_is_refused_where_nothing_can_be_skipped() {
    let history = example("register-upheld.jsonl");
    for checker in [["--model", "list-append"], ["--checker", "no-lost-ack"]] {
        let run = run(&[&["check", &history, "--fail-fast"], &checker[..]].concat());
        assert_eq!(run.code, 64, "{}", run.err);
        assert!(run.err.contains("--fail-fast has no effect here"), "{}", run.err);
        assert!(run.err.contains("a --model of single objects"), "{}", run.err);
    }
}

#[test]
fn options_without_effect_are_refused() {
    let history = example("register-upheld.jsonl");
    for (check, option) in [
        (["--model", "register"], &["--dot", "x.dot"][..]),
        (["--model", "register"], &["-c", "serializable"]),
        (["--model", "register"], &["--linearizable-keys"]),
        (["--model", "register"], &["--set", "business-key=id"]),
        (["--model", "register"], &["--reference", "other.jsonl"]),
        (["--model", "counter"], &["--initial", "0"]),
        (["--checker", "no-lost-ack"], &["--budget", "1s"]),
        (["--checker", "no-lost-ack"], &["--memory", "1GiB"]),
        (["--checker", "no-lost-ack"], &["--states", "5"]),
        (["--checker", "no-lost-ack"], &["--svg", "x.svg"]),
        (["--checker", "no-lost-ack"], &["--initial", "null"]),
        (["--model", "list-append"], &["--set", "a=b"]),
    ] {
        let run = run(&[&["check", &history], &check[..], option].concat());
        assert_eq!(run.code, 64, "{check:?} {option:?}: {}", run.err);
        assert!(run.err.contains("has no effect here"), "{check:?} {option:?}: {}", run.err);
    }
    // What fits is asked for by its default, too.
    let fits = ["check", &history, "--model", "register", "--initial", "null", "--budget", "9s"];
    assert_eq!(run(&fits).code, 0);
}

#[test]
fn a_refuted_history_is_not_calibrated_with() {
    let history = example("register-refuted.jsonl");
    let args = ["check", &history, "--model", "register", "--calibrate", "3", "--format", "json"];
    let refuted = run(&args);
    assert_eq!(refuted.code, 1, "{}", refuted.err);
    assert!(refuted.err.contains("not calibrated"), "{}", refuted.err);
    assert!(json(&refuted)["calibration"].is_null(), "{}", refuted.out);
    assert_eq!(json(&refuted)["rechecked"], true);
}

#[test]
fn calibration_ends_with_the_budget_and_says_so() {
    let history = example("register-upheld.jsonl");
    let args = ["check", &history, "--model", "register", "--calibrate", "10000"];
    let cut = run(&[&args[..], &["--budget", "1ms", "--format", "json"]].concat());
    assert_eq!(cut.code, 0, "{}", cut.err);
    assert_eq!(json(&cut)["calibration"]["cut"], true, "{}", cut.out);
}

#[test]
fn a_witness_of_many_operations_is_told_within_the_budget() {
    let adds = 20_000;
    let mut ops: Vec<_> = (0..adds).map(|i| (0, "add", "1", "null", 10 * i, 10 * i + 5)).collect();
    let wrong = (adds - 1).to_string();
    ops.push((1, "read", "null", &wrong, 10 * adds, 10 * adds + 5));
    let args = ["check", "-", "--model", "counter", "--budget", "1s", "--format", "json"];
    let refuted = run_with(&args, rows(&ops).as_bytes());
    assert_eq!(refuted.code, 1, "{}", refuted.err);
    let report = json(&refuted);
    // The verdict says by itself whether a second pair of eyes has seen it.
    let headline = report["headline"].as_str().expect("a sentence");
    let rechecked = report["rechecked"].as_bool().expect("a truth value");
    assert_eq!(headline.contains("NOT re-checked"), !rechecked, "{headline}");
    let told = report["refutations"][0]["explanation"][0].as_str().expect("a sentence");
    assert!(told.contains("fits the counter model"), "{told}");
    assert!(!told.contains("every other order"), "nobody tried them all: {told}");
}

#[test]
fn a_refutation_always_has_a_witness() {
    let history = example("register-refuted.jsonl");
    let none = run(&["check", &history, "--model", "register", "--witnesses", "0"]);
    assert_eq!(none.code, 64, "{}{}", none.out, none.err);
}

#[test]
fn calibration_reports_every_kind_and_is_repeatable() {
    let path = example("register-upheld.jsonl");
    let args = [
        "check",
        &path,
        "--model",
        "register",
        "--calibrate",
        "10",
        "--seed",
        "3",
        "--format",
        "json",
    ];
    let (first, second) = (json(&run(&args)), json(&run(&args)));
    assert_eq!(first["calibration"], second["calibration"]);
    let rows = first["calibration"]["rows"].as_array().expect("a list");
    assert_eq!(rows.len(), 5);
    for row in rows {
        let of = |name: &str| row[name].as_u64().expect("a count");
        assert_eq!(of("planted"), of("caught") + of("unseen") + of("undecided"), "{row}");
        assert_eq!(of("planted"), 10, "{row}");
    }
    let impossible = rows.iter().find(|row| row["anomaly"] == "impossible-value");
    assert_eq!(impossible.expect("there")["caught"], 10, "a value nobody wrote is always seen");
}

#[test]
fn pictures_are_whole_files_with_everything_in_them() {
    let directory = scratch();
    let (html, svg) = (directory.path().join("r.html"), directory.path().join("r.svg"));
    let path = example("register-refuted.jsonl");
    let (html_arg, svg_arg) = (html.display().to_string(), svg.display().to_string());
    let run = run(&["check", &path, "--model", "register", "--html", &html_arg, "--svg", &svg_arg]);
    assert_eq!(run.code, 1, "{}", run.err);
    let html = std::fs::read_to_string(html).expect("written");
    assert!(
        html.to_lowercase().contains("refuted") && html.contains("cannot be placed"),
        "the page is whole"
    );
    assert!(!html.contains("http://") || html.contains("www.w3.org"), "the page needs no network");
    assert!(std::fs::read_to_string(svg).expect("written").trim_end().ends_with("</svg>"));
}

#[test]
fn a_report_that_cannot_be_written_is_said_and_the_verdict_stands() {
    let path = example("register-refuted.jsonl");
    let run = run(&["check", &path, "--model", "register", "--html", "/no/such/place/r.html"]);
    assert_eq!(run.code, 1, "the refutation is what matters most");
    assert!(run.err.contains("/no/such/place/r.html: cannot write"), "{}", run.err);
}

#[test]
fn order_hints_decide_and_wrong_hints_do_no_harm() {
    let hinted = |reads: [&str; 2]| {
        let mut text = String::new();
        for (i, (op, input, output, revision)) in [
            ("write", "1", "null", 1),
            ("write", "2", "null", 2),
            ("write", "1", "null", 3),
            ("read", "null", reads[0], 3),
            ("read", "null", reads[1], 3),
        ]
        .iter()
        .enumerate()
        {
            let (start, end) = (10 * i, 10 * i + 5);
            text += &format!(
                "{{\"op_id\":{i},\"process_id\":0,\"invoke_ts\":{start},\"complete_ts\":{end},\
                 \"op_type\":\"{op}\",\"key\":null,\"input\":{input},\"output\":{output},\
                 \"error\":null,\"timeout_marker\":false,\"node_seen\":null,\"fault_epoch\":null,\
                 \"revision\":{revision}}}\n"
            );
        }
        text
    };
    let args = ["check", "-", "--model", "register"];
    assert_eq!(run_with(&args, hinted(["1", "1"]).as_bytes()).code, 0);
    assert_eq!(run_with(&args, hinted(["2", "2"]).as_bytes()).code, 1);
}

#[test]
fn every_model_upholds_and_refutes_through_the_binary() {
    let cases: [(&str, &str, &str); 9] = [
        ("register", "write 1 null|read null 1", "write 1 null|read null null"),
        ("kv", "append \"a\" null|get null \"a\"", "append \"a\" null|get null \"\""),
        ("counter", "add 2 null|read null 2", "add 2 null|read null 1"),
        ("set", "add 1 null|contains 1 true", "add 1 null|contains 1 false"),
        ("queue", "enqueue 1 null|dequeue null 1", "enqueue 1 null|dequeue null null"),
        ("stack", "push 1 null|push 2 null|pop null 2", "push 1 null|push 2 null|pop null 1"),
        ("log", "append 7 0|read null [7]", "append 7 0|read null []"),
        ("mutex", "acquire null null|release null null", "acquire null null|acquire null null"),
        ("lease", "acquire null 1|use 1 null", "acquire null 2|acquire null 1"),
    ];
    for (model, upheld, refuted) in cases {
        for (script, code) in [(upheld, 0), (refuted, 1)] {
            let steps: Vec<Vec<&str>> =
                script.split('|').map(|step| step.splitn(3, ' ').collect()).collect();
            let ops: Vec<_> = steps
                .iter()
                .enumerate()
                .map(|(i, step)| (0, step[0], step[1], step[2], 10 * i as i64, 10 * i as i64 + 5))
                .collect();
            let run = run_with(&["check", "-", "--model", model], rows(&ops).as_bytes());
            assert_eq!(run.code, code, "{model} {script}\n{}{}", run.out, run.err);
        }
    }
}

#[test]
fn a_reader_that_leaves_early_ends_assay_quietly() {
    let path = example("register-refuted.jsonl");
    let mut child = assay(&["history", "convert", &path, "--to", "jsonl"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("assay runs");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("assay ends");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!said.contains("panicked") && !said.contains("bug"), "{said}");
}
