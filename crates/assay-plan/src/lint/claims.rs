//! Ids, references, claims, hypotheses and pitfalls.

use super::{Lint, listed};
use crate::catalogue::PITFALLS;
use crate::ids::{Id, references};
use crate::place::Span;
use crate::rules::codes;
use crate::section::{SectionKind, TableKind};
use crate::words::{Category, HypothesisKind, nearest};
use std::collections::BTreeSet;

pub(super) fn check(lint: &mut Lint<'_>) {
    ids(lint);
    let plan = lint.plan;
    for hypothesis in &plan.hypotheses {
        lint.resolve(&hypothesis.falsifies);
    }
    for technique in &plan.techniques {
        lint.resolve(&technique.addresses);
    }
    claims(lint);
    hypotheses(lint);
    kinds(lint);
    pitfalls(lint);
}

fn ids(lint: &mut Lint<'_>) {
    let plan = lint.plan;
    let families: [(&str, Vec<(&Id, Span)>); 4] = [
        ("claims", plan.claims.iter().map(|claim| (&claim.id, claim.span)).collect()),
        ("missing claims", plan.missing.iter().map(|m| (&m.id, m.span)).collect()),
        ("hypotheses", plan.hypotheses.iter().map(|h| (&h.id, h.span)).collect()),
        ("scenarios", plan.scenarios.iter().map(|s| (&s.id, s.span)).collect()),
    ];
    for (family, ids) in families {
        numbered(lint, family, &ids);
    }
    for scenario in &plan.scenarios {
        let mut seen = BTreeSet::new();
        for arm in &scenario.arms {
            if arm.id.number != scenario.id.number || !seen.insert(&arm.id) {
                let message = format!("{} is no new arm of {}", arm.id, scenario.id);
                lint.add(codes::ID_TWICE, arm.span, message);
            }
        }
    }
}

fn numbered(lint: &mut Lint<'_>, family: &str, ids: &[(&Id, Span)]) {
    let mut seen: std::collections::BTreeMap<&Id, Span> = Default::default();
    for (id, span) in ids {
        if let Some(first) = seen.get(id).copied() {
            let found = lint.add(codes::ID_TWICE, *span, format!("{id} is given twice"));
            found.also = Some((first, "the first one is here".to_string()));
        } else {
            seen.insert(id, *span);
        }
    }
    let mut expected = 1;
    for (id, span) in &seen {
        if id.number > expected {
            let missing = Id::new(id.letter, expected);
            let message = format!("{family} are not numbered through: {id}, but no {missing}");
            lint.add(codes::ID_GAP, *span, message);
        }
        expected = id.number.saturating_add(1);
    }
}

fn claims(lint: &mut Lint<'_>) {
    let plan = lint.plan;
    let falsified: BTreeSet<u32> = plan
        .scenarios
        .iter()
        .flat_map(|s| s.falsifies.iter().chain(s.arms.iter().flat_map(|arm| &arm.falsifies)))
        .map(|reference| reference.id.number)
        .collect();
    for claim in &plan.claims {
        let category = &claim.category;
        if category.value.is_none() && !category.text.text.is_empty() {
            let message = format!("`{}` is no category", crate::time::show(&category.text.text));
            let near = nearest(&category.text.text, Category::list());
            let help = match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("the categories are {}", listed(&Category::list())),
            };
            lint.add(codes::CATEGORY, category.text.span, message).help = Some(help);
        }
        inferred(lint, claim);
        if !falsified.contains(&claim.id.number) && !plan.scenarios.is_empty() {
            let message = format!("no scenario would falsify {}", claim.id);
            lint.add(codes::CLAIM_UNTESTED, claim.span, message);
        }
    }
}

fn inferred(lint: &mut Lint<'_>, claim: &crate::plan::Claim) {
    let answer = claim.inferred.text.trim().to_lowercase();
    let partial = answer
        .strip_prefix("partial")
        .is_some_and(|why| !why.trim_matches(|c: char| !c.is_alphanumeric()).is_empty());
    if !matches!(answer.as_str(), "yes" | "no" | "") && !partial {
        let message = format!("`{}` is no answer", crate::time::show(&claim.inferred.text));
        let found = lint.add(codes::INFERRED, claim.inferred.span, message);
        found.help = Some("yes, no, or `partial — why`".to_string());
    }
    let source = claim.source.text.to_lowercase();
    let from_code = source.contains("inferred") || source.trim_start().starts_with("code:");
    if from_code && answer == "no" {
        let message = format!("{} comes from code, but is not marked as inferred", claim.id);
        lint.add(codes::INFERRED_UNMARKED, claim.inferred.span, message);
    }
}

fn hypotheses(lint: &mut Lint<'_>) {
    let plan = lint.plan;
    let closed: BTreeSet<u32> = plan
        .scenarios
        .iter()
        .flat_map(|s| s.closes.iter().chain(s.arms.iter().flat_map(|arm| &arm.closes)))
        .map(|reference| reference.id.number)
        .collect();
    for hypothesis in &plan.hypotheses {
        let id = &hypothesis.id;
        if hypothesis.falsifies.is_empty() {
            let message = format!("{id} would falsify no claim");
            let found = lint.add(codes::HYPOTHESIS_CLAIM, hypothesis.span, message);
            found.help = Some("add `Could falsify: C…`, or drop it".to_string());
        }
        if !closed.contains(&id.number) {
            let message = format!("no scenario closes {id}");
            lint.add(codes::HYPOTHESIS_SCENARIO, hypothesis.span, message);
        }
        for (label, there) in [
            ("a title", !hypothesis.title.is_blank()),
            ("`Suspected because`", hypothesis.suspected.as_ref().is_some_and(|t| !t.is_blank())),
            ("`Subsystem`", hypothesis.subsystem.as_ref().is_some_and(|t| !t.is_blank())),
        ] {
            if !there {
                lint.add(codes::HYPOTHESIS_FIELD, hypothesis.span, format!("{id} lacks {label}"));
            }
        }
    }
}

fn kinds(lint: &mut Lint<'_>) {
    let plan = lint.plan;
    let Some(section) = plan.section(SectionKind::Hypotheses) else { return };
    for kind in HypothesisKind::ALL {
        let has = plan.hypotheses.iter().any(|hypothesis| hypothesis.kind == Some(*kind));
        let excluded = plan.kinds_not_applicable.iter().find(|(named, _)| named == kind);
        match excluded {
            Some((_, reason)) if reason.text.trim().is_empty() => {
                let message = format!("{} is N/A without a reason", kind.word());
                lint.add(codes::KIND_SILENT, reason.span, message);
            }
            None if !has => {
                let message = format!("no hypothesis about {}, and no N/A", kind.word());
                let found = lint.add(codes::KIND_SILENT, section.heading.span, message);
                found.help = Some(format!(
                    "put hypotheses under `### {}`, or write `N/A — reason` there",
                    capitalised(kind.word())
                ));
            }
            _ => {}
        }
    }
}

fn capitalised(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map_or(String::new(), |first| first.to_uppercase().chain(chars).collect())
}

fn pitfalls(lint: &mut Lint<'_>) {
    let plan = lint.plan;
    let Some(section) = plan.section(SectionKind::Hypotheses) else { return };
    let Some(table) = plan.tables.get(&TableKind::Pitfalls) else {
        let message = format!("there is no table of the {} pitfalls", PITFALLS.len());
        lint.add(codes::PITFALLS_SKIPPED, section.heading.span, message);
        return;
    };
    let answered: BTreeSet<usize> = plan.pitfalls.iter().filter_map(|row| row.number).collect();
    let missing: Vec<String> = (1..=PITFALLS.len())
        .filter(|number| !answered.contains(number))
        .map(|number| number.to_string())
        .collect();
    if !missing.is_empty() {
        let message = format!("pitfalls {} are not answered", listed(&missing));
        lint.add(codes::PITFALLS_SKIPPED, *table, message);
    }
    for row in &plan.pitfalls {
        let named = references(&plan.source, row.outcome.span, 'H');
        let has_words = !row.outcome.is_blank();
        let fault = match row.answer.text.trim().to_lowercase().as_str() {
            "y" | "yes" if named.is_empty() => Some("y, but no hypothesis is named"),
            "n" | "no" if !has_words => Some("n, but no reason is given"),
            "maybe" if !has_words => Some("maybe, but neither hypothesis nor reason"),
            "y" | "yes" | "n" | "no" | "maybe" => None,
            _ => Some("the answer is y, n or maybe"),
        };
        if let Some(fault) = fault.filter(|_| !row.answer.text.contains('{')) {
            lint.add(codes::PITFALL_ANSWER, row.answer.span, fault);
        }
        lint.resolve(&named);
    }
}
