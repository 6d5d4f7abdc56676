//! What a plan amounts to: claims with their scenarios, and the coverage matrix, worst first.

use crate::ids::{Id, references};
use crate::lint::SPLIT_AT;
use crate::plan::{Plan, Scenario};
use crate::words::Category;
use serde::Serialize;
use std::collections::BTreeMap;

/// The verdict of a scenario nobody ran.
pub const NOT_RUN: &str = "NOT-RUN";

/// A claim and what tests it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ClaimView {
    /// `C1`.
    pub id: Id,
    /// What is claimed.
    pub claim: String,
    /// What it is about.
    pub category: Option<Category>,
    /// The scenarios that would falsify it, and their arms.
    pub scenarios: Vec<ScenarioView>,
}

/// A scenario and how it went.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ScenarioView {
    /// `S1`, `S5/api`.
    pub id: Id,
    /// Its name.
    pub name: String,
    /// Whether it has what a machine needs.
    pub runnable: bool,
    /// Its verdict, or `NOT-RUN`.
    pub verdict: String,
}

/// Claims with their scenarios; verdicts by scenario id.
pub fn claims(plan: &Plan, verdicts: &BTreeMap<String, String>) -> Vec<ClaimView> {
    let mut by_claim: BTreeMap<u32, Vec<ScenarioView>> = BTreeMap::new();
    for scenario in &plan.scenarios {
        let views = views(scenario, verdicts);
        let mut falsified: Vec<u32> = scenario.falsifies.iter().map(|r| r.id.number).collect();
        falsified.sort_unstable();
        falsified.dedup();
        for claim in falsified {
            by_claim.entry(claim).or_default().extend(views.iter().cloned());
        }
    }
    plan.claims
        .iter()
        .map(|claim| ClaimView {
            id: claim.id.clone(),
            claim: claim.claim.text.clone(),
            category: claim.category.value,
            scenarios: by_claim.get(&claim.id.number).cloned().unwrap_or_default(),
        })
        .collect()
}

fn views(scenario: &Scenario, verdicts: &BTreeMap<String, String>) -> Vec<ScenarioView> {
    let runnable: Vec<Id> = scenario.trials().into_iter().map(|(id, _)| id).collect();
    let view = |part: &Scenario| ScenarioView {
        id: part.id.clone(),
        name: part.name.text.clone(),
        runnable: runnable.contains(&part.id) || (!part.arms.is_empty() && !runnable.is_empty()),
        verdict: verdicts.get(&part.id.to_string()).cloned().unwrap_or_else(|| NOT_RUN.into()),
    };
    std::iter::once(scenario).chain(&scenario.arms).map(view).collect()
}

/// A row of the matrix.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct MatrixLine {
    /// The claim.
    pub claim: Id,
    /// The hypothesis.
    pub hypothesis: Id,
    /// As the plan's own matrix says; else `planned` if a scenario closes it, or `open`.
    pub coverage: String,
    /// What is missing.
    pub gap: String,
    /// The scenarios that close it.
    pub scenarios: Vec<Id>,
    /// Severity of the claim times size of the gap.
    pub weight: u32,
}

/// The rows of a claim in one.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct RollupLine {
    /// The claim.
    pub claim: Id,
    /// Its worst coverage.
    pub coverage: String,
    /// How many hypotheses are not covered.
    pub open: usize,
    /// The greatest weight of its rows.
    pub weight: u32,
}

/// The coverage matrix.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct MatrixView {
    /// Per claim, when there are too many rows to read.
    pub rollup: Option<Vec<RollupLine>>,
    /// Per claim and hypothesis, worst first.
    pub rows: Vec<MatrixLine>,
}

/// The matrix of a plan, from its own table where there is one, and from its links else.
pub fn matrix(plan: &Plan) -> MatrixView {
    let mut rows = if plan.matrix.is_empty() { derived(plan) } else { stated(plan) };
    rows.sort_by(|a, b| {
        let by_id = (&a.claim, &a.hypothesis).cmp(&(&b.claim, &b.hypothesis));
        b.weight.cmp(&a.weight).then(by_id)
    });
    let large = plan.claims.len() >= SPLIT_AT.0 || plan.hypotheses.len() >= SPLIT_AT.1;
    let rollup = large.then(|| rolled_up(&rows));
    MatrixView { rollup, rows }
}

fn severity(plan: &Plan) -> BTreeMap<u32, u32> {
    let weigh = |category: Option<Category>| category.map_or(3, Category::severity);
    plan.claims.iter().map(|claim| (claim.id.number, weigh(claim.category.value))).collect()
}

fn stated(plan: &Plan) -> Vec<MatrixLine> {
    let severity = severity(plan);
    let line = |row: &crate::plan::MatrixRow| {
        let claim = row.claim.as_ref()?.id.clone();
        let gap = row.coverage.value.map_or(2, crate::words::Coverage::gap);
        Some(MatrixLine {
            weight: severity.get(&claim.number).copied().unwrap_or(3) * gap,
            hypothesis: row.hypothesis.as_ref()?.id.clone(),
            coverage: row.coverage.text.text.clone(),
            gap: row.gap.text.text.clone(),
            scenarios: references(plan.print(), row.scenario.span, 'S')
                .into_iter()
                .map(|reference| reference.id)
                .collect(),
            claim,
        })
    };
    plan.matrix.iter().filter_map(line).collect()
}

fn derived(plan: &Plan) -> Vec<MatrixLine> {
    let severity = severity(plan);
    let mut closing: BTreeMap<u32, Vec<&Scenario>> = BTreeMap::new();
    for scenario in &plan.scenarios {
        for reference in &scenario.closes {
            closing.entry(reference.id.number).or_default().push(scenario);
        }
    }
    let mut rows = Vec::new();
    for hypothesis in &plan.hypotheses {
        for claim in &hypothesis.falsifies {
            let scenarios: Vec<Id> = closing
                .get(&hypothesis.id.number)
                .into_iter()
                .flatten()
                .filter(|s| s.falsifies.iter().any(|r| r.id == claim.id))
                .map(|s| s.id.clone())
                .collect();
            let (coverage, gap) = if scenarios.is_empty() { ("open", 2) } else { ("planned", 1) };
            rows.push(MatrixLine {
                claim: claim.id.clone(),
                hypothesis: hypothesis.id.clone(),
                coverage: coverage.to_string(),
                gap: String::new(),
                scenarios,
                weight: severity.get(&claim.id.number).copied().unwrap_or(3) * gap,
            });
        }
    }
    rows
}

fn rolled_up(rows: &[MatrixLine]) -> Vec<RollupLine> {
    let mut by_claim: BTreeMap<&Id, RollupLine> = BTreeMap::new();
    for row in rows {
        let line = by_claim.entry(&row.claim).or_insert_with(|| RollupLine {
            claim: row.claim.clone(),
            coverage: row.coverage.clone(),
            open: 0,
            weight: row.weight,
        });
        let is_open = !matches!(row.coverage.as_str(), "covered" | "planned");
        line.open += usize::from(is_open);
    }
    let mut lines: Vec<RollupLine> = by_claim.into_values().collect();
    lines.sort_by(|a, b| b.weight.cmp(&a.weight).then(a.claim.cmp(&b.claim)));
    lines
}
