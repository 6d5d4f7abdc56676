//! A run as documents: `session-log.md`, `findings/report.md` and one file per scenario; as one
//! HTML page ([`page`]); and for other programs ([`junit`], [`sarif`], [`step_summary`]).
//!
//! [`render`] computes every verdict of a [`RunRecord`] again from its facts and refuses to write
//! anything as long as something is missing or not what the facts say. All reasons are listed.
//!
//! ```
//! use assay_report::run::{RunRecord, read};
//!
//! let error = read("{\"format\": \"assay-run/2\"}").unwrap_err();
//! assert!(error.to_string().contains("assay-run/1"), "{error}");
//! ```
//!
//! The format is described in docs/formats/run-record.md; [`schema`] is its JSON Schema.

mod audit;
mod cells;
mod export;
mod inspect;
mod judged;
mod log;
mod markdown;
mod ops;
mod page;
mod record;
mod refusal;
mod report;
mod scenario;
mod view;

pub use export::{junit, sarif, sarif_at, step_summary};
pub use judged::{Judged, JudgedArm, JudgedScenario};
pub use page::{OPS_MAX, page};
pub use record::{
    Adequacy, Arm, Artifact, Claim, Confidence, Coverage, Delta, Finding, Format, Hypothesis,
    NotExercised, Omission, Planted, Preconditions, Presence, Reproducer, Requirement, Residual,
    RunRecord, Scenario, TimelineEntry, Tool, Toolbox, Utc,
};
pub use refusal::{Gap, Refusal, Refusals};
pub use view::{
    FindingView, MarkView, OpCounts, OpRow, OpTable, Quiescence, Rerun, RunView, TrialView,
    WindowView,
};

/// A document of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Document {
    /// Where it belongs, from the directory of the run.
    pub path: String,
    /// Its text, in Markdown.
    pub text: String,
}

/// A run record that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct ReadError {
    /// Where, from 1.
    pub line: usize,
    /// What is wrong.
    pub message: String,
}

/// Reads a run record from JSON.
///
/// # Errors
/// Where it is not JSON, or not a run record.
pub fn read(text: &str) -> Result<RunRecord, ReadError> {
    serde_json::from_str(text).map_err(|error| {
        let message = error.to_string();
        let end = message.rfind(" at line ").unwrap_or(message.len());
        ReadError { line: error.line().max(1), message: message[..end].to_string() }
    })
}

/// The documents of a run.
///
/// # Errors
/// Every reason why it cannot be reported.
pub fn render(record: &RunRecord) -> Result<Vec<Document>, Refusals> {
    let judged = Judged::of(record);
    let refusals = inspect::refusals(&judged);
    if !refusals.is_empty() {
        return Err(Refusals(refusals));
    }
    let document = |path: &str, text| Document { path: path.to_string(), text };
    let mut documents = vec![
        document("session-log.md", log::page(&judged)),
        document("findings/report.md", report::page(&judged)),
    ];
    for scenario in &judged.scenarios {
        let path = format!("findings/{}.md", scenario.scenario.id);
        documents.push(Document { path, text: scenario::page(&judged, scenario) });
    }
    Ok(documents)
}

/// A text of a record on one line, with nothing in it that could disturb a terminal.
pub fn one_line(text: &str) -> String {
    crate::clean::line(text, 200)
}

/// The JSON Schema of a run record.
pub fn schema() -> String {
    let schema = schemars::schema_for!(RunRecord);
    let mut text = serde_json::to_string_pretty(&schema).expect("a schema is JSON");
    text.push('\n');
    text
}
