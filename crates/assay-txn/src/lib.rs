//! Which isolation a transactional history can still have.
//!
//! From what transactions read and wrote follows who must have come before whom; where that leads
//! in a circle, or where a read returned what it never should have, some isolation models are ruled
//! out (after Adya 1999; Kingsbury and Alvaro 2020). [`check`] finds all such anomalies, with a
//! shortest cycle for each, and says which models are left:
//!
//! ```
//! use assay_history::{ReadOptions, Style, read_txns};
//! use assay_txn::{CheckOptions, Model, check};
//!
//! // Two transactions each append, and neither sees the other: write skew.
//! let log = "\
//! {:process 0, :type :invoke, :value [[:r :x nil] [:append :y 1]]}
//! {:process 1, :type :invoke, :value [[:r :y nil] [:append :x 2]]}
//! {:process 0, :type :ok, :value [[:r :x []] [:append :y 1]]}
//! {:process 1, :type :ok, :value [[:r :y []] [:append :x 2]]}
//! ";
//! let txns = read_txns(log.as_bytes(), &ReadOptions::default(), Style::ListAppend)?;
//! let report = check(&txns, &CheckOptions::default())?;
//! assert_eq!(report.anomalies[0].kind.name(), "G2-item");
//! assert!(report.ruled_out.has(Model::Serializable));
//! assert!(!report.ruled_out.has(Model::SnapshotIsolation));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! In the order of the source: `writers` finds who wrote what; `list_append`, `rw_register`
//! (with `versions`), `sets` and `counters` infer dependencies and find what is wrong without any
//! cycle; `orders` adds
//! real time; `scc` finds the components of the graph; `cycles` says which kinds of cycles a
//! component has, with `reach` and `shortest`; `weak` decides models that need no order of
//! versions; `models` says what is ruled out; `explain` says it in words; `verify` checks it all
//! again, sharing no code with the others; `calibrate` plants anomalies.
//!
//! Nothing here reads a file, a clock or a random source, and nothing depends on the order of a
//! hash table: the same history gives the same report, byte by byte.

mod anomaly;
mod calibrate;
mod check;
mod counters;
mod cycles;
mod dot;
mod explain;
mod found;
mod graph;
mod internal;
mod list_append;
mod local;
mod models;
mod orders;
mod reach;
mod report;
mod rw_register;
mod scc;
mod search;
mod self_test;
mod sets;
mod shortest;
mod verify;
mod verify_order;
mod versions;
mod weak;
mod writers;

pub use anomaly::{Anomaly, Because, Evidence, Kind, VersionReason, VersionStep, WeakStep};
pub use calibrate::{CalibrationRow, Plant, calibrate};
pub use check::{CheckError, CheckOptions, check};
pub use cycles::{Class, Cycle, Level};
pub use dot::dot;
pub use explain::{Named, Story, Told, explain};
pub use found::KEPT_PER_KIND_MAX;
pub use graph::{Label, NODES_MAX};
pub use models::{Model, Models, Strongest};
pub use report::Report;
pub use rw_register::Assume;
pub use search::{Limits, Moment, SearchResult, Searched, View, prove, view_of};
pub use self_test::self_test;
pub use verify::verify;
pub use verify_order::verify_order;
