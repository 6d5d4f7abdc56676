//! Rows of the index.

use super::text::link;
use crate::config::Config;
use crate::kind::Kind;
use crate::markdown::Document;
use crate::record::{Files, Record};
use std::fmt::Write;

/// A text that stays in its cell of a table.
pub fn cell(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}

/// The row of a record in an index.
pub fn row(record: &Record, config: &Config, index: &str) -> String {
    let status = record.status(config).unwrap_or_default();
    let title = record.title.as_str();
    format!("| {} | {} | {} |", link(record, index), cell(title), cell(&status))
}

/// Adds a record to the indexes, and says there what it supersedes.
pub fn index(
    files: &Files,
    config: &Config,
    record: &Record,
    old: Option<&Record>,
    changed: &mut Files,
) {
    let kind = record.id.kind;
    let main = config.index();
    let own = format!("{}/README.md", config.home(kind));
    let mut paths = vec![main.clone()];
    if own != main && files.contains_key(&own) {
        paths.push(own);
    }
    for path in paths {
        let text = files.get(&path).map_or("# Decision records\n", String::as_str);
        let mut text = with_row(text, &row(record, config, &path), kind);
        if let Some(old) = old {
            let status = old.status(config).unwrap_or_default();
            let before = row(old, config, &path);
            let end = format!("| {} |", cell(&status));
            let after = before.strip_suffix(&end).map(|start| format!("{start}| Superseded |"));
            if let Some(after) = after {
                text = text.replacen(&before, &after, 1);
            }
        }
        changed.insert(path, text);
    }
}

/// An index with one more row, below the last one of its kind.
fn with_row(text: &str, row: &str, kind: Kind) -> String {
    let document = Document::read(text);
    let shape = kind.shape();
    let column = |head: &String| head.trim().eq_ignore_ascii_case(shape.column);
    let table = document.tables.iter().find(|table| table.head.first().is_some_and(column));
    let mut text = text.to_string();
    match table {
        Some(table) => {
            let end = text[..table.range.end].trim_end().len();
            text.insert_str(end, &format!("\n{row}"));
            if end + row.len() + 1 == text.len() {
                text.push('\n');
            }
        }
        None => {
            let kept = text.trim_end().len();
            text.truncate(kept);
            let head = format!("| {} | Title | Status |\n|---|---|---|", shape.column);
            let _ = write!(text, "\n\n## {}\n\n{head}\n{row}\n", shape.heading);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_added_below_the_last_of_its_kind() {
        let text = "# I\n\n| ADR | Title | Status |\n|---|---|---|\n| a | b | c |\n\nMore.\n";
        let expected =
            "# I\n\n| ADR | Title | Status |\n|---|---|---|\n| a | b | c |\n| d |\n\nMore.\n";
        assert_eq!(with_row(text, "| d |", Kind::Adr), expected);
        let made = with_row("# I\n", "| d |", Kind::Gap);
        assert_eq!(made, "# I\n\n## Gaps\n\n| Gap | Title | Status |\n|---|---|---|\n| d |\n");
        let again = with_row(&made, "| e |", Kind::Gap);
        assert!(again.ends_with("| d |\n| e |\n"), "{again}");
    }
}
