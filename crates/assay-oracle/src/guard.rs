//! Running a checker so that none of its own mistakes can look like a pass, and proving before use
//! that it can fail.

use crate::certain::is_certain;
use crate::contract::{Answer, CheckReport, Oracle, OracleError};
use crate::draft::{Draft, Plant};
use crate::options::Options;
use assay_history::History;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Attempts to find a place for one anomaly.
const ATTEMPTS_MAX: u32 = 64;

/// Runs a checker; a panic becomes an undecided report that says it is a bug in Assay.
///
/// # Errors
/// As [`Oracle::check`].
pub fn run_guarded(
    oracle: &dyn Oracle,
    history: &History,
    options: &Options,
) -> Result<CheckReport, OracleError> {
    let caught = catch_unwind(AssertUnwindSafe(|| oracle.check(history, options)));
    let panic = match caught {
        Ok(result) => return result,
        Err(panic) => panic,
    };
    let words = panic.downcast_ref::<&str>().map(ToString::to_string);
    let words = words.or_else(|| panic.downcast_ref::<String>().cloned());
    let mut report = CheckReport::new(oracle.info().name, history.len());
    report.answer = Answer::Undecided;
    report.undecided_because.push(format!(
        "a bug in Assay: the checker {} panicked ({}); please report it with the history",
        oracle.info().name,
        words.unwrap_or_else(|| "no message".to_string())
    ));
    Ok(report)
}

/// Proves that an oracle passes its known-good history and refutes its planted-bad one.
///
/// # Errors
/// What it answered instead.
pub fn self_test(oracle: &dyn Oracle) -> Result<(), String> {
    let name = oracle.info().name;
    let cases = [
        ("known-good", oracle.known_good(), Answer::Upheld),
        ("planted-bad", oracle.planted_bad(), Answer::Refuted),
    ];
    for (case, example, expected) in cases {
        let report = run_guarded(oracle, &example.history, &example.options)
            .map_err(|error| format!("{name}: its {case} history is an error: {error}"))?;
        if report.answer != expected {
            return Err(format!(
                "{name}: its {case} history is {}, not {}",
                report.answer.name(),
                expected.name()
            ));
        }
    }
    Ok(())
}

/// How many anomalies of one kind were caught.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct CalibrationRow {
    /// The kind that was planted.
    pub kind: &'static str,
    /// How many changed copies were made; fewer than asked for if the history offers no place.
    pub planted: u32,
    /// How many of them were refuted.
    pub caught: u32,
    /// How many of those planted break the promise by construction, whatever a checker says.
    pub certain: u32,
    /// How many of these were refuted.
    pub certain_caught: u32,
}

/// A copy of a history with one anomaly of this kind in it; `None` if no place for it is found.
pub fn plant(plant: &Plant, history: &History, seed: u64) -> Option<History> {
    planted(plant, &Draft::new(history), seed).map(Draft::finish)
}

fn planted(plant: &Plant, clean: &Draft, seed: u64) -> Option<Draft> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    // An attempt that fails has changed nothing.
    let mut draft = clean.clone();
    (0..ATTEMPTS_MAX).any(|_| (plant.apply)(&mut draft, &mut rng)).then_some(draft)
}

/// Plants `count` anomalies of each kind the oracle knows into copies of a history, one at a time,
/// and counts those the oracle refutes.
///
/// # Errors
/// As [`Oracle::check`] of the history itself: a changed copy that is malformed is not caught.
pub fn calibrate(
    oracle: &dyn Oracle,
    history: &History,
    options: &Options,
    count: u32,
    seed: u64,
) -> Result<Vec<CalibrationRow>, OracleError> {
    oracle.check(history, options)?;
    let clean = Draft::new(history);
    let name = oracle.info().name;
    let row = |(i, kind): (usize, &Plant)| {
        let mut row = CalibrationRow {
            kind: kind.kind,
            planted: 0,
            caught: 0,
            certain: 0,
            certain_caught: 0,
        };
        for round in 0..count {
            let mixed = seed ^ ((i as u64) << 40) ^ (u64::from(round) << 8);
            let Some(changed) = planted(kind, &clean, mixed) else { break };
            let certain = is_certain(name, kind.kind, &clean, &changed, options);
            let report = run_guarded(oracle, &changed.finish(), options);
            let caught = report.is_ok_and(|r| r.answer == Answer::Refuted);
            row.planted += 1;
            row.caught += u32::from(caught);
            row.certain += u32::from(certain);
            row.certain_caught += u32::from(certain && caught);
        }
        row
    };
    Ok(oracle.plants().iter().enumerate().map(row).collect())
}
