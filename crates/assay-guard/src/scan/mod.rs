//! Which places hold each invariant: the traceability matrix of a repository.
//!
//! An invariant that is declared once with `assay-invariant` should be written down in a document,
//! stand in a TLA+ module and in a configuration that checks it, be a property of a model, be
//! checked in production and counted there, and be tested. [`scan`] reads files and says where each
//! of these is, and where one is missing.
//!
//! It looks at names and runs nothing: that a place evaluates the predicate is what the declaration
//! is for, that it does so often enough is what counters say.

mod documents;
mod matrix;
mod rust;
mod show;
mod specs;

pub use matrix::{Hole, Matrix, Row, Site, scan};
pub use show::{HOLES, markdown, text};
