//! What tests and benchmarks share.
#![allow(dead_code, reason = "each test uses its part")]

pub mod judge;
pub mod naive;
pub mod naive_sets;
pub mod serial;
pub mod simdb;
pub mod text;

use assay_history::{ReadOptions, Style, Txns, read_txns};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use simdb::{Isolation, Record, Settings, Workload, simulate};
use text::{Notation, write_record};

/// A simulated history, as it would be recorded.
pub fn records(settings: Settings) -> Vec<Record> {
    let mut records = Vec::new();
    simulate(settings, |record| records.push(record.clone()));
    records
}

/// Records as text.
pub fn text_of(records: &[Record], notation: Notation, workload: Workload) -> Vec<u8> {
    let mut text = Vec::new();
    for (i, record) in records.iter().enumerate() {
        write_record(&mut text, notation, workload, i, record);
    }
    text
}

/// Reads text as the program would.
pub fn read(text: &[u8], workload: Workload) -> Txns {
    let style = match workload {
        Workload::ListAppend => Style::ListAppend,
        Workload::RwRegister => Style::RwRegister,
        Workload::SetAdd => Style::SetAdd,
        Workload::CounterInc => Style::CounterInc,
    };
    read_txns(text, &ReadOptions::default(), style).expect("simulated histories can be read")
}

/// A small history of registers, and its text: few enough transactions to try all their orders.
pub fn small_registers(isolation: Isolation, seed: u64) -> (Txns, Vec<u8>) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed ^ 0x5EED);
    let settings = Settings {
        isolation,
        workload: Workload::RwRegister,
        clients: rng.random_range(1..=4),
        txns: rng.random_range(1..=6),
        mops_max: rng.random_range(1..=4),
        keys: rng.random_range(1..=3),
        writes_per_key: 50,
        abort_percent: rng.random_range(0..25),
        unknown_percent: rng.random_range(0..25),
        seed,
    };
    let notation = if seed.is_multiple_of(2) { Notation::Json } else { Notation::Edn };
    let text = text_of(&records(settings), notation, Workload::RwRegister);
    (read(&text, Workload::RwRegister), text)
}
