//! Records that belong together say so on both sides: A15, A18 to A20.

use super::{Lint, links};
use crate::kind::Kind;
use crate::markdown::{Document, Field, Heading};
use crate::record::{Id, Record, Records, ids, resolve};

pub fn check(lint: &mut Lint<'_>) {
    let records = lint.records;
    for record in &records.all {
        superseded(lint, record);
        supersedes(lint, record);
        match record.id.kind {
            Kind::Adr => {}
            Kind::Gap => answered(lint, record),
            Kind::Deviation => deviates(lint, record),
            Kind::Supplement => supplements(lint, record),
        }
    }
}

/// The records that a field names.
fn named(field: Option<&Field>) -> Vec<Id> {
    field.map_or(Vec::new(), |field| ids(&field.value).into_iter().map(|(_, id)| id).collect())
}

/// The records that links in a document lead to, with where each link stands.
pub fn linked<'r>(
    records: &'r Records,
    path: &str,
    document: &Document,
) -> Vec<(usize, &'r Record)> {
    let target = |target: &str| records.by_path(&resolve(path, &links::parts(target)?.0)?);
    let found = document.links.iter().map(|link| (link.at, target(&link.target)));
    found.filter_map(|(at, record)| Some((at, record?))).collect()
}

fn is_superseded(lint: &Lint<'_>, record: &Record) -> bool {
    record.status(lint.config).as_deref() == Some("Superseded")
}

fn superseded(lint: &mut Lint<'_>, record: &Record) {
    if !is_superseded(lint, record) {
        return;
    }
    let line = record.status_line();
    let by = named(record.field("Status"));
    if by.is_empty() {
        let message = "is superseded, and does not say by what".to_string();
        lint.at("A15", record, line, message);
    }
    for id in by {
        if id == record.id {
            let message = format!("{} supersedes itself", record.label());
            lint.at("A15", record, line, message);
            continue;
        }
        let Some(other) = lint.records.by_id(id) else { continue };
        if !named(other.field("Supersedes")).contains(&record.id) {
            let message = format!(
                "is superseded by {}, which has no field \"Supersedes: {}\"",
                other.label(),
                record.label()
            );
            lint.at("A15", record, line, message);
        }
    }
}

fn supersedes(lint: &mut Lint<'_>, record: &Record) {
    let Some(field) = record.field("Supersedes") else { return };
    for id in named(Some(field)) {
        let Some(other) = lint.records.by_id(id) else { continue };
        let knows = named(other.field("Status")).contains(&record.id);
        if !is_superseded(lint, other) || !knows {
            let message = format!(
                "supersedes {}, whose status is not \"Superseded by {}\"",
                other.label(),
                record.label()
            );
            lint.at("A15", record, field.line, message);
        }
    }
}

fn answered(lint: &mut Lint<'_>, record: &Record) {
    let status = record.status(lint.config).unwrap_or_default();
    let kinds: &[Kind] = match status.as_str() {
        "ADR-Drafted" => &[Kind::Adr],
        "Closed" => &[Kind::Adr, Kind::Deviation],
        _ => return,
    };
    let links = linked(lint.records, &record.path, &record.document);
    if !links.iter().any(|(_, other)| kinds.contains(&other.id.kind)) {
        let what = if kinds.len() == 1 { "an ADR" } else { "an ADR or a deviation" };
        let message = format!("is {status} and links neither answer nor reason: {what}");
        lint.at("A18", record, record.status_line(), message);
    }
}

/// Letters and digits only, so that emphasis, breaks and quotation marks make no difference.
fn squeezed(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// What a document says, without its marks.
fn said(document: &Document) -> String {
    let mut pieces: Vec<(usize, &str)> = document
        .texts
        .iter()
        .chain(&document.codes)
        .map(|piece| (piece.at, piece.text.as_str()))
        .collect();
    pieces.sort();
    pieces.into_iter().map(|(_, text)| squeezed(text)).collect()
}

fn deviates(lint: &mut Lint<'_>, record: &Record) {
    let document = &record.document;
    let inside = |section: &Heading, at: usize| section.body.contains(&at);
    let Some(section) = document.section("Related ADR") else { return };
    let links = linked(lint.records, &record.path, document);
    let related: Vec<&Record> = links
        .into_iter()
        .filter(|(at, other)| inside(section, *at) && other.id.kind == Kind::Adr)
        .map(|(_, other)| other)
        .collect();
    if related.is_empty() {
        let message = "Related ADR links no ADR".to_string();
        lint.at("A19", record, section.line, message);
    }
    let Some(section) = document.section("ADR States") else { return };
    let quotes: Vec<_> = document.quotes.iter().filter(|quote| inside(section, quote.at)).collect();
    if quotes.iter().all(|quote| squeezed(&quote.text).is_empty()) {
        let message = "ADR States quotes nothing; begin the words of the ADR with >".to_string();
        return lint.at("A19", record, section.line, message);
    }
    let said: Vec<String> = related.iter().map(|other| said(&other.document)).collect();
    for quote in quotes.into_iter().filter(|_| !said.is_empty()) {
        let words = squeezed(&quote.text);
        if !said.iter().any(|said| said.contains(&words)) {
            let labels: Vec<String> = related.iter().map(|other| other.label()).collect();
            let message = format!("{} does not say so in these words", labels.join(", "));
            lint.at("A19", record, quote.line, message);
        }
    }
}

fn supplements(lint: &mut Lint<'_>, record: &Record) {
    let status = record.status(lint.config).unwrap_or_default();
    let open = record.document.boxes.iter().find(|task| !task.ticked);
    if let Some(task) = open.filter(|_| status == "Done") {
        let message = "is Done, and this box is not ticked".to_string();
        lint.at("A20", record, task.line, message);
    }
    let Some(field) = record.field("Parent") else { return };
    let parents: Vec<Id> =
        named(Some(field)).into_iter().filter(|id| id.kind == Kind::Adr).collect();
    let [id] = parents[..] else {
        let message = "Parent names no ADR, or more than one".to_string();
        return lint.at("A20", record, field.line, message);
    };
    let Some(parent) = lint.records.by_id(id) else { return };
    let start = format!("{}-", parent.name_without_end());
    if !record.name_without_end().starts_with(&start) {
        let message = format!("the name of the file does not begin with {start}");
        lint.at("A20", record, 1, message);
    }
    let links = linked(lint.records, &parent.path, &parent.document);
    if !links.iter().any(|(_, other)| other.path == record.path) {
        let message = format!("{} does not link it", parent.label());
        lint.at("A20", record, field.line, message);
    }
}
