//! Sets against brute force over all serial orders, against a twin that looks at every pair, and
//! against what simulated databases promise.

mod support;

use assay_history::Txns;
use assay_txn::{CheckOptions, Class, Kind, Level, Model, Report, check};
use rayon::prelude::*;
use std::collections::BTreeSet;
use support::judge::{
    agrees_with_serial_orders, agrees_with_steps, cases, is_verified, mangle, small,
};
use support::simdb::{Isolation, Workload};
use support::text::Notation;
use support::{naive_sets, read, records, text_of};

fn sets(isolation: Isolation, seed: u64) -> (Txns, Vec<u8>) {
    let mut made = records(small(isolation, Workload::SetAdd, seed));
    if seed.is_multiple_of(3) {
        mangle(&mut made, seed);
    }
    let notation = if seed.is_multiple_of(2) { Notation::Json } else { Notation::Edn };
    let text = text_of(&made, notation, Workload::SetAdd);
    (read(&text, Workload::SetAdd), text)
}

const VIEWS: [Kind; 3] = [Kind::NonmonotonicView, Kind::FracturedRead, Kind::CausalRead];

fn agrees_with_twin(txns: &Txns, report: &Report) -> Result<(), String> {
    let twin = naive_sets::look(txns);
    let kinds: BTreeSet<Kind> = report.counts.iter().map(|&(kind, _)| kind).collect();
    let other = |kind: &&Kind| !matches!(kind, Kind::Cycle(..)) && !VIEWS.contains(kind);
    let plain: BTreeSet<Kind> = kinds.iter().filter(other).copied().collect();
    if plain != twin.kinds {
        return Err(format!("found {plain:?}, the twin {:?}", twin.kinds));
    }
    agrees_with_steps(report, &twin)?;
    // Where information flowed in a circle, views are ruled out already and not looked at.
    if kinds.contains(&Kind::Cycle(Class::G1c, Level::Plain)) {
        return Ok(());
    }
    let view = VIEWS.into_iter().find(|kind| kinds.contains(kind));
    let expected = naive_sets::broken_view(txns);
    if view != expected {
        return Err(format!("of views found {view:?}, the twin {expected:?}"));
    }
    Ok(())
}

/// Runs over many seeds; the first objection stops the test with its history.
fn run(isolation: Isolation, promise: Option<Model>) {
    let objection = (0..cases()).into_par_iter().find_map_first(|seed| {
        let (txns, text) = sets(isolation, seed);
        let report = check(&txns, &CheckOptions::default()).expect("small histories fit");
        let kept = || match promise {
            Some(model) if !seed.is_multiple_of(3) && report.ruled_out.has(model) => {
                Err(format!("{} was kept: {report:?}", model.name()))
            }
            _ => Ok(()),
        };
        let judged = agrees_with_serial_orders(&txns, &report)
            .and_then(|()| agrees_with_twin(&txns, &report))
            .and_then(|()| is_verified(&txns, &report))
            .and_then(|()| kept());
        let why = judged.err()?;
        Some(format!("{isolation:?}, seed {seed}: {why}\n{}", String::from_utf8_lossy(&text)))
    });
    if let Some(objection) = objection {
        panic!("{objection}");
    }
}

macro_rules! agrees_at {
    ($($name:ident $isolation:ident $promise:expr;)*) => {$(
        #[test]
        fn $name() {
            run(Isolation::$isolation, $promise);
        }
    )*};
}

agrees_at! {
    sets_agree_with_brute_force_on_strict_serializable_databases
        StrictSerializable Some(Model::StrictSerializable);
    sets_agree_with_brute_force_on_serializable_databases Serializable Some(Model::Serializable);
    sets_agree_with_brute_force_on_snapshot_databases Snapshot Some(Model::SnapshotIsolation);
    sets_agree_with_brute_force_on_prefix_databases Prefix Some(Model::Prefix);
    sets_agree_with_brute_force_on_read_committed_databases
        ReadCommitted Some(Model::ReadCommitted);
    sets_agree_with_brute_force_on_read_uncommitted_databases
        ReadUncommitted Some(Model::ReadUncommitted);
    sets_agree_with_brute_force_on_databases_that_promise_nothing Nothing None;
}

#[test]
fn canary_a_checker_of_sets_that_finds_nothing_is_caught() {
    let caught = (0..200).any(|seed| {
        let (txns, _) = sets(Isolation::ReadCommitted, seed);
        let mut report = check(&txns, &CheckOptions::default()).expect("small histories fit");
        report.ruled_out = assay_txn::Models::ruled_out_by(&[]);
        agrees_with_serial_orders(&txns, &report).is_err()
    });
    assert!(caught);
}
