//! The summary of a GitHub job: the answer, a table, and the findings.

use super::super::judged::{Judged, JudgedScenario};
use super::super::markdown::{Markdown, inline};
use super::super::record::Reproducer;
use super::super::{cells, report};
use crate::clean;
use assay_verdict::Verdict;

/// GitHub takes 1 MiB. So many rows and findings of so many cells stay below, whatever is in them.
const ROWS_MAX: usize = 100;
const FINDINGS_MAX: usize = 20;
const CELL_CELLS_MAX: usize = 200;
const TEXT_CELLS_MAX: usize = 500;

pub(super) fn document(judged: &Judged) -> String {
    let mut page = Markdown::default();
    let record = judged.record;
    page.heading(2, &format!("{}: {}", judged.verdict, clean::line(&record.sut, CELL_CELLS_MAX)));
    let headline = inline(&clean::line(&report::headline(judged), TEXT_CELLS_MAX));
    let exit = judged.verdict.exit().code();
    page.line(&format!("{headline}. Exit code {exit}."));
    page.line("");
    page.line(&format!("{}.\n", counts(judged)));
    scenarios(&mut page, judged);
    findings(&mut page, judged);
    page.line("");
    page.item("Commit under test", &clean::line(&record.commit, CELL_CELLS_MAX));
    page.item("Plan", &clean::line(&record.plan, CELL_CELLS_MAX));
    page.item("Session dir", &clean::line(&record.directory, CELL_CELLS_MAX));
    page.finish()
}

fn counts(judged: &Judged) -> String {
    let count = |verdict: &Verdict| {
        let real = judged.scenarios.iter().filter(|of| !of.is_canary());
        let count = real.filter(|of| of.verdict == *verdict).count();
        (count > 0).then(|| format!("{count} {verdict}"))
    };
    let mut all: Vec<String> = Verdict::ALL.iter().rev().filter_map(count).collect();
    all.extend(cells::canaries(judged));
    if all.is_empty() { "No scenarios".to_string() } else { all.join(", ") }
}

/// What broke stands first, then what says least.
fn scenarios(page: &mut Markdown, judged: &Judged) {
    let mut order: Vec<&JudgedScenario> = judged.scenarios.iter().collect();
    order.sort_by_key(|scenario| scenario.verdict.level());
    let mut rows = Vec::new();
    for of in order {
        for arm in &of.arms {
            let cell = |text: &str| clean::line(text, CELL_CELLS_MAX);
            rows.push(vec![
                cells::place(&of.scenario.id, &arm.arm.id),
                cell(&format!("{}{}", of.scenario.name, cells::canary(of))),
                arm.judgement.verdict.to_string(),
                cell(&cells::oracle_cell(&arm.facts)),
                cell(&cells::landing_summary(&arm.facts)),
                cells::tier(&arm.facts),
            ]);
        }
    }
    let hidden = rows.len().saturating_sub(ROWS_MAX);
    rows.truncate(ROWS_MAX);
    let columns =
        ["Scenario", "Name", "Verdict", "Oracle evidence", "Landing evidence", "Budget tier met"];
    page.table(&columns, &rows, "The plan has no scenarios.");
    if hidden > 0 {
        page.line(&format!("\n{hidden} further rows are in the report of the run."));
    }
}

fn findings(page: &mut Markdown, judged: &Judged) {
    for finding in judged.record.findings.iter().take(FINDINGS_MAX) {
        let line = |text: &str| clean::line(text, TEXT_CELLS_MAX);
        page.heading(3, &format!("{} in {}", finding.id, finding.scenario));
        page.line(&format!("{}\n", inline(&line(&finding.what_happened))));
        page.item("Whose fault", finding.blame.map_or("none", |blame| blame.name()));
        page.item("Severity", finding.severity.map_or("none", |severity| severity.name()));
        page.item("Next action", &line(&finding.next_action));
        let command = match &finding.reproducer {
            Reproducer::Minimised { command, .. } => Some(command),
            Reproducer::NotMinimised { command, .. } => command.as_ref(),
        };
        if let Some(command) = command {
            page.line("");
            page.code(&line(command));
        }
    }
    let hidden = judged.record.findings.len().saturating_sub(FINDINGS_MAX);
    if hidden > 0 {
        page.line(&format!("\n{hidden} further findings are in the report of the run."));
    }
}
