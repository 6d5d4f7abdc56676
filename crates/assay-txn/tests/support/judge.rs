//! How a report is judged: by brute force, by the twin, by the verifier.

use super::naive::{self, Naive};
use super::serial;
use super::simdb::{Isolation, Record, Settings, SimMop, What, Workload};
use assay_history::Txns;
use assay_txn::{Evidence, Kind, Level, Model, Report, verify};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeSet;

/// Histories per isolation level; `ASSAY_CASES` overrides it.
const CASES: u64 = 12_000;

pub fn cases() -> u64 {
    let given = std::env::var("ASSAY_CASES").ok();
    given.map_or(CASES, |text| text.parse().expect("ASSAY_CASES is a number"))
}

pub fn small(isolation: Isolation, workload: Workload, seed: u64) -> Settings {
    let mut rng = ChaCha8Rng::seed_from_u64(seed ^ 0xA55A);
    Settings {
        isolation,
        workload,
        clients: rng.random_range(1..=4),
        txns: rng.random_range(1..=6),
        mops_max: rng.random_range(1..=4),
        keys: rng.random_range(1..=3),
        writes_per_key: rng.random_range(2..=20),
        abort_percent: rng.random_range(0..25),
        unknown_percent: rng.random_range(0..25),
        seed,
    }
}

/// Changes what one committed read returned, in a way no database would.
pub fn mangle(records: &mut [Record], seed: u64) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed ^ 0x3A46);
    let mut reads: Vec<&mut Vec<u32>> = records
        .iter_mut()
        .filter(|record| record.what == What::Ok)
        .flat_map(|record| &mut record.mops)
        .filter_map(|mop| match mop {
            SimMop::Read(_, seen) => Some(seen),
            SimMop::Write(..) => None,
        })
        .collect();
    if reads.is_empty() {
        return;
    }
    let place = rng.random_range(0..reads.len());
    let seen = &mut *reads[place];
    match rng.random_range(0..5) {
        0 => _ = seen.pop(),
        1 if seen.len() > 1 => {
            let i = rng.random_range(0..seen.len() - 1);
            seen.swap(i, i + 1);
        }
        2 if !seen.is_empty() => seen.push(seen[0]),
        3 => seen.push(rng.random_range(1..6)),
        _ if !seen.is_empty() => _ = seen.remove(0),
        _ => {}
    }
}

/// What is ruled out has no order that explains it, and what is not ruled out has one.
pub fn agrees_with_serial_orders(txns: &Txns, report: &Report) -> Result<(), String> {
    for (level, model) in [
        (Level::Plain, Model::Serializable),
        (Level::Process, Model::StrongSessionSerializable),
        (Level::Realtime, Model::StrictSerializable),
    ] {
        let explained = serial::explained(txns, level);
        if explained == report.ruled_out.has(model) {
            let found: Vec<&str> = report.counts.iter().map(|(kind, _)| kind.name()).collect();
            return Err(format!("{}: explained {explained}, found {found:?}", model.name()));
        }
    }
    Ok(())
}

/// The cycles that were found are cycles of the twin, of their class, and none is missing.
pub fn agrees_with_steps(report: &Report, twin: &Naive) -> Result<(), String> {
    let kinds: BTreeSet<Kind> = report.counts.iter().map(|&(kind, _)| kind).collect();
    for anomaly in &report.anomalies {
        let Evidence::Cycle { cycle, .. } = &anomaly.evidence else { continue };
        let steps = &cycle.steps;
        for (i, &(a, label)) in steps.iter().enumerate() {
            let b = steps[(i + 1) % steps.len()].0;
            if !twin.steps.contains(&(a, b, label)) {
                return Err(format!("there is no {label:?} from {a} to {b}: {cycle:?}"));
            }
        }
        let labels: Vec<_> = steps.iter().map(|&(_, label)| label).collect();
        if naive::class_of(&labels) != Some(cycle.class) {
            return Err(format!("not of its class: {cycle:?}"));
        }
    }
    let found: BTreeSet<_> = kinds
        .iter()
        .filter_map(|kind| match kind {
            Kind::Cycle(class, level) => Some((*level, *class)),
            _ => None,
        })
        .collect();
    for level in Level::ALL {
        let least = |set: &BTreeSet<(Level, assay_txn::Class)>, exactly: bool| {
            let here = |l: Level| if exactly { l == level } else { l <= level };
            set.iter().filter(|(l, _)| here(*l)).map(|(_, class)| *class).min()
        };
        if least(&found, false) != least(&twin.cycles, true) {
            return Err(format!("{level:?}: found {found:?}, the twin {:?}", twin.cycles));
        }
    }
    use assay_txn::Class::{G0, G1c, GSingle};
    for class in [G0, G1c, GSingle] {
        let at = (Level::Plain, class);
        if found.contains(&at) != twin.cycles.contains(&at) {
            return Err(format!("{class:?}: found {found:?}, the twin {:?}", twin.cycles));
        }
    }
    Ok(())
}

pub fn is_verified(txns: &Txns, report: &Report) -> Result<(), String> {
    report.anomalies.iter().try_for_each(|anomaly| {
        let verified = verify(txns, report.assume, anomaly);
        verified.map_err(|why| format!("the verifier says: {why}: {anomaly:?}"))
    })
}
