//! A run for other programs: JUnit XML, SARIF, and the summary of a GitHub job.
//!
//! All three are made from verdicts that are computed here and now; the words in the record are
//! only compared, and a record that cannot be reported is refused, as in [`super::render`]. How
//! the ten verdicts are translated is in docs/formats/exports.md.

mod junit;
mod sarif;
mod summary;

use super::inspect;
use super::judged::Judged;
use super::record::RunRecord;
use super::refusal::Refusals;
use crate::clean;
use std::collections::BTreeMap;

/// Longer texts are cut: the record has them whole.
const TEXT_CHARS_MAX: usize = 10_000;

/// The run as JUnit XML. Only a `PASS-*` is a test that passed; the run itself is a test, too.
///
/// # Errors
/// Every reason why the record cannot be reported.
pub fn junit(record: &RunRecord) -> Result<String, Refusals> {
    Ok(junit::document(&reportable(record)?))
}

/// The findings of a run, and the scenarios that say too little, as SARIF 2.1.0.
///
/// # Errors
/// Every reason why the record cannot be reported.
pub fn sarif(record: &RunRecord) -> Result<String, Refusals> {
    sarif_at(record, &BTreeMap::new())
}

/// Like [`sarif`], with the lines of scenarios in the plan, counted from 1, where they are known.
///
/// # Errors
/// Every reason why the record cannot be reported.
pub fn sarif_at(record: &RunRecord, lines: &BTreeMap<String, u32>) -> Result<String, Refusals> {
    Ok(sarif::document(&reportable(record)?, lines))
}

/// The run as Markdown for the summary of a GitHub job, within the size GitHub takes.
///
/// # Errors
/// Every reason why the record cannot be reported.
pub fn step_summary(record: &RunRecord) -> Result<String, Refusals> {
    Ok(summary::document(&reportable(record)?))
}

fn reportable(record: &RunRecord) -> Result<Judged<'_>, Refusals> {
    let judged = Judged::of(record);
    let refusals = inspect::refusals(&judged);
    if refusals.is_empty() { Ok(judged) } else { Err(Refusals(refusals)) }
}

/// Text of several lines with nothing in it that XML or a terminal could not take.
fn text(text: &str) -> String {
    clean::block(text.trim(), TEXT_CHARS_MAX).0
}
