//! How much is enough: the three tiers, from the block or from prose.

use super::Direction;
use super::notes::Notes;
use crate::budget::Budget;
use crate::field::Field;
use crate::machine::{Machine, Release};
use crate::plan::Scenario;
use std::collections::BTreeSet;

/// Notes how the tiers changed.
pub(super) fn compare(
    (before, old): (&Scenario, &Machine),
    (after, new): (&Scenario, &Machine),
    notes: &mut Notes<'_>,
) {
    for (what, field) in [
        ("budget.smoke", Field::Smoke),
        ("budget.hardening", Field::Hardening),
        ("budget.release", Field::Release),
    ] {
        let (old_budget, old_text) = tier(before, old, field);
        let (new_budget, new_text) = tier(after, new, field);
        if old_text == new_text {
            continue;
        }
        let direction = match (old_budget, new_budget) {
            (Some(old), Some(new)) => direction(&old, &new),
            (Some(_), None) => Direction::Weaker,
            (None, Some(_)) => Direction::Stronger,
            (None, None) => Direction::Changed,
        };
        notes.note(what, direction, old_text, new_text);
    }
}

/// A tier, from the block or from prose.
fn tier(scenario: &Scenario, machine: &Machine, field: Field) -> (Option<Budget>, String) {
    let budgets = machine.budget.clone().unwrap_or_default();
    let in_block = match field {
        Field::Smoke => budgets.smoke,
        Field::Hardening => budgets.hardening,
        _ => match budgets.release {
            Some(Release::Tier(tier)) => Some(tier),
            Some(Release::Statement(text)) => return (None, text),
            None => None,
        },
    };
    match (in_block, scenario.field(field)) {
        (Some(tier), _) => {
            let budget = Budget::of_tier(&tier, machine);
            let shown = show(&budget);
            (Some(budget), shown)
        }
        (None, Some(text)) => {
            let budget = Budget::of_text(&text.text);
            (
                Some(budget).filter(|budget| !budget.missing().contains(&"duration")),
                text.text.clone(),
            )
        }
        (None, None) => (None, String::new()),
    }
}

fn show(budget: &Budget) -> String {
    let mut parts: Vec<String> =
        budget.sizes.iter().map(|(name, size)| sized(name, *size)).collect();
    parts.extend(budget.duration.map(|time| time.to_string()));
    parts.extend(budget.faults.map(|n| format!("{n} faults")));
    parts.extend(budget.seeds.map(|n| format!("{n} seeds")));
    parts.join(" x ")
}

fn sized(name: &str, size: f64) -> String {
    match name {
        "rate" => format!("{size} ops/s"),
        _ if size == 1.0 => format!("1 {name}"),
        _ => format!("{size} {name}s"),
    }
}

fn direction(old: &Budget, new: &Budget) -> Direction {
    let seconds = |budget: &Budget| budget.duration.map(|time| time.0.as_secs_f64());
    let mut pairs =
        vec![(seconds(old), seconds(new)), (old.faults, new.faults), (old.seeds, new.seeds)];
    let names: BTreeSet<&String> = old.sizes.keys().chain(new.sizes.keys()).collect();
    pairs.extend(
        names.iter().map(|name| (old.sizes.get(*name).copied(), new.sizes.get(*name).copied())),
    );
    let less = pairs.iter().any(|(old, new)| new.unwrap_or(0.0) < old.unwrap_or(0.0));
    let more = pairs.iter().any(|(old, new)| new.unwrap_or(0.0) > old.unwrap_or(0.0));
    match (less, more) {
        (true, false) => Direction::Weaker,
        (false, true) => Direction::Stronger,
        _ => Direction::Changed,
    }
}
