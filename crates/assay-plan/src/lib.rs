//! Test plans as typed documents.
//!
//! A plan says what a system claims, how each claim could be false, which scenario would show it,
//! and why these scenarios are enough. People write it in Markdown; what a machine needs to run a
//! scenario stands in one fenced `toml` block. This crate reads such a document into a [`Plan`] in
//! which everything knows its place, checks it by some ninety rules ([`lint()`]), makes new ones
//! ([`template`]), and changes single values without touching any other byte ([`edit`]).
//!
//! ```
//! let plan = assay_plan::parse("# Test Plan: no-lost-ack-after-crash\n\n- **Status:** draft\n");
//! assert_eq!(plan.slug.as_ref().unwrap().text, "no-lost-ack-after-crash");
//! assert_eq!(plan.header.status.as_ref().unwrap().value, Some(assay_plan::words::Status::Draft));
//! let found = assay_plan::lint(&plan);
//! assert_eq!(found[0].code.to_string(), "P004", "the date is missing");
//! ```
//!
//! What it does not do: run anything, read a file, ask for the time. It knows checkers and faults
//! by name only.

pub mod block;
pub mod budget;
pub mod catalogue;
pub mod diagnostic;
pub mod diff;
pub mod edit;
pub mod faults;
pub mod field;
pub mod ids;
pub mod landing;
pub mod lint;
pub mod machine;
mod markdown;
pub mod models;
pub mod place;
pub mod plan;
pub mod prose;
pub mod read;
pub mod rules;
pub mod section;
pub mod template;
pub mod time;
pub mod view;
pub mod words;

pub use diagnostic::{Code, Diagnostic, Severity};
pub use lint::{count, lint, load};
pub use place::{Span, Text};
pub use plan::Plan;
pub use read::parse;
