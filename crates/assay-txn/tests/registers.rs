//! Registers: what is refuted is refuted by brute force too, and what keeps its promises passes.

mod support;

use assay_history::Txns;
use assay_txn::{Assume, CheckOptions, Level, Model, Report, check, verify};
use rayon::prelude::*;
use support::simdb::Isolation;
use support::{serial, small_registers};

const NOTHING: Assume =
    Assume { writes_follow_reads: false, sequential_keys: false, linearizable_keys: false };
const LINEARIZABLE: Assume = Assume { linearizable_keys: true, ..NOTHING };
const EVERYTHING: Assume =
    Assume { writes_follow_reads: true, sequential_keys: true, linearizable_keys: true };

fn run(
    isolation: Isolation,
    assume: Assume,
    judge: impl Fn(&Txns, &Report) -> Result<(), String> + Sync,
) {
    const CASES: u64 = 8_000;
    let objection = (0..CASES).into_par_iter().find_map_first(|seed| {
        let (txns, text) = small_registers(isolation, seed);
        let options = CheckOptions { assume, ..CheckOptions::default() };
        let report = check(&txns, &options).expect("small histories fit");
        let verified = report
            .anomalies
            .iter()
            .try_for_each(|anomaly| verify(&txns, assume, anomaly).map_err(|why| (why, anomaly)));
        let why = match verified {
            Err((why, anomaly)) => format!("the verifier says: {why}: {anomaly:?}"),
            Ok(()) => judge(&txns, &report).err()?,
        };
        Some(format!("{isolation:?}, seed {seed}: {why}\n{}", String::from_utf8_lossy(&text)))
    });
    if let Some(objection) = objection {
        panic!("{objection}");
    }
}

/// What is ruled out must have no explanation. Under an assumption about real time, only orders
/// that keep real time count as one.
fn is_strictly_sound(txns: &Txns, report: &Report) -> Result<(), String> {
    let ruled_out = !report.anomalies.is_empty();
    if ruled_out && serial::explained(txns, Level::Realtime) {
        return Err(format!("it is strict serializable: {report:?}"));
    }
    Ok(())
}

/// What is ruled out must have no explanation.
fn is_sound(txns: &Txns, report: &Report) -> Result<(), String> {
    for (level, model) in [
        (Level::Plain, Model::Serializable),
        (Level::Process, Model::StrongSessionSerializable),
        (Level::Realtime, Model::StrictSerializable),
    ] {
        if report.ruled_out.has(model) && serial::explained(txns, level) {
            return Err(format!("{} is ruled out, but holds: {report:?}", model.name()));
        }
    }
    Ok(())
}

fn is_clean(_: &Txns, report: &Report) -> Result<(), String> {
    if report.anomalies.is_empty() { Ok(()) } else { Err(format!("{:?}", report.anomalies)) }
}

#[test]
fn with_nothing_assumed_nothing_is_ruled_out_that_holds() {
    for isolation in Isolation::ALL {
        run(isolation, NOTHING, is_sound);
    }
}

#[test]
fn linearizable_keys_are_believed_where_they_are_true() {
    run(Isolation::ReadCommitted, LINEARIZABLE, is_strictly_sound);
    run(Isolation::ReadUncommitted, LINEARIZABLE, is_strictly_sound);
    run(Isolation::StrictSerializable, LINEARIZABLE, is_clean);
}

#[test]
fn a_strict_serializable_database_passes_under_every_assumption() {
    run(Isolation::StrictSerializable, EVERYTHING, is_clean);
    run(Isolation::ReadCommitted, EVERYTHING, is_strictly_sound);
}

#[test]
fn anomalies_are_found_under_assumptions() {
    let found = (0..500).any(|seed| {
        let (txns, _) = small_registers(Isolation::ReadCommitted, seed);
        let options = CheckOptions { assume: LINEARIZABLE, ..CheckOptions::default() };
        let report = check(&txns, &options).expect("small histories fit");
        report.counts.iter().any(|(kind, _)| kind.name() == "G-single")
    });
    assert!(found);
}
