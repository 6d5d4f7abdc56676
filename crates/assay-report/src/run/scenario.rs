//! findings/SCENARIO.md: one scenario with everything it rests on.

use super::judged::{Judged, JudgedArm, JudgedScenario};
use super::markdown::{Markdown, inline};
use super::record::{Finding, Reproducer};
use super::{audit, cells};
use assay_verdict::readable_ms;

pub(super) fn page(judged: &Judged, scenario: &JudgedScenario) -> String {
    let mut page = Markdown::default();
    let record = scenario.scenario;
    page.heading(1, &format!("{}: {}", record.id, record.name));
    page.line(&format!("**{}**", inline(&scenario.sentence)));
    page.line("");
    page.item("Claims it can break", &record.claims.join(", "));
    page.item("Plan", &judged.record.plan);
    page.item("Commit under test", &judged.record.commit);
    for arm in &scenario.arms {
        self::arm(&mut page, arm);
    }
    page.heading(2, "Findings");
    let mut findings = judged.record.findings.iter().filter(|f| f.scenario == record.id).peekable();
    if findings.peek().is_none() {
        page.line("None.");
    }
    findings.for_each(|finding| self::finding(&mut page, 3, finding));
    page.finish()
}

fn arm(page: &mut Markdown, judged: &JudgedArm) {
    let arm = judged.arm;
    page.heading(2, &format!("Run {}", arm.id));
    page.item("Verdict", judged.judgement.verdict.name());
    page.item("Reason", &cells::reason(judged));
    page.item("Budget tier met", &cells::tier(&judged.facts));
    let size = &arm.size;
    page.item(
        "Size",
        &format!(
            "config {}, {}, {} faults, {} seeds",
            size.config_size,
            readable_ms(size.duration_ms),
            size.faults,
            size.seeds
        ),
    );
    let seeds: Vec<String> = arm.seeds.iter().map(u64::to_string).collect();
    page.item("Seeds", &cells::list(&seeds));
    let time = |at: &Option<super::record::Utc>| {
        at.as_ref().map_or("not recorded".to_string(), |at| at.as_str().to_string())
    };
    page.item("Started", &time(&arm.started));
    page.item("Ended", &time(&arm.ended));
    page.item("Oracle", &arm.oracle);
    page.item("Oracle evidence", &cells::oracle_cell(&judged.facts));
    page.item("Landing evidence", &cells::landing_cell(&judged.facts));
    page.item("Artifacts", &cells::list(&arm.artifacts));
    if !arm.notes.trim().is_empty() {
        page.item("Notes", &arm.notes);
    }
    page.heading(3, "Way to the verdict");
    for (number, step) in judged.judgement.path.iter().enumerate() {
        let answer = if step.decided { "**yes**" } else { "no" };
        page.line(&format!("{}. {}: {answer}", number + 1, inline(step.when)));
    }
    page.heading(3, "Planted anomalies");
    page.table(cells::PLANTED_COLUMNS, &cells::planted(arm), cells::PLANTED_NOTHING);
    left_out(page, &arm.planted_less);
    page.heading(3, "Audits");
    audit::audits(page, judged);
}

/// What is not in the table above: one that was cut short must not read like a full one.
pub(super) fn left_out(page: &mut Markdown, what: &[String]) {
    if !what.is_empty() {
        // Else the list would be a row of the table.
        page.line("");
    }
    what.iter().for_each(|what| page.item(cells::PLANTED_LESS, what));
}

/// A finding, the same in the report and in the file of its scenario.
pub(super) fn finding(page: &mut Markdown, depth: usize, finding: &Finding) {
    page.heading(depth, &finding.id);
    page.item("Scenario", &finding.scenario);
    page.item("Hypothesis addressed", &finding.hypothesis);
    page.item("What happened", &finding.what_happened);
    let command = match &finding.reproducer {
        Reproducer::Minimised { command, events_before, events_after, reruns } => {
            let text = format!("{events_before} events → {events_after} over {reruns} re-runs");
            page.item("Reproducer", &text);
            Some(command)
        }
        Reproducer::NotMinimised { command, reason } => {
            page.item("Reproducer", &format!("not minimised: {reason}"));
            command.as_ref()
        }
    };
    if let Some(command) = command {
        page.line("");
        page.code(command);
        page.line("");
    }
    let or_none = |text: Option<&str>| text.unwrap_or("none").to_string();
    page.item("Reduction classification", &or_none(finding.blame.map(|blame| blame.name())));
    let tags: Vec<&str> = finding.tags.iter().map(|tag| tag.name()).collect();
    let mut class = or_none(finding.class.map(|class| class.name()));
    if !tags.is_empty() {
        class += &format!(" ({})", tags.join(", "));
    }
    page.item("Classification", &class);
    page.item("Severity", &or_none(finding.severity.map(|severity| severity.name())));
    page.item("Evidence", &finding.evidence.join("; "));
    page.item("Hypothesised root cause", &finding.root_cause);
    page.item("Suggested next action", &finding.next_action);
}
