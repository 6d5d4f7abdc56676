//! What tests and benchmarks share.
#![allow(dead_code, reason = "each test uses its part")]

pub mod judge;
pub mod naive;
pub mod naive_sets;
pub mod serial;
pub mod simdb;
pub mod text;

use assay_history::{ReadOptions, Style, Txns, read_txns};
use simdb::{Record, Settings, Workload, simulate};
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
