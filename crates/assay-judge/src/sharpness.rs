//! How sharp the checkers of a panel are on a history: planted anomalies, and which were seen.
//!
//! Planting needs a round for each anomaly that is asked for; between rounds the clock is looked
//! at, so that a long history takes a little longer than it may, never much. What was left out
//! because of that is said.

use crate::judgement::Limits;
use crate::panel::Panel;
use crate::seat::{Kind, Seat};
use crate::{objects, transactions};
use assay_check::{Anomaly, Budget, CheckOptions};
use assay_history::{History, Severity};
use assay_verdict::{Calibration, Outcome};
use serde::Serialize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

/// How many anomalies of one kind a checker saw.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct SharpnessRow {
    /// The checker.
    pub checker: String,
    /// What was planted: `stale-read`, `lost-write`, `duplicate`, ...
    pub kind: String,
    /// Copies that were made; fewer than asked for if the history offers no place.
    pub planted: u64,
    /// Copies that the checker refuted.
    pub caught: u64,
    /// Of those planted, the copies that are anomalous by construction: none may be missed.
    pub certain: u64,
    /// Of these, the copies that the checker refuted.
    pub certain_caught: u64,
}

/// How sharp the checkers of a panel are on a history.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Sharpness {
    /// What the choice of places began with.
    pub seed: u64,
    /// How many anomalies of each kind were asked for.
    pub asked: u32,
    /// By checker and kind.
    pub rows: Vec<SharpnessRow>,
    /// Checkers that were calibrated in fewer rounds than asked for, because the time was up.
    pub cut: Vec<String>,
    /// What else there is to say: checkers that offered no certain anomaly, and why there are no
    /// rows at all.
    pub notes: Vec<String>,
}

impl Sharpness {
    /// As a fact for the verdict of a run. Where nothing certain could be planted, a checker has
    /// shown something only by what it caught nevertheless: it let the history itself pass. One
    /// sharp checker does not stand in for another: then nobody tried.
    pub fn verdict(&self) -> Calibration {
        let mut checkers: Vec<&str> = self.rows.iter().map(|row| row.checker.as_str()).collect();
        checkers.dedup();
        let of = |name: &str, what: fn(&SharpnessRow) -> u64| -> u64 {
            self.rows.iter().filter(|row| row.checker == name).map(what).sum()
        };
        let untried =
            |name: &&str| of(name, |row| row.certain) == 0 && of(name, |row| row.caught) == 0;
        if checkers.is_empty() || checkers.iter().any(untried) {
            let missed = self.rows.iter().any(|row| row.certain > row.certain_caught);
            // Worse than not to have tried is to have tried and missed.
            if !missed {
                return Calibration::NotDone;
            }
        }
        let (mut planted, mut caught) = (0, 0);
        for name in checkers {
            match of(name, |row| row.certain) {
                0 => {
                    planted += of(name, |row| row.caught);
                    caught += of(name, |row| row.caught);
                }
                certain => {
                    planted += certain;
                    caught += of(name, |row| row.certain_caught);
                }
            }
        }
        Calibration::Done { planted, caught }
    }
}

pub(crate) fn calibrate(
    panel: &Panel,
    history: &History,
    count: u32,
    seed: u64,
    limits: &Limits,
) -> Sharpness {
    let begun = Instant::now();
    let mut sharpness =
        Sharpness { seed, asked: count, rows: Vec::new(), cut: Vec::new(), notes: Vec::new() };
    if panel.findings(history).iter().any(|finding| finding.severity == Severity::Unsound) {
        sharpness.notes.push("the history cannot carry a verdict: nothing was planted".into());
        return sharpness;
    }
    // A checker that does not pass the history as it is would "catch" whatever is planted.
    let judged = panel.judge(history, limits);
    let mut rows: Vec<Vec<SharpnessRow>> = vec![Vec::new(); panel.seats.len()];
    let mut open: Vec<usize> = Vec::new();
    for (i, (seat, report)) in panel.seats.iter().zip(&judged.reports).enumerate() {
        match report.outcome {
            Outcome::Upheld | Outcome::NothingChecked => open.push(i),
            Outcome::Refuted | Outcome::Undecided => sharpness.notes.push(format!(
                "{}: {} on the history itself, so that nothing planted could show anything",
                seat.name, report.outcome
            )),
        }
    }
    for round in 0..count {
        if open.is_empty() {
            break;
        }
        open.retain(|&i| {
            let seat = &panel.seats[i];
            if begun.elapsed() >= limits.time {
                sharpness.cut.push(seat.name.clone());
                return false;
            }
            let mixed = seed ^ u64::from(round).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            match one_round(panel, seat, history, mixed, limits) {
                Ok(found) => add(&mut rows[i], found),
                Err(why) => {
                    sharpness.notes.push(format!("{}: {why}", seat.name));
                    return false;
                }
            }
            true
        });
    }
    for (seat, rows) in panel.seats.iter().zip(&rows) {
        if !rows.is_empty() && rows.iter().all(|row| row.certain == 0) {
            sharpness.notes.push(format!(
                "{}: the history offers no place where an anomaly would be one for certain",
                seat.name
            ));
        }
    }
    sharpness.rows = rows.into_iter().flatten().collect();
    sharpness
}

fn add(rows: &mut Vec<SharpnessRow>, found: Vec<SharpnessRow>) {
    for row in found {
        match rows.iter_mut().find(|known| known.kind == row.kind) {
            None => rows.push(row),
            Some(known) => {
                known.planted += row.planted;
                known.caught += row.caught;
                known.certain += row.certain;
                known.certain_caught += row.certain_caught;
            }
        }
    }
}

/// One anomaly of each kind: every row is about a single copy of the history, and what the checker
/// says about that copy is heard by the panel as any other answer is.
fn one_round(
    panel: &Panel,
    seat: &Seat,
    history: &History,
    seed: u64,
    limits: &Limits,
) -> Result<Vec<SharpnessRow>, String> {
    let answered = |kind: &str, counts: [u32; 4]| {
        let [planted, caught, certain, certain_caught] = counts.map(u64::from);
        let heard = panel.hears(if caught > 0 { Outcome::Refuted } else { Outcome::Upheld });
        let of_caught = |count: u64| if heard == Outcome::Refuted { count } else { 0 };
        SharpnessRow {
            checker: seat.name.clone(),
            kind: kind.to_string(),
            planted,
            caught: of_caught(caught),
            certain,
            certain_caught: of_caught(certain_caught),
        }
    };
    let work = || match seat.kind {
        Kind::Objects(model) => {
            let (cut, initial) = objects::prepare(history, model, &panel.settings);
            let budget = Budget::new(limits.memory_bytes, limits.states);
            let options =
                CheckOptions { initial, budget: Some(&budget), ..CheckOptions::new(model) };
            let rows = assay_check::calibrate(&cut.history, &options, 1, seed);
            let rows = rows.map_err(|error| error.to_string())?;
            let name = |anomaly: Anomaly| {
                let known = Anomaly::ALL.iter().find(|(kind, _)| *kind == anomaly);
                known.map_or("", |&(_, name)| name).replace(' ', "-")
            };
            let row = |r: &assay_check::CalibrationRow| {
                answered(&name(r.anomaly), [r.planted, r.caught, r.certain, r.certain_caught])
            };
            Ok(rows.iter().map(row).collect())
        }
        Kind::Transactions(style) => {
            let prepared = transactions::prepare(history, style, &panel.settings, limits);
            let (_, txns, options) = prepared.map_err(|error| error.to_string())?;
            let rows = assay_txn::calibrate(&txns, &options, panel.settings.claim, 1, seed);
            let rows = rows.map_err(|error| error.to_string())?;
            let row = |r: &assay_txn::CalibrationRow| {
                answered(r.kind.name(), [r.planted, r.caught, r.certain, r.certain_caught])
            };
            Ok(rows.iter().map(row).collect())
        }
        Kind::Oracle(oracle) => {
            let options = &panel.settings.oracle;
            let rows = assay_oracle::calibrate(oracle, history, options, 1, seed);
            let rows = rows.map_err(|error| error.to_string())?;
            let row = |r: &assay_oracle::CalibrationRow| {
                answered(r.kind, [r.planted, r.caught, r.certain, r.certain_caught])
            };
            Ok(rows.iter().map(row).collect())
        }
    };
    let panicked = |_| Err("it panicked on a planted anomaly: a bug in Assay".to_string());
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(panicked)
}
