//! What is called forbidden by construction is forbidden, for a checker that agrees with brute
//! force (`differential.rs`).

mod support;

use assay_txn::{CheckOptions, Model, Plant, calibrate};
use std::collections::BTreeMap;
use support::judge::small;
use support::simdb::{Isolation, Workload};
use support::text::Notation;
use support::{read, records, text_of};

const HISTORIES: u64 = 200;

#[test]
fn planted_anomalies_that_are_certain_are_refuted() {
    let claims = [
        Model::StrictSerializable,
        Model::Serializable,
        Model::SnapshotIsolation,
        Model::ReadCommitted,
        Model::ReadUncommitted,
    ];
    let workloads =
        [Workload::ListAppend, Workload::RwRegister, Workload::SetAdd, Workload::CounterInc];
    for workload in workloads {
        let mut certain: BTreeMap<&str, u32> = BTreeMap::new();
        for seed in 0..HISTORIES {
            let made = records(small(Isolation::StrictSerializable, workload, seed));
            let txns = read(&text_of(&made, Notation::Json, workload), workload);
            for claim in claims {
                let rows = calibrate(&txns, &CheckOptions::default(), claim, 2, seed);
                for row in rows.expect("small histories fit") {
                    let what = format!("{workload:?} {} seed {seed}: {row:?}", claim.name());
                    assert_eq!(row.certain, row.certain_caught, "{what}");
                    *certain.entry(row.kind.name()).or_default() += row.certain;
                }
            }
        }
        let planted = |plant: Plant| certain.get(plant.name()).copied().unwrap_or(0) > 0;
        assert!(planted(Plant::StaleRead) && planted(Plant::Phantom), "{workload:?} {certain:?}");
        let all = Plant::ALL.into_iter().all(planted);
        assert_eq!(all, workload == Workload::ListAppend, "{workload:?} {certain:?}");
    }
}
