//! Tables, each into its rows.

use crate::diagnostic::Diagnostic;
use crate::ids::{Id, references, whole_id};
use crate::markdown::{Block, Grid, Kind};
use crate::place::{Span, Text};
use crate::plan::{
    Adequacy, Aspect, Claim, MatrixRow, MissingClaim, PitfallAnswer, Plan, Requirement, Residual,
    Word,
};
use crate::rules::codes;
use crate::section::{SectionKind, TABLES, TableKind};
use crate::words::{Category, Confidence, Coverage, GapKind};

/// Reads the tables of a section.
pub(super) fn read(plan: &mut Plan, section: SectionKind, blocks: &[Block]) {
    for block in blocks {
        let Kind::Table(grid) = &block.kind else { continue };
        let Some(kind) = kind_of(section, grid) else { continue };
        if plan.tables.contains_key(&kind) {
            continue;
        }
        plan.tables.insert(kind, heads_span(grid, block.span));
        let order = columns(plan, kind, grid, block.span);
        for row in &grid.rows {
            let nothing = Text::new("", row.first().map_or(block.span, |cell| cell.span));
            let cell = |i: &Option<usize>| i.and_then(|i| row.get(i)).unwrap_or(&nothing).clone();
            let cells: Vec<Text> = order.iter().map(cell).collect();
            if cells.iter().all(|cell| cell.text.is_empty()) {
                continue;
            }
            empty_cells(plan, kind, &cells);
            keep(plan, kind, &cells);
        }
    }
}

fn heads_span(grid: &Grid, all: Span) -> Span {
    let last = grid.heads.last().map_or(all.end, |head| head.span.end);
    Span::new(all.start, last)
}

/// Which table this is: the one of the section with the most columns in common.
fn kind_of(section: SectionKind, grid: &Grid) -> Option<TableKind> {
    let known = TABLES.iter().filter(|(_, home, _)| *home == section);
    let common = |columns: &[&str]| {
        let there = |column: &&&str| grid.heads.iter().any(|head| same(&head.text, column));
        columns.iter().filter(there).count()
    };
    let ranked = known.map(|(kind, _, columns)| (common(columns), *kind));
    ranked.filter(|(count, _)| *count > 0).max_by_key(|(count, _)| *count).map(|(_, kind)| kind)
}

fn same(a: &str, b: &str) -> bool {
    a.trim().eq_ignore_ascii_case(b)
}

/// Where each column stands; missing and foreign ones are reported.
fn columns(plan: &mut Plan, kind: TableKind, grid: &Grid, span: Span) -> Vec<Option<usize>> {
    let wanted = kind.columns();
    let found: Vec<&str> = grid.heads.iter().map(|head| head.text.as_str()).collect();
    let exact = found.len() == wanted.len() && found.iter().zip(wanted).all(|(a, b)| same(a, b));
    if !exact {
        let message = format!("the columns are `{}`", found.join(" | "));
        let help = format!("the columns of this table are `{}`", wanted.join(" | "));
        let problem = Diagnostic::new(codes::TABLE_COLUMNS, heads_span(grid, span), message);
        plan.problems.push(problem.help(help));
    }
    let place = |column: &&str| found.iter().position(|head| same(head, column));
    wanted.iter().map(place).collect()
}

/// Columns in which nothing is an answer.
fn may_be_empty(kind: TableKind, column: usize) -> bool {
    matches!((kind, column), (TableKind::Matrix, 2 | 4 | 5) | (TableKind::Environment, 2))
}

fn empty_cells(plan: &mut Plan, kind: TableKind, cells: &[Text]) {
    for (i, cell) in cells.iter().enumerate() {
        if cell.text.trim().is_empty() && !may_be_empty(kind, i) {
            let message = format!("`{}` is empty", kind.columns()[i]);
            let span = if cell.span.start == cell.span.end { cells[0].span } else { cell.span };
            plan.problems.push(Diagnostic::new(codes::CELL_EMPTY, span, message));
        }
    }
}

/// The id of a row, or a complaint.
fn row_id(plan: &mut Plan, cell: &Text, letter: char) -> Option<Id> {
    let id = whole_id(&cell.text, letter);
    if id.is_none() && !cell.text.is_empty() {
        let shown = crate::time::show(&cell.text);
        let message = format!("`{shown}` is no id of the form {letter}1, {letter}2, …");
        plan.problems.push(Diagnostic::new(codes::ID_MALFORMED, cell.span, message));
    }
    id
}

fn word<T>(cell: &Text, named: fn(&str) -> Option<T>) -> Word<T> {
    Word { text: cell.clone(), value: named(&cell.text) }
}

fn keep(plan: &mut Plan, kind: TableKind, cells: &[Text]) {
    let refs = |plan: &Plan, cell: &Text, letter| references(&plan.source, cell.span, letter);
    match (kind, cells) {
        (TableKind::Claims, [id, claim, category, from, inferred]) => {
            let Some(known) = row_id(plan, id, 'C') else { return };
            plan.claims.push(Claim {
                id: known,
                span: id.span,
                claim: claim.clone(),
                category: word(category, Category::named),
                source: from.clone(),
                inferred: inferred.clone(),
            });
        }
        (TableKind::Missing, [id, behaviour, ..]) => {
            let Some(known) = row_id(plan, id, 'M') else { return };
            let behaviour = behaviour.clone();
            plan.missing.push(MissingClaim { id: known, span: id.span, behaviour });
        }
        (TableKind::Pitfalls, [number, _, answer, outcome]) => plan.pitfalls.push(PitfallAnswer {
            number: number.text.trim().parse().ok(),
            span: number.span,
            answer: answer.clone(),
            outcome: outcome.clone(),
        }),
        (TableKind::Matrix, [claim, hypothesis, existing, coverage, gap, scenario]) => {
            let row = MatrixRow {
                claim: refs(plan, claim, 'C').into_iter().next(),
                hypothesis: refs(plan, hypothesis, 'H').into_iter().next(),
                existing: existing.clone(),
                coverage: word(coverage, Coverage::named),
                gap: word(gap, GapKind::named),
                scenario: scenario.clone(),
            };
            plan.matrix.push(row);
        }
        (TableKind::Environment, [requirement, floor, used_by, hint]) => {
            let row = Requirement {
                requirement: requirement.clone(),
                floor: floor.clone(),
                used_by: refs(plan, used_by, 'S'),
                hint: hint.clone(),
            };
            plan.environment.push(row);
        }
        _ => keep_argument(plan, kind, cells),
    }
}

fn keep_argument(plan: &mut Plan, kind: TableKind, cells: &[Text]) {
    let refs = |cell: &Text, letter| references(&plan.source, cell.span, letter);
    match (kind, cells) {
        (TableKind::Adequacy, [claim, threats, scenarios, why]) => {
            let row = Adequacy {
                claims: refs(claim, 'C'),
                threats: threats.clone(),
                scenarios: scenarios.clone(),
                exercised_by: refs(scenarios, 'S'),
                why: why.clone(),
            };
            plan.adequacy.push(row);
        }
        (TableKind::Residual, [uncertainty, why_uncovered, why_acceptable, revisit_when]) => {
            plan.residual.push(Residual {
                uncertainty: uncertainty.clone(),
                why_uncovered: why_uncovered.clone(),
                why_acceptable: why_acceptable.clone(),
                revisit_when: revisit_when.clone(),
            });
        }
        (TableKind::Aspects, [claim, aspect, confidence, reason]) => {
            let row = Aspect {
                claims: refs(claim, 'C'),
                aspect: aspect.clone(),
                confidence: word(confidence, Confidence::named),
                reason: reason.clone(),
            };
            plan.aspects.push(row);
        }
        _ => {}
    }
}
