//! `assay report` and the pages about verdicts, as users see them.

use super::{json, run, run_with, scratch, write};

const EXAMPLE: &str = include_str!("../../../assay-report/tests/run/example.json");

#[test]
fn a_run_record_becomes_documents_and_its_verdict_the_exit_code() {
    let directory = scratch();
    let record = write(&directory, "run.json", EXAMPLE.as_bytes()).display().to_string();
    let out = directory.path().join("a/b");
    let ended = run(&["report", &record, "--out", &out.display().to_string()]);
    assert_eq!(ended.code, 1, "{}{}", ended.out, ended.err);
    assert!(ended.out.starts_with("FAIL  orders"), "{}", ended.out);
    assert!(ended.out.contains("S3       PARTIAL-surface: 1 NOT-RUN arm."), "{}", ended.out);
    for (path, wanted) in [
        ("findings/report.md", "**FAIL**: C2 is broken by S2 (F1)."),
        ("session-log.md", "## Toolbox discovered"),
        ("findings/S1.md", "PASS-hardening"),
        ("findings/S4.md", "INCONCLUSIVE-env"),
    ] {
        let text = std::fs::read_to_string(out.join(path)).expect(path);
        assert!(text.contains(wanted), "{path}: {text}");
    }
    let ended = run(&["report", &record]);
    assert_eq!(ended.code, 1);
    assert!(ended.out.starts_with("# Report: orders"), "{}", ended.out);
}

#[test]
fn programs_get_the_judgements() {
    let ended = run_with(&["report", "-", "--format", "json"], EXAMPLE.as_bytes());
    let report = json(&ended);
    assert_eq!((ended.code, &report["verdict"], &report["exit"]), (1, &"FAIL".into(), &1.into()));
    let first = &report["scenarios"][0]["arms"][0];
    assert_eq!(first["verdict"], "PASS-hardening");
    assert_eq!(
        first["path"].as_array().and_then(|path| path.last()).expect("a path")["decided"],
        true
    );
    assert_eq!(report["refusals"].as_array().map(Vec::len), Some(0));
}

#[test]
fn a_record_that_claims_more_than_its_facts_is_refused_line_by_line() {
    let directory = scratch();
    let talked_into = EXAMPLE
        .replace("\"INCONCLUSIVE-env\"", "\"PASS-hardening\"")
        .replace("\"blame\": \"SUT\"", "\"blame\": null")
        .replace("\"verdict\": \"FAIL\"", "\"verdict\": \"DONE\"");
    let record = write(&directory, "run.json", talked_into.as_bytes()).display().to_string();
    let out = directory.path().join("out");
    let ended = run(&["report", &record, "--out", &out.display().to_string()]);
    assert_eq!(ended.code, 65, "{}{}", ended.out, ended.err);
    for wanted in [
        "S4: recorded as PASS-hardening, but its facts say INCONCLUSIVE-env",
        "S4: a PASS-hardening with an empty cell for landing evidence",
        "F1: no blame",
        "the run is recorded as DONE, but its scenarios say FAIL",
    ] {
        let line = ended.err.lines().find(|line| line.contains(wanted));
        assert!(line.is_some_and(|line| line.starts_with("error: ")), "{wanted}: {}", ended.err);
    }
    assert!(!out.exists(), "nothing is written");
    let ended = run(&["report", &record, "--format", "json"]);
    assert_eq!((ended.code, json(&ended)["verdict"].as_str()), (65, Some("FAIL")));
    assert!(json(&ended)["refusals"].as_array().is_some_and(|all| all.len() >= 4));
}

#[test]
fn what_is_no_run_record_is_an_error_with_its_place() {
    for (input, wanted) in [
        ("", "-:1: EOF"),
        ("{\n  \"format\": \"assay-run/9\"\n}", "-:2: unknown variant"),
        ("[]", "-:1: "),
    ] {
        let ended = run_with(&["report", "-"], input.as_bytes());
        assert_eq!(ended.code, 65, "{input}: {}", ended.err);
        assert!(ended.err.contains(wanted), "{input}: {}", ended.err);
    }
    let ended = run_with(&["report", "-"], b"{\n\xff");
    assert!(ended.code == 65 && ended.err.contains("-:2: not UTF-8"), "{}", ended.err);
    assert_eq!(run(&["report", "nowhere.json"]).code, 69);
    assert_eq!(run(&["report"]).code, 64);
    assert_eq!(run(&["report", "x.json", "--schema"]).code, 64);
}

#[test]
fn the_schema_is_the_published_one() {
    let published = include_str!("../../../../docs/formats/run-record.schema.json");
    let ended = run(&["report", "--schema"]);
    assert_eq!((ended.code, ended.out.as_str()), (0, published));
}

#[test]
fn every_verdict_has_a_page() {
    let scenario = assay_verdict::Verdict::ALL.iter().map(|verdict| verdict.name());
    let of_run = assay_verdict::RunVerdict::ALL.iter().map(|verdict| verdict.name());
    for name in scenario.chain(of_run).chain(["verdicts"]) {
        let page = run(&["explain", &name.to_lowercase()]);
        assert_eq!(page.code, 0, "{name}: {}", page.err);
        assert!(page.out.starts_with(&format!("{name}: ")), "{}", page.out);
    }
    let page = run(&["explain", "143"]);
    assert!(page.out.contains("75   somebody else"), "{}", page.out);
}
