//! Reports of runs: the example as a reader sees it, and everything that is refused.
//!
//! After a wanted change: `ASSAY_BLESS=1 cargo test -p assay-report --test run`, then read the
//! difference.

mod exports;
mod golden;
mod refusals;

use assay_report::run::{RunRecord, read};

/// The record all tests start from.
const EXAMPLE: &str = include_str!("example.json");

fn example() -> RunRecord {
    read(EXAMPLE).expect("the example is a run record")
}
