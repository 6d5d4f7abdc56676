//! Counters: what is refuted is refuted by brute force too, and what keeps its promise passes.

mod support;

use assay_history::Txns;
use assay_txn::{Assume, CheckOptions, Kind, Level, Model, Report, check};
use rayon::prelude::*;
use support::judge::{cases, is_verified, mangle, small};
use support::simdb::{Isolation, Workload};
use support::text::Notation;
use support::{read, records, serial, text_of};

const FOLLOW: Assume =
    Assume { writes_follow_reads: true, sequential_keys: false, linearizable_keys: false };

fn counters(isolation: Isolation, seed: u64) -> (Txns, Vec<u8>) {
    let mut made = records(small(isolation, Workload::CounterInc, seed));
    if seed.is_multiple_of(3) {
        mangle(&mut made, seed);
    }
    let notation = if seed.is_multiple_of(2) { Notation::Json } else { Notation::Edn };
    let text = text_of(&made, notation, Workload::CounterInc);
    (read(&text, Workload::CounterInc), text)
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

/// Runs over many seeds; what the database promises must not be ruled out.
fn run(isolation: Isolation, assume: Assume, promise: Option<Model>) {
    let options = CheckOptions { assume, ..CheckOptions::default() };
    let objection = (0..cases()).into_par_iter().find_map_first(|seed| {
        let (txns, text) = counters(isolation, seed);
        let report = check(&txns, &options).expect("small histories fit");
        let kept = || match promise {
            Some(model) if !seed.is_multiple_of(3) && report.ruled_out.has(model) => {
                Err(format!("{} was kept: {report:?}", model.name()))
            }
            _ => Ok(()),
        };
        let judged = is_sound(&txns, &report)
            .and_then(|()| is_verified(&txns, &report))
            .and_then(|()| kept());
        let why = judged.err()?;
        Some(format!("{isolation:?}, seed {seed}: {why}\n{}", String::from_utf8_lossy(&text)))
    });
    if let Some(objection) = objection {
        panic!("{objection}");
    }
}

/// What each simulated database promises where increments hold the counter until they commit.
fn promise(isolation: Isolation) -> Option<Model> {
    match isolation {
        Isolation::StrictSerializable => Some(Model::StrictSerializable),
        Isolation::Serializable => Some(Model::Serializable),
        Isolation::Snapshot | Isolation::Prefix => Some(Model::SnapshotIsolation),
        Isolation::ReadCommitted => Some(Model::ReadCommitted),
        Isolation::ReadUncommitted => Some(Model::ReadUncommitted),
        Isolation::Nothing => None,
    }
}

#[test]
fn of_counters_nothing_is_ruled_out_that_holds() {
    for isolation in Isolation::ALL {
        run(isolation, Assume::default(), promise(isolation));
    }
}

#[test]
fn writes_that_follow_reads_are_believed_where_it_is_true() {
    run(Isolation::StrictSerializable, FOLLOW, promise(Isolation::StrictSerializable));
    run(Isolation::Serializable, FOLLOW, promise(Isolation::Serializable));
    run(Isolation::Snapshot, FOLLOW, promise(Isolation::Snapshot));
    run(Isolation::ReadCommitted, FOLLOW, None);
    run(Isolation::Nothing, FOLLOW, None);
}

/// How many of the histories that no order explains are refuted: the check sees most of them.
#[test]
fn most_of_what_no_order_explains_is_refuted() {
    let seen = |isolation: Isolation| {
        let (mut broken, mut refuted) = (0, 0);
        for seed in 0..1_000 {
            let (txns, _) = counters(isolation, seed);
            let report = check(&txns, &CheckOptions::default()).expect("small histories fit");
            let explained = serial::explained(&txns, Level::Plain);
            broken += u32::from(!explained);
            refuted += u32::from(report.ruled_out.has(Model::Serializable));
        }
        (broken, refuted)
    };
    for isolation in [Isolation::ReadUncommitted, Isolation::Nothing] {
        let (broken, refuted) = seen(isolation);
        println!("{isolation:?}: {refuted} of {broken}");
        assert!(broken > 100 && 2 * refuted > broken, "{isolation:?}: {refuted} of {broken}");
    }
}

#[test]
fn every_kind_that_counters_can_show_is_found_somewhere() {
    let mut kinds = std::collections::BTreeSet::new();
    for isolation in Isolation::ALL {
        for seed in 0..2_000 {
            let (txns, _) = counters(isolation, seed);
            let report = check(&txns, &CheckOptions::default()).expect("small histories fit");
            kinds.extend(report.counts.iter().map(|&(kind, _)| kind));
        }
    }
    for kind in [Kind::Phantom, Kind::G1a, Kind::G1b, Kind::Internal, Kind::LostUpdate] {
        assert!(kinds.contains(&kind), "{kind:?} of {kinds:?}");
    }
    for name in ["G1c", "G-single", "G2-item", "G-single-process", "G-single-realtime"] {
        assert!(kinds.iter().any(|kind| kind.name() == name), "{name} of {kinds:?}");
    }
}
