//! Decision records: what was decided and why, what is missing, where the code knowingly differs,
//! and how far it is, as Markdown files with names, fields, sections, statuses and links.
//!
//! There are four kinds ([`Kind`]): a *decision* (ADR), a *gap* that was learned and is not
//! decided, a *deviation* of the code from a decision, and a *supplement* with what changes often
//! about one. [`lint()`] holds the rules ([`rules`]) over all of them and gives every finding a
//! file and a line; [`Graph`] shows how they hang together; [`template`] writes new ones and keeps
//! the index.
//!
//! ```
//! use assay_adr::{Config, Input, lint};
//!
//! let record = "# ADR-0001: Keep it\n\nStatus: Maybe\nDate: 2026-11-17\n";
//! let files = [("adr/0001-keep-it.md".to_string(), record.to_string())].into();
//! let config = Config { directory: "adr".to_string(), ..Config::default() };
//! let report = lint(&Input::of(&files), &config);
//! assert_eq!(report.findings.iter().filter(|found| found.finding.rule == "A06").count(), 1);
//! ```
//!
//! Everything here is a function of texts: which files there are, what they said before and what
//! day it is are passed in. It does not judge whether a decision is right.

pub mod config;
mod finding;
mod graph;
mod kind;
mod lint;
mod markdown;
mod record;
pub mod report;
pub mod rules;
pub mod template;

pub use config::{Config, Level};
pub use finding::{Finding, Outcome, Rated, Report};
pub use graph::{Edge, Graph, Node, Relation};
pub use kind::Kind;
pub use lint::{Input, World, lint};
pub use record::{Files, Id, RECORD_BYTES_MAX, RECORDS_MAX, Record, Records};
