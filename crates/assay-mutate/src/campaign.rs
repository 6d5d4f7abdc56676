//! The kill matrix: every mutant is explored, and it is noted which properties it violates.

use crate::engine::{Answer, CannotCheck, DEADLOCK, Engine, Limits};
use crate::model::Model;
use assay_guard::tla::mutants::{Mutant, chosen, mutants};
use assay_guard::tla::records::Kills;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many mutants are explored at the same time.
const WORKERS: usize = 2;

/// A mutant is explored up to so many times the states of the module itself, and some: mistakes
/// show early, and one that lets a counter run has no last state.
const STATES_FACTOR: u64 = 3;

/// The states that even a mutant of a tiny module gets.
const STATES_MIN: u64 = 1_000;

/// How much is tried.
#[derive(Clone, Copy, Debug)]
pub struct Effort<'r> {
    /// The most mutants.
    pub mutants_max: usize,
    /// Only as many mutants of this record as it takes for each property to notice one.
    pub only: Option<&'r Kills>,
    /// The most states of a mutant; without it some times those of the module.
    pub states_max: Option<u64>,
    /// The limits of each exploration.
    pub limits: Limits,
}

/// How far it is, for who watches.
#[derive(Debug, Default)]
pub struct Progress {
    /// Mutants that are done.
    pub done: AtomicUsize,
    /// Mutants in all; nothing while the module itself is explored.
    pub total: AtomicUsize,
}

impl Progress {
    /// What is being done.
    pub fn words(&self) -> String {
        match self.total.load(Ordering::Relaxed) {
            0 => "exploring the module as it is".to_string(),
            total => format!("mutants: {} of {total}", self.done.load(Ordering::Relaxed)),
        }
    }
}

/// What became of a mutant.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "kebab-case", tag = "outcome")]
pub enum Outcome {
    /// It was explored.
    Explored(Answer),
    /// It is not well formed after all; it counts for nothing.
    Malformed {
        /// What the engine said.
        why: String,
    },
}

/// A mutant with what became of it.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The mutant.
    #[serde(flatten)]
    pub mutant: Mutant,
    /// What became of it.
    #[serde(flatten)]
    pub outcome: Outcome,
}

impl Row {
    /// What notices it.
    pub fn killed_by(&self) -> BTreeSet<&str> {
        match &self.outcome {
            Outcome::Explored(answer) => answer.violated.iter().map(String::as_str).collect(),
            Outcome::Malformed { .. } => BTreeSet::new(),
        }
    }

    /// Whether a limit kept something from being known.
    pub fn is_undecided(&self) -> bool {
        matches!(&self.outcome, Outcome::Explored(answer) if !answer.undecided.is_empty())
    }

    /// Whether it was explored to an end and nothing noticed it.
    pub fn survived(&self) -> bool {
        matches!(&self.outcome, Outcome::Explored(answer)
            if answer.violated.is_empty() && answer.undecided.is_empty() && !answer.bounded)
    }

    /// Whether nothing noticed it among as many states as were looked at, and there are more.
    pub fn is_unnoticed_so_far(&self) -> bool {
        matches!(&self.outcome, Outcome::Explored(answer)
            if answer.bounded && answer.violated.is_empty() && answer.undecided.is_empty())
    }
}

/// The kill matrix.
#[derive(Clone, Debug, Serialize)]
pub struct Matrix {
    /// The module.
    pub module: String,
    /// The configuration's file.
    pub configuration: String,
    /// What explored it.
    pub engine: String,
    /// What is checked, in the order of the configuration.
    pub properties: Vec<String>,
    /// The module as it is.
    pub base: Answer,
    /// The mutants that were tried.
    pub rows: Vec<Row>,
    /// How many mutants there are.
    pub mutants_total: usize,
    /// The limits of each exploration.
    pub limits: Limits,
    /// Whether only a part of a record was tried.
    pub is_quick: bool,
}

/// Explores the module and its mutants.
///
/// # Errors
/// When the module itself cannot be checked.
pub fn run(
    engine: &dyn Engine,
    model: &Model,
    effort: &Effort<'_>,
    progress: &Progress,
) -> Result<Matrix, CannotCheck> {
    let question = model.question();
    let base = engine.ask(model, &question, &effort.limits)?;
    let usual = base.distinct.saturating_mul(STATES_FACTOR).saturating_add(STATES_MIN);
    let limits = Limits { states: Some(effort.states_max.unwrap_or(usual)), ..effort.limits };
    let all = mutants(&model.source, &model.cfg);
    let mutants_total = all.len();
    let is_sound = base.violated.is_empty() && base.stopped.is_none() && base.undecided.is_empty();
    let wanted = match (is_sound, effort.only) {
        (false, _) => Vec::new(),
        (true, Some(record)) => cover(record, all),
        (true, None) => chosen(all, effort.mutants_max),
    };
    progress.total.store(wanted.len(), Ordering::Relaxed);
    let next = AtomicUsize::new(0);
    let done: Mutex<BTreeMap<usize, Result<Outcome, CannotCheck>>> = Mutex::default();
    let work = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(mutant) = wanted.get(at) else { return };
            let changed = model.with(mutant.applied(&model.source));
            let outcome = match engine.ask(&changed, &question, &limits) {
                Ok(answer) => Ok(Outcome::Explored(answer)),
                Err(CannotCheck::Rejected { why, .. }) => Ok(Outcome::Malformed { why }),
                Err(error) => Err(error),
            };
            // After an error there is no use in going on.
            if outcome.is_err() {
                next.store(wanted.len(), Ordering::Relaxed);
            }
            progress.done.fetch_add(1, Ordering::Relaxed);
            done.lock().expect("nobody panics with the lock").insert(at, outcome);
        }
    };
    std::thread::scope(|scope| {
        (0..WORKERS).for_each(|_| drop(scope.spawn(work)));
    });
    let mut rows = Vec::new();
    for (at, outcome) in done.into_inner().expect("nobody panics with the lock") {
        rows.push(Row { mutant: wanted[at].clone(), outcome: outcome? });
    }
    Ok(Matrix {
        module: model.name.clone(),
        configuration: model.configuration(),
        engine: engine.name(),
        properties: model.checked(),
        base,
        rows,
        mutants_total,
        limits,
        is_quick: effort.only.is_some(),
    })
}

/// Few mutants of a record, such that every property that notices one notices one of these.
fn cover(record: &Kills, all: Vec<Mutant>) -> Vec<Mutant> {
    let there: BTreeSet<&str> = all.iter().map(|mutant| mutant.id.as_str()).collect();
    let mut noticing: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (property, killed) in &record.kills {
        for mutant in killed.iter().filter(|mutant| there.contains(mutant.as_str())) {
            noticing.entry(mutant).or_default().insert(property);
        }
    }
    let mut open: BTreeSet<&str> = noticing.values().flatten().copied().collect();
    let mut wanted: BTreeSet<String> = BTreeSet::new();
    while !open.is_empty() {
        let gain = |by: &BTreeSet<&str>| by.intersection(&open).count();
        let best = noticing.iter().max_by_key(|(id, by)| (gain(by), std::cmp::Reverse(**id)));
        let Some((id, by)) = best else { break };
        wanted.insert((*id).to_string());
        open = open.difference(by).copied().collect();
    }
    all.into_iter().filter(|mutant| wanted.contains(&mutant.id)).collect()
}

impl Matrix {
    /// The record of it.
    pub fn kills(&self) -> Kills {
        let explored: Vec<&Row> =
            self.rows.iter().filter(|row| matches!(row.outcome, Outcome::Explored(_))).collect();
        let killed = |property: &String| {
            let by = explored.iter().filter(|row| row.killed_by().contains(property.as_str()));
            (property.clone(), by.map(|row| row.mutant.id.clone()).collect())
        };
        let change = |row: &&Row| {
            let text = format!("{} becomes {}", row.mutant.was, row.mutant.becomes);
            (row.mutant.id.clone(), text)
        };
        let open = explored.iter().filter(|row| row.is_undecided());
        Kills {
            module: self.module.clone(),
            configuration: self.configuration.clone(),
            engine: self.engine.clone(),
            states_max: self.limits.states,
            undecided: open.map(|row| row.mutant.id.clone()).collect(),
            kills: self.properties.iter().map(killed).collect(),
            mutants: explored.iter().map(change).collect(),
        }
    }

    /// Properties that notice nothing. Whether there are deadlocks is no property of the module.
    pub fn idle(&self) -> Vec<&str> {
        let noticed: BTreeSet<&str> = self.rows.iter().flat_map(Row::killed_by).collect();
        let names = self.properties.iter().map(String::as_str);
        names.filter(|name| *name != DEADLOCK && !noticed.contains(name)).collect()
    }
}
