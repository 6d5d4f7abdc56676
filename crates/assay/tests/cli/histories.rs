//! `assay history`, `assay explain`, completions and manual pages.

use super::{example, json, rows, run, run_with, scratch};

#[test]
fn converting_keeps_the_verdict_in_every_format() {
    let directory = scratch();
    for (name, code) in [("register-upheld.jsonl", 0), ("register-refuted.jsonl", 1)] {
        for target in ["jsonl", "jsonl-rows", "jepsen-edn", "jepsen-json"] {
            let path = directory.path().join(format!("{target}-{name}")).display().to_string();
            let run_convert =
                run(&["history", "convert", &example(name), "--to", target, "-o", &path]);
            assert_eq!(run_convert.code, 0, "{}", run_convert.err);
            let run = run(&["check", &path, "--model", "register", "--format", "json"]);
            assert_eq!(run.code, code, "{target} {name}: {}{}", run.out, run.err);
            assert_eq!(json(&run)["ops_in"], 240, "{target} {name}");
        }
    }
}

#[test]
fn a_converted_history_is_packed_as_its_name_says() {
    let directory = scratch();
    let source = example("register-upheld.jsonl");
    for (name, magic) in [("h.jsonl.zst", [0x28, 0xb5]), ("h.jsonl.gz", [0x1f, 0x8b])] {
        let path = directory.path().join(name);
        let text = path.display().to_string();
        let convert = run(&["history", "convert", &source, "--to", "jsonl", "-o", &text]);
        assert_eq!(convert.code, 0, "{}", convert.err);
        assert_eq!(std::fs::read(&path).expect("written")[..2], magic, "{name}");
        assert_eq!(run(&["check", &text, "--model", "register"]).code, 0, "{name}");
    }
}

#[test]
fn one_object_is_written_as_porcupine_logs_and_several_are_refused() {
    let directory = scratch();
    let path = directory.path().join("h.log").display().to_string();
    let source = example("register-upheld.jsonl");
    let convert = run(&["history", "convert", &source, "--to", "porcupine-log", "-o", &path]);
    assert_eq!(convert.code, 65, "three keys: {}", convert.err);
    assert!(convert.err.contains("no keys"), "{}", convert.err);
    let shown = run(&["history", "convert", &source, "--to", "porcupine-log"]);
    assert_eq!(shown.code, 65, "also where it is shown: {}", shown.err);
    let nowhere = directory.path().join("nowhere/h.log").display().to_string();
    let unwritten = run(&["history", "convert", &source, "--to", "jsonl", "-o", &nowhere]);
    assert_eq!(unwritten.code, 69, "what cannot be written is not the history: {}", unwritten.err);
    let one = rows(&[(0, "write", "1", "null", 0, 5), (1, "read", "null", "1", 6, 9)]);
    let args = ["history", "convert", "-", "--to", "porcupine-log", "-o", &path];
    assert_eq!(run_with(&args, one.as_bytes()).code, 0);
    assert_eq!(run(&["check", &path, "--model", "register"]).code, 0);
    let stale = rows(&[(0, "write", "1", "null", 0, 5), (1, "read", "null", "2", 6, 9)]);
    assert_eq!(run_with(&args, stale.as_bytes()).code, 0);
    assert_eq!(run(&["check", &path, "--model", "register"]).code, 1);
}

#[test]
fn validate_lists_findings_with_places_and_consequences() {
    let run = run(&["history", "validate", &example("register-upheld.jsonl"), "--model", "map"]);
    assert_eq!(run.code, 0, "{}{}", run.out, run.err);
    assert!(run.out.starts_with("VALID"), "{}", run.out);
    let twice = rows(&[(0, "write", "1", "null", 0, 5), (0, "write", "2", "null", 6, 9)])
        .replace("\"op_id\":1", "\"op_id\":0");
    let run = run_with(&["history", "validate", "-"], twice.as_bytes());
    assert_eq!(run.code, 65, "{}", run.out);
    assert!(run.out.starts_with("UNSOUND"), "{}", run.out);
    assert!(run.out.contains("-:2: unsound V1"), "{}", run.out);
    let run = run_with(&["history", "validate", "-", "--format", "json"], twice.as_bytes());
    assert_eq!(json(&run)["findings"][0]["rule"], "V1");
}

#[test]
fn stats_count_what_is_there() {
    let run = run(&["history", "stats", &example("register-upheld.jsonl"), "--format", "json"]);
    assert_eq!(run.code, 0, "{}", run.err);
    let stats = json(&run);
    assert_eq!(stats["ops"], 240);
    assert_eq!(stats["keys"], 3);
    assert_eq!(stats["processes"], 5);
    assert_eq!(stats["overlap_max"], 5);
    assert_eq!(stats["fault_windows"], 1);
    assert_eq!(run_with(&["history", "stats", "-"], b"").code, 3);
}

#[test]
fn every_code_has_a_page() {
    let list = run(&["explain", "--format", "json"]);
    let pages = json(&list);
    let codes: Vec<&str> =
        pages.as_array().expect("a list").iter().filter_map(|page| page["code"].as_str()).collect();
    assert!(codes.len() >= 25, "{codes:?}");
    for code in codes {
        let page = run(&["explain", code]);
        assert_eq!(page.code, 0, "{code}: {}", page.err);
        assert!(page.out.len() > 80, "{code}: {}", page.out);
    }
    for alias in ["v3", "65", "cas-register", "lock", "0"] {
        assert_eq!(run(&["explain", alias]).code, 0, "{alias}");
    }
}

#[test]
fn completions_and_manual_pages_are_generated() {
    for shell in ["bash", "zsh", "fish"] {
        let run = run(&["completions", shell]);
        assert_eq!(run.code, 0);
        assert!(run.out.contains("calibrate"), "{shell}");
    }
    let directory = scratch();
    let path = directory.path().display().to_string();
    assert_eq!(run(&["man", &path]).code, 0);
    for page in ["assay.1", "assay-check.1", "assay-history-validate.1", "assay-explain.1"] {
        let text = std::fs::read_to_string(directory.path().join(page)).expect(page);
        assert!(text.contains(".TH"), "{page}");
    }
}

#[test]
fn help_exits_0_and_names_the_exit_codes() {
    let run_help = run(&["--help"]);
    assert_eq!(run_help.code, 0);
    assert!(run_help.out.contains("Exit codes"), "{}", run_help.out);
    let check = run(&["check", "--help"]);
    assert!(check.out.contains("Examples:"), "{}", check.out);
}
