//! How surely each named defect of the embedded store is caught, and the honest store passes the
//! same trial: `make bench`, or of some `cargo bench -p assay --bench defects -- retry`.
//!
//! Ten seeds of every scenario of examples/plans/kv-defects.md. It fails if a defect is caught in
//! fewer than nine of them, or the honest store passes fewer than all. The time to the anomaly is
//! that of the last operation that shows it, from the start of the workload; checkers that look at
//! the final state find theirs at the end, whenever it came about.

#[path = "../tests/defects/trials.rs"]
mod trials;

use std::process::ExitCode;
use trials::{Ended, Row, Store, place, run_all, table};

const SEEDS: u64 = 10;
const CAUGHT_MIN: usize = 9;

fn main() -> ExitCode {
    // Cargo adds flags of its own; whatever is none is a part of the names that are wanted.
    let wanted: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let is_wanted = |row: &Row| wanted.is_empty() || wanted.iter().any(|w| row.defect.contains(w));
    let rows: Vec<Row> = table().into_iter().filter(is_wanted).collect();
    println!("\ndefects of kv, seeds 1 to {SEEDS}; the trials are in {}", place().display());
    println!(
        "{:<22} {:<26} {:>8} {:>8} {:>15}",
        "defect", "checker", "caught", "honest", "median to find"
    );
    let good: Vec<bool> = rows.iter().map(measure).collect();
    if good.iter().all(|good| *good) {
        return ExitCode::SUCCESS;
    }
    println!("wanted: caught at least {CAUGHT_MIN}/{SEEDS}, honest {SEEDS}/{SEEDS}");
    ExitCode::FAILURE
}

/// Runs and prints a row; says whether it is good enough.
fn measure(row: &Row) -> bool {
    let run = |store| {
        let specs: Vec<_> = (1..=SEEDS).map(|seed| row.trial(store, seed)).collect();
        let tell = |ended: &Ended| {
            if let Some(why) = ended.complaint(store) {
                eprintln!("  {} {store:?} seed {}: {why}", row.defect, ended.spec.seed);
            }
        };
        run_all(&specs, tell)
    };
    let (defective, honest) = (run(Store::Defective), run(Store::Honest));
    let right = |all: &[Ended], store| all.iter().filter(|e| e.complaint(store).is_none()).count();
    let caught = right(&defective, Store::Defective);
    let passed = right(&honest, Store::Honest);
    let found_ms = defective.iter().filter_map(|e| e.record.as_ref().ok()?.violation_ms());
    let median = median(found_ms.collect()).map_or("never".to_string(), |ms| format!("{ms} ms"));
    println!(
        "{:<22} {:<26} {:>8} {:>8} {median:>15}",
        row.defect,
        row.checker,
        format!("{caught}/{SEEDS}"),
        format!("{passed}/{SEEDS}")
    );
    caught >= CAUGHT_MIN && passed as u64 == SEEDS
}

/// The upper of the two in the middle, if there are two.
fn median(mut numbers: Vec<u64>) -> Option<u64> {
    numbers.sort_unstable();
    numbers.get(numbers.len() / 2).copied()
}
