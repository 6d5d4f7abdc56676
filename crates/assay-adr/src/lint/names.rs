//! Names of files, titles and numbers: A01 to A04.

use super::Lint;
use crate::kind::Kind;
use crate::record::Record;

pub fn check(lint: &mut Lint<'_>) {
    let records = lint.records;
    for (path, kind) in &records.strangers {
        let digits = lint.config.digits(records.digits());
        let number = "N".repeat(digits);
        let message = format!("is no name of a {kind}: {number}-title-in-small-letters.md");
        lint.add("A01", path, 1, message);
    }
    let digits = lint.config.digits(records.digits());
    for record in &records.all {
        if record.name.digits != digits {
            let own = record.name.digits;
            let message = format!("the number has {own} digits, records here have {digits}");
            lint.at("A01", record, 1, message);
        }
        title(lint, record);
    }
    for kind in Kind::ALL.into_iter().filter(|kind| *kind != Kind::Supplement) {
        numbers(lint, kind);
    }
}

fn title(lint: &mut Lint<'_>, record: &Record) {
    let kind = record.id.kind;
    let width = record.name.digits;
    let wanted = format!("{}{:0width$}: ", kind.title_prefix(), record.id.number);
    let short = format!("{:width$}: ", record.id);
    let Some(title) = record.document.title() else {
        let message = format!("has no title; it begins with `# {wanted}…`");
        return lint.at("A02", record, 1, message);
    };
    let line = title.line;
    let rest = [&wanted, &short].into_iter().find_map(|start| title.text.strip_prefix(start));
    match rest {
        Some(rest) if !rest.trim().is_empty() => {}
        _ => {
            let message = format!("the title is \"{}\", not \"{wanted}…\"", title.text.trim());
            lint.at("A02", record, line, message);
        }
    }
}

/// The most missing numbers that are named one by one.
const MISSING_MAX: usize = 20;

fn numbers(lint: &mut Lint<'_>, kind: Kind) {
    let records = lint.records;
    let mut last: Option<&Record> = None;
    let mut named = 0;
    for record in records.of(kind) {
        let before = last.map_or(0, |last| last.id.number);
        if let Some(last) = last.filter(|last| last.id == record.id) {
            let message = format!("{} is also {}", record.label(), last.path);
            lint.at("A03", record, 1, message);
        } else if record.id.number > before + 1 && named < MISSING_MAX {
            named += 1;
            let width = record.name.digits;
            let (first, end) = (before + 1, record.id.number - 1);
            let prefix = kind.shape().prefix;
            let missing = match first == end {
                true => format!("{prefix}{first:0width$} is"),
                false => format!("{prefix}{first:0width$} to {prefix}{end:0width$} are"),
            };
            lint.at("A04", record, 1, format!("{missing} missing before {}", record.label()));
        }
        last = Some(record);
    }
}
