//! What changed between two revisions of a plan, and what got weaker.
//!
//! A plan is a promise about how hard one looks. So a diff says not only that a budget, a landing
//! predicate or a claim changed, but in which direction, wherever that can be decided. Where it
//! cannot, it still says that something changed: a diff that keeps silent is believed.
//!
//! ```
//! use assay_plan::{diff::{diff, Direction}, parse};
//!
//! let plan = |seed: u64, expect: &str| {
//!     let block = format!("```toml\nseed = {seed}\n{expect}\n```");
//!     parse(&format!("## 7. Scenarios\n\n### Scenario S1: a_b\n\n{block}\n"))
//! };
//! let changes = diff(&plan(1, "expect = \"refuted\""), &plan(2, ""));
//! assert_eq!((changes[0].what.as_str(), changes[0].direction), ("expect", Direction::Weaker));
//! assert_eq!((changes[1].what.as_str(), changes[1].direction), ("seed", Direction::Changed));
//! ```

mod block;
mod budgets;
mod lines;
mod nemesis;
mod notes;

use crate::ids::Id;
use crate::machine::Machine;
use crate::plan::{Plan, Scenario};
use notes::Notes;
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
    mut both: impl FnMut(&T, &T, &mut Notes<'_>),
) where
    T: 'p,
{
    let old: BTreeMap<&Id, &T> = old.into_iter().collect();
    let new: BTreeMap<&Id, &T> = new.into_iter().collect();
    for (id, before) in &old {
        let mut notes = Notes::new(id, changes);
        match new.get(id) {
            Some(after) => both(before, after, &mut notes),
            None => notes.note("removed", Direction::Weaker, shown(before), ""),
        }
    }
    for (id, after) in new.iter().filter(|(id, _)| !old.contains_key(*id)) {
        Notes::new(id, changes).note("added", Direction::Stronger, "", shown(after));
    }
}

fn claims(old: &Plan, new: &Plan, changes: &mut Vec<Change>) {
    by_id(
        old.claims.iter().map(|claim| (&claim.id, claim)),
        new.claims.iter().map(|claim| (&claim.id, claim)),
        |claim| claim.claim.text.clone(),
        changes,
        |before, after, notes| {
            notes.words("claim", &before.claim.text, &after.claim.text);
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
                notes.note("category", direction, &old.text.text, &new.text.text);
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
        |before, after, notes| {
            notes.words("hypothesis", &before.title.text, &after.title.text);
            let (old, new) = (references(&before.falsifies), references(&after.falsifies));
            notes.lists("could falsify", &old, &new);
        },
    );
}

/// A scenario or an arm, with what there is to compare.
struct Trial<'p> {
    scenario: &'p Scenario,
    /// The machine block; an arm's with what it has from its scenario.
    machine: Machine,
    /// The text of a block that cannot be read.
    broken: Option<&'p str>,
}

fn trials(plan: &Plan) -> Vec<Trial<'_>> {
    let one = |scenario, machine| {
        let broken = |s: &Scenario| s.broken_block.map(|span| &plan.source[span.start..span.end]);
        Trial { scenario, machine, broken: broken(scenario) }
    };
    let with_arms = plan.scenarios.iter().flat_map(|whole| {
        let own = whole.machine().cloned().unwrap_or_default();
        let arms = whole.arms.iter().map(|arm| match arm.machine() {
            Some(block) => one(arm, own.overlaid(block)),
            None => one(arm, own.clone()),
        });
        let arms: Vec<Trial<'_>> = arms.collect();
        std::iter::once(one(whole, own)).chain(arms)
    });
    with_arms.collect()
}

fn scenarios(old: &Plan, new: &Plan, changes: &mut Vec<Change>) {
    let (old, new) = (trials(old), trials(new));
    by_id(
        old.iter().map(|trial| (&trial.scenario.id, trial)),
        new.iter().map(|trial| (&trial.scenario.id, trial)),
        |trial| trial.scenario.name.text.clone(),
        changes,
        scenario,
    );
}

fn scenario(before: &Trial<'_>, after: &Trial<'_>, notes: &mut Notes<'_>) {
    let (old, new) = (before.scenario, after.scenario);
    notes.words("name", &old.name.text, &new.name.text);
    notes.lists("falsifies", &references(&old.falsifies), &references(&new.falsifies));
    notes.lists("closes", &references(&old.closes), &references(&new.closes));
    lines::compare(old, new, notes);
    notes.words("unreadable block", before.broken.unwrap_or(""), after.broken.unwrap_or(""));
    if old.id.arm.is_none() || old.machine() != new.machine() {
        block::compare(&before.machine, &after.machine, notes);
        nemesis::compare(&before.machine, &after.machine, notes);
        budgets::compare((old, &before.machine), (new, &after.machine), notes);
    } else {
        // What an arm has from its scenario is told of the scenario, once; its lines are its own.
        let none = Machine::default();
        budgets::compare((old, &none), (new, &none), notes);
    }
}
