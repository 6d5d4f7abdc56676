//! A run as one HTML file, for a person who has to decide.
//!
//! The file opens from disk with no network: its own policy forbids every request, and the only
//! script it runs is the one whose digest the policy names. Operations travel in it as compressed
//! columns (`columns`), which the script unpacks and draws when the reader comes to them.
//! Without the script everything but the timelines is there.

mod columns;
mod finding;
mod grid;
mod plan;
mod scenario;
mod setting;
mod trials;

pub use trials::OPS_MAX;

use super::cells;
use super::judged::{Judged, JudgedScenario};
use super::refusal::{Refusal, Refusals};
use super::view::RunView;
use super::{inspect, report};
use askama::Template;
use assay_verdict::Verdict;
use grid::{Badge, Line, badge, line, name, run_badge, text};

/// The script of the page, in the order in which its parts build on each other.
pub(crate) const SCRIPT: &str = concat!(
    "\"use strict\";\n",
    include_str!("../../../templates/run/data.js"),
    include_str!("../../../templates/run/index.js"),
    include_str!("../../../templates/run/plane.js"),
    include_str!("../../../templates/run/lanes.js"),
    include_str!("../../../templates/run/plots.js"),
    include_str!("../../../templates/run/viewer.js"),
    include_str!("../../../templates/run/input.js"),
    include_str!("../../../templates/run/main.js"),
);

/// The digest of [`SCRIPT`] (SHA-256, base64), which the page's policy names; a test keeps it.
const SCRIPT_DIGEST: &str = include_str!("../../../templates/run/script.sha256").trim_ascii();

#[derive(Template)]
#[template(path = "run/page.html", whitespace = "minimize")]
struct Sheet {
    digest: &'static str,
    script: &'static str,
    sut: String,
    badge: Badge,
    headline: String,
    meaning: &'static str,
    exit: u8,
    scenarios_count: usize,
    counts: Vec<(usize, Badge)>,
    canaries: String,
    header: Vec<Line>,
    results: Vec<Row>,
    findings: Vec<finding::FindingPart>,
    scenarios: Vec<scenario::ScenarioPart>,
    plan: plan::PlanPart,
    setting: setting::Setting,
    left: Vec<String>,
    blocks: Vec<String>,
}

/// A row of the table of scenarios.
struct Row {
    id: String,
    place: String,
    name: String,
    badge: Badge,
    oracle: String,
    evidence: String,
    landing: String,
    tier: String,
    seeds: String,
}

/// The run as one self-contained HTML file.
///
/// # Errors
/// Every reason why the record cannot be reported, as [`super::render`] gives them; also a trial
/// or a finding of the view that the record does not know.
pub fn page(view: &RunView) -> Result<String, Refusals> {
    let judged = Judged::of(&view.record);
    let mut refusals = inspect::refusals(&judged);
    strays(view, &mut refusals);
    if !refusals.is_empty() {
        return Err(Refusals(refusals));
    }
    Ok(sheet(&judged, view).render().expect("rendering into a string cannot fail"))
}

/// Evidence for something the record does not know would hang in the air.
fn strays(view: &RunView, found: &mut Vec<Refusal>) {
    for trial in &view.trials {
        let scenario = view.record.scenarios.iter().find(|s| s.id == trial.scenario);
        let id = match scenario {
            None => &trial.scenario,
            Some(scenario) if scenario.arms.iter().any(|arm| arm.id == trial.arm) => continue,
            Some(_) => &trial.arm,
        };
        let place = format!("the trial with seed {}", trial.seed);
        found.push(Refusal::DanglingReference { place, id: id.clone() });
    }
    for more in &view.findings {
        if !view.record.findings.iter().any(|finding| finding.id == more.finding) {
            let (place, id) = ("a witness".to_string(), more.finding.clone());
            found.push(Refusal::DanglingReference { place, id });
        }
    }
}

fn sheet(judged: &Judged, view: &RunView) -> Sheet {
    let record = judged.record;
    let mut left = Vec::new();
    let (tabs, blocks) = trials::pack(view, &mut left);
    let mut scenarios: Vec<scenario::ScenarioPart> =
        judged.scenarios.iter().map(|of| scenario::part(judged, of, view)).collect();
    for (id, tab) in tabs {
        let scenario = scenarios.iter_mut().find(|part| part.id == id);
        scenario.expect("strays are refused").tabs.push(tab);
    }
    let count = |verdict: &Verdict| {
        let real = judged.scenarios.iter().filter(|of| !of.is_canary());
        let count = real.filter(|of| of.verdict == *verdict).count();
        (count > 0).then(|| (count, badge(*verdict)))
    };
    Sheet {
        digest: SCRIPT_DIGEST,
        script: SCRIPT,
        sut: name(&record.sut),
        badge: run_badge(judged.verdict),
        headline: text(&report::headline(judged)),
        meaning: judged.verdict.meaning(),
        exit: judged.verdict.exit().code(),
        scenarios_count: judged.scenarios.len(),
        counts: Verdict::ALL.iter().rev().filter_map(count).collect(),
        canaries: cells::canaries(judged).unwrap_or_default(),
        header: vec![
            line("System under test", &record.sut),
            line("Commit", &record.commit),
            line("Plan", &record.plan),
            line("Directory", &record.directory),
            line("Operator", &record.operator),
        ],
        results: judged.scenarios.iter().flat_map(rows).collect(),
        findings: finding::parts(judged, view, &mut left),
        scenarios,
        plan: plan::part(judged),
        setting: setting::part(judged),
        left,
        blocks,
    }
}

/// A row for each arm, after one for the scenario if it is split.
fn rows(of: &JudgedScenario) -> Vec<Row> {
    let scenario = of.scenario;
    let mut rows = Vec::new();
    if of.arms.len() > 1 {
        rows.push(Row {
            id: scenario.id.clone(),
            place: scenario.id.clone(),
            name: name(&scenario.name),
            badge: badge(of.verdict),
            oracle: format!("all {} arms", of.arms.len()),
            evidence: text(cells::without_name(&of.sentence, of.verdict)),
            landing: "see arms".to_string(),
            tier: "see arms".to_string(),
            seeds: "see arms".to_string(),
        });
    }
    rows.extend(of.arms.iter().map(|judged| {
        let seeds: Vec<String> = judged.arm.seeds.iter().map(u64::to_string).collect();
        Row {
            id: scenario.id.clone(),
            place: cells::place(&scenario.id, &judged.arm.id),
            name: match &judged.arm.surface {
                Some(surface) if of.arms.len() > 1 => name(surface),
                _ => name(&scenario.name),
            },
            badge: badge(judged.judgement.verdict),
            oracle: text(&judged.arm.oracle),
            evidence: text(&format!(
                "{}{}",
                cells::oracle_cell(&judged.facts),
                if of.is_canary() { "; a canary: a defect is planted" } else { "" }
            )),
            landing: text(&cells::landing_summary(&judged.facts)),
            tier: cells::tier(&judged.facts),
            seeds: cells::list(&seeds),
        }
    }));
    rows
}
