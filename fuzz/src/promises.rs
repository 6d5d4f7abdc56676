//! Transactions and oracles under whatever a file may hold.

use assay_history::{ReadOptions, Style, read, read_txns};
use assay_oracle::{Options, ORACLES, run_guarded, verify};
use assay_txn::{Assume, CheckOptions, Limits, Model};
use std::sync::atomic::AtomicBool;

/// Enough for any order there is, and few enough for many inputs.
const SEARCH_STEPS_MAX: u64 = 20_000;

/// Reads transactions of every style and checks them under assumptions that the first byte picks.
/// Every anomaly must be told and must hold when it is looked at again.
pub fn check_transactions(bytes: &[u8]) {
    let Some((&first, text)) = bytes.split_first() else { return };
    let style = match first & 65 {
        0 => Style::ListAppend,
        1 => Style::RwRegister,
        64 => Style::SetAdd,
        _ => Style::CounterInc,
    };
    let Ok(txns) = read_txns(text, &ReadOptions::default(), style) else { return };
    let assume = Assume {
        writes_follow_reads: first & 2 != 0,
        sequential_keys: first & 4 != 0,
        linearizable_keys: first & 8 != 0,
    };
    let options = CheckOptions {
        assume,
        no_realtime: first & 16 != 0,
        recording_complete: first & 32 != 0,
        ..CheckOptions::default()
    };
    let Ok(mut report) = assay_txn::check(&txns, &options) else { return };
    let claims =
        [Model::StrictSerializable, Model::Serializable, Model::SnapshotIsolation, Model::Prefix];
    let stop = AtomicBool::new(false);
    let limits = Limits { steps_max: SEARCH_STEPS_MAX, bytes_max: 1 << 20, stop: &stop };
    let claim = claims[usize::from(first >> 6)];
    let found = assay_txn::prove(&txns, options.no_realtime, &mut report, claim, limits);
    found.expect("an order that is found holds");
    for anomaly in report.anomalies.iter().take(50) {
        let story = assay_txn::explain(&txns, anomaly);
        assert!(!story.sentences.is_empty());
        assay_txn::dot("cycle", &story);
        if let Err(why) = assay_txn::verify(&txns, assume, anomaly)
            && !why.starts_with("too large")
        {
            panic!("{why}: {anomaly:?}");
        }
    }
}

/// Runs every oracle; a panic inside one, or a certificate that does not hold, is a failure.
pub fn run_oracles(bytes: &[u8]) {
    let Ok(history) = read(bytes, &ReadOptions::default()) else { return };
    let mut options = Options::default();
    for (name, value) in [
        ("business-key", "id"),
        ("lease-ttl", "5ns"),
        ("clock-skew", "1ns"),
        ("settle", "1ns"),
        ("invariant", "count(a) <= 2"),
        ("slo.p99", "5ns"),
        ("fairness.error-rate", "0"),
        ("background-idle", "true"),
        ("replicas-converged", "true"),
    ] {
        options.set(name, value).expect("these are known");
    }
    for oracle in ORACLES {
        let Ok(report) = run_guarded(oracle, &history, &options) else { continue };
        let bug = report.undecided_because.iter().find(|why| why.contains("a bug in Assay"));
        assert!(bug.is_none(), "{bug:?}");
        for anomaly in &report.anomalies {
            if let Err(why) = verify(&history, None, &anomaly.certificate) {
                panic!("{}: {why}: {anomaly:?}", oracle.info().name);
            }
        }
    }
}
