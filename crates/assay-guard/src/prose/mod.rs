//! Requirements in prose: Markdown, plans of Assay, criteria in contracts.

mod direction;
mod judge;
mod plan;
mod rules;
mod statements;
mod words;

pub use rules::{compare, is_document};
pub use statements::{Statement, statements};
