//! Runs a plan: systems, workloads, faults, checkers, verdicts, and the record of it all.
//!
//! Start at [`run::begin`]. On the way down: a [`run`] has scenarios, a [`scenario`] has arms with
//! tiers and seeds, each of which is a [`trial`] of a [`spec::TrialSpec`]: clients ([`drive`],
//! [`open_loop`]) whose operations are written down before they are sent ([`recorder`]), while
//! windows of faults open and close ([`faults`]). A violation is run again, made smaller and looked
//! into ([`investigate`], [`reduce`], [`blame`]). What was measured becomes [`facts`], and these a
//! run [`record`].
//!
//! What is decided is decided by pure functions of what was measured: [`schedule`], [`reduce`],
//! [`facts`], [`blame`], [`record`]. This crate computes no verdict: that is `assay-verdict`'s.

pub mod arm;
pub mod blame;
pub mod clock;
pub mod course;
pub mod directory;
pub mod drive;
pub mod environment;
pub mod event;
pub mod facts;
pub mod faults;
pub mod files;
pub mod frozen;
pub mod heal;
pub mod investigate;
pub mod open_loop;
pub mod page;
pub mod record;
pub mod recorder;
pub mod reduce;
pub mod run;
pub mod sabotage;
#[cfg(test)]
mod samples;
pub mod scenario;
pub mod schedule;
pub mod spec;
pub mod time;
pub mod trial;
