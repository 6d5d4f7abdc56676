//! A run for other programs: what becomes of each verdict, and of text that wants to break out.

use crate::example;
use assay_report::run::{RunRecord, junit, sarif, sarif_at, step_summary};
use assay_verdict::{Expectation, Facts, Operator, RunVerdict, Verdict};
use serde_json::Value;
use std::collections::BTreeMap;

const EVIL: &str =
    "]]></failure>\"'><script>&\u{0}\u{1b}[2J\u{202e}\u{fffe}\n|`${{ github }}\\u0000";

fn xml(record: &RunRecord) -> String {
    junit(record).unwrap_or_else(|refusals| panic!("{:#?}", refusals.0))
}

/// For each test case: its name, and the element that says how it ended.
fn cases(text: &str) -> Vec<(String, String, String)> {
    let document =
        roxmltree::Document::parse(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let all = document.descendants().filter(|node| node.has_tag_name("testcase"));
    all.map(|case| {
        let ends = ["failure", "error", "skipped"];
        let end = case.children().find(|child| ends.contains(&child.tag_name().name()));
        let name = case.attribute("name").unwrap_or_default().to_string();
        let (tag, message) = end.map_or(("passed", ""), |end| {
            (end.tag_name().name(), end.attribute("message").unwrap_or_default())
        });
        (name, tag.to_string(), message.to_string())
    })
    .collect()
}

#[test]
fn only_a_pass_is_a_pass_for_junit() {
    let text = xml(&example());
    let found = cases(&text);
    let ends: Vec<(&str, &str)> = found
        .iter()
        .map(|(name, end, _)| (name.split(':').next().unwrap_or(""), &end[..]))
        .collect();
    let expected = [
        ("the run", "failure"),
        ("S1", "passed"),
        ("S2", "failure"),
        ("S3/api", "passed"),
        ("S3/sdk", "passed"),
        ("S3/export", "skipped"),
        ("S4", "skipped"),
    ];
    assert_eq!(ends, expected);
    assert!(text.contains("tests=\"7\" failures=\"2\" errors=\"0\" skipped=\"2\""), "{text}");
    assert!(found[2].2.starts_with("FAIL-reproducible: "), "{:?}", found[2]);
}

#[test]
fn a_run_of_skipped_tests_is_not_green() {
    let mut record = example();
    record.findings.clear();
    for scenario in &mut record.scenarios {
        scenario.verdict = Verdict::NotRun;
        for arm in &mut scenario.arms {
            let capabilities = vec!["nft".to_string()];
            arm.facts = Facts::CapabilityMissing { capabilities, operator: Operator::NotTold };
            arm.verdict = Verdict::NotRun;
        }
    }
    record.verdict = RunVerdict::Blocked;
    let found = cases(&xml(&record));
    assert_eq!((found[0].0.as_str(), found[0].1.as_str()), ("the run", "error"));
    assert!(found[1..].iter().all(|(_, end, _)| end == "skipped"), "{found:?}");
}

#[test]
fn what_ran_and_says_too_little_is_an_error() {
    let mut record = example();
    let Facts::Ran(run) = &mut record.scenarios[0].arms[0].facts else { panic!("S1 ran") };
    run.checker = assay_verdict::Checker::NotRun;
    record.scenarios[0].verdict = Verdict::PartialSurface;
    record.scenarios[0].arms[0].verdict = Verdict::PartialSurface;
    assert_eq!(cases(&xml(&record))[1].1, "error");
}

#[test]
fn a_canary_has_to_fail() {
    let mut record = example();
    record.scenarios[0].expect = Expectation::Refuted;
    record.scenarios[1].expect = Expectation::Refuted;
    record.verdict = RunVerdict::Inconclusive;
    let (caught, blind) = (cases(&xml(&record))[2].clone(), cases(&xml(&record))[1].clone());
    assert_eq!((caught.1.as_str(), blind.1.as_str()), ("passed", "error"));
    assert!(blind.2.contains("was NOT found"), "{}", blind.2);
    let log: Value = serde_json::from_str(&sarif(&record).expect("a report")).expect("JSON");
    let results = log["runs"][0]["results"].as_array().expect("results");
    let levels: Vec<&Value> = results.iter().map(|result| &result["level"]).collect();
    assert_eq!(levels, ["warning", "note", "warning", "warning"]);
    let text = step_summary(&record).expect("a report");
    assert!(text.contains("1 of 2 canaries caught"), "{text}");
}

#[test]
fn sarif_lists_findings_and_what_stays_open() {
    let text = sarif(&example()).expect("the example can be reported");
    let log: Value = serde_json::from_str(&text).expect("SARIF is JSON");
    assert_eq!(log["version"], "2.1.0");
    let run = &log["runs"][0];
    assert_eq!(
        (&run["invocations"][0]["exitCode"], &run["properties"]["verdict"]),
        (&1.into(), &"FAIL".into())
    );
    let results = run["results"].as_array().expect("results");
    let found: Vec<(&str, &str)> = results
        .iter()
        .map(|r| (r["ruleId"].as_str().unwrap_or(""), r["level"].as_str().unwrap_or("")))
        .collect();
    let expected = [
        ("FAIL-reproducible", "error"),
        ("PARTIAL-surface", "warning"),
        ("INCONCLUSIVE-env", "warning"),
    ];
    assert_eq!(found, expected);
    for result in results {
        let rule = &run["tool"]["driver"]["rules"]
            [result["ruleIndex"].as_u64().expect("an index") as usize];
        assert_eq!(rule["id"], result["ruleId"]);
        let place = &result["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "docs/testing-plans/orders.md");
        assert!(place.get("region").is_none(), "nobody knows the line");
    }
    let lines = BTreeMap::from([("S2".to_string(), 88), ("S3".to_string(), 0)]);
    let text = sarif_at(&example(), &lines).expect("the example can be reported");
    let log: Value = serde_json::from_str(&text).expect("SARIF is JSON");
    let region = |at: usize| {
        log["runs"][0]["results"][at]["locations"][0]["physicalLocation"].get("region").cloned()
    };
    assert_eq!(region(0).expect("a line")["startLine"], 88);
    assert_eq!(region(1), None, "lines count from 1");
}

#[test]
fn the_summary_says_the_answer_first() {
    let text = step_summary(&example()).expect("the example can be reported");
    assert!(text.starts_with("## FAIL: orders"), "{text}");
    for wanted in [
        "C2 is broken by S2 (F1). Exit code 1.",
        "1 FAIL-reproducible, 1 INCONCLUSIVE-env, 1 PARTIAL-surface, 1 PASS-hardening.",
        "scripts/replay.sh --seed 11",
    ] {
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
    let first = text.lines().find(|line| line.starts_with("| S") && !line.contains("Name"));
    let first = first.expect("a row");
    assert!(first.starts_with("| S2 "), "what broke stands first: {first}");
}

#[test]
fn exports_come_from_facts_and_refuse_what_render_refuses() {
    let mut record = example();
    record.scenarios[3].verdict = Verdict::PassHardening;
    record.scenarios[3].arms[0].verdict = Verdict::PassHardening;
    assert!(junit(&record).is_err() && sarif(&record).is_err() && step_summary(&record).is_err());
}

#[test]
fn hostile_text_breaks_no_format() {
    let mut record = example();
    record.sut += EVIL;
    record.plan += EVIL;
    record.scenarios[1].name += EVIL;
    record.scenarios[1].arms[0].oracle += EVIL;
    record.findings[0].what_happened += EVIL;
    record.findings[0].next_action += EVIL;
    record.findings[0].evidence[0] += EVIL;
    if let assay_report::run::Reproducer::Minimised { command, .. } =
        &mut record.findings[0].reproducer
    {
        command.push_str(EVIL);
    }
    let text = xml(&record);
    let found = cases(&text);
    assert_eq!(found.len(), 7, "no element was added: {text}");
    let document = roxmltree::Document::parse(&text).expect("well-formed");
    let failure = document.descendants().filter(|n| n.has_tag_name("failure")).nth(1);
    let inside = failure.and_then(|node| node.text()).unwrap_or_default();
    assert!(inside.contains("]]></failure>\"'><script>&\\u{0}"), "{inside}");
    let text = sarif(&record).expect("text is no reason to refuse");
    let log: Value = serde_json::from_str(&text).expect("SARIF is JSON");
    let message = &log["runs"][0]["results"][0]["message"]["text"];
    assert!(message.as_str().is_some_and(|m| m.contains("<script>&\\u{0}")), "{message}");
    let text = step_summary(&record).expect("text is no reason to refuse");
    // Between its fences a command may say what it likes.
    let outside: Vec<&str> = text.split("```").step_by(2).collect();
    assert!(outside.len() > 1 && outside.iter().all(|part| !part.contains("<script>")), "{text}");
    assert!(!text.contains(['\u{1b}', '\u{0}', '\u{202e}']));
}

#[test]
fn a_summary_stays_below_what_github_takes() {
    let mut record = example();
    let huge = "日`|".repeat(50_000);
    record.sut = huge.clone();
    record.findings[0].what_happened = huge.clone();
    record.findings[0].next_action = huge.clone();
    let mut scenario = record.scenarios[0].clone();
    scenario.name = huge;
    for i in 0..300 {
        let id = format!("S1{i}x");
        scenario.id = id.clone();
        scenario.arms[0].id = id;
        record.scenarios.push(scenario.clone());
    }
    let mut finding = record.findings[0].clone();
    for i in 0..100 {
        finding.id = format!("F1{i}x");
        record.findings.push(finding.clone());
    }
    let text = step_summary(&record).unwrap_or_else(|refusals| panic!("{:#?}", refusals.0));
    assert!(text.len() < 1 << 20, "{} bytes", text.len());
    assert!(text.contains("further rows are in the report") && text.contains("further findings"));
}
