//! A finding with its witness, its reproducer, and how its blame was found.

use super::super::judged::Judged;
use super::super::record::{Finding, Reproducer};
use super::super::view::{FindingView, RunView};
use super::columns::base64;
use super::grid::{Cell, Grid, Line, grouped, line, name, text};

/// A larger picture is left out.
const PICTURE_BYTES_MAX: usize = 4 << 20;
/// More sentences of a witness are left out.
const SENTENCES_MAX: usize = 200;

pub(super) struct FindingPart {
    pub id: String,
    pub scenario: String,
    pub severity: String,
    pub happened: String,
    pub witness: Vec<String>,
    /// A data URI, or empty.
    pub picture: String,
    pub command: String,
    pub reduction: String,
    pub blame: String,
    pub queue: &'static str,
    pub reruns: Grid,
    pub lines: Vec<Line>,
    pub evidence: Vec<String>,
    /// Whether a timeline of the scenario has marked operations to jump to.
    pub marked: bool,
}

pub(super) fn parts(judged: &Judged, view: &RunView, left: &mut Vec<String>) -> Vec<FindingPart> {
    let known = |finding: &Finding| view.findings.iter().find(|more| more.finding == finding.id);
    let all = judged.record.findings.iter();
    all.map(|finding| part(finding, known(finding), view, left)).collect()
}

fn part(
    finding: &Finding,
    more: Option<&FindingView>,
    view: &RunView,
    left: &mut Vec<String>,
) -> FindingPart {
    let empty = FindingView::default();
    let more = more.unwrap_or(&empty);
    let (command, reduction) = reproducer(finding);
    let hidden = more.witness.len().saturating_sub(SENTENCES_MAX);
    if hidden > 0 {
        left.push(format!("{}: {hidden} sentences of its witness.", finding.id));
    }
    let marked = view.trials.iter().any(|trial| {
        trial.scenario == finding.scenario && trial.marks.iter().any(|m| m.op < trial.ops.len())
    });
    FindingPart {
        id: finding.id.clone(),
        scenario: finding.scenario.clone(),
        severity: finding.severity.map_or("none", |severity| severity.name()).to_string(),
        happened: text(&finding.what_happened),
        witness: more.witness.iter().take(SENTENCES_MAX).map(|line| text(line)).collect(),
        picture: picture(&finding.id, &more.picture, left),
        command,
        reduction,
        blame: finding.blame.map_or("none", |blame| blame.name()).to_string(),
        queue: finding.blame.map_or("nobody", |blame| blame.queue()),
        reruns: reruns(more),
        lines: lines(finding, view),
        evidence: finding.evidence.iter().map(|line| text(line)).collect(),
        marked,
    }
}

/// The picture as an image: whatever stands in it, an image runs no script and loads nothing.
fn picture(id: &str, svg: &str, left: &mut Vec<String>) -> String {
    if svg.len() > PICTURE_BYTES_MAX {
        left.push(format!("{id}: its picture, which is larger than 4 MiB."));
        return String::new();
    }
    if svg.trim().is_empty() {
        return String::new();
    }
    format!("data:image/svg+xml;base64,{}", base64(svg.as_bytes()))
}

/// What to run, and what the reduction did.
fn reproducer(finding: &Finding) -> (String, String) {
    match &finding.reproducer {
        Reproducer::Minimised { command, events_before, events_after, reruns } => {
            let (before, after) = (grouped(*events_before), grouped(*events_after));
            let reduction = format!("{before} events → {after}, over {} re-runs", grouped(*reruns));
            (text(command), reduction)
        }
        Reproducer::NotMinimised { command, reason } => {
            let command = command.as_deref().map(text).unwrap_or_default();
            (command, format!("not minimised: {}", text(reason)))
        }
    }
}

fn reruns(more: &FindingView) -> Grid {
    let rows = more.reruns.iter().map(|rerun| {
        let (tone, sign) = match rerun.violated {
            0 => ("none", "–"),
            _ => ("broken", "✕"),
        };
        let seen = format!("{} of {}", grouped(rerun.violated), grouped(rerun.runs));
        vec![Cell::of(&rerun.changed), Cell::signed(&seen, tone, sign), Cell::of(&rerun.says)]
    });
    let empty = "Nothing was run again to find out whose fault it is.";
    Grid::new(&["What was changed", "Violation seen", "What that says"], rows, empty)
}

fn lines(finding: &Finding, view: &RunView) -> Vec<Line> {
    let tags: Vec<&str> = finding.tags.iter().map(|tag| tag.name()).collect();
    let mut class = finding.class.map_or("none", |class| class.name()).to_string();
    if !tags.is_empty() {
        class += &format!(" ({})", tags.join(", "));
    }
    let idea = view.record.hypotheses.iter().find(|known| known.id == finding.hypothesis);
    let idea = idea.map_or(String::new(), |known| format!(": {}", name(&known.text)));
    vec![
        line("Hypothesis", &format!("{}{idea}", finding.hypothesis)),
        line("Class", &class),
        line("Supposed cause", &finding.root_cause),
        line("Next action", &finding.next_action),
    ]
}
