//! What every record of a kind has to have: A05, A06, A08 to A10, A17, A24.

use super::Lint;
use crate::kind::Kind;
use crate::record::Record;

pub fn check(lint: &mut Lint<'_>) {
    let records = lint.records;
    for record in &records.all {
        fields(lint, record);
        status(lint, record);
        sections(lint, record);
        match record.id.kind {
            Kind::Gap => impact(lint, record),
            Kind::Adr => log(lint, record),
            _ => {}
        }
    }
}

/// Whether a text is a day as in 2026-11-17.
pub fn is_day(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let [year, month, day] = parts[..] else { return false };
    let digits =
        |text: &str, count| text.len() == count && text.bytes().all(|b| b.is_ascii_digit());
    if !digits(year, 4) || !digits(month, 2) || !digits(day, 2) {
        return false;
    }
    let number = |text: &str| text.parse::<u32>().unwrap_or(0);
    let (year, month, day) = (number(year), number(month), number(day));
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 => 28 + u32::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    };
    (1..=days).contains(&day)
}

fn fields(lint: &mut Lint<'_>, record: &Record) {
    let kind = record.id.kind;
    let line = record.document.title().map_or(1, |title| title.line);
    for name in lint.config.fields(kind) {
        match record.field(&name) {
            None => lint.at("A05", record, line, format!("has no field \"{name}\"")),
            Some(field) if is_blank(&field.value) => {
                let message = format!("the field \"{name}\" is empty");
                lint.at("A05", record, field.line, message);
            }
            Some(field) if name == kind.shape().dated && !is_day(&field.value) => {
                let message = format!("{name} is \"{}\", not a day: 2026-11-17", field.value);
                lint.at("A05", record, field.line, message);
            }
            Some(_) => {}
        }
    }
}

/// Empty, or what a template leaves to be filled in.
fn is_blank(value: &str) -> bool {
    let value = value.trim();
    value.is_empty() || value.starts_with("<!--")
}

fn status(lint: &mut Lint<'_>, record: &Record) {
    let Some(status) = record.status(lint.config).filter(|status| !is_blank(status)) else {
        return;
    };
    let known = lint.config.statuses(record.id.kind);
    if !known.contains(&status) {
        let message = format!("\"{status}\" is no status; there are {}", known.join(", "));
        lint.at("A06", record, record.status_line(), message);
    }
}

fn sections(lint: &mut Lint<'_>, record: &Record) {
    let document = &record.document;
    let end = document.sections().last().map_or(1, |section| section.line);
    let mut present: Vec<(usize, String)> = Vec::new();
    for name in lint.config.sections(record.id.kind) {
        let Some(section) = document.section(&name) else {
            lint.at("A08", record, end, format!("has no section \"{name}\""));
            continue;
        };
        if !document.has_content(&section.body) {
            let message = format!("the section \"{name}\" is empty");
            lint.at("A10", record, section.line, message);
        }
        present.push((section.line, name));
    }
    let lines: Vec<usize> = present.iter().map(|(line, _)| *line).collect();
    for at in out_of_order(&lines) {
        let (line, name) = &present[at];
        let place = match at.checked_sub(1).map(|before| &present[before].1) {
            Some(before) => format!("after \"{before}\""),
            None => "before all others".to_string(),
        };
        lint.at("A09", record, *line, format!("\"{name}\" belongs {place}"));
    }
}

/// The places of those that have to move so that the rest ascends: all but a longest ascending
/// row.
fn out_of_order(lines: &[usize]) -> Vec<usize> {
    // The longest row that ends at each place, and who comes before in it.
    let mut best: Vec<(usize, Option<usize>)> = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let before = (0..at).filter(|before| lines[*before] < *line);
        let before = before.max_by_key(|before| (best[*before].0, std::cmp::Reverse(*before)));
        best.push((before.map_or(1, |before| best[before].0 + 1), before));
    }
    let mut kept = (0..lines.len()).max_by_key(|at| (best[*at].0, std::cmp::Reverse(*at)));
    let mut moved: Vec<usize> = (0..lines.len()).collect();
    while let Some(at) = kept {
        moved.retain(|other| *other != at);
        kept = best[at].1;
    }
    moved
}

const SEVERITIES: [&str; 4] = ["Low", "Medium", "High", "Critical"];
const FREQUENCIES: [&str; 3] = ["Rare", "Occasional", "Common"];

fn impact(lint: &mut Lint<'_>, record: &Record) {
    let Some(section) = record.document.section("Impact") else { return };
    let mut fields = record.document.fields(&record.text, section.body.clone());
    fields.extend(record.fields.iter().cloned());
    for (name, legal) in [("Severity", &SEVERITIES[..]), ("Frequency", &FREQUENCIES[..])] {
        let values = legal.join(", ");
        match fields.iter().find(|field| field.name.eq_ignore_ascii_case(name)) {
            None => {
                let message = format!("Impact does not say its {name}: {values}");
                lint.at("A17", record, section.line, message);
            }
            Some(field) if !legal.contains(&field.value.trim()) => {
                let message = format!("{name} is \"{}\", not one of {values}", field.value);
                lint.at("A17", record, field.line, message);
            }
            Some(_) => {}
        }
    }
}

fn log(lint: &mut Lint<'_>, record: &Record) {
    let Some(section) = record.document.section("Decision Log") else { return };
    let inside = |at: usize| section.body.contains(&at);
    let mut last = String::new();
    let mut seen = false;
    for table in record.document.tables.iter().filter(|table| inside(table.range.start)) {
        for row in &table.rows {
            seen = true;
            let cell = |at: usize| row.cells.get(at).map_or("", |cell| cell.trim());
            let message = if !is_day(cell(0)) {
                format!("a row of the log begins with \"{}\", not with a day", cell(0))
            } else if cell(1).is_empty() || cell(2).is_empty() {
                "a row of the log lacks its decision or its rationale".to_string()
            } else if cell(0) < last.as_str() {
                format!("{} stands below {last}: the log goes from old to new", cell(0))
            } else {
                last = cell(0).to_string();
                continue;
            };
            lint.at("A24", record, row.line, message);
        }
    }
    if !seen && record.document.has_content(&section.body) {
        let message = "the log is no table of date, decision and rationale".to_string();
        lint.at("A24", record, section.line, message);
    }
}

#[cfg(test)]
mod tests {
    use super::{is_day, out_of_order};

    #[test]
    fn as_few_as_possible_are_out_of_order() {
        let cases: [(&[usize], &[usize]); 6] = [
            (&[], &[]),
            (&[1, 2, 3], &[]),
            (&[1, 9, 2, 3, 4], &[1]),
            (&[2, 3, 4, 1], &[3]),
            (&[2, 1], &[1]),
            (&[4, 5, 1, 2, 3], &[0, 1]),
        ];
        for (lines, expected) in cases {
            assert_eq!(out_of_order(lines), expected, "{lines:?}");
        }
    }

    #[test]
    fn days_are_those_of_the_calendar() {
        for day in ["2026-11-17", "2024-02-29", "2000-02-29"] {
            assert!(is_day(day), "{day}");
        }
        for day in ["2026-2-3", "2026-13-01", "2026-02-29", "1900-02-29", "17.11.2026", "", "a-b-c"]
        {
            assert!(!is_day(day), "{day}");
        }
    }
}
