//! Looks through a record for everything that keeps it from being reported.

use super::judged::{Judged, JudgedArm, JudgedScenario};
use super::record::{Finding, Reproducer, RunRecord};
use super::refusal::{Gap, Refusal};
use assay_verdict::{Audits, Check, Facts, Family, Fault, RedFlag, Verdict, WeakOracle};
use std::collections::BTreeSet;

const ID_CHARS_MAX: usize = 64;

/// All refusals, in the order of the record.
pub(super) fn refusals(judged: &Judged) -> Vec<Refusal> {
    let mut found = Vec::new();
    let record = judged.record;
    header(record, &mut found);
    ids(record, &mut found);
    references(record, &mut found);
    timeline(record, &mut found);
    for scenario in &judged.scenarios {
        self::scenario(record, scenario, &mut found);
    }
    if record.verdict != judged.verdict {
        let (recorded, computed) = (record.verdict, judged.verdict);
        found.push(Refusal::RunVerdictNotComputed { recorded, computed });
    }
    for finding in &record.findings {
        let gaps = gaps(finding).into_iter();
        found.extend(
            gaps.map(|gap| Refusal::FindingIncomplete { finding: finding.id.clone(), gap }),
        );
    }
    coverage(record, &mut found);
    claims(judged, &mut found);
    found
}

fn blank(text: &str) -> bool {
    text.trim().is_empty()
}

fn header(record: &RunRecord, found: &mut Vec<Refusal>) {
    let lines = [
        ("system under test", &record.sut),
        ("plan", &record.plan),
        ("commit under test", &record.commit),
        ("directory of the run", &record.directory),
        ("operator", &record.operator),
    ];
    for (what, _) in lines.into_iter().filter(|(_, text)| blank(text)) {
        found.push(Refusal::Blank { place: "the header".to_string(), what });
    }
}

fn ids(record: &RunRecord, found: &mut Vec<Refusal>) {
    let groups: [Vec<&str>; 4] = [
        record.claims.iter().map(|claim| claim.id.as_str()).collect(),
        record.hypotheses.iter().map(|hypothesis| hypothesis.id.as_str()).collect(),
        record.scenarios.iter().map(|scenario| scenario.id.as_str()).collect(),
        record.findings.iter().map(|finding| finding.id.as_str()).collect(),
    ];
    let arms = record.scenarios.iter().map(|s| s.arms.iter().map(|arm| arm.id.as_str()).collect());
    for group in groups.into_iter().chain(arms) {
        let mut seen = BTreeSet::new();
        for id in group {
            if !usable(id) {
                found.push(Refusal::UnusableId { id: id.to_string() });
            }
            if !seen.insert(id.to_lowercase()) {
                found.push(Refusal::DuplicateId { id: id.to_string() });
            }
        }
    }
}

/// Ids become names of files, on every kind of file system.
fn usable(id: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    !id.is_empty()
        && id.len() <= ID_CHARS_MAX
        && id.chars().all(fits)
        && !id.eq_ignore_ascii_case("report")
}

fn references(record: &RunRecord, found: &mut Vec<Refusal>) {
    let claims: BTreeSet<&str> = record.claims.iter().map(|claim| claim.id.as_str()).collect();
    let hypotheses: BTreeSet<&str> = record.hypotheses.iter().map(|h| h.id.as_str()).collect();
    let scenarios: BTreeSet<&str> = record.scenarios.iter().map(|s| s.id.as_str()).collect();
    let mut look = |known: &BTreeSet<&str>, place: &str, id: &str| {
        if !known.contains(id) {
            found.push(Refusal::DanglingReference { place: place.into(), id: id.into() });
        }
    };
    for scenario in &record.scenarios {
        scenario.claims.iter().for_each(|id| look(&claims, &scenario.id, id));
    }
    for row in &record.coverage {
        look(&hypotheses, "the coverage summary", &row.hypothesis);
        row.exercised_by.iter().for_each(|id| look(&scenarios, &row.hypothesis, id));
    }
    for finding in &record.findings {
        look(&scenarios, &finding.id, &finding.scenario);
        look(&hypotheses, &finding.id, &finding.hypothesis);
    }
    for confidence in &record.confidence {
        look(&claims, "the confidence delta", &confidence.claim);
    }
    for id in record.timeline.iter().filter_map(|entry| entry.scenario.as_deref()) {
        look(&scenarios, "the timeline", id);
    }
}

fn timeline(record: &RunRecord, found: &mut Vec<Refusal>) {
    for pair in record.timeline.windows(2).filter(|pair| pair[1].at < pair[0].at) {
        found.push(Refusal::TimelineBackwards { at: pair[1].at.as_str().to_string() });
    }
    let mut seen = BTreeSet::new();
    for entry in &record.timeline {
        let Some(scenario) = &entry.scenario else { continue };
        let early = record.toolbox.discovered_at.as_ref().is_none_or(|at| entry.at < *at);
        if early && seen.insert(scenario) {
            let (scenario, at) = (scenario.clone(), entry.at.as_str().to_string());
            found.push(Refusal::ScenarioBeforeToolbox { scenario, at });
        }
    }
}

fn scenario(record: &RunRecord, judged: &JudgedScenario, found: &mut Vec<Refusal>) {
    let id = judged.scenario.id.clone();
    if judged.arms.is_empty() {
        found.push(Refusal::NoArms { scenario: id.clone() });
    }
    judged.arms.iter().for_each(|one| arm(&id, one, found));
    let recorded = judged.scenario.verdict;
    if recorded != judged.verdict {
        let (scenario, sentence) = (id.clone(), judged.sentence.clone());
        found.push(Refusal::ScenarioVerdictNotComputed { scenario, recorded, sentence });
    }
    let fails = [recorded, judged.verdict].into_iter().find(|v| v.family() == Family::Fail);
    if let Some(verdict) = fails
        && !record.findings.iter().any(|finding| finding.scenario == id)
    {
        found.push(Refusal::FindingMissing { scenario: id, verdict });
    }
}

fn arm(scenario: &str, judged: &JudgedArm, found: &mut Vec<Refusal>) {
    let arm = judged.arm;
    let place = if arm.id == scenario { arm.id.clone() } else { format!("{scenario}/{}", arm.id) };
    if arm.verdict != judged.judgement.verdict {
        found.push(Refusal::VerdictNotComputed {
            arm: place.clone(),
            recorded: arm.verdict,
            sentence: judged.judgement.sentence.clone(),
        });
    }
    numbers(&place, judged, found);
    let landing = super::cells::landing(&arm.facts);
    if arm.verdict == Verdict::PassHardening && landing.is_none() {
        found.push(Refusal::LandingEmpty { arm: place.clone() });
    }
    let consumed = match &arm.facts {
        Facts::Ran(run) => run.operations.consumed.unwrap_or(0),
        _ => 0,
    };
    if arm.verdict.family() == Family::Pass && (blank(&arm.oracle) || consumed == 0) {
        found.push(Refusal::OracleEvidenceEmpty { arm: place });
    }
}

/// What the record says twice has to agree.
fn numbers(place: &str, judged: &JudgedArm, found: &mut Vec<Refusal>) {
    let (Facts::Ran(recorded), Facts::Ran(computed)) = (&judged.arm.facts, &judged.facts) else {
        return;
    };
    let arm = || place.to_string();
    if recorded.tier != computed.tier {
        let (recorded, computed) = (recorded.tier, computed.tier);
        found.push(Refusal::TierNotComputed { arm: arm(), recorded, computed });
    }
    if recorded.audits != Audits::default() {
        audits(place, &recorded.audits, &computed.audits, found);
    }
    let size = &judged.arm.size;
    let seeds = judged.arm.seeds.len() as u64;
    let mut disagree = |what: String| found.push(Refusal::NumbersDisagree { arm: arm(), what });
    if size.seeds > seeds || u64::from(recorded.seeds_agreeing) > seeds {
        let agreeing = recorded.seeds_agreeing;
        disagree(format!("{seeds} seeds listed, {} counted, {agreeing} said to agree", size.seeds));
    }
    if let Some(ms) = judged.arm.measured.duration_ms.filter(|ms| *ms != size.duration_ms) {
        disagree(format!("measured {ms} ms, but its size says {} ms", size.duration_ms));
    }
    if recorded.fault == Fault::NotPlanned && size.faults > 0 {
        disagree(format!("{} faults counted, but none planned", size.faults));
    }
}

fn audits(place: &str, recorded: &Audits, computed: &Audits, found: &mut Vec<Refusal>) {
    let red = RedFlag::ALL.iter().map(|item| {
        let name = format!("red flag {} ({item})", item.number());
        (name, recorded.red_flag(*item), computed.red_flag(*item))
    });
    let weak = WeakOracle::ALL.iter().map(|item| {
        let name = format!("weak oracle {} ({item})", item.number());
        (name, recorded.weak_oracle(*item), computed.weak_oracle(*item))
    });
    for (item, recorded, computed) in red.chain(weak) {
        if recorded.word() != computed.word() {
            found.push(Refusal::AuditNotComputed {
                arm: place.to_string(),
                item,
                recorded: said(recorded),
                computed: said(computed),
            });
        }
    }
}

fn said(check: &Check) -> String {
    format!("{}: {}", check.word(), check.text())
}

fn gaps(finding: &Finding) -> Vec<Gap> {
    let reproducible = match &finding.reproducer {
        Reproducer::Minimised { command, .. } => !blank(command),
        Reproducer::NotMinimised { reason, .. } => !blank(reason),
    };
    let parts = [
        (finding.blame.is_none(), Gap::Blame),
        (finding.class.is_none(), Gap::Class),
        (finding.severity.is_none(), Gap::Severity),
        (!reproducible, Gap::Reproducer),
        (finding.evidence.iter().all(|line| blank(line)), Gap::Evidence),
        (blank(&finding.what_happened), Gap::WhatHappened),
        (blank(&finding.root_cause), Gap::RootCause),
        (blank(&finding.next_action), Gap::NextAction),
    ];
    parts.into_iter().filter(|(missing, _)| *missing).map(|(_, gap)| gap).collect()
}

fn coverage(record: &RunRecord, found: &mut Vec<Refusal>) {
    for hypothesis in &record.hypotheses {
        let id = || hypothesis.id.clone();
        let row = record.coverage.iter().find(|row| row.hypothesis == hypothesis.id);
        match row {
            None => found.push(Refusal::HypothesisMissing { hypothesis: id() }),
            Some(row) => {
                let reason = row.not_exercised.as_ref().is_some_and(|why| !blank(&why.reason));
                if row.exercised_by.is_empty() && !reason {
                    found.push(Refusal::CoverageEmpty { hypothesis: id() });
                }
            }
        }
    }
}

fn claims(judged: &Judged, found: &mut Vec<Refusal>) {
    for claim in &judged.record.claims {
        let id = || claim.id.clone();
        let argued = claim.adequacy.as_ref();
        if argued.is_none_or(|row| blank(&row.argument) || blank(&row.after)) {
            found.push(Refusal::AdequacyMissing { claim: id() });
        }
        let draft = judged.draft_delta(&claim.id);
        match judged.record.confidence.iter().find(|delta| delta.claim == claim.id) {
            None => found.push(Refusal::ConfidenceMissing { claim: id(), draft }),
            Some(row) if row.delta > draft => {
                let recorded = row.delta;
                found.push(Refusal::ConfidenceTooHigh { claim: id(), recorded, draft });
            }
            Some(row) if blank(&row.reason) => {
                found.push(Refusal::Blank { place: id(), what: "the reason of its confidence" });
            }
            Some(_) => {}
        }
    }
}
