//! SARIF 2.1.0: one result per finding, and one per scenario that says too little.

use super::super::cells;
use super::super::judged::{Judged, JudgedScenario};
use super::super::record::{Finding, Reproducer};
use super::text;
use assay_verdict::{Family, RunVerdict, Verdict};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

pub(super) fn document(judged: &Judged, lines: &BTreeMap<String, u32>) -> String {
    let record = judged.record;
    let mut results: Vec<Value> = Vec::new();
    for scenario in &judged.scenarios {
        let place = location(judged, scenario, lines);
        let findings = record.findings.iter().filter(|f| f.scenario == scenario.scenario.id);
        results.extend(findings.map(|one| finding(scenario, one, &place)));
        let told = match scenario.is_canary() {
            true => scenario.as_expected(),
            false => matches!(scenario.verdict.family(), Family::Pass | Family::Fail),
        };
        if !told {
            results.push(open(scenario, &place));
        }
    }
    let rules: Vec<Value> = Verdict::ALL.iter().map(|verdict| rule(*verdict)).collect();
    let driver = json!({
        "name": "assay",
        "version": env!("CARGO_PKG_VERSION"),
        "rules": rules,
    });
    let verdict = judged.verdict;
    let document = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": driver },
            "invocations": [{
                "executionSuccessful": verdict != RunVerdict::Blocked,
                "exitCode": verdict.exit().code(),
                "exitCodeDescription": format!("{verdict}: {}", verdict.meaning()),
            }],
            "properties": {
                "verdict": verdict.name(),
                "sut": text(&record.sut),
                "commit": text(&record.commit),
                "directory": text(&record.directory),
                "operator": text(&record.operator),
            },
            "results": results,
        }],
    });
    let mut out = serde_json::to_string_pretty(&document).expect("a value is JSON");
    out.push('\n');
    out
}

fn level(verdict: Verdict) -> &'static str {
    match verdict.family() {
        Family::Fail => "error",
        Family::Pass => "none",
        Family::Partial | Family::Inconclusive | Family::NotRun => "warning",
    }
}

fn rule(verdict: Verdict) -> Value {
    json!({
        "id": verdict.name(),
        "shortDescription": { "text": verdict.meaning() },
        "help": { "text": verdict.advice() },
        "defaultConfiguration": { "level": level(verdict) },
    })
}

fn rule_index(verdict: Verdict) -> usize {
    Verdict::ALL.iter().position(|known| *known == verdict).expect("ALL holds all verdicts")
}

fn location(judged: &Judged, of: &JudgedScenario, lines: &BTreeMap<String, u32>) -> Value {
    let id = &of.scenario.id;
    let mut physical = json!({ "artifactLocation": { "uri": uri(&judged.record.plan) } });
    if let Some(line) = lines.get(id).filter(|line| **line > 0) {
        physical["region"] = json!({ "startLine": line });
    }
    json!({
        "physicalLocation": physical,
        "logicalLocations": [{ "name": id, "fullyQualifiedName": id, "kind": "scenario" }],
    })
}

fn finding(of: &JudgedScenario, finding: &Finding, place: &Value) -> Value {
    let verdict = of.verdict;
    // A finding of a scenario that did not fail is worth telling, and no error; one of a canary
    // was planted.
    let level = match verdict.family() {
        _ if of.is_canary() => "note",
        Family::Fail => "error",
        _ => "warning",
    };
    let command = match &finding.reproducer {
        Reproducer::Minimised { command, .. } => Some(text(command)),
        Reproducer::NotMinimised { command, .. } => command.as_deref().map(text),
    };
    let id = format!("{}/{}/{}", finding.scenario, finding.hypothesis, finding.id);
    let tags: Vec<&str> = finding.tags.iter().map(|tag| tag.name()).collect();
    let evidence: Vec<String> = finding.evidence.iter().map(|line| text(line)).collect();
    json!({
        "ruleId": verdict.name(),
        "ruleIndex": rule_index(verdict),
        "level": level,
        "message": { "text": format!("{}: {}", finding.id, text(&finding.what_happened)) },
        "locations": [place],
        "partialFingerprints": { "assayFinding/v1": id },
        "properties": {
            "claims": of.scenario.claims,
            "hypothesis": finding.hypothesis,
            "blame": finding.blame.map(|blame| blame.name()),
            "class": finding.class.map(|class| class.name()),
            "severity": finding.severity.map(|severity| severity.name()),
            "labels": tags,
            "reproducer": command,
            "evidence": evidence,
            "rootCause": text(&finding.root_cause),
            "nextAction": text(&finding.next_action),
        },
    })
}

fn open(of: &JudgedScenario, place: &Value) -> Value {
    let verdict = of.verdict;
    let message = format!("{}: {}{}", of.scenario.id, text(&of.sentence), cells::canary(of));
    json!({
        "ruleId": verdict.name(),
        "ruleIndex": rule_index(verdict),
        "level": "warning",
        "kind": "fail",
        "message": { "text": message },
        "locations": [place],
        "partialFingerprints": { "assayScenario/v1": of.scenario.id },
        "properties": { "claims": of.scenario.claims },
    })
}

/// A path as a relative reference: what is not plain is written in hexadecimal.
fn uri(path: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    let mut out = String::new();
    for byte in text(path).replace('\\', "/").bytes() {
        if plain(byte) {
            out.push(char::from(byte));
        } else {
            out += &format!("%{byte:02X}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_references() {
        assert_eq!(uri("my plans/1.md"), "my%20plans/1.md");
        assert_eq!(uri("a\\b:ü"), "a/b%3A%C3%BC");
    }
}
