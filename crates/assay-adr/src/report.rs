//! Findings for people, for programs, for code scanning and as annotations.

use crate::config::Level;
use crate::finding::{Outcome, Report};
use crate::kind::Kind;
use crate::rules::{RULES, find};
use serde_json::{Value, json};
use std::fmt::Write;

/// How many records of which kinds, in words.
fn counted(report: &Report) -> String {
    let names = ["decision", "gap", "deviation", "supplement"];
    let counts = Kind::ALL.iter().map(|kind| report.count(*kind)).zip(names);
    let parts: Vec<String> = counts
        .filter(|(count, _)| *count > 0)
        .map(|(count, name)| format!("{count} {name}{}", if count == 1 { "" } else { "s" }))
        .collect();
    match parts.is_empty() {
        true => "no record".to_string(),
        false => parts.join(", "),
    }
}

/// For people.
pub fn text(report: &Report) -> String {
    let broken = report.findings.len();
    let answer = match report.outcome() {
        Outcome::Clean => "nothing is wrong".to_string(),
        Outcome::Nothing => "nothing was checked".to_string(),
        _ if broken == 1 => "1 finding".to_string(),
        _ => format!("{broken} findings"),
    };
    let mut out = format!("{answer}: {}\n", counted(report));
    for rated in &report.findings {
        let level = if rated.level == Level::Warn { "warning: " } else { "" };
        let finding = &rated.finding;
        let _ = writeln!(
            out,
            "\n{}:{}: {level}[{}]\n    {}",
            visible(&finding.path),
            finding.line,
            finding.rule,
            visible(&finding.message)
        );
        if let Some(rule) = find(finding.rule) {
            let _ = writeln!(out, "    fix: {}", rule.fix);
        }
    }
    match report.outcome() {
        Outcome::Clean => {}
        Outcome::Nothing => out.push_str("next: assay adr new adr \"What was decided\"\n"),
        _ => {
            let first = report.findings.first().map_or("A01", |rated| rated.finding.rule);
            let _ = writeln!(out, "\nnext: assay explain {first} says why");
        }
    }
    out
}

/// Text without what could move the cursor of a terminal.
fn visible(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

/// For programs.
pub fn json(report: &Report) -> Value {
    let counts: serde_json::Map<String, Value> = Kind::ALL
        .iter()
        .map(|kind| (kind.name().to_string(), json!(report.count(*kind))))
        .collect();
    let findings: Vec<Value> = report
        .findings
        .iter()
        .map(|rated| {
            json!({
                "rule": rated.finding.rule,
                "level": rated.level,
                "path": rated.finding.path,
                "line": rated.finding.line,
                "message": rated.finding.message,
                "fix": find(rated.finding.rule).map(|rule| rule.fix),
            })
        })
        .collect();
    json!({"records": counts, "findings": findings})
}

/// A path as a URI reference.
fn uri(path: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    let shown = |byte: u8| match plain(byte) {
        true => (byte as char).to_string(),
        false => format!("%{byte:02X}"),
    };
    path.bytes().map(shown).collect()
}

/// SARIF 2.1.0, for code scanning.
pub fn sarif(report: &Report) -> Value {
    let rules: Vec<Value> = RULES
        .iter()
        .map(|rule| {
            json!({
                "id": rule.id,
                "shortDescription": {"text": rule.title},
                "fullDescription": {"text": rule.why},
                "help": {"text": rule.fix},
            })
        })
        .collect();
    let results: Vec<Value> = report
        .findings
        .iter()
        .map(|rated| {
            json!({
                "ruleId": rated.finding.rule,
                "level": if rated.level == Level::Warn { "warning" } else { "error" },
                "message": {"text": rated.finding.message},
                "locations": [{"physicalLocation": {
                    "artifactLocation": {"uri": uri(&rated.finding.path)},
                    "region": {"startLine": rated.finding.line},
                }}],
            })
        })
        .collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "assay adr lint",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            }},
            "results": results,
        }],
    })
}

/// Annotations of a GitHub workflow.
pub fn github(report: &Report) -> String {
    let data = |text: &str| text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    let property = |text: &str| data(text).replace(':', "%3A").replace(',', "%2C");
    let mut out = String::new();
    for rated in &report.findings {
        let level = if rated.level == Level::Warn { "warning" } else { "error" };
        let finding = &rated.finding;
        let title = find(finding.rule).map_or("", |rule| rule.title);
        let _ = writeln!(
            out,
            "::{level} file={},line={},title={}::{}",
            property(&finding.path),
            finding.line,
            property(&format!("{} {title}", finding.rule)),
            data(&finding.message)
        );
    }
    out
}
