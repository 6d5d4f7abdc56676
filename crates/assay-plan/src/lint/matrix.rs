//! The coverage matrix, techniques and environment.

use super::{Lint, listed};
use crate::catalogue::TECHNIQUES;
use crate::field::Field;
use crate::ids::references;
use crate::plan::MatrixRow;
use crate::rules::codes;
use crate::section::{SectionKind, TableKind};
use crate::words::{Coverage, GapKind, Mode, nearest};
use std::collections::BTreeSet;

/// From here on the matrix is split: claims, hypotheses.
pub const SPLIT_AT: (usize, usize) = (50, 100);

pub(super) fn check(lint: &mut Lint<'_>) {
    matrix(lint);
    techniques(lint);
    for row in &lint.plan.environment {
        lint.resolve(&row.used_by);
        if row.used_by.is_empty() {
            let what = crate::time::show(&row.requirement.text);
            let message = format!("no scenario needs `{what}`");
            lint.add(codes::REQUIREMENT_UNUSED, row.requirement.span, message);
        }
    }
}

fn matrix(lint: &mut Lint<'_>) {
    let plan = lint.plan;
    let Some(table) = plan.tables.get(&TableKind::Matrix) else { return };
    let large = plan.claims.len() >= SPLIT_AT.0 || plan.hypotheses.len() >= SPLIT_AT.1;
    if large && !plan.tables.contains_key(&TableKind::Rollup) {
        let (claims, hypotheses) = (plan.claims.len(), plan.hypotheses.len());
        let message = format!("{claims} claims and {hypotheses} hypotheses in one table");
        lint.add(codes::MATRIX_SPLIT, *table, message);
    }
    let mut before: Option<u32> = None;
    let mut sorted = true;
    for row in &plan.matrix {
        matrix_row(lint, row);
        let Some(weight) = weight(lint, row) else { continue };
        if let (true, Some(last)) = (sorted, before.filter(|last| *last < weight)) {
            sorted = false;
            let message = format!("this row weighs {weight}, the one above {last}");
            lint.add(codes::MATRIX_ORDER, row.coverage.text.span, message);
        }
        before = Some(weight);
    }
    let rows: BTreeSet<(u32, u32)> = plan
        .matrix
        .iter()
        .filter_map(|row| Some((row.claim.as_ref()?.id.number, row.hypothesis.as_ref()?.id.number)))
        .collect();
    for hypothesis in &plan.hypotheses {
        for claim in &hypothesis.falsifies {
            if !rows.contains(&(claim.id.number, hypothesis.id.number)) {
                let message = format!("no row for {} and {}", claim.id, hypothesis.id);
                let found = lint.add(codes::MATRIX_ROW, *table, message);
                found.also = Some((hypothesis.span, "the hypothesis is here".to_string()));
            }
        }
    }
}

/// How bad the gap of a row is: severity of the claim times size of the gap.
fn weight(lint: &Lint<'_>, row: &MatrixRow) -> Option<u32> {
    let claim = lint.claims.get(&row.claim.as_ref()?.id.number)?;
    Some(claim.category.value?.severity() * row.coverage.value?.gap())
}

fn matrix_row(lint: &mut Lint<'_>, row: &MatrixRow) {
    let source = &lint.plan.source;
    let scenarios = references(source, row.scenario.span, 'S');
    lint.resolve(&scenarios);
    for reference in row.claim.iter().chain(&row.hypothesis) {
        lint.resolve(std::slice::from_ref(reference));
    }
    for (text, known, list) in [
        (&row.coverage.text, row.coverage.value.is_some(), Coverage::list()),
        (&row.gap.text, row.gap.value.is_some() || row.gap.text.is_blank(), GapKind::list()),
    ] {
        if !known {
            let message =
                format!("`{}` is none of {}", crate::time::show(&text.text), listed(&list));
            let near = nearest(&text.text, list.iter().copied());
            let help = near.map(|near| format!("did you mean `{near}`?"));
            lint.add(codes::MATRIX_VALUE, text.span, message).help = help;
        }
    }
    let Some(coverage) = row.coverage.value else { return };
    let covered = coverage == Coverage::Covered;
    let gap = !row.gap.text.is_blank();
    let message = match (covered, gap, scenarios.is_empty()) {
        (true, false, true) | (false, true, false) => return,
        (true, ..) => "covered, and yet a gap or a scenario is named",
        (false, false, _) => "not fully covered, but no gap kind is named",
        (false, true, true) => "a gap, but no scenario closes it",
    };
    lint.add(codes::MATRIX_GAP, row.coverage.text.span, message);
}

fn techniques(lint: &mut Lint<'_>) {
    let plan = lint.plan;
    let Some(section) = plan.section(SectionKind::Techniques) else { return };
    let names = || TECHNIQUES.iter().map(|technique| technique.name);
    for technique in &plan.techniques {
        let reference = technique.reference.as_ref();
        let entry = reference.map(|text| catalogue_name(&text.text)).unwrap_or_default();
        if !names().any(|name| name == entry) {
            let message = match reference {
                Some(_) => format!("`{}` is not in the catalogue", crate::time::show(&entry)),
                None => format!("`{}` has no reference", crate::time::show(&technique.name.text)),
            };
            let span = reference.map_or(technique.name.span, |text| text.span);
            let help = match nearest(&entry, names()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!(
                    "add `- **Reference:** …`, one of {}",
                    names().collect::<Vec<_>>().join(", ")
                ),
            };
            lint.add(codes::TECHNIQUE_UNKNOWN, span, message).help = Some(help);
        }
        for (label, there) in [
            ("Hypotheses", !technique.addresses.is_empty()),
            ("Catches what others miss", technique.catches.as_ref().is_some_and(|t| !t.is_blank())),
            ("Cost", technique.cost.as_ref().is_some_and(|t| !t.is_blank())),
        ] {
            if !there {
                let name = crate::time::show(&technique.name.text);
                let message = format!("`{name}` does not say `{label}`");
                lint.add(codes::TECHNIQUE_FIELD, technique.name.span, message);
            }
        }
    }
    let count = plan.techniques.len();
    let wanted = match plan.mode() {
        Mode::ChangeScoped => 2..=4,
        Mode::ProjectWide => 5..=7,
    };
    if !wanted.contains(&count) && !section.is_empty {
        let (low, high) = wanted.into_inner();
        let message = format!("{count} techniques; {low} to {high} are usual for this mode");
        lint.add(codes::TECHNIQUE_COUNT, section.heading.span, message);
    }
    selected(lint);
}

/// `references/jepsen-and-elle.md` is `jepsen-and-elle`.
fn catalogue_name(text: &str) -> String {
    let name = text.trim().trim_matches(['`', '[', ']']);
    let name = name.rsplit('/').next().unwrap_or(name);
    name.trim_end_matches(".md").to_lowercase()
}

fn selected(lint: &mut Lint<'_>) {
    let plan = lint.plan;
    let known: BTreeSet<String> = plan
        .techniques
        .iter()
        .flat_map(|technique| {
            let reference = technique.reference.as_ref().map(|text| catalogue_name(&text.text));
            [Some(technique.name.text.trim().to_lowercase()), reference]
        })
        .flatten()
        .collect();
    for scenario in &plan.scenarios {
        let Some(text) = scenario.field(Field::Technique) else { continue };
        let name = text.text.split(['(', '—', ',', '+', '.']).next().unwrap_or("");
        let name = catalogue_name(name);
        if !known.contains(&name) && !known.contains(&catalogue_name(&text.text)) {
            let message = format!("`{}` is not selected in section 6", crate::time::show(&name));
            let near = nearest(&name, known.iter().map(String::as_str));
            let help = near.map(|near| format!("did you mean `{near}`?"));
            lint.add(codes::TECHNIQUE_UNSELECTED, text.span, message).help = help;
        }
    }
}
