//! How results look: for people, for programs, and as a page.

pub mod gallery;
mod human;
pub mod isolation;
mod json;
pub mod oracles;
mod page;
pub mod plan;
pub mod plan_machine;
pub mod run;
mod stats;

pub use human::{finding_text, grouped, human, place};
pub use json::{findings_json, json};
pub use page::{first_picture, page};
pub use stats::Stats;

use crate::exit::Exit;
use assay_check::{CalibrationRow, Report, Verified};
use assay_history::{Finding, History};
use assay_report::{Page, Verdict};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Says something on standard error. Whoever does not listen any more, because the terminal is
/// closed, keeps nobody from ending in good order.
pub fn say(text: impl std::fmt::Display) {
    let _nobody_listens = writeln!(anstream::stderr(), "{text}");
}

/// Everything there is to say about one checked file.
pub struct Checked {
    /// The file.
    pub path: PathBuf,
    /// The command that gives this result again.
    pub command: String,
    /// How it ended.
    pub exit: Exit,
    /// The history.
    pub history: History,
    /// What is wrong with the history; nothing unsound.
    pub findings: Vec<Finding>,
    /// What the checker found.
    pub report: Report,
    /// What the verifier says to each refutation.
    pub verified: Vec<Result<Verified, String>>,
    /// How sharp the checker is on this history.
    pub calibration: Option<Calibration>,
    /// How long reading took.
    pub read_time: Duration,
    /// How long deciding took.
    pub decide_time: Duration,
    /// How long reducing refuted objects to their witnesses took.
    pub witness_time: Duration,
    /// The time budget.
    pub budget: Duration,
    /// The memory budget in bytes.
    pub memory: usize,
}

/// A page about one file with this headline, or about several; the worst result colours it.
pub fn page_of(results: &[(&Path, Exit, String)]) -> Page {
    let worst = results.iter().map(|(_, exit, _)| *exit).fold(Exit::Upheld, Exit::worse);
    let mut page = Page {
        verdict: match worst {
            Exit::Upheld => Verdict::Upheld,
            Exit::Refuted => Verdict::Refuted,
            Exit::NothingChecked => Verdict::NothingChecked,
            _ => Verdict::Undecided,
        },
        headline: format!("{} histories, the worst result: {}", results.len(), worst.word()),
        ..Page::default()
    };
    match results {
        [(path, _, headline)] => page.headline = format!("{}: {headline}", path.display()),
        several => page.notes.extend(several.iter().map(|(path, exit, headline)| {
            format!("{}: {} {headline}", path.display(), exit.word())
        })),
    }
    page
}

/// The result of `--calibrate`.
pub struct Calibration {
    /// The seed.
    pub seed: u64,
    /// How many of each kind were asked for.
    pub asked: u32,
    /// One row per kind.
    pub rows: Vec<CalibrationRow>,
    /// Whether the budget ended it early.
    pub cut: bool,
}

impl Checked {
    /// The key (and element) a part is about, as text; empty for the `null` key.
    pub fn object(&self, part: &assay_check::PartReport) -> String {
        assay_judge::picture::object(&self.history, part)
    }

    /// Whether the verifier has re-checked at least one refutation.
    pub fn is_rechecked(&self) -> bool {
        self.verified.iter().any(Result::is_ok)
    }

    /// One sentence: the answer.
    pub fn headline(&self) -> String {
        let report = &self.report;
        let model = report.model.name();
        let ops = grouped(report.ops_checked as u64);
        let parts = grouped(report.parts as u64);
        let objects =
            if report.parts == 1 { "1 object".into() } else { format!("{parts} objects") };
        let refuted = report.refutations.len() + report.refuted_not_shown;
        match self.exit {
            Exit::Upheld => format!("linearizable ({model}): {ops} operations on {objects}"),
            Exit::Refuted | Exit::Bug => format!(
                "not linearizable ({model}): {refuted} of {objects} refuted, {ops} operations{}",
                if self.is_rechecked() { "" } else { " (NOT re-checked: see its certificate)" }
            ),
            Exit::NothingChecked => {
                format!("no operation with a known outcome ({model}): nothing could be refuted")
            }
            _ => format!(
                "{} of {objects} not decided within the budget ({model}), {ops} operations",
                grouped(report.unfinished.len() as u64)
            ),
        }
    }
}
