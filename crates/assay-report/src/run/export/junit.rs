//! JUnit XML: one test case per arm, and one for the run.

use super::super::cells;
use super::super::judged::{Judged, JudgedArm, JudgedScenario};
use super::super::record::{Finding, Reproducer};
use super::text;
use assay_verdict::{Family, RunVerdict, Verdict};
use std::fmt::Write;

/// What a program that reads JUnit makes of a verdict.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Case {
    Passed,
    Failure,
    Error,
    Skipped,
}

/// Only a pass is a pass. What ran and says too little is an error, what did not run is skipped.
fn case(verdict: Verdict) -> Case {
    match verdict.family() {
        Family::Pass => Case::Passed,
        Family::Fail => Case::Failure,
        Family::Partial => Case::Error,
        Family::Inconclusive if verdict == Verdict::InconclusiveEnv => Case::Skipped,
        Family::Inconclusive => Case::Error,
        Family::NotRun => Case::Skipped,
    }
}

/// In a canary it is the other way around: the planted defect has to be found, and a pass says
/// that the oracle is blind.
fn arm_case(scenario: &JudgedScenario, arm: &JudgedArm) -> Case {
    match case(arm.judgement.verdict) {
        Case::Failure if scenario.is_canary() => Case::Passed,
        Case::Passed if scenario.is_canary() => Case::Error,
        case => case,
    }
}

/// Many programs show a suite as green of which all tests were skipped. The run itself never is
/// skipped, so a run that shows nothing is not green.
fn run_case(verdict: RunVerdict) -> Case {
    match verdict {
        RunVerdict::Done => Case::Passed,
        RunVerdict::Fail => Case::Failure,
        RunVerdict::Blocked | RunVerdict::Inconclusive | RunVerdict::DoneWithConcerns => {
            Case::Error
        }
    }
}

pub(super) fn document(judged: &Judged) -> String {
    let record = judged.record;
    let mut cases: Vec<Case> = vec![run_case(judged.verdict)];
    for scenario in &judged.scenarios {
        cases.extend(scenario.arms.iter().map(|arm| arm_case(scenario, arm)));
    }
    let count = |wanted: Case| cases.iter().filter(|case| **case == wanted).count();
    let counts = format!(
        "tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\"",
        cases.len(),
        count(Case::Failure),
        count(Case::Error),
        count(Case::Skipped)
    );
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    put(&mut out, format_args!("<testsuites name=\"assay\" {counts}>\n"));
    let sut = attribute(&record.sut);
    put(&mut out, format_args!("<testsuite name=\"{sut}\" {counts}>\n<properties>\n"));
    let exit = judged.verdict.exit().code().to_string();
    for (name, value) in [
        ("verdict", judged.verdict.name()),
        ("exit", &exit),
        ("plan", &record.plan),
        ("commit", &record.commit),
        ("directory", &record.directory),
        ("operator", &record.operator),
    ] {
        let value = attribute(value);
        put(&mut out, format_args!("<property name=\"{name}\" value=\"{value}\"/>\n"));
    }
    out.push_str("</properties>\n");
    run(&mut out, judged);
    for scenario in &judged.scenarios {
        scenario.arms.iter().for_each(|one| arm(&mut out, judged, scenario, one));
    }
    out + "</testsuite>\n</testsuites>\n"
}

fn run(out: &mut String, judged: &Judged) {
    let name = judged.verdict.name();
    let meaning = judged.verdict.meaning();
    put(out, format_args!("<testcase classname=\"run\" name=\"the run\" time=\"0\">\n"));
    element(out, run_case(judged.verdict), name, &format!("{name}: {meaning}."), "");
    out.push_str("</testcase>\n");
}

fn arm(out: &mut String, judged: &Judged, scenario: &JudgedScenario, one: &JudgedArm) {
    let record = scenario.scenario;
    let place = cells::place(&record.id, &one.arm.id);
    let name = attribute(&format!("{place}: {}", record.name));
    let ms = one.arm.size.duration_ms;
    let time = format!("{}.{:03}", ms / 1_000, ms % 1_000);
    let class = attribute(&record.id);
    put(out, format_args!("<testcase classname=\"{class}\" name=\"{name}\" time=\"{time}\">\n"));
    let findings = judged.record.findings.iter().filter(|f| f.scenario == record.id);
    let body: Vec<String> = findings.map(finding).collect();
    let verdict = one.judgement.verdict;
    let sentence = format!("{}{}", one.judgement.sentence, cells::canary(scenario));
    element(out, arm_case(scenario, one), verdict.name(), &sentence, &body.join("\n"));
    let seeds: Vec<String> = one.arm.seeds.iter().map(u64::to_string).collect();
    let evidence = format!(
        "verdict: {verdict}{}\noracle: {}\noracle evidence: {}\nlanding evidence: {}\ntier: {}\n\
         seeds: {}",
        cells::canary(scenario),
        one.arm.oracle,
        cells::oracle_cell(&one.facts),
        cells::landing_cell(&one.facts),
        cells::tier(&one.facts),
        cells::list(&seeds)
    );
    put(out, format_args!("<system-out>{}</system-out>\n</testcase>\n", escaped(&text(&evidence))));
}

fn finding(finding: &Finding) -> String {
    let command = match &finding.reproducer {
        Reproducer::Minimised { command, .. } => Some(command),
        Reproducer::NotMinimised { command, .. } => command.as_ref(),
    };
    let command = command.map_or("none", String::as_str);
    let blame = finding.blame.map_or("none", |blame| blame.name());
    format!("{}: {}\nblame: {blame}\nreproducer: {command}", finding.id, finding.what_happened)
}

fn element(out: &mut String, case: Case, kind: &str, message: &str, body: &str) {
    let (message, body) = (attribute(message), escaped(&text(body)));
    match case {
        Case::Passed => {}
        Case::Skipped => put(out, format_args!("<skipped message=\"{message}\"/>\n")),
        Case::Failure | Case::Error => {
            let tag = if case == Case::Failure { "failure" } else { "error" };
            put(out, format_args!("<{tag} type=\"{kind}\" message=\"{message}\">{body}</{tag}>\n"));
        }
    }
}

fn put(out: &mut String, what: std::fmt::Arguments<'_>) {
    out.write_fmt(what).expect("strings grow");
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            _ => out.push(c),
        }
    }
    out
}

/// For an attribute: line breaks stay line breaks only as references.
fn attribute(value: &str) -> String {
    escaped(&text(value)).replace('\n', "&#10;").replace('\t', "&#9;")
}
