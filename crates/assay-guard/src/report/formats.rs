//! Text, annotations, Markdown and SARIF.

use super::{Outcome, Report, Reported, Status};
use crate::finding::{Place, Verdict};
use crate::rules::{RULES, find};
use serde_json::{Value, json};
use std::fmt::Write;

fn headline(report: &Report) -> String {
    let open = report.open().count();
    let approved =
        report.findings.iter().filter(|r| matches!(r.status, Status::Approved { .. })).count();
    let weaker = report.open().filter(|r| r.finding.verdict == Verdict::Weaker).count();
    let stronger = report.count(Verdict::Stronger);
    let answer = match report.outcome() {
        Outcome::Clean if approved > 0 => {
            format!("nothing weakened without approval ({approved} approved)")
        }
        Outcome::Clean => "nothing weakened".to_string(),
        Outcome::Unclear => format!("{open} to look at"),
        Outcome::Weakened => format!("{weaker} weakened, {} to look at", open - weaker),
    };
    format!(
        "{answer}; {stronger} stronger; {} files differ between {} and {}",
        report.files, report.base, report.head
    )
}

fn place(name: &str, place: Option<&Place>) -> String {
    match place {
        None => format!("    {name} nothing\n"),
        Some(place) => {
            let lines: Vec<&str> = place.snippet.lines().take(4).collect();
            let mut shown = format!("    {name} {place}\n");
            for line in lines {
                let _ = writeln!(shown, "        {}", line.trim_end());
            }
            shown
        }
    }
}

/// For people; what asks for more only if wanted.
pub fn text(report: &Report, all: bool) -> String {
    let mut out = format!("{}\n", headline(report));
    for reported in &report.findings {
        let finding = &reported.finding;
        if finding.verdict == Verdict::Stronger && !all {
            continue;
        }
        let approved = match &reported.status {
            Status::Approved { by, .. } => format!(" (approved by {by})"),
            _ => String::new(),
        };
        let _ = writeln!(
            out,
            "\n{} [{}] {}{approved}\n    {}",
            finding.verdict, finding.rule, finding.object, finding.reason
        );
        if !approved.is_empty() && !all {
            continue;
        }
        out.push_str(&place("was", finding.old.as_ref()));
        out.push_str(&place("is ", finding.new.as_ref()));
        match &reported.status {
            Status::Refused { record, why } => {
                let _ = writeln!(out, "    {record} {why}");
            }
            Status::Open => {
                let _ = writeln!(out, "    id  {}", reported.key);
            }
            Status::Approved { record, .. } => {
                let _ = writeln!(out, "    record {record}");
            }
        }
    }
    for record in &report.records {
        let _ = writeln!(out, "\nnote: {} {}", record.record, record.why);
    }
    for note in &report.notes {
        let _ = writeln!(out, "note: {note}");
    }
    if let Some(first) = report.open().next() {
        let _ = writeln!(
            out,
            "\nnext: restore what was weakened, or have a person decide:\n  assay guard approve {} \
             --by NAME --because \"why\" --quote \"what they said\" --source \"where\"",
            first.key
        );
    }
    out
}

/// What an annotation must not contain, escaped.
fn escaped(text: &str, property: bool) -> String {
    let mut out = text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    if property {
        out = out.replace(':', "%3A").replace(',', "%2C");
    }
    out
}

/// Annotations of a GitHub workflow.
pub fn github(report: &Report) -> String {
    let mut out = String::new();
    for reported in report.open() {
        let finding = &reported.finding;
        let level = if finding.verdict == Verdict::Weaker { "error" } else { "warning" };
        let place = match finding.place() {
            Some(place) => {
                format!(" file={},line={}", escaped(&place.file, true), place.line)
            }
            None => String::new(),
        };
        let title = format!("{} {}: {}", finding.verdict, finding.rule, finding.object);
        let message = format!("{} (approve as {})", finding.reason, reported.key);
        let _ = writeln!(
            out,
            "::{level}{place},title={}::{}",
            escaped(&title, true),
            escaped(&message, false)
        );
    }
    out
}

fn cell(text: &str) -> String {
    let first = text.split_whitespace().collect::<Vec<_>>().join(" ");
    first.replace('|', "\\|").replace('<', "&lt;")
}

/// For a comment or the summary of a job.
pub fn markdown(report: &Report) -> String {
    let mut out = format!("## assay guard\n\n{}\n", cell(&headline(report)));
    if report.findings.is_empty() {
        return out;
    }
    out.push_str("\n| verdict | rule | object | why | was | is | status |\n");
    out.push_str("|---|---|---|---|---|---|---|\n");
    for reported in &report.findings {
        let finding = &reported.finding;
        let shown = |place: &Option<Place>| place.as_ref().map_or("–".into(), ToString::to_string);
        let status = match &reported.status {
            Status::Open if finding.verdict == Verdict::Stronger => String::new(),
            Status::Open => format!("`{}`", reported.key),
            Status::Approved { by, .. } => format!("approved by {}", cell(by)),
            Status::Refused { why, .. } => format!("refused: {}", cell(why)),
        };
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} | {status} |",
            finding.verdict,
            finding.rule,
            cell(&finding.object),
            cell(&finding.reason),
            cell(&shown(&finding.old)),
            cell(&shown(&finding.new))
        );
    }
    out
}

fn result(reported: &Reported) -> Value {
    let finding = &reported.finding;
    let level = match finding.verdict {
        Verdict::Weaker => "error",
        Verdict::Suspect | Verdict::Changed => "warning",
        Verdict::Stronger => "note",
    };
    let location = |place: &Place| {
        json!({"physicalLocation": {
            "artifactLocation": {"uri": place.file.replace(' ', "%20")},
            "region": {"startLine": place.line}
        }})
    };
    let locations: Vec<Value> = finding.place().map(location).into_iter().collect();
    let mut value = json!({
        "ruleId": finding.rule.0,
        "level": level,
        "message": {"text": format!("{}: {}", finding.object, finding.reason)},
        "locations": locations,
        "partialFingerprints": {"assayGuard/v1": reported.key},
        "properties": {
            "verdict": finding.verdict,
            "object": finding.object,
            "oldHash": finding.old_hash,
            "newHash": finding.new_hash
        }
    });
    if let Status::Approved { by, .. } = &reported.status {
        value["suppressions"] =
            json!([{"kind": "external", "justification": format!("approved by {by}")}]);
    }
    value
}

/// SARIF 2.1.0, for code scanning.
pub fn sarif(report: &Report) -> Value {
    let used: Vec<&str> = report.findings.iter().map(|r| r.finding.rule.0).collect();
    let rules: Vec<Value> = RULES
        .iter()
        .filter(|rule| used.contains(&rule.id.0))
        .filter_map(|rule| find(rule.id.0))
        .map(|rule| {
            json!({
                "id": rule.id.0,
                "shortDescription": {"text": rule.title},
                "fullDescription": {"text": rule.why}
            })
        })
        .collect();
    let results: Vec<Value> = report.findings.iter().map(result).collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "assay guard",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules
            }},
            "results": results
        }]
    })
}
