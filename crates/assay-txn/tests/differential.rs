//! The checker against slow, obviously right twins, on simulated databases of every isolation level
//! and on histories that no database would produce.

mod support;

use assay_history::Txns;
use assay_txn::{CheckOptions, Kind, Report, check};
use rayon::prelude::*;
use std::collections::BTreeSet;
use support::judge::{
    agrees_with_serial_orders, agrees_with_steps, cases, is_verified, mangle, small,
};
use support::simdb::{Isolation, Workload};
use support::text::Notation;
use support::{naive, read, records, text_of};

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
    agrees_with_steps(report, &twin)
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
