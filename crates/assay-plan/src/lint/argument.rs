//! Adequacy, residual uncertainty and confidence: 7b, 7c, 7d.

use super::Lint;
use crate::place::Span;
use crate::plan::Adequacy;
use crate::prose;
use crate::rules::codes;
use crate::section::SectionKind;
use crate::words::{Category, nearest};
use std::collections::BTreeSet;

pub(super) fn check(lint: &mut Lint<'_>) {
    adequacy(lint);
    confidence(lint);
    aspects(lint);
}

fn adequacy(lint: &mut Lint<'_>) {
    let plan = lint.plan;
    let mut argued = BTreeSet::new();
    let admitted = admitted(lint);
    for row in &plan.adequacy {
        lint.resolve(&row.claims);
        lint.resolve(&row.exercised_by);
        argued.extend(row.claims.iter().map(|claim| claim.id.number));
        threats(lint, row, &admitted);
    }
    if plan.section(SectionKind::Adequacy).is_none() {
        return;
    }
    for claim in &plan.claims {
        if !argued.contains(&claim.id.number) {
            let message = format!("{} has no row in section 7b", claim.id);
            lint.add(codes::ADEQUACY_ROW, claim.span, message);
        }
    }
}

/// The threats of a cell: `(a)`, `(b)`, or `T1`, `T2`.
fn letters(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices('(') {
        let rest = &text.as_bytes()[at + 1..];
        if let [letter @ b'a'..=b'z', b')', ..] = rest {
            found.push(format!("({})", *letter as char));
        }
    }
    let mut words = text.split(|c: char| !c.is_ascii_alphanumeric());
    let numbered = |word: &&str| {
        word.strip_prefix('T')
            .is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
    };
    found.extend(words.by_ref().filter(numbered).map(str::to_string));
    found
}

/// The threats that 7c admits to leave open: claim and letter.
fn admitted(lint: &Lint<'_>) -> BTreeSet<(u32, String)> {
    let mut admitted = BTreeSet::new();
    for row in &lint.plan.residual {
        let text = row.words();
        let claims = crate::ids::references(&text, Span::new(0, text.len()), 'C');
        for letter in letters(&text) {
            admitted.extend(claims.iter().map(|claim| (claim.id.number, letter.clone())));
        }
    }
    admitted
}

fn threats(lint: &mut Lint<'_>, row: &Adequacy, admitted: &BTreeSet<(u32, String)>) {
    let plan = lint.plan;
    let named = letters(&row.threats.text);
    let cited: BTreeSet<String> = letters(&row.scenarios.text).into_iter().collect();
    let is_admitted = |letter: &String| {
        row.claims.iter().any(|claim| admitted.contains(&(claim.id.number, letter.clone())))
    };
    if named.is_empty() && row.exercised_by.is_empty() {
        let message = "no threat has a letter and no scenario is named";
        lint.add(codes::THREAT_OPEN, row.threats.span, message);
    }
    for letter in named.iter().filter(|letter| !cited.contains(*letter)) {
        if !is_admitted(letter) {
            let message = format!("threat {letter} meets no scenario and is not in 7c");
            let span = row.threats.span.find(&plan.source, letter);
            lint.add(codes::THREAT_OPEN, span, message);
        }
    }
}

/// 7d has so many sentences.
pub const SENTENCES: std::ops::RangeInclusive<usize> = 4..=8;

fn confidence(lint: &mut Lint<'_>) {
    let plan = lint.plan;
    let Some(section) = plan.section(SectionKind::Confidence) else { return };
    let template = plan.confidence.iter().any(|paragraph| paragraph.text.contains('{'));
    for paragraph in &plan.confidence {
        if let Some((_, word)) = prose::absolutes(&paragraph.text).first() {
            let lower = paragraph.span.of(&plan.source).to_lowercase();
            let span = match lower.find(word) {
                Some(at) if lower.len() == paragraph.span.of(&plan.source).len() => {
                    let start = paragraph.span.start + at;
                    Span::new(start, start + word.len())
                }
                _ => paragraph.span,
            };
            let found =
                lint.add(codes::ABSOLUTE, span, format!("`{word}` is more than tests show"));
            found.help = Some("write `was not observed under …`".to_string());
        }
    }
    let count = plan.confidence.iter().map(|p| prose::sentences(&p.text)).sum();
    if !SENTENCES.contains(&count) && !section.is_empty && !template {
        let message = format!("{count} sentences; four to eight are wanted");
        lint.add(codes::SENTENCES, section.heading.span, message);
    }
    let by_surface = |category: Option<Category>| category.is_some_and(Category::has_surfaces);
    if plan.claims.iter().any(|claim| by_surface(claim.category.value)) && !template {
        let lower = section.prose.to_lowercase();
        let words = ["not-run", "not run", "partial-surface", "untested", "not tested"];
        let all = ["all surfaces", "every surface", "each surface"];
        if !words.iter().chain(&all).any(|word| lower.contains(word)) {
            let message = "no surface is named that stays untested";
            let found = lint.add(codes::UNTESTED_SURFACES, section.heading.span, message);
            found.help = Some("name them, or say that every surface is run".to_string());
        }
    }
}

fn aspects(lint: &mut Lint<'_>) {
    let plan = lint.plan;
    let mut given = BTreeSet::new();
    for row in &plan.aspects {
        lint.resolve(&row.claims);
        given.extend(row.claims.iter().map(|claim| claim.id.number));
        let word = &row.confidence.text;
        if row.confidence.value.is_none() && !word.text.contains('{') {
            let list = crate::words::Confidence::list();
            let near = nearest(&word.text, list.iter().copied());
            let message =
                format!("`{}` is none of high, moderate, low", crate::time::show(&word.text));
            let help = near.map(|near| format!("did you mean `{near}`?"));
            lint.add(codes::ASPECTS, word.span, message).help = help;
        }
    }
    let Some(section) = plan.section(SectionKind::Confidence) else { return };
    let lower = section.prose.to_lowercase();
    let all_high = lower.contains("every aspect is high") || lower.contains("all aspects are high");
    let with_arms = plan.scenarios.iter().filter(|scenario| !scenario.arms.is_empty());
    let wanted: BTreeSet<u32> =
        with_arms.flat_map(|s| s.falsifies.iter().map(|claim| claim.id.number)).collect();
    for claim in &plan.claims {
        let by_surface = claim.category.value.is_some_and(Category::has_surfaces);
        let number = claim.id.number;
        if by_surface && wanted.contains(&number) && !given.contains(&number) && !all_high {
            let message = format!("no aspect of {} has a confidence", claim.id);
            lint.add(codes::ASPECTS, section.heading.span, message);
        }
    }
}
