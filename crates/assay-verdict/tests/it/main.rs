//! The promises of this crate: the published cases, every combination of facts, the audits.

mod audits;
mod budgets;
mod every_combination;
mod folds;
mod published;
mod samples;
mod space;
mod table;
