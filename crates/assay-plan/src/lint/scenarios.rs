//! Scenarios: names, fields, oracles, budgets, skeletons.

use super::{Lint, listed, machine, serious, twice};
use crate::budget::{Budget, is_disclosure};
use crate::field::Field;
use crate::machine::{Machine, Release};
use crate::place::Text;
use crate::plan::Scenario;
use crate::prose::{self, Strength};
use crate::rules::codes;
use crate::section::SectionKind;
use crate::words::{Language, nearest};

pub(super) fn check(lint: &mut Lint<'_>) {
    let plan = lint.plan;
    let mut checkable = 0;
    for scenario in &plan.scenarios {
        name(lint, scenario);
        links(lint, scenario);
        fields(lint, scenario);
        checkable += usize::from(oracle(lint, scenario));
        budgets(lint, scenario);
        skeleton(lint, scenario);
        aspiration(lint, scenario);
        for part in std::iter::once(scenario).chain(&scenario.arms) {
            twice::check(lint, part);
            machine::check(lint, scenario, part);
        }
        serious::check(lint, scenario);
    }
    let section = plan.section(SectionKind::Scenarios);
    if let (0, false, Some(section)) = (checkable, plan.scenarios.is_empty(), section) {
        let message = "no scenario has an oracle that a machine can check";
        let found = lint.add(codes::ORACLE_ALL_VAGUE, section.heading.span, message);
        found.help = Some("this plan goes back to its author: it cannot be run".to_string());
    }
}

fn name(lint: &mut Lint<'_>, scenario: &Scenario) {
    for part in std::iter::once(scenario).chain(&scenario.arms) {
        let text = &part.name.text;
        if let Some(why) = name_fault(text).filter(|_| !text.contains('{')) {
            let shown = crate::time::show(text);
            lint.add(codes::SCENARIO_NAME, part.name.span, format!("`{shown}` {why}"));
        }
    }
}

/// Why a name does not say what holds.
fn name_fault(name: &str) -> Option<&'static str> {
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    if name.is_empty() || !name.chars().all(allowed) {
        return Some("is not made of lower-case words joined by underscores");
    }
    const SET_UP: [&str; 9] =
        ["chaos", "setup", "test", "tests", "scenario", "cluster", "smoke", "basic", "misc"];
    let words: Vec<&str> = name.split('_').filter(|word| !word.is_empty()).collect();
    let starts_with_size = words.first().is_some_and(|word| word.as_bytes()[0].is_ascii_digit());
    if starts_with_size || words.iter().any(|word| SET_UP.contains(word)) {
        return Some("describes a set-up, not what holds under what");
    }
    (words.len() < 2).then_some("is too short to say what holds under what")
}

fn links(lint: &mut Lint<'_>, scenario: &Scenario) {
    for part in std::iter::once(scenario).chain(&scenario.arms) {
        lint.resolve(&part.falsifies);
        lint.resolve(&part.closes);
    }
    for (what, there) in [
        ("falsifies no claim", !scenario.falsifies.is_empty()),
        ("closes no hypothesis", !scenario.closes.is_empty()),
    ] {
        if !there {
            let message = format!("{} {what}", scenario.id);
            lint.add(codes::SCENARIO_LINKS, scenario.span, message);
        }
    }
}

fn fields(lint: &mut Lint<'_>, scenario: &Scenario) {
    let has_block = scenario.broken_block.is_some()
        || scenario.block.is_some()
        || scenario.arms.iter().any(|arm| arm.block.is_some());
    let machine = scenario.machine();
    let in_block = |field: Field| match field {
        Field::Workload | Field::Faults => has_block,
        Field::Oracle => machine.is_some_and(|m| m.checker.is_some()) || !scenario.arms.is_empty(),
        Field::Target | Field::Language | Field::Skeleton => has_block,
        _ => false,
    };
    let wanted = [
        Field::Technique,
        Field::Workload,
        Field::Faults,
        Field::Oracle,
        Field::Observability,
        Field::Target,
        Field::Language,
        Field::Skeleton,
    ];
    for field in wanted {
        let text = scenario.field(field);
        let there = match field {
            Field::Skeleton => text.is_some() || scenario.skeleton.is_some(),
            _ => text.is_some_and(|text| !text.is_blank()),
        };
        if !there && !in_block(field) {
            let message = format!("{} does not say `{}`", scenario.id, field.label());
            let found = lint.add(codes::SCENARIO_FIELD, scenario.span, message);
            found.help = Some(format!("add `- **{}:** …`", field.label()));
        }
    }
    if !has_block {
        let message = format!("{} has no machine block", scenario.id);
        lint.add(codes::NO_BLOCK, scenario.span, message);
    }
}

/// Complains about vague oracles; whether the scenario has one that can be checked.
fn oracle(lint: &mut Lint<'_>, scenario: &Scenario) -> bool {
    let by_block = scenario.trials().iter().any(|(_, machine)| has_checker(machine));
    let mut checkable = by_block || scenario.broken_block.is_some();
    for part in std::iter::once(scenario).chain(&scenario.arms) {
        let Some(text) = part.field(Field::Oracle).filter(|text| !text.is_blank()) else {
            continue;
        };
        match prose::oracle(&text.text) {
            Strength::Checkable => checkable = true,
            Strength::Vague(_) if text.text.contains('{') => {}
            Strength::Vague(phrase) => {
                let message = match phrase {
                    Some(phrase) => format!("`{phrase}` is nothing a machine can check"),
                    None => "no checker, no comparison and no limit is named".to_string(),
                };
                lint.add(codes::ORACLE_VAGUE, text.span, message);
                if std::ptr::eq(part, scenario) && !by_block {
                    checkable = false;
                }
            }
        }
    }
    checkable
}

fn has_checker(machine: &Machine) -> bool {
    machine.checker.as_ref().is_some_and(|c| !c.name.is_empty() || c.justification.is_some())
}

fn budgets(lint: &mut Lint<'_>, scenario: &Scenario) {
    if scenario.broken_block.is_some() {
        return;
    }
    let machine = scenario.machine().cloned().unwrap_or_default();
    let in_block = machine.budget.clone().unwrap_or_default();
    let mut tiers = Vec::new();
    for (name, field, tier) in [
        ("smoke", Field::Smoke, &in_block.smoke),
        ("hardening", Field::Hardening, &in_block.hardening),
    ] {
        let prose = scenario.field(field).filter(|text| !text.is_blank());
        let budget = match (tier, prose) {
            (Some(tier), _) => Some(Budget::of_tier(tier, &machine)),
            (None, Some(text)) => Some(Budget::of_text(&text.text)),
            (None, None) => None,
        };
        let key = format!("budget.{name}");
        let place = match (&scenario.block, prose) {
            (Some(block), _) if tier.is_some() => block.place(&key),
            (_, Some(text)) => text.span,
            _ => scenario.span,
        };
        tiers.push((name, budget, place));
    }
    let is_old_form = scenario.field(Field::ExitCriteria).is_some_and(|text| !text.is_blank());
    let release = in_block.release.is_some() || scenario.field(Field::Release).is_some();
    if is_old_form && tiers.iter().all(|(_, budget, _)| budget.is_none()) && !release {
        return;
    }
    for (name, budget, place) in &tiers {
        let message = match budget {
            None => format!("{} has no {name} budget", scenario.id),
            Some(budget) if !budget.missing().is_empty() => {
                format!("the {name} budget says nothing about {}", listed(&budget.missing()))
            }
            Some(_) => continue,
        };
        lint.add(codes::BUDGET_MISSING, *place, message);
    }
    if let [(_, Some(smoke), _), (_, Some(hardening), place)] = &tiers[..] {
        let weak = hardening.not_stronger_than(smoke);
        if !weak.is_empty() {
            let message = format!("not stronger in {}", listed(&weak));
            lint.add(codes::BUDGET_NOT_STRONGER, *place, message);
        }
    }
    release_budget(lint, scenario, in_block.release.as_ref());
}

fn release_budget(lint: &mut Lint<'_>, scenario: &Scenario, release: Option<&Release>) {
    let place = |key| scenario.block.as_ref().map_or(scenario.span, |block| block.place(key));
    let (text, span) = match (release, scenario.field(Field::Release)) {
        (Some(Release::Tier(tier)), _) => {
            let machine = scenario.machine().cloned().unwrap_or_default();
            let missing = Budget::of_tier(tier, &machine).missing();
            if !missing.is_empty() {
                let message = format!("the release budget says nothing about {}", listed(&missing));
                lint.add(codes::RELEASE_BUDGET, place("budget.release"), message);
            }
            return;
        }
        (Some(Release::Statement(text)), _) => (text.clone(), place("budget.release")),
        (None, Some(Text { text, span })) => (text.clone(), *span),
        (None, None) => (String::new(), scenario.span),
    };
    let budget = Budget::of_text(&text);
    let concrete = budget.duration.is_some() && budget.seeds.is_some();
    if !concrete && !is_disclosure(&text) && !text.contains('{') {
        let shown = crate::time::show(&text);
        let message = match text.is_empty() {
            true => format!("{} says nothing about a release budget", scenario.id),
            false => format!("`{shown}` is neither a budget nor a statement"),
        };
        let found = lint.add(codes::RELEASE_BUDGET, span, message);
        found.help = Some("write `not provided — REASON. Revisit when: CONDITION.`".to_string());
    }
}

fn skeleton(lint: &mut Lint<'_>, scenario: &Scenario) {
    for part in std::iter::once(scenario).chain(&scenario.arms) {
        if let Some(code) = &part.skeleton {
            let claims = scenario.falsifies.iter();
            let has_claim = claims.clone().any(|c| code.text.contains(&c.id.to_string()));
            let mut missing = Vec::new();
            for (what, there) in [
                ("`AUTO-GENERATED`", code.text.contains("AUTO-GENERATED")),
                ("the path of the plan", code.text.contains(".md")),
                ("the scenario's id", code.text.contains(&part.id.to_string())),
                ("the claims it falsifies", has_claim || claims.len() == 0),
                ("three TODO regions", code.text.matches("TODO").count() >= 3),
            ] {
                if !there {
                    missing.push(what);
                }
            }
            if !missing.is_empty() {
                let message = format!("the skeleton lacks {}", listed(&missing));
                lint.add(codes::SKELETON, code.span, message);
            }
        }
        target(lint, part);
    }
}

fn target(lint: &mut Lint<'_>, scenario: &Scenario) {
    if let Some(text) = scenario.field(Field::Target).filter(|text| !text.is_blank()) {
        let path = text.text.split_whitespace().next().unwrap_or("").trim_matches('`');
        let outside = path.starts_with('/') || path.starts_with('~') || path.contains(':');
        if outside || path.split('/').any(|part| part == "..") {
            let message = format!("`{}` leads out of the repository", crate::time::show(path));
            lint.add(codes::TARGET, text.span, message);
        }
    }
    if let Some(text) = scenario.field(Field::Language).filter(|text| !text.is_blank()) {
        let word = text.text.trim().trim_matches('`');
        if Language::named(word).is_none() && !word.contains('{') {
            let message = format!("`{}` is no language of the list", crate::time::show(word));
            let help = match nearest(word, Language::list()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("the languages are {}", listed(&Language::list())),
            };
            lint.add(codes::TARGET, text.span, message).help = Some(help);
        }
    }
}

fn aspiration(lint: &mut Lint<'_>, scenario: &Scenario) {
    const WISHES: [&str; 7] = [
        "aspirational",
        "someday",
        "some day",
        "nice to have",
        "future work",
        "stretch goal",
        "long-tail",
    ];
    let texts = scenario.fields.values().chain([&scenario.name]);
    for text in texts {
        let lower = text.text.to_lowercase().replace('_', " ");
        if let Some(wish) = WISHES.iter().find(|wish| lower.contains(**wish)) {
            let message = format!("`{wish}`: {} is for later", scenario.id);
            lint.add(codes::ASPIRATION, text.span, message);
            return;
        }
    }
}
