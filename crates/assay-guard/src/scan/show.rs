//! The matrix for people, and for a document.

use super::matrix::{Matrix, Row, Site};
use std::fmt::Write;

/// What can be missing: the rule and what it is about.
pub const HOLES: [(&str, &str); 10] = [
    ("I01", "an operator with an id that no registry declares"),
    ("I02", "the document it refers to is not there, or does not lay it down"),
    ("I03", "no operator in a TLA+ module"),
    ("I04", "no configuration checks its operator"),
    ("I05", "no model has it as a property"),
    ("I06", "it is checked nowhere in production, or in debug builds only"),
    ("I07", "no test names it or its registry"),
    ("I08", "nobody writes its counters"),
    ("I09", "an id that is declared twice"),
    ("I10", "a document lays it down and no registry declares it"),
];

/// The cells of a row: heading, name, places.
fn cells(row: &Row) -> [(&'static str, &str, &[Site]); 9] {
    [
        ("document", "", &row.documents),
        ("operator", &row.operator, &row.specified),
        ("cfg", "", &row.configured),
        ("registry", &row.registry, &row.declared),
        ("model", "", &row.modelled),
        ("simulation", "", &row.simulated),
        ("check", "", &row.checked),
        ("test", "", &row.tested),
        ("metric", &row.metric, &row.exported),
    ]
}

fn places(name: &str, sites: &[Site]) -> String {
    let first = sites.first().map(|site| format!("{}:{}", site.file, site.line));
    let more = match sites.len() {
        0 | 1 => String::new(),
        count => format!(" and {} more", count - 1),
    };
    match (name, first) {
        ("", None) => "-".to_string(),
        (name, None) => format!("{name} -"),
        ("", Some(first)) => format!("{first}{more}"),
        (name, Some(first)) => format!("{name} {first}{more}"),
    }
}

fn summary(matrix: &Matrix) -> String {
    let count = |count: usize, one: &str| match count {
        1 => format!("1 {one}"),
        count => format!("{count} {one}s"),
    };
    let (rows, holes) = (matrix.rows.len(), matrix.holes.len());
    format!("{}, {}", count(rows, "invariant"), count(holes, "hole"))
}

/// For the terminal.
pub fn text(matrix: &Matrix) -> String {
    if matrix.rows.is_empty() {
        return format!(
            "no invariants are declared in {} files\nnext: declare one with \
             assay_invariant::invariants!, see docs/guides/invariants.md\n",
            matrix.files
        );
    }
    // Writing to a string cannot fail.
    let mut text = format!("{}; {} files were read\n", summary(matrix), matrix.files);
    for row in &matrix.rows {
        let kind = if row.kind.is_empty() { "not declared" } else { &row.kind };
        _ = writeln!(text, "\n{}  {kind}  {}", row.id, row.says);
        for (heading, name, sites) in cells(row) {
            _ = writeln!(text, "    {heading:<11}{}", places(name, sites));
        }
    }
    if !matrix.holes.is_empty() {
        text.push('\n');
    }
    for hole in &matrix.holes {
        let (file, line) = (&hole.site.file, hole.site.line);
        _ = writeln!(text, "{file}:{line}: [{}] {}: {}", hole.rule, hole.id, hole.text);
    }
    text
}

/// A table and a list.
pub fn markdown(matrix: &Matrix) -> String {
    let mut text = format!("**{}**\n", summary(matrix));
    if matrix.rows.is_empty() {
        return text;
    }
    let headings = cells(&matrix.rows[0]).map(|(heading, ..)| heading);
    _ = writeln!(text, "\n| id | {} |", headings.join(" | "));
    _ = writeln!(text, "|---|{}", "---|".repeat(headings.len()));
    for row in &matrix.rows {
        let cells = cells(row).map(|(_, name, sites)| places(name, sites).replace('|', "\\|"));
        _ = writeln!(text, "| {} | {} |", row.id, cells.join(" | "));
    }
    if !matrix.holes.is_empty() {
        text.push('\n');
    }
    for hole in &matrix.holes {
        let (file, line) = (&hole.site.file, hole.site.line);
        _ = writeln!(text, "- `{file}:{line}` {} **{}**: {}", hole.rule, hole.id, hole.text);
    }
    text
}
