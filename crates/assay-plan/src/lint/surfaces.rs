//! 7.M.S: claims that hold or fail surface by surface, and the arms that test them.

use super::{Lint, listed};
use crate::field::{Field, SURFACE_FIELDS};
use crate::ids::{Id, references};
use crate::place::Text;
use crate::plan::Scenario;
use crate::prose;
use crate::rules::codes;
use crate::words::Category;
use std::collections::BTreeSet;

/// With more surfaces or categories than this, a scenario is split into arms.
pub const UNSPLIT_MAX: usize = 3;
/// A claim about boundaries is tested on at least so many surfaces.
pub const SURFACES_MIN: usize = 3;

/// Words in a name that promise more than one surface.
#[rustfmt::skip]
const BOUNDARY_WORDS: [&str; 12] = [
    "routing", "tenant isolation", "blast radius", "multi tenant", "cell", "region", "shard",
    "namespace", "availability zone", "replica set", "placement pool", "failure domain",
];

pub(super) fn check(lint: &mut Lint<'_>) {
    let plan = lint.plan;
    for scenario in &plan.scenarios {
        let categories = lint.categories(scenario);
        let surfaces = scenario.field(Field::Surfaces).map(surfaces).unwrap_or_default();
        names(lint, scenario, &surfaces);
        arms(lint, scenario);
        let decomposed = categories.iter().any(|category| category.has_surfaces());
        if decomposed {
            decomposition(lint, scenario);
            split(lint, scenario, &surfaces, &categories);
        }
        if categories.contains(&Category::Boundary) {
            few(lint, scenario, &surfaces);
        }
        if categories.contains(&Category::Fairness) {
            fairness(lint, scenario);
        }
    }
}

/// One surface per line, or separated by commas.
fn surfaces(text: &Text) -> Vec<String> {
    let in_lines = text.text.contains('\n');
    let mut depth = 0_i32;
    let parts = text.text.split(|c: char| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        c == '\n' || (!in_lines && depth <= 0 && matches!(c, ',' | ';' | '·'))
    });
    parts.map(|part| part.trim().to_string()).filter(|part| !part.is_empty()).collect()
}

fn names(lint: &mut Lint<'_>, scenario: &Scenario, surfaces: &[String]) {
    let name = format!(" {} ", scenario.name.text.to_lowercase().replace(['_', '-'], " "));
    let word = BOUNDARY_WORDS
        .iter()
        .find(|word| name.contains(&format!(" {word} ")) || name.contains(&format!(" {word}s ")));
    if let Some(word) = word.filter(|_| surfaces.len() < 2) {
        let count = if surfaces.is_empty() { "no surface" } else { "one surface" };
        let message = format!("the name speaks of `{word}`, but {count} is listed");
        lint.add(codes::SINGLE_SURFACE, scenario.name.span, message);
    }
    const ALL: [&str; 6] = [
        " all surfaces",
        " every surface",
        " each surface",
        " across surfaces",
        " multi surface",
        " several surfaces",
    ];
    if ALL.iter().any(|phrase| name.contains(phrase)) && scenario.arms.is_empty() {
        let message = "the name speaks of several surfaces, but there are no arms";
        lint.add(codes::SEVERAL_SURFACES, scenario.name.span, message);
    }
}

fn decomposition(lint: &mut Lint<'_>, scenario: &Scenario) {
    let answered = |field: &&Field| scenario.field(**field).is_some_and(|text| !text.is_blank());
    if !SURFACE_FIELDS.iter().any(|field| answered(&field)) {
        let span = scenario.surfaces_not_applicable.as_ref().map_or(scenario.span, |t| t.span);
        let message = format!("{} has no surface decomposition", scenario.id);
        let found = lint.add(codes::SURFACES_MISSING, span, message);
        found.help = Some("add `#### 7.M.S Surface decomposition`".to_string());
        return;
    }
    for field in SURFACE_FIELDS.iter().filter(|field| !answered(field)) {
        let span = scenario.field(*field).map_or(scenario.span, |text| text.span);
        let message = format!("{} does not say `{}`", scenario.id, field.label());
        lint.add(codes::SURFACE_FIELD, span, message);
    }
}

fn split(
    lint: &mut Lint<'_>,
    scenario: &Scenario,
    surfaces: &[String],
    categories: &BTreeSet<Category>,
) {
    if !scenario.arms.is_empty() {
        return;
    }
    let oracle = scenario.field(Field::Oracle).map_or("", |text| text.text.as_str());
    let oracles = oracle.lines().filter(|line| !line.trim().is_empty()).count();
    let nested = oracle.contains('\n') && oracles > 1;
    let mut reasons = Vec::new();
    if surfaces.len() > UNSPLIT_MAX {
        reasons.push(format!("{} surfaces", surfaces.len()));
    }
    if categories.len() > UNSPLIT_MAX {
        reasons.push(format!("{} categories of claims", categories.len()));
    }
    if nested {
        reasons.push(format!("{oracles} oracles"));
    }
    if !reasons.is_empty() {
        let message = format!("{} has {} and no arms", scenario.id, listed(&reasons));
        let found = lint.add(codes::ARMS_MISSING, scenario.span, message);
        found.help = Some(format!("add headings `#### Arm {}/api: name`", scenario.id));
    }
}

fn few(lint: &mut Lint<'_>, scenario: &Scenario, surfaces: &[String]) {
    let Some(text) = scenario.field(Field::Surfaces).filter(|text| !text.is_blank()) else {
        return;
    };
    let lower = text.text.to_lowercase();
    let reasoned = lower.contains("because") || lower.contains("justif");
    if surfaces.len() < SURFACES_MIN && !reasoned && !lower.contains('{') {
        let message = format!("{} of at least {SURFACES_MIN} surfaces", surfaces.len());
        let found = lint.add(codes::FEW_SURFACES, text.span, message);
        found.help = Some("add surfaces, or say `because …`".to_string());
    }
}

fn fairness(lint: &mut Lint<'_>, scenario: &Scenario) {
    let by_checker = scenario.trials().iter().any(|(_, machine)| {
        machine.checker.as_ref().is_some_and(|c| c.name.iter().any(|name| name == "fairness"))
    });
    let parts = std::iter::once(scenario).chain(&scenario.arms);
    let mut oracles = parts.filter_map(|part| part.field(Field::Oracle));
    let by_group = |text: &Text| {
        let lower = text.text.to_lowercase();
        let groups = ["group", "tenant", "per ", "per-", "worst", "by_", "shard", "spread"];
        groups.iter().any(|word| lower.contains(word)) && prose::has_limit(&lower)
    };
    if !by_checker && !oracles.any(by_group) {
        let span = scenario.field(Field::Oracle).map_or(scenario.span, |text| text.span);
        let message = "no group is compared with anything";
        let found = lint.add(codes::FAIRNESS_ORACLE, span, message);
        found.help = Some("use the checker `fairness`, or a formula per group".to_string());
    }
}

fn arms(lint: &mut Lint<'_>, scenario: &Scenario) {
    let listed_arms = match scenario.field(Field::Arms) {
        Some(text) => references(&lint.plan.source, text.span, 'S'),
        None => vec![],
    };
    let headings: BTreeSet<&Id> = scenario.arms.iter().map(|arm| &arm.id).collect();
    for reference in listed_arms.iter().filter(|r| r.id.arm.is_some()) {
        if !headings.contains(&reference.id) {
            let message = format!("there is no heading `#### Arm {}: name`", reference.id);
            lint.add(codes::ARM_INCOMPLETE, reference.span, message);
        }
    }
    for arm in &scenario.arms {
        let by_line = arm.field(Field::Oracle).is_some_and(|text| !text.is_blank());
        let by_block = arm.machine().is_some_and(|machine| machine.checker.is_some());
        if !by_line && !by_block && arm.broken_block.is_none() {
            let message = format!("{} has no oracle of its own", arm.id);
            lint.add(codes::ARM_INCOMPLETE, arm.span, message);
        }
        if !listed_arms.iter().any(|reference| reference.id == arm.id) && !listed_arms.is_empty() {
            let message = format!("{} is not listed in `Scenario arms`", arm.id);
            lint.add(codes::ARM_INCOMPLETE, arm.span, message);
        }
    }
}
