//! findings/report.md: what a reviewer reads to decide. Ten parts in a fixed order.

use super::judged::{Judged, JudgedArm, JudgedScenario};
use super::markdown::{Markdown, inline};
use super::record::Omission;
use super::{audit, cells, scenario};
use assay_verdict::{Facts, Family, Release, Verdict};

pub(super) fn page(judged: &Judged) -> String {
    let mut page = Markdown::default();
    page.heading(1, &format!("Report: {}", judged.record.sut));
    page.item("Plan", &judged.record.plan);
    page.item("Commit under test", &judged.record.commit);
    page.item("Session dir", &judged.record.directory);
    summary(&mut page, judged);
    results(&mut page, judged);
    findings(&mut page, judged);
    coverage(&mut page, judged);
    surfaces(&mut page, judged);
    disclosures(&mut page, judged);
    adequacy(&mut page, judged);
    confidence(&mut page, judged);
    page.heading(2, "Green-but-broken check");
    for (scenario, arm) in arms(judged) {
        page.heading(3, &cells::place(&scenario.scenario.id, &arm.arm.id));
        audit::audits(&mut page, arm);
    }
    page.finish()
}

fn arms<'a, 'r>(
    judged: &'a Judged<'r>,
) -> impl Iterator<Item = (&'a JudgedScenario<'r>, &'a JudgedArm<'r>)> {
    judged
        .scenarios
        .iter()
        .flat_map(|scenario| scenario.arms.iter().map(move |arm| (scenario, arm)))
}

fn summary(page: &mut Markdown, judged: &Judged) {
    page.heading(2, "Summary");
    page.line(&format!("**{}**: {}.", judged.verdict, headline(judged)));
    page.line("");
    // What broke stands first, then what says least.
    let mut order: Vec<&JudgedScenario> = judged.scenarios.iter().collect();
    order.sort_by_key(|scenario| scenario.verdict.level());
    for scenario in order {
        let record = scenario.scenario;
        let (name, sentence) = (inline(&record.name), inline(&scenario.sentence));
        let canary = cells::canary(scenario);
        let claims = record.claims.join(", ");
        page.line(&format!("- {} {name} ({claims}): {sentence}{canary}", record.id));
    }
    let hardened = |s: &&JudgedScenario| s.verdict == Verdict::PassHardening && !s.is_canary();
    let count = judged.scenarios.iter().filter(hardened).count();
    let all = judged.scenarios.iter().filter(|scenario| !scenario.is_canary()).count();
    page.line(&format!(
        "\n{count} of {all} scenarios stood up to a fault that provably landed. A claim that was \
         not broken is \"not observed to break under the faults that were tried\", no more."
    ));
}

/// What broke, by name; else what the verdict means.
pub(super) fn headline(judged: &Judged) -> String {
    let broken = judged.scenarios.iter().filter(|s| s.verdict.family() == Family::Fail);
    let broken = broken.filter(|scenario| !scenario.is_canary());
    let broken: Vec<String> = broken
        .map(|broken| {
            let record = broken.scenario;
            let findings = judged.record.findings.iter().filter(|f| f.scenario == record.id);
            let findings: Vec<&str> = findings.map(|finding| finding.id.as_str()).collect();
            let claims = record.claims.join(", ");
            format!("{claims} is broken by {} ({})", record.id, findings.join(", "))
        })
        .collect();
    if broken.is_empty() { judged.verdict.meaning().to_string() } else { broken.join("; ") }
}

fn results(page: &mut Markdown, judged: &Judged) {
    page.heading(2, "Scenario results");
    let mut rows = Vec::new();
    for scenario in &judged.scenarios {
        let record = scenario.scenario;
        let from = rows.len();
        for arm in &scenario.arms {
            rows.push(vec![
                cells::place(&record.id, &arm.arm.id),
                record.name.clone(),
                arm.judgement.verdict.to_string(),
                arm.arm.oracle.clone(),
                cells::oracle_cell(&arm.facts),
                cells::landing_summary(&arm.facts),
            ]);
        }
        if scenario.arms.len() > 1 {
            let mut row =
                vec![record.id.clone(), record.name.clone(), scenario.verdict.to_string()];
            let reason = cells::without_name(&scenario.sentence, scenario.verdict).to_string();
            row.extend(["(all arms)".into(), reason, "see arms".into()]);
            rows.push(row);
        }
        // Ids have been checked to be fit for names of files, so they are fit for links.
        for row in &mut rows[from..] {
            row.iter_mut().for_each(|cell| *cell = inline(cell));
            row.push(format!("[{0}.md]({0}.md)", record.id));
        }
    }
    let columns = [
        "ID",
        "Scenario",
        "Verdict",
        "Oracle",
        "Oracle execution evidence",
        "Nemesis landing evidence",
        "Artifact link",
    ];
    page.markdown_table(&columns, &rows, "The plan has no scenarios.");
    planted(page, judged);
}

/// A checker that says yes has to be one that can say no: on which anomalies it did.
fn planted(page: &mut Markdown, judged: &Judged) {
    let (mut rows, mut left_out) = (Vec::new(), Vec::new());
    for (scenario, arm) in arms(judged) {
        let place = cells::place(&scenario.scenario.id, &arm.arm.id);
        left_out.extend(arm.arm.planted_less.iter().map(|what| format!("{place}: {what}")));
        let placed = cells::planted(arm.arm).into_iter();
        rows.extend(placed.map(|row| [vec![place.clone()], row].concat()));
    }
    let columns = [&["ID"][..], cells::PLANTED_COLUMNS].concat();
    page.heading(3, "Planted anomalies");
    page.table(&columns, &rows, cells::PLANTED_NOTHING);
    scenario::left_out(page, &left_out);
}

fn findings(page: &mut Markdown, judged: &Judged) {
    page.heading(2, "Findings");
    if judged.record.findings.is_empty() {
        page.line("None.");
    }
    judged.record.findings.iter().for_each(|finding| scenario::finding(page, 3, finding));
}

fn coverage(page: &mut Markdown, judged: &Judged) {
    page.heading(2, "Coverage summary");
    let verdict = |id: &String| {
        let found = judged.scenarios.iter().find(|scenario| scenario.scenario.id == *id);
        found.map_or(id.clone(), |scenario| format!("{id} ({})", scenario.verdict))
    };
    let mut rows = Vec::new();
    for hypothesis in &judged.record.hypotheses {
        let row = judged.record.coverage.iter().find(|row| row.hypothesis == hypothesis.id);
        let by: Vec<String> =
            row.map_or(Vec::new(), |row| row.exercised_by.iter().map(verdict).collect());
        let result = match row.and_then(|row| row.not_exercised.as_ref()) {
            Some(why) => {
                let kind = match why.kind {
                    Omission::OutOfScope => "out of scope",
                    Omission::MissingTooling => "missing tooling",
                    Omission::Deferred => "deferred",
                };
                format!("{kind}: {}", why.reason)
            }
            None => "exercised".to_string(),
        };
        let by = if by.is_empty() { "—".to_string() } else { by.join(", ") };
        rows.push(vec![hypothesis.id.clone(), hypothesis.text.clone(), by, result]);
    }
    let columns = ["Hypothesis", "Idea", "Exercised by (result)", "Remark"];
    page.table(&columns, &rows, "The plan has no hypotheses.");
}

fn surfaces(page: &mut Markdown, judged: &Judged) {
    page.heading(2, "Surface coverage");
    let (mut rows, mut missing) = (Vec::new(), Vec::new());
    for (scenario, arm) in arms(judged) {
        let Some(surface) = &arm.arm.surface else { continue };
        let ran = matches!(arm.facts, Facts::Ran(_));
        if !ran {
            missing.push(inline(surface));
        }
        let reason = match arm.judgement.verdict {
            Verdict::PassHardening => "—".to_string(),
            _ => cells::reason(arm),
        };
        rows.push(vec![
            cells::place(&scenario.scenario.id, &arm.arm.id),
            surface.clone(),
            "yes".to_string(),
            if ran { "yes" } else { "no" }.to_string(),
            arm.judgement.verdict.to_string(),
            reason,
        ]);
    }
    let columns =
        ["Scenario / arm", "Surface", "Planned", "Executed", "Verdict", "Downgrade reason"];
    page.table(&columns, &rows, "No scenario is split into surfaces.");
    if !rows.is_empty() {
        let names = if missing.is_empty() { "none".to_string() } else { missing.join(", ") };
        page.line(&format!("\nSurfaces that were not exercised: {names}."));
    }
}

fn disclosures(page: &mut Markdown, judged: &Judged) {
    page.heading(2, "Release-budget disclosures");
    let row = |(place, release): (String, &Release)| match release {
        Release::NotProvided { reason, revisit_when } => {
            Some(vec![place, reason.clone(), revisit_when.clone()])
        }
        Release::Budget(_) => None,
    };
    let all = judged.scenarios.iter().flat_map(|judged| judged.scenario.releases());
    let rows: Vec<Vec<String>> = all.filter_map(row).collect();
    let columns = ["Scenario", "Reason", "Revisit when"];
    page.table(&columns, &rows, "Every scenario has a release budget.");
}

fn adequacy(page: &mut Markdown, judged: &Judged) {
    page.heading(2, "Adequacy assessment vs plan");
    let mut rows = Vec::new();
    let (mut short, mut broken) = (Vec::new(), Vec::new());
    for claim in &judged.record.claims {
        let tried: Vec<&JudgedScenario> = judged.trying(&claim.id).collect();
        let ran: Vec<String> =
            tried.iter().map(|s| format!("{} {}", s.scenario.id, s.verdict)).collect();
        let fails = |s: &&JudgedScenario| s.verdict.family() == Family::Fail && !s.is_canary();
        if tried.iter().any(fails) {
            broken.push(claim.id.clone());
        } else if tried.is_empty() || tried.iter().any(|scenario| !scenario.as_expected()) {
            short.push(claim.id.clone());
        }
        let (argument, after) = claim
            .adequacy
            .as_ref()
            .map_or(("none", "none"), |row| (row.argument.as_str(), row.after.as_str()));
        let ran = if ran.is_empty() { "nothing".to_string() } else { ran.join("; ") };
        rows.push(vec![claim.id.clone(), argument.to_string(), ran, after.to_string()]);
    }
    let columns =
        ["Claim", "Plan's adequacy argument", "What actually ran", "Adequacy after this run"];
    page.table(&columns, &rows, "The plan makes no claims.");
    if !broken.is_empty() {
        page.line(&format!("\nBroken: {}.", broken.join(", ")));
    }
    if !short.is_empty() {
        let claims = short.join(", ");
        page.line(&format!("\nMore is uncertain than the plan declares about: {claims}."));
    }
    if broken.is_empty() && short.is_empty() {
        page.line("\nWhat the plan relied on ran and passed.");
    }
    residual(page, judged);
}

/// What no verdict above says anything about.
fn residual(page: &mut Markdown, judged: &Judged) {
    page.heading(3, "Residual uncertainty of the plan");
    let Some(rows) = &judged.record.residual else {
        page.line("This record does not say what the plan itself leaves open.");
        return;
    };
    let row = |row: &super::record::Residual| {
        let [why, acceptable] = [row.why_uncovered.clone(), row.why_acceptable.clone()];
        vec![row.uncertainty.clone(), why, acceptable, row.revisit_when.clone()]
    };
    let rows: Vec<Vec<String>> = rows.iter().map(row).collect();
    let columns = ["Uncertainty", "Why uncovered", "Why acceptable today", "When to revisit"];
    page.table(&columns, &rows, "The plan names none.");
}

fn confidence(page: &mut Markdown, judged: &Judged) {
    page.heading(2, "Confidence delta");
    let row = |delta: &super::record::Confidence| {
        vec![delta.claim.clone(), delta.delta.name().to_string(), delta.reason.clone()]
    };
    let rows: Vec<Vec<String>> = judged.record.confidence.iter().map(row).collect();
    page.table(&["Claim", "Delta", "Reason"], &rows, "The plan makes no claims.");
}
