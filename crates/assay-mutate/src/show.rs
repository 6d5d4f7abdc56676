//! A kill matrix as text: actions by properties, and what nothing noticed.

use crate::campaign::{Matrix, Outcome, Row};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Mutants that are listed one by one.
const LISTED_MAX: usize = 12;

/// Of each action: mutants tried, and how many each property noticed, in the order of properties.
pub type Cells<'m> = Vec<(&'m str, usize, Vec<usize>)>;

/// The matrix by actions.
pub fn cells(matrix: &Matrix) -> Cells<'_> {
    let mut by_action: BTreeMap<&str, Vec<&Row>> = BTreeMap::new();
    for row in explored(matrix) {
        by_action.entry(&row.mutant.action).or_default().push(row);
    }
    by_action
        .into_iter()
        .map(|(action, rows)| {
            let noticed = |name: &String| {
                rows.iter().filter(|row| row.killed_by().contains(name.as_str())).count()
            };
            (action, rows.len(), matrix.properties.iter().map(noticed).collect())
        })
        .collect()
}

/// The rows that count.
pub fn explored(matrix: &Matrix) -> impl Iterator<Item = &Row> {
    matrix.rows.iter().filter(|row| matches!(row.outcome, Outcome::Explored(_)))
}

/// The matrix for people.
pub fn text(matrix: &Matrix, all: bool) -> String {
    let mut text = String::new();
    let count = explored(matrix).count();
    let _ = writeln!(
        text,
        "{} with {}: {count} of {} mutants explored by {}; {} states",
        matrix.module,
        matrix.configuration,
        matrix.mutants_total,
        matrix.engine,
        matrix.base.distinct
    );
    let _ = writeln!(
        text,
        "limits of each: {}{} s, {} MiB\n",
        matrix.limits.states.map_or(String::new(), |most| format!("{most} states, ")),
        matrix.limits.time.as_secs(),
        matrix.limits.memory_mib
    );
    table(matrix, &mut text);
    let survivors: Vec<&Row> = explored(matrix).filter(|row| row.survived()).collect();
    listed("noticed by nothing", &survivors, all, &mut text);
    let so_far: Vec<&Row> = explored(matrix).filter(|row| row.is_unnoticed_so_far()).collect();
    listed("noticed by nothing among as many states as the limit", &so_far, all, &mut text);
    let open: Vec<&Row> = matrix.rows.iter().filter(|row| row.is_undecided()).collect();
    listed("not explored to the end", &open, all, &mut text);
    let malformed: Vec<&Row> =
        matrix.rows.iter().filter(|row| matches!(row.outcome, Outcome::Malformed { .. })).collect();
    listed("not well formed, left out", &malformed, all, &mut text);
    if all {
        for row in explored(matrix).filter(|row| !row.killed_by().is_empty()) {
            let by: Vec<&str> = row.killed_by().into_iter().collect();
            let _ = writeln!(text, "{}  noticed by {}", row.mutant.id, by.join(", "));
            change(row, &mut text);
        }
    }
    text
}

fn table(matrix: &Matrix, text: &mut String) {
    let width = |name: &str| name.chars().count();
    let cells = cells(matrix);
    let longest = cells.iter().map(|(action, ..)| width(action)).max().unwrap_or(0).max(7);
    for (at, property) in matrix.properties.iter().enumerate() {
        let total: usize = cells.iter().map(|(.., noticed)| noticed[at]).sum();
        let _ = writeln!(text, "  {:>3}  {property} notices {total}", column(at));
    }
    let _ = write!(text, "\n  {:<longest$}  mutants", "action");
    for at in 0..matrix.properties.len() {
        let _ = write!(text, " {:>4}", column(at));
    }
    text.push('\n');
    for (action, tried, noticed) in &cells {
        let _ = write!(text, "  {action:<longest$}  {tried:>7}");
        for count in noticed {
            let shown = if *count == 0 { ".".to_string() } else { count.to_string() };
            let _ = write!(text, " {shown:>4}");
        }
        text.push('\n');
    }
    text.push('\n');
}

/// `a`, `b`, … as heads of columns.
fn column(at: usize) -> String {
    let letter = char::from(b'a' + u8::try_from(at % 26).unwrap_or_default());
    match at / 26 {
        0 => letter.to_string(),
        more => format!("{letter}{more}"),
    }
}

fn listed(title: &str, rows: &[&Row], all: bool, text: &mut String) {
    if rows.is_empty() {
        return;
    }
    let _ = writeln!(text, "{title}: {}", rows.len());
    let shown = if all { rows.len() } else { LISTED_MAX };
    for row in rows.iter().take(shown) {
        let why = match &row.outcome {
            Outcome::Malformed { why } => why.clone(),
            Outcome::Explored(answer) => answer.stopped.clone().unwrap_or_default(),
        };
        let _ = writeln!(text, "  {}  {why}", row.mutant.id);
        change(row, text);
    }
    if rows.len() > shown {
        let _ = writeln!(text, "  and {} more (--all)", rows.len() - shown);
    }
    text.push('\n');
}

fn change(row: &Row, text: &mut String) {
    let _ = writeln!(text, "    line {}: - {}", row.mutant.line, row.mutant.was);
    let _ = writeln!(text, "    line {}: + {}", row.mutant.line, row.mutant.becomes);
}
