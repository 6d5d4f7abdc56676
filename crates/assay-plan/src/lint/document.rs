//! Title, header, sections, tables, placeholders.

use super::Lint;
use crate::place::{Span, Text};
use crate::rules::codes;
use crate::section::{SECTIONS, SectionKind, TABLES, TableKind};
use crate::words::{Mode, Status, nearest};
use std::collections::BTreeSet;

/// Section 0 may have this many lines.
pub const SUMMARY_LINES_MAX: usize = 30;

pub(super) fn check(lint: &mut Lint<'_>) {
    title(lint);
    header(lint);
    sections(lint);
    tables(lint);
    placeholders(lint);
    let summary = lint.plan.section(SectionKind::Architecture);
    if let Some(section) = summary.filter(|_| lint.plan.summary_lines > SUMMARY_LINES_MAX) {
        let lines = lint.plan.summary_lines;
        let message = format!("{lines} lines, at most {SUMMARY_LINES_MAX} are allowed");
        lint.add(codes::SUMMARY_LENGTH, section.heading.span, message);
    }
    let scope = lint.plan.section(SectionKind::Scope);
    if let (Mode::ProjectWide, Some(scope)) = (lint.plan.mode(), scope) {
        let text = scope.body.of(&lint.plan.source).to_lowercase();
        if !text.contains("out of scope") && !text.contains("out-of-scope") {
            let message = "nothing is out of scope, so everything would be in it";
            lint.add(codes::OUT_OF_SCOPE, scope.heading.span, message);
        }
    }
}

fn title(lint: &mut Lint<'_>) {
    let Some(slug) = &lint.plan.slug else {
        let first = lint.plan.source.lines().next().map_or(0, str::len);
        lint.add(codes::TITLE, Span::new(0, first), "there is no `# Test Plan: SLUG`");
        return;
    };
    if let Some(why) = slug_fault(&slug.text) {
        lint.add(codes::SLUG, slug.span, format!("`{}` {why}", crate::time::show(&slug.text)));
    }
}

/// Why a slug says nothing.
fn slug_fault(slug: &str) -> Option<&'static str> {
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if !slug.chars().all(allowed) {
        return Some("is not made of lower-case words joined by dashes");
    }
    const EMPTY: [&str; 9] =
        ["plan", "test", "tests", "testing", "draft", "new", "the", "tmp", "v"];
    let says = |word: &&str| {
        let word = word.trim_end_matches(|c: char| c.is_ascii_digit());
        !word.is_empty() && !EMPTY.contains(&word)
    };
    (slug.split('-').filter(says).count() == 0).then_some("does not say what is tested")
}

fn header(lint: &mut Lint<'_>) {
    let plan = lint.plan;
    let header = &plan.header;
    let place = plan.slug.as_ref().map_or(Span::new(0, 0), |slug| slug.span);
    let text = |value: &Option<Text>| value.as_ref().map(|text| text.is_blank());
    for (label, blank) in [
        ("Date", text(&header.date)),
        ("Plan mode", header.mode.as_ref().map(|mode| mode.text.is_blank())),
        ("SUT", text(&header.sut)),
        ("Change under test", text(&header.change)),
        ("Plan author", text(&header.author)),
        ("Status", header.status.as_ref().map(|status| status.text.is_blank())),
    ] {
        if blank != Some(false) {
            let found = lint.add(codes::HEADER_MISSING, place, format!("`{label}` is missing"));
            found.help = Some(format!("add `- **{label}:** …` below the title"));
        }
    }
    let is_template = |text: &Text| text.text.contains('{');
    if let Some(date) = header.date.as_ref().filter(|d| !d.is_blank() && !is_template(d))
        && !is_date(&date.text)
    {
        let message = format!("`{}` is no date YYYY-MM-DD", crate::time::show(&date.text));
        lint.add(codes::HEADER_VALUE, date.span, message);
    }
    let words = [
        header.mode.as_ref().map(|w| (&w.text, w.value.is_some(), Mode::list())),
        header.status.as_ref().map(|w| (&w.text, w.value.is_some(), Status::list())),
    ];
    for (text, known, list) in words.into_iter().flatten() {
        if !known && !text.is_blank() && !is_template(text) {
            let near = nearest(&text.text, list.iter().copied());
            let message =
                format!("`{}` is none of {}", crate::time::show(&text.text), list.join(", "));
            let help = near.map(|near| format!("did you mean `{near}`?"));
            lint.add(codes::HEADER_VALUE, text.span, message).help = help;
        }
    }
}

fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.trim().split('-').collect();
    let [year, month, day] = parts[..] else { return false };
    let digits =
        |part: &str, length| part.len() == length && part.bytes().all(|b| b.is_ascii_digit());
    let (Ok(month_number), Ok(day_number)) = (month.parse::<u32>(), day.parse::<u32>()) else {
        return false;
    };
    let long_enough = match month_number {
        2 => day_number <= 29,
        4 | 6 | 9 | 11 => day_number <= 30,
        _ => day_number <= 31,
    };
    let shape = digits(year, 4) && digits(month, 2) && digits(day, 2);
    shape && (1..=12).contains(&month_number) && day_number >= 1 && long_enough
}

fn sections(lint: &mut Lint<'_>) {
    let plan = lint.plan;
    let mut seen: BTreeSet<SectionKind> = BTreeSet::new();
    let mut highest: Option<SectionKind> = None;
    for section in &plan.sections {
        if !seen.insert(section.kind) {
            let first = plan.section(section.kind).map(|first| first.heading.span);
            let message = format!("section {} is there already", section.kind.number());
            let found = lint.add(codes::SECTION_TWICE, section.heading.span, message);
            found.also = first.map(|span| (span, "the first one is here".to_string()));
            continue;
        }
        if let Some(before) = highest.filter(|highest| *highest > section.kind) {
            let (number, other) = (section.kind.number(), before.number());
            let message = format!("section {number} stands after section {other}");
            lint.add(codes::SECTION_ORDER, section.heading.span, message);
        }
        highest = highest.max(Some(section.kind));
        empty(lint, section);
    }
    let end = Span::new(plan.source.trim_end().len(), plan.source.trim_end().len());
    for (kind, ..) in SECTIONS {
        if !seen.contains(&kind) && kind.is_required(plan.mode()) {
            // Where it should stand: before the next section that is there.
            let next = plan.sections.iter().find(|section| section.kind > kind);
            let place = next.map_or(end, |section| section.heading.span);
            let message = format!("`{}` is missing", kind.heading());
            lint.add(codes::SECTION_MISSING, place, message);
        }
    }
}

fn empty(lint: &mut Lint<'_>, section: &crate::plan::Section) {
    let stated = matches!(section.kind, SectionKind::Missing | SectionKind::Residual);
    let table = TABLES.iter().find(|(_, home, _)| *home == section.kind).map(|(kind, ..)| *kind);
    let rows = match section.kind {
        SectionKind::Missing => lint.plan.missing.len(),
        SectionKind::Residual => lint.plan.residual.len(),
        _ => 0,
    };
    let has_table = table.is_some_and(|kind| lint.plan.tables.contains_key(&kind));
    let silent = stated && rows == 0 && section.prose.trim().is_empty();
    if section.is_empty || silent {
        let message = match has_table {
            true => format!("section {} is a table without rows", section.kind.number()),
            false => format!("section {} is empty", section.kind.number()),
        };
        let found = lint.add(codes::SECTION_EMPTY, section.heading.span, message);
        if stated {
            found.help = Some("if there is nothing, write a sentence that says so".to_string());
        }
    }
}

fn tables(lint: &mut Lint<'_>) {
    let plan = lint.plan;
    let project_wide = plan.mode() == Mode::ProjectWide;
    let required = [
        (TableKind::Claims, true),
        (TableKind::Inventory, project_wide),
        (TableKind::Matrix, project_wide),
        (TableKind::Environment, true),
        (TableKind::Adequacy, true),
    ];
    for (kind, required) in required {
        let Some(section) = plan.section(kind.section()) else { continue };
        if required && !section.is_empty && !plan.tables.contains_key(&kind) {
            let message = format!("section {} has no table", kind.section().number());
            let found = lint.add(codes::TABLE_MISSING, section.heading.span, message);
            found.help = Some(format!("its columns are `{}`", kind.columns().join(" | ")));
        }
    }
    let claims = plan.section(SectionKind::Claims);
    if let (true, true, Some(section)) =
        (plan.claims.is_empty(), plan.tables.contains_key(&TableKind::Claims), claims)
    {
        lint.add(codes::TABLE_MISSING, section.heading.span, "there is no claim in the table");
    }
    let scenarios = plan.section(SectionKind::Scenarios);
    if let (true, Some(section)) = (plan.scenarios.is_empty(), scenarios)
        && !section.is_empty
    {
        let message = "there is no `### Scenario S1: name`";
        lint.add(codes::SECTION_EMPTY, section.heading.span, message);
    }
}

fn placeholders(lint: &mut Lint<'_>) {
    let plan = lint.plan;
    for span in &plan.placeholders {
        lint.add(codes::PLACEHOLDER, *span, "this is still to be written");
    }
    let arms = plan.scenarios.iter().flat_map(|scenario| &scenario.arms);
    for block in plan.scenarios.iter().chain(arms).filter_map(|s| s.block.as_ref()) {
        for (text, span) in &block.texts {
            let open = text.find('{');
            if open.is_some_and(|open| text[open..].find('}').is_some_and(|close| close > 1)) {
                lint.add(codes::PLACEHOLDER, *span, "this is still to be written");
            }
        }
    }
}
