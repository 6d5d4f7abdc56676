//! What changed between two revisions of a plan, and what got weaker.
//!
//! A plan is a promise about how hard one looks. So a diff says not only that a budget, a landing
//! predicate or a claim changed, but in which direction, wherever that can be decided.

use crate::budget::Budget;
use crate::field::Field;
use crate::ids::Id;
use crate::machine::{Machine, Release};
use crate::plan::{Plan, Scenario};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// In which direction a change goes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// Less is looked at, or less is asked for.
    Weaker,
    /// Nobody can tell.
    Changed,
    /// More.
    Stronger,
}

/// One change.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Change {
    /// `C1`, `H2`, `S3/api`.
    pub id: Id,
    /// What of it: `category`, `budget.hardening`, `nemesis leader-iso`.
    pub what: String,
    /// In which direction.
    pub direction: Direction,
    /// How it was.
    pub old: String,
    /// How it is.
    pub new: String,
}

/// All changes in claims, hypotheses, scenarios and budgets; the weaker ones first.
pub fn diff(old: &Plan, new: &Plan) -> Vec<Change> {
    let mut changes = Vec::new();
    claims(old, new, &mut changes);
    hypotheses(old, new, &mut changes);
    scenarios(old, new, &mut changes);
    changes.sort_by(|a, b| (a.direction, &a.id, &a.what).cmp(&(b.direction, &b.id, &b.what)));
    changes
}

/// Calls `both` for what is in both, and notes what came and went.
fn by_id<'p, T>(
    old: impl IntoIterator<Item = (&'p Id, &'p T)>,
    new: impl IntoIterator<Item = (&'p Id, &'p T)>,
    shown: impl Fn(&T) -> String,
    changes: &mut Vec<Change>,
    mut both: impl FnMut(&T, &T, &mut Vec<Change>),
) where
    T: 'p,
{
    let old: BTreeMap<&Id, &T> = old.into_iter().collect();
    let new: BTreeMap<&Id, &T> = new.into_iter().collect();
    for (id, before) in &old {
        match new.get(id) {
            Some(after) => both(before, after, changes),
            None => changes.push(change(id, "removed", Direction::Weaker, shown(before), "")),
        }
    }
    for (id, after) in new.iter().filter(|(id, _)| !old.contains_key(*id)) {
        changes.push(change(id, "added", Direction::Stronger, "", shown(after)));
    }
}

fn change(
    id: &Id,
    what: impl Into<String>,
    direction: Direction,
    old: impl Into<String>,
    new: impl Into<String>,
) -> Change {
    Change { id: id.clone(), what: what.into(), direction, old: old.into(), new: new.into() }
}

/// Notes a change of plain words.
fn words(id: &Id, what: &str, old: &str, new: &str, changes: &mut Vec<Change>) {
    if old != new {
        changes.push(change(id, what, Direction::Changed, old, new));
    }
}

/// Notes what was taken out of a list and what was put in.
fn lists(
    id: &Id,
    what: &str,
    old: &BTreeSet<String>,
    new: &BTreeSet<String>,
    changes: &mut Vec<Change>,
) {
    if old == new {
        return;
    }
    let direction = match (old.is_superset(new), new.is_superset(old)) {
        (true, _) => Direction::Weaker,
        (_, true) => Direction::Stronger,
        _ => Direction::Changed,
    };
    let joined = |set: &BTreeSet<String>| set.iter().cloned().collect::<Vec<_>>().join(", ");
    changes.push(change(id, what, direction, joined(old), joined(new)));
}

fn claims(old: &Plan, new: &Plan, changes: &mut Vec<Change>) {
    let rows = |plan: &'_ Plan| plan.claims.clone();
    let (old_rows, new_rows) = (rows(old), rows(new));
    by_id(
        old_rows.iter().map(|claim| (&claim.id, claim)),
        new_rows.iter().map(|claim| (&claim.id, claim)),
        |claim| claim.claim.text.clone(),
        changes,
        |before, after, changes| {
            words(&before.id, "claim", &before.claim.text, &after.claim.text, changes);
            let (old, new) = (&before.category, &after.category);
            if old.text.text != new.text.text {
                let gated = |word: &crate::plan::Word<crate::words::Category>| {
                    word.value.is_some_and(|c| c.is_gated() || c.has_surfaces())
                };
                let direction = match (gated(old), gated(new)) {
                    (true, false) => Direction::Weaker,
                    (false, true) => Direction::Stronger,
                    _ => Direction::Changed,
                };
                let (old, new) = (&old.text.text, &new.text.text);
                changes.push(change(&before.id, "category", direction, old, new));
            }
        },
    );
}

fn references(list: &[crate::ids::Reference]) -> BTreeSet<String> {
    list.iter().map(|reference| reference.id.to_string()).collect()
}

fn hypotheses(old: &Plan, new: &Plan, changes: &mut Vec<Change>) {
    by_id(
        old.hypotheses.iter().map(|h| (&h.id, h)),
        new.hypotheses.iter().map(|h| (&h.id, h)),
        |hypothesis| hypothesis.title.text.clone(),
        changes,
        |before, after, changes| {
            words(&before.id, "hypothesis", &before.title.text, &after.title.text, changes);
            let (old, new) = (references(&before.falsifies), references(&after.falsifies));
            lists(&before.id, "could falsify", &old, &new, changes);
        },
    );
}

fn scenarios(old: &Plan, new: &Plan, changes: &mut Vec<Change>) {
    let all = |plan: &Plan| -> Vec<Scenario> {
        let with_arms = plan.scenarios.iter().flat_map(|s| std::iter::once(s).chain(&s.arms));
        with_arms.cloned().collect()
    };
    let (old, new) = (all(old), all(new));
    by_id(
        old.iter().map(|s| (&s.id, s)),
        new.iter().map(|s| (&s.id, s)),
        |scenario| scenario.name.text.clone(),
        changes,
        scenario,
    );
}

fn scenario(before: &Scenario, after: &Scenario, changes: &mut Vec<Change>) {
    let id = &before.id;
    words(id, "name", &before.name.text, &after.name.text, changes);
    let sets = [
        ("falsifies", references(&before.falsifies), references(&after.falsifies)),
        ("closes", references(&before.closes), references(&after.closes)),
    ];
    for (what, old, new) in &sets {
        lists(id, what, old, new, changes);
    }
    for field in [Field::Oracle, Field::Workload, Field::Faults, Field::Checker, Field::Nemesis] {
        let text = |s: &Scenario| s.field(field).map_or(String::new(), |text| text.text.clone());
        words(id, &field.label().to_lowercase(), &text(before), &text(after), changes);
    }
    let machine = |s: &Scenario| s.machine().cloned().unwrap_or_default();
    let (old, new) = (machine(before), machine(after));
    budgets(id, (before, &old), (after, &new), changes);
    nemeses(id, &old, &new, changes);
    let checkers = |m: &Machine| -> BTreeSet<String> {
        m.checker.iter().flat_map(|choice| choice.name.iter().cloned()).collect()
    };
    lists(id, "checker", &checkers(&old), &checkers(&new), changes);
    let model = |m: &Machine| m.model.as_ref().map_or(String::new(), |model| model.name.clone());
    words(id, "model", &model(&old), &model(&new), changes);
    let system = |m: &Machine| m.system.as_ref().map_or(String::new(), compact);
    words(id, "system", &system(&old), &system(&new), changes);
    let workload = |m: &Machine| m.workload.as_ref().map_or(String::new(), compact);
    words(id, "workload", &workload(&old), &workload(&new), changes);
}

/// A table of the block on one line.
fn compact(table: &impl Serialize) -> String {
    let text = toml_edit::ser::to_string(table).unwrap_or_default();
    text.trim().replace("\n\n", "\n").replace('\n', ", ")
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

fn budgets(
    id: &Id,
    (before, old): (&Scenario, &Machine),
    (after, new): (&Scenario, &Machine),
    changes: &mut Vec<Change>,
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
            (Some(old), Some(new)) => compare(&old, &new),
            (Some(_), None) => Direction::Weaker,
            (None, Some(_)) => Direction::Stronger,
            (None, None) => Direction::Changed,
        };
        changes.push(change(id, what, direction, old_text, new_text));
    }
}

fn compare(old: &Budget, new: &Budget) -> Direction {
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

/// Faults, and what proves that they landed.
fn nemeses(id: &Id, old: &Machine, new: &Machine, changes: &mut Vec<Change>) {
    let faults = |m: &Machine| -> BTreeSet<String> {
        m.nemesis.iter().map(|n| format!("{} on {}", n.fault, n.target)).collect()
    };
    lists(id, "faults", &faults(old), &faults(new), changes);
    for before in &old.nemesis {
        let same =
            |n: &&crate::machine::Nemesis| n.fault == before.fault && n.target == before.target;
        let Some(after) = new.nemesis.iter().find(same) else { continue };
        let times = |n: &crate::machine::Nemesis| {
            let shown = |name: &str, time: Option<crate::time::TimeRange>| {
                time.map_or(String::new(), |time| format!("{name} {time} "))
            };
            let on = n.on.as_ref().map_or(String::new(), |on| format!("on {on} "));
            let lasts = shown("for", Some(n.lasts));
            format!("{}{on}{lasts}{}", shown("at", n.at), shown("every", n.every))
                .trim()
                .to_string()
        };
        let what = format!("schedule of {}", before.fault);
        words(id, &what, &times(before), &times(after), changes);
        landing(id, before, after, changes);
    }
}

fn landing(
    id: &Id,
    before: &crate::machine::Nemesis,
    after: &crate::machine::Nemesis,
    changes: &mut Vec<Change>,
) {
    if before.landing == after.landing {
        return;
    }
    let what = format!("landing of {}", before.fault);
    let shown = |landing: &Option<crate::machine::Landing>| {
        landing.as_ref().map_or("none".to_string(), |l| format!("{}; {}", l.injector, l.victim))
    };
    let predicates = |landing: &Option<crate::machine::Landing>| {
        landing.as_ref().and_then(|landing| landing.predicates().ok())
    };
    let direction = match (predicates(&before.landing), predicates(&after.landing)) {
        (Some(old), Some(new)) => {
            let weaker = new.0.is_implied_by(&old.0) && new.1.is_implied_by(&old.1);
            let stronger = old.0.is_implied_by(&new.0) && old.1.is_implied_by(&new.1);
            match (weaker, stronger) {
                (true, true) => return,
                (true, false) => Direction::Weaker,
                (false, true) => Direction::Stronger,
                (false, false) => Direction::Changed,
            }
        }
        (Some(_), None) => Direction::Weaker,
        (None, Some(_)) => Direction::Stronger,
        (None, None) => Direction::Changed,
    };
    changes.push(change(id, what, direction, shown(&before.landing), shown(&after.landing)));
}
