//! session-log.md: what was there, what happened when, and how it ended.

use super::cells;
use super::judged::Judged;
use super::markdown::Markdown;
use super::record::Presence;

pub(super) fn page(judged: &Judged) -> String {
    let record = judged.record;
    let mut page = Markdown::default();
    page.heading(1, &format!("Session log: {}", record.sut));
    page.item("SUT", &record.sut);
    page.item("Plan", &record.plan);
    page.item("Commit under test", &record.commit);
    page.item("Session dir", &record.directory);
    page.item("Operator", &record.operator);
    toolbox(&mut page, judged);
    environment(&mut page, judged);
    preconditions(&mut page, judged);
    page.heading(2, "Scenario timeline");
    let rows: Vec<Vec<String>> = record
        .timeline
        .iter()
        .map(|entry| {
            let scenario = entry.scenario.clone().unwrap_or_else(|| "—".to_string());
            vec![entry.at.as_str().into(), scenario, entry.event.clone(), entry.notes.clone()]
        })
        .collect();
    page.table(&["Time (UTC)", "Scenario", "Event", "Notes"], &rows, "Nothing happened.");
    page.heading(2, "Scenario verdicts");
    let columns = ["Scenario / arm", "Budget tier met", "Verdict", "Notes"];
    page.table(&columns, &verdicts(judged), "The plan has no scenarios.");
    page.line(&format!("\nRun verdict: **{}**.", judged.verdict));
    page.heading(2, "Artifacts");
    let rows: Vec<Vec<String>> =
        record.artifacts.iter().map(|a| vec![a.path.clone(), a.what.clone()]).collect();
    page.table(&["Path", "What"], &rows, "No artifacts were kept.");
    page.finish()
}

fn toolbox(page: &mut Markdown, judged: &Judged) {
    let toolbox = &judged.record.toolbox;
    page.heading(2, "Toolbox discovered");
    match &toolbox.discovered_at {
        Some(at) => page.line(&format!("Looked through at {}.\n", at.as_str())),
        None => page.line("Nobody looked; no scenario was started.\n"),
    }
    let rows: Vec<Vec<String>> =
        toolbox.tools.iter().map(|tool| vec![tool.path.clone(), tool.role.clone()]).collect();
    page.table(&["Path", "Role"], &rows, "None: the system brings no tools for testing.");
}

fn environment(page: &mut Markdown, judged: &Judged) {
    page.heading(2, "Environment capability matrix");
    let row = |need: &super::record::Requirement| {
        let present = match need.presence {
            Presence::Present => "yes",
            Presence::Missing => "no",
        };
        let version = need.version.clone().unwrap_or_else(|| "—".to_string());
        vec![need.requirement.clone(), present.to_string(), version, need.source.clone()]
    };
    let rows: Vec<Vec<String>> = judged.record.environment.iter().map(row).collect();
    let columns = ["Requirement", "Present?", "Version", "Source"];
    page.table(&columns, &rows, "The plan needs nothing beyond the system itself.");
}

fn preconditions(page: &mut Markdown, judged: &Judged) {
    page.heading(2, "Preconditions check");
    let boxes = &judged.record.preconditions;
    for (what, check) in [
        ("cluster up", &boxes.cluster_up),
        ("observability live", &boxes.observability_live),
        ("baseline metric captured", &boxes.baseline_captured),
        ("fault plane responsive", &boxes.fault_plane_responsive),
    ] {
        page.line(&super::audit::tick(what, check));
    }
}

fn verdicts(judged: &Judged) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for scenario in &judged.scenarios {
        let id = &scenario.scenario.id;
        for arm in &scenario.arms {
            let place = cells::place(id, &arm.arm.id);
            let verdict = arm.judgement.verdict.to_string();
            rows.push(vec![place, cells::tier(&arm.facts), verdict, cells::reason(arm)]);
        }
        if scenario.arms.len() > 1 {
            let verdict = scenario.verdict.to_string();
            let reason = cells::without_name(&scenario.sentence, scenario.verdict).to_string();
            rows.push(vec![id.clone(), "(all arms)".into(), verdict, reason]);
        }
    }
    rows
}
