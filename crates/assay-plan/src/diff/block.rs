//! The machine block, table by table, but for faults and budgets.
//!
//! Defaults count as what they stand for: writing one down changes nothing.

use super::Direction;
use super::notes::Notes;
use crate::machine::{
    Ambiguity, CheckerChoice, Expectation, Machine, ModelChoice, Recording, Reduction, System,
    Workload,
};
use std::collections::BTreeSet;

/// The seed of a block that names none.
const SEED_DEFAULT: u64 = 1;

/// Notes how the tables changed.
pub(super) fn compare(old: &Machine, new: &Machine, notes: &mut Notes<'_>) {
    let seed = |machine: &Machine| machine.seed.unwrap_or(SEED_DEFAULT).to_string();
    notes.words("seed", &seed(old), &seed(new));
    expect(old, new, notes);
    notes.tables("system", (old.system.as_ref(), new.system.as_ref()), system);
    notes.tables("workload", (old.workload.as_ref(), new.workload.as_ref()), workload);
    notes.tables("model", (old.model.as_ref(), new.model.as_ref()), model);
    let table = |machine: &Machine| machine.checker.clone().unwrap_or_default();
    checker(&table(old), &table(new), notes);
    let table = |machine: &Machine| machine.history.clone().unwrap_or_default();
    history(&table(old), &table(new), notes);
    let table = |machine: &Machine| machine.ambiguity.clone().unwrap_or_default();
    ambiguity(&table(old), &table(new), notes);
    let table = |machine: &Machine| machine.reduction.clone().unwrap_or_default();
    reduction(&table(old), &table(new), notes);
}

/// Either way something is lost: a canary no longer shows that the checker can see, or a scenario
/// that should hold is allowed to fail.
fn expect(old: &Machine, new: &Machine, notes: &mut Notes<'_>) {
    let word = |machine: &Machine| match machine.expect.unwrap_or_default() {
        Expectation::Upheld => "upheld",
        Expectation::Refuted => "refuted",
    };
    if word(old) != word(new) {
        notes.note("expect", Direction::Weaker, word(old), word(new));
    }
}

fn system(old: &System, new: &System, notes: &mut Notes<'_>) {
    notes.words("system.name", &old.name, &new.name);
    notes.amount("system.nodes", old.nodes, new.nodes);
    notes.value("system.network", &old.network, &new.network);
    notes.value("system.options", &old.options, &new.options);
}

fn workload(old: &Workload, new: &Workload, notes: &mut Notes<'_>) {
    notes.words("workload.generator", &old.generator, &new.generator);
    notes.amount("workload.clients", Some(old.clients), Some(new.clients));
    match (old.rate, new.rate) {
        (Some(_), Some(_)) => notes.amount("workload.rate", old.rate, new.rate),
        // Clients that wait and operations that arrive by themselves are two kinds of load.
        _ => notes.words("workload.rate", &text(old.rate), &text(new.rate)),
    }
    // Fewer keys are fewer objects and more conflicts.
    notes.words("workload.keys", &text(old.keys), &text(new.keys));
    notes.value("workload.distribution", &old.distribution, &new.distribution);
    mix(old, new, notes);
    notes.words("workload.timeout", &old.timeout.to_string(), &new.timeout.to_string());
    notes.value("workload.options", &old.options, &new.options);
}

fn text<T: ToString>(value: Option<T>) -> String {
    value.map_or(String::new(), |value| value.to_string())
}

/// An operation type that is no longer sent is not looked at; other shares are another choice.
fn mix(old: &Workload, new: &Workload, notes: &mut Notes<'_>) {
    let sent = |workload: &Workload| -> BTreeSet<String> {
        let shares = workload.mix.iter().filter(|(_, share)| **share > 0);
        shares.map(|(name, _)| name.clone()).collect()
    };
    let shares = |workload: &Workload| {
        let share = |(name, share): (&String, &u64)| format!("{name} {share}");
        workload.mix.iter().map(share).collect::<Vec<_>>().join(", ")
    };
    let direction = match (sent(old), sent(new)) {
        _ if old.mix == new.mix => return,
        // Without a mix the generator chooses.
        (before, after) if before.is_empty() || after.is_empty() => Direction::Changed,
        (before, after) if before == after => Direction::Changed,
        (before, after) if before.is_superset(&after) => Direction::Weaker,
        (before, after) if after.is_superset(&before) => Direction::Stronger,
        _ => Direction::Changed,
    };
    notes.note("workload.mix", direction, shares(old), shares(new));
}

fn model(old: &ModelChoice, new: &ModelChoice, notes: &mut Notes<'_>) {
    notes.words("model", &old.name, &new.name);
    notes.value("model.options", &old.options, &new.options);
}

fn set(list: &[String]) -> BTreeSet<String> {
    list.iter().cloned().collect()
}

fn checker(old: &CheckerChoice, new: &CheckerChoice, notes: &mut Notes<'_>) {
    notes.lists("checker", &set(&old.name), &set(&new.name));
    notes.value("checker.options", &old.options, &new.options);
    let why = |choice: &CheckerChoice| choice.justification.clone().unwrap_or_default();
    notes.words("checker.justification", &why(old), &why(new));
}

fn history(old: &Recording, new: &Recording, notes: &mut Notes<'_>) {
    notes.lists("history.recording", &set(&old.recording), &set(&new.recording));
    notes.lists("history.columns", &set(&old.columns), &set(&new.columns));
    let (old, new) = (set(&old.without), set(&new.without));
    // What is left out counts the other way round.
    let direction = match (old.is_superset(&new), new.is_superset(&old)) {
        (true, true) => return,
        (true, false) => Direction::Stronger,
        (false, true) => Direction::Weaker,
        (false, false) => Direction::Changed,
    };
    let joined = |set: &BTreeSet<String>| set.iter().cloned().collect::<Vec<_>>().join(", ");
    notes.note("history.without", direction, joined(&old), joined(&new));
}

fn ambiguity(old: &Ambiguity, new: &Ambiguity, notes: &mut Notes<'_>) {
    let values = old.values().into_iter().zip(new.values());
    for ((key, sound), (old, new)) in Ambiguity::SOUND.into_iter().zip(values) {
        let direction = match (old == sound, new == sound) {
            _ if old == new => continue,
            (true, _) => Direction::Weaker,
            (_, true) => Direction::Stronger,
            _ => Direction::Changed,
        };
        notes.note(format!("ambiguity.{key}"), direction, old, new);
    }
}

fn reduction(old: &Reduction, new: &Reduction, notes: &mut Notes<'_>) {
    notes.words("reduction.nodes", &text(old.nodes), &text(new.nodes));
    notes.amount("reduction.reruns", old.reruns, new.reruns);
    notes.amount("reduction.time", old.time, new.time);
    let note = |reduction: &Reduction| reduction.note.clone().unwrap_or_default();
    notes.words("reduction.note", &note(old), &note(new));
}
