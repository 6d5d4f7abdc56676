//! The checker against slow, obviously right twins, on simulated databases of every isolation level
//! and on histories that no database would produce.

mod support;

use assay_history::Txns;
use assay_txn::{CheckOptions, Evidence, Kind, Level, Model, Report, check, verify};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use std::collections::BTreeSet;
use support::simdb::{Isolation, Record, Settings, SimMop, What, Workload};
use support::text::Notation;
use support::{naive, read, records, serial, text_of};

/// Histories per isolation level; `ASSAY_CASES` overrides it.
const CASES: u64 = 12_000;

fn cases() -> u64 {
    let given = std::env::var("ASSAY_CASES").ok();
    given.map_or(CASES, |text| text.parse().expect("ASSAY_CASES is a number"))
}

fn small(isolation: Isolation, workload: Workload, seed: u64) -> Settings {
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
fn mangle(records: &mut [Record], seed: u64) {
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

fn lists(isolation: Isolation, seed: u64) -> (Txns, Vec<u8>) {
    let mut made = records(small(isolation, Workload::ListAppend, seed));
    if seed.is_multiple_of(3) {
        mangle(&mut made, seed);
    }
    let notation = if seed.is_multiple_of(2) { Notation::Json } else { Notation::Edn };
    let text = text_of(&made, notation, Workload::ListAppend);
    (read(&text, Workload::ListAppend), text)
}

/// Runs a judge over many seeds; the first objection stops the test with its history.
fn run(isolation: Isolation, judge: impl Fn(&Txns, &Report) -> Result<(), String> + Sync) {
    let objection = (0..cases()).into_par_iter().find_map_first(|seed| {
        let (txns, text) = lists(isolation, seed);
        let report = check(&txns, &CheckOptions::default()).expect("small histories fit");
        let why = judge(&txns, &report).err()?;
        Some(format!("{isolation:?}, seed {seed}: {why}\n{}", String::from_utf8_lossy(&text)))
    });
    if let Some(objection) = objection {
        panic!("{objection}");
    }
}

fn agrees_with_serial_orders(txns: &Txns, report: &Report) -> Result<(), String> {
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

fn agrees_with_twin(txns: &Txns, report: &Report) -> Result<(), String> {
    let twin = naive::look(txns);
    // Weak models have a twin of their own, in weak.rs.
    let weak = [Kind::NonmonotonicView, Kind::FracturedRead, Kind::CausalRead];
    let is_cycle = |kind: &&Kind| matches!(kind, Kind::Cycle(..)) || weak.contains(kind);
    let kinds: BTreeSet<Kind> = report.counts.iter().map(|&(kind, _)| kind).collect();
    let plain: BTreeSet<Kind> = kinds.iter().filter(|k| !is_cycle(k)).copied().collect();
    if plain != twin.kinds {
        return Err(format!("found {plain:?}, the twin {:?}", twin.kinds));
    }
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

fn is_verified(txns: &Txns, report: &Report) -> Result<(), String> {
    report.anomalies.iter().try_for_each(|anomaly| {
        let verified = verify(txns, report.assume, anomaly);
        verified.map_err(|why| format!("the verifier says: {why}: {anomaly:?}"))
    })
}

fn agrees(txns: &Txns, report: &Report) -> Result<(), String> {
    agrees_with_serial_orders(txns, report)?;
    agrees_with_twin(txns, report)?;
    is_verified(txns, report)
}

macro_rules! agrees_at {
    ($($name:ident $isolation:ident;)*) => {$(
        #[test]
        fn $name() {
            run(Isolation::$isolation, agrees);
        }
    )*};
}

agrees_at! {
    agrees_with_brute_force_on_strict_serializable_databases StrictSerializable;
    agrees_with_brute_force_on_serializable_databases Serializable;
    agrees_with_brute_force_on_snapshot_databases Snapshot;
    agrees_with_brute_force_on_prefix_databases Prefix;
    agrees_with_brute_force_on_read_committed_databases ReadCommitted;
    agrees_with_brute_force_on_read_uncommitted_databases ReadUncommitted;
    agrees_with_brute_force_on_databases_that_promise_nothing Nothing;
}

#[test]
fn canary_a_checker_that_finds_nothing_is_caught() {
    let caught = (0..200).any(|seed| {
        let (txns, _) = lists(Isolation::ReadCommitted, seed);
        let mut report = check(&txns, &CheckOptions::default()).expect("small histories fit");
        report.ruled_out = assay_txn::Models::ruled_out_by(&[]);
        agrees_with_serial_orders(&txns, &report).is_err()
    });
    assert!(caught);
}
