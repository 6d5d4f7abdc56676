//! Findings for programs: JSON, SARIF 2.1.0, and annotations of GitHub workflows.

use crate::commands::plan::Linted;
use assay_plan::rules::RULES;
use assay_plan::{Diagnostic, Severity, Span};
use serde_json::{Value, json};

fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    }
}

/// Where a span begins and ends, as lines and columns from 1.
fn region(linted: &Linted, span: Span) -> [(&'static str, usize); 4] {
    let plan = &linted.plan;
    [
        ("startLine", plan.line(span.start)),
        ("startColumn", plan.column(span.start)),
        ("endLine", plan.line(span.end)),
        ("endColumn", plan.column(span.end)),
    ]
}

fn object(pairs: impl IntoIterator<Item = (&'static str, usize)>) -> Value {
    pairs.into_iter().map(|(name, value)| (name.to_string(), json!(value))).collect()
}

/// One file's findings as one JSON object.
pub fn json(linted: &Linted) -> Value {
    let (errors, warnings) = assay_plan::count(&linted.found);
    let finding = |diagnostic: &Diagnostic| {
        let mut value = json!({
            "code": diagnostic.code,
            "severity": severity(diagnostic.severity()),
            "title": diagnostic.code.rule().title,
            "message": diagnostic.message,
            "help": diagnostic.help.as_deref().unwrap_or(diagnostic.code.rule().fix),
            "span": diagnostic.span,
            "region": object(region(linted, diagnostic.span)),
        });
        if let Some((span, why)) = &diagnostic.also {
            value["also"] = json!({"message": why, "region": object(region(linted, *span))});
        }
        value
    };
    json!({
        "file": linted.path.display().to_string(),
        "errors": errors,
        "warnings": warnings,
        "findings": linted.found.iter().map(finding).collect::<Vec<_>>(),
    })
}

/// All files' findings as one SARIF log.
pub fn sarif(all: &[Linted]) -> Value {
    let rules: Vec<Value> = RULES
        .iter()
        .map(|rule| {
            json!({
                "id": rule.code,
                "shortDescription": {"text": rule.title},
                "fullDescription": {"text": rule.what},
                "help": {"text": rule.page()},
                "defaultConfiguration": {"level": severity(rule.severity)},
            })
        })
        .collect();
    let results: Vec<Value> = all
        .iter()
        .flat_map(|linted| linted.found.iter().map(move |diagnostic| result(linted, diagnostic)))
        .collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "assay plan lint",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            }},
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

fn result(linted: &Linted, diagnostic: &Diagnostic) -> Value {
    let help = diagnostic.help.as_ref().map_or(String::new(), |help| format!(" ({help})"));
    json!({
        "ruleId": diagnostic.code,
        "ruleIndex": diagnostic.code.0 - 1,
        "level": severity(diagnostic.severity()),
        "message": {"text": format!("{}{help}", diagnostic.message)},
        "locations": [{"physicalLocation": {
            "artifactLocation": {"uri": uri(&linted.path)},
            "region": object(region(linted, diagnostic.span)),
        }}],
    })
}

/// A path as a URI reference: separators stay, everything that is not plain is escaped.
fn uri(path: &std::path::Path) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    let text = path.to_string_lossy().replace('\\', "/");
    let escape = |byte: u8| match plain(byte) {
        true => (byte as char).to_string(),
        false => format!("%{byte:02X}"),
    };
    text.bytes().map(escape).collect()
}

/// Prints findings as workflow commands: `::error file=…,line=…::message`.
pub fn github(linted: &Linted) {
    for diagnostic in &linted.found {
        let [(_, line), (_, column), (_, end_line), (_, end_column)] =
            region(linted, diagnostic.span);
        let help = diagnostic.help.as_deref().unwrap_or(diagnostic.code.rule().fix);
        anstream::println!(
            "::{} file={},line={line},col={column},endLine={end_line},endColumn={end_column},\
             title={}::{}",
            severity(diagnostic.severity()),
            property(&linted.path.display().to_string()),
            property(&format!("{} {}", diagnostic.code, diagnostic.code.rule().title)),
            data(&format!("{}\nhelp: {help}", diagnostic.message)),
        );
    }
}

/// Escapes a message.
fn data(text: &str) -> String {
    let text = text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    super::plan::visible(&text)
}

/// Escapes a property, in which separators mean something.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
