//! From a plan and what became of its arms to the record of the run.

use crate::arm;
use crate::blame;
use crate::directory::Asked;
use crate::investigate::Investigation;
use crate::scenario::{ArmEnd, ArmRun};
use crate::trial::TrialRecord;
use assay_plan::Plan;
use assay_plan::machine::{Expectation as Planned, Machine};
use assay_plan::words::Category;
use assay_report::run::{
    Adequacy, Arm, Artifact, Claim, Confidence, Coverage, Delta, Finding, Format, Hypothesis,
    Judged, NotExercised, Omission, Preconditions, Presence, Reproducer, Requirement, Residual,
    RunRecord, Scenario, TimelineEntry, Toolbox, Utc,
};
use assay_verdict::{
    Check, Expectation, Facts, Family, Measured, RunVerdict, Severity, Verdict, aggregate, judge,
};

/// A scenario of the plan, with what became of its arms.
pub struct ScenarioEnd {
    /// Its id.
    pub id: String,
    /// The arms: id, machine block, end.
    pub arms: Vec<(String, Machine, ArmEnd)>,
}

/// What a record is made from.
pub struct Material<'m> {
    /// The plan.
    pub plan: &'m Plan,
    /// What was asked for.
    pub asked: &'m Asked,
    /// The directory of the run.
    pub directory: String,
    /// The toolbox.
    pub toolbox: Toolbox,
    /// The environment.
    pub environment: Vec<Requirement>,
    /// What happened.
    pub timeline: Vec<TimelineEntry>,
    /// The scenarios, in the order of the plan.
    pub scenarios: Vec<ScenarioEnd>,
}

/// A moment as records write it; what is no moment is the beginning of time.
pub fn utc(text: &str) -> Utc {
    let epoch = || Utc::try_from("1970-01-01T00:00:00Z".to_string()).expect("a moment");
    Utc::try_from(text.to_string()).unwrap_or_else(|_| epoch())
}

/// Who it was, or that nobody said so: a header may not be blank.
pub fn named(who: &str) -> String {
    if who.trim().is_empty() { "not named".to_string() } else { who.to_string() }
}

/// A wall clock that was set back while the run went on would have trials before the toolbox was
/// looked through, which no record may say. They are put at that moment, and told so.
pub fn never_before(toolbox: &Toolbox, timeline: &mut [TimelineEntry]) -> Option<String> {
    let discovered = toolbox.discovered_at.clone()?;
    let early = timeline.iter_mut().filter(|entry| entry.at < discovered);
    let mut first = None;
    for entry in early {
        let said = std::mem::replace(&mut entry.at, discovered.clone());
        let note = format!("the clock of this machine was set back, and said {}", said.as_str());
        entry.notes = match entry.notes.is_empty() {
            true => note.clone(),
            false => format!("{}; {note}", entry.notes),
        };
        first.get_or_insert(note);
    }
    first
}

/// The record of a run.
pub fn of(material: &Material<'_>) -> RunRecord {
    let plan = material.plan;
    let mut record = RunRecord {
        format: Format::V1,
        sut: plan.header.sut.as_ref().map_or("not named", |sut| sut.text.as_str()).to_string(),
        plan: material.asked.plan.clone(),
        commit: material.asked.commit.clone(),
        directory: material.directory.clone(),
        operator: named(&material.asked.operator),
        toolbox: material.toolbox.clone(),
        environment: material.environment.clone(),
        preconditions: preconditions(material),
        timeline: material.timeline.clone(),
        claims: claims(plan),
        hypotheses: hypotheses(plan),
        coverage: Vec::new(),
        residual: Some(residual(plan)),
        scenarios: material.scenarios.iter().map(|end| scenario(plan, end)).collect(),
        findings: Vec::new(),
        confidence: Vec::new(),
        verdict: RunVerdict::Blocked,
        artifacts: artifacts(),
    };
    record.findings = findings(material);
    record.coverage = coverage(material, &record);
    let judged = Judged::of(&record);
    let verdict = judged.verdict;
    let confidence = confidence(&judged);
    let after: Vec<String> = record.claims.iter().map(|claim| worth(&judged, &claim.id)).collect();
    record.verdict = verdict;
    record.confidence = confidence;
    for (claim, after) in record.claims.iter_mut().zip(after) {
        if let Some(adequacy) = &mut claim.adequacy {
            adequacy.after = after;
        }
    }
    record
}

fn runs<'m>(material: &'m Material<'_>) -> impl Iterator<Item = &'m ArmRun> {
    let arms = material.scenarios.iter().flat_map(|scenario| &scenario.arms);
    arms.filter_map(|(_, _, end)| match end {
        ArmEnd::Ran(run) => Some(run.as_ref()),
        _ => None,
    })
}

fn preconditions(material: &Material<'_>) -> Preconditions {
    let first = runs(material).find_map(|run| run.trials.first()).map(|(_, trial)| trial);
    let nothing = || Check::Unknown("no trial came so far".to_string());
    let of = |judge: fn(&TrialRecord) -> Check| first.map_or_else(nothing, judge);
    Preconditions {
        cluster_up: of(|trial| {
            let (name, nodes) = (&trial.spec.system.name, trial.spec.system.nodes);
            Check::Clean(format!("{name}: {nodes} nodes answered their ready probes"))
        }),
        observability_live: of(|trial| match trial.log.lines {
            0 => Check::Raised("the nodes logged nothing".to_string()),
            lines => Check::Clean(format!(
                "{lines} lines of log, {} operations recorded",
                trial.operations.recorded
            )),
        }),
        baseline_captured: of(|trial| match trial.health {
            Some(health) => {
                Check::Clean(format!("{} answers a second before the first fault", health.baseline))
            }
            None if trial.windows.is_empty() => {
                Check::NotApplicable("the first scenario has no fault".to_string())
            }
            None => Check::Unknown("no span before the first fault was long enough".to_string()),
        }),
        fault_plane_responsive: of(|trial| match (trial.landed(), trial.windows.len()) {
            (_, 0) => Check::NotApplicable("the first scenario has no fault".to_string()),
            (0, planned) => Check::Raised(format!("none of {planned} faults landed")),
            (landed, planned) => Check::Clean(format!("{landed} of {planned} faults landed")),
        }),
    }
}

fn claims(plan: &Plan) -> Vec<Claim> {
    let adequacy = |id: &assay_plan::ids::Id| {
        let row = plan.adequacy.iter().find(|row| row.claims.iter().any(|claim| claim.id == *id));
        row.map(|row| Adequacy { argument: row.why.text.clone(), after: String::new() })
    };
    let claim = |claim: &assay_plan::plan::Claim| Claim {
        id: claim.id.to_string(),
        text: claim.claim.text.clone(),
        adequacy: adequacy(&claim.id),
    };
    plan.claims.iter().map(claim).collect()
}

fn hypotheses(plan: &Plan) -> Vec<Hypothesis> {
    let one = |hypothesis: &assay_plan::plan::Hypothesis| Hypothesis {
        id: hypothesis.id.to_string(),
        text: hypothesis.title.text.clone(),
    };
    plan.hypotheses.iter().map(one).collect()
}

fn residual(plan: &Plan) -> Vec<Residual> {
    let one = |row: &assay_plan::plan::Residual| Residual {
        uncertainty: row.uncertainty.text.clone(),
        why_uncovered: row.why_uncovered.text.clone(),
        why_acceptable: row.why_acceptable.text.clone(),
        revisit_when: row.revisit_when.text.clone(),
    };
    plan.residual.iter().map(one).collect()
}

fn planned<'p>(plan: &'p Plan, id: &str) -> Option<&'p assay_plan::plan::Scenario> {
    plan.scenarios.iter().find(|scenario| scenario.id.to_string() == id)
}

/// A scenario as it is recorded.
pub fn scenario(plan: &Plan, end: &ScenarioEnd) -> Scenario {
    let described = planned(plan, &end.id);
    let first = end.arms.first().map(|(_, machine, _)| machine);
    let canary = first.is_some_and(|machine| machine.expect == Some(Planned::Refuted));
    let oracle = described.and_then(|s| s.field(assay_plan::field::Field::Oracle));
    let budgets = arm::budgets(first.unwrap_or(&Machine::default()));
    let arms: Vec<Arm> = end
        .arms
        .iter()
        .map(|(id, machine, arm)| {
            let own = arm::budgets(machine);
            let budgets = (own != budgets).then_some(own);
            Arm { budgets, ..record_arm(id, machine, arm, oracle.map(|o| o.text.as_str())) }
        })
        .collect();
    let verdicts: Vec<Verdict> = arms.iter().map(|arm| arm.verdict).collect();
    Scenario {
        id: end.id.clone(),
        name: described.map_or(String::new(), |scenario| scenario.name.text.clone()),
        claims: described
            .map(|s| s.falsifies.iter().map(|claim| claim.id.to_string()).collect())
            .unwrap_or_default(),
        expect: if canary { Expectation::Refuted } else { Expectation::Upheld },
        budgets,
        verdict: match verdicts[..] {
            [only] => only,
            _ => aggregate(&verdicts).verdict,
        },
        arms,
    }
}

fn record_arm(id: &str, machine: &Machine, end: &ArmEnd, oracle: Option<&str>) -> Arm {
    let names = machine.checker.as_ref().map(|checker| checker.name.join(", "));
    let oracle = match (names, oracle) {
        (Some(names), Some(text)) if !names.is_empty() => format!("{names}: {text}"),
        (Some(names), _) if !names.is_empty() => names,
        (_, text) => text.unwrap_or_default().to_string(),
    };
    let surface = id.split_once('/').map(|(_, surface)| surface.to_string());
    let mut arm = Arm {
        id: surface.clone().unwrap_or_else(|| id.to_string()),
        surface,
        oracle,
        budgets: None,
        size: Default::default(),
        seeds: Vec::new(),
        started: None,
        ended: None,
        facts: Facts::NotAttempted { reason: String::new() },
        measured: Measured::default(),
        planted: Vec::new(),
        planted_less: Vec::new(),
        verdict: Verdict::NotRun,
        artifacts: Vec::new(),
        notes: String::new(),
    };
    arm.facts = match end {
        ArmEnd::NotAttempted(reason) => Facts::NotAttempted { reason: reason.clone() },
        ArmEnd::Missing(capabilities, operator) => {
            Facts::CapabilityMissing { capabilities: capabilities.clone(), operator: *operator }
        }
        ArmEnd::Ran(run) => {
            arm.size = run.facts.size;
            arm.seeds.clone_from(&run.facts.seeds);
            arm.measured = run.facts.measured.clone();
            arm.planted.clone_from(&run.facts.planted);
            arm.planted_less.clone_from(&run.facts.planted_less);
            arm.started = run.trials.first().map(|(_, trial)| utc(&trial.started));
            arm.ended = run.trials.last().map(|(_, trial)| utc(&trial.ended));
            let directory = id.replace('/', "-");
            let path = |(name, _): &(String, TrialRecord)| {
                format!("artifacts/{directory}/{name}/history.jsonl.zst")
            };
            arm.artifacts = run.trials.iter().map(path).collect();
            arm.notes = notes(run);
            Facts::Ran(Box::new(run.facts.facts.clone()))
        }
    };
    arm.verdict = judge(&arm.facts).verdict;
    arm
}

fn notes(run: &ArmRun) -> String {
    let mut lines = Vec::new();
    for (name, trial) in &run.trials {
        let ops = &trial.operations;
        lines.push(format!(
            "{name}: {} ok, {} fail, {} unknown, {} late (at most {} ms); at rest: {}; {}; {}",
            ops.ok,
            ops.fail,
            ops.unknown,
            ops.late,
            ops.late_ms_max,
            trial.quiescence.in_flight,
            trial.quiescence.pending,
            trial.quiescence.converged,
        ));
        lines.extend(trial.judged.undecided_because.iter().map(|why| format!("{name}: {why}")));
        lines.extend(trial.log.samples.iter().map(|line| format!("{name}: log: {line}")));
        lines.extend(trial.bypasses.iter().map(|line| format!("{name}: {line}")));
        lines.extend(trial.lost.iter().map(|line| format!("{name}: {line}")));
        let down = trial.down.iter();
        lines.extend(down.map(|node| format!("{name}: {node} does not run at the end")));
        if trial.frames_lost > 0 {
            let lost = trial.frames_lost;
            lines.push(format!("{name}: the switch lost {lost} frames, which no fault did"));
        }
        let windows = trial.windows.iter();
        lines.extend(windows.filter_map(|w| Some(format!("{name}: {}: {}", w.id, w.trouble()?))));
    }
    lines.extend(run.not_done.iter().cloned());
    lines.join("\n")
}

fn findings(material: &Material<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for scenario in &material.scenarios {
        for (id, _, end) in &scenario.arms {
            let ArmEnd::Ran(run) = end else { continue };
            let Some(found) = &run.investigation else { continue };
            let number = findings.len() + 1;
            findings.push(finding(material.plan, &scenario.id, id, number, found));
        }
    }
    findings
}

fn finding(
    plan: &Plan,
    scenario: &str,
    arm: &str,
    number: usize,
    found: &Investigation,
) -> Finding {
    let described = planned(plan, scenario);
    let closes = described.and_then(|s| s.closes.first()).map(|h| h.id.to_string());
    let claims: Vec<Category> = described
        .map(|s| s.falsifies.iter().filter_map(|claim| category(plan, &claim.id)).collect())
        .unwrap_or_default();
    let faults: Vec<String> = found.smallest.windows.iter().map(|w| w.fault.clone()).collect();
    let checkers = &found.first.spec.check.names;
    let tags = blame::tags(checkers, &faults);
    let blamed = found.tells.blame();
    let suspect = closes
        .as_ref()
        .and_then(|id| plan.hypotheses.iter().find(|hypothesis| hypothesis.id.to_string() == *id));
    let gated = claims.iter().any(|category| category.is_gated());
    let severity = Severity::suggested(&tags).filter(|_| gated).unwrap_or(Severity::P2);
    Finding {
        id: format!("F{number}"),
        scenario: scenario.to_string(),
        hypothesis: closes.unwrap_or_default(),
        what_happened: what_happened(&found.first),
        reproducer: reproducer(number, found),
        blame: Some(blamed),
        class: Some(blame::class(&faults)),
        tags,
        severity: Some(severity),
        evidence: evidence(arm, found),
        root_cause: match suspect {
            Some(h) => format!("not examined; the plan suspects {}: {}", h.id, h.title.text),
            None => "not examined".to_string(),
        },
        next_action: format!("{}: run the reproducer and look at the witness", blamed.queue()),
    }
}

fn category(plan: &Plan, id: &assay_plan::ids::Id) -> Option<Category> {
    plan.claims.iter().find(|claim| claim.id == *id)?.category.value
}

fn what_happened(first: &TrialRecord) -> String {
    match first.judged.anomalies.first() {
        Some(anomaly) => anomaly.story().join(" "),
        None => "the checkers refuted the history and show no anomaly".to_string(),
    }
}

fn reproducer(number: usize, found: &Investigation) -> Reproducer {
    let command = format!("assay reproduce findings/F{number}.repro.json");
    match &found.not_reduced {
        Some(reason) => Reproducer::NotMinimised { command: Some(command), reason: reason.clone() },
        None if !found.minimal => Reproducer::NotMinimised {
            command: Some(command),
            reason: format!(
                "reduced from {} events to {} in {} trials, and then {}",
                found.events[0],
                found.events[1],
                found.reductions,
                match found.not_done.iter().any(|what| what.starts_with("reduce-")) {
                    true => "not all could be tried that might be left out",
                    false => "the time for it was over",
                }
            ),
        },
        None => Reproducer::Minimised {
            command,
            events_before: found.events[0],
            events_after: found.events[1],
            reruns: found.reductions,
        },
    }
}

fn evidence(arm: &str, found: &Investigation) -> Vec<String> {
    let directory = arm.replace('/', "-");
    let purpose = found.first.purpose.name();
    let seed = found.first.spec.seed;
    let mut lines = vec![
        format!("artifacts/{directory}/{purpose}-seed-{seed}/history.jsonl.zst"),
        format!(
            "{} anomalies; the same seed was run {} more times and showed it {} times",
            found.first.judged.anomalies_total, found.reruns[0], found.reruns[1]
        ),
    ];
    lines.extend(found.not_done.iter().chain(&found.others).cloned());
    lines.extend(found.tells.lines.iter().cloned());
    lines
}

fn coverage(material: &Material<'_>, record: &RunRecord) -> Vec<Coverage> {
    let ran = |id: &str| {
        let scenario = record.scenarios.iter().find(|scenario| scenario.id == id);
        scenario.is_some_and(|s| !matches!(s.verdict.family(), Family::NotRun))
    };
    let one = |hypothesis: &assay_plan::plan::Hypothesis| {
        let closing: Vec<String> = material
            .plan
            .scenarios
            .iter()
            .filter(|scenario| scenario.closes.iter().any(|closed| closed.id == hypothesis.id))
            .map(|scenario| scenario.id.to_string())
            .collect();
        let exercised: Vec<String> = closing.iter().filter(|id| ran(id)).cloned().collect();
        let not_exercised = exercised.is_empty().then(|| match closing.is_empty() {
            true => NotExercised {
                kind: Omission::OutOfScope,
                reason: "the plan has no scenario for it".to_string(),
            },
            false => NotExercised {
                kind: Omission::Deferred,
                reason: format!("{} was not run this time", closing.join(", ")),
            },
        });
        Coverage { hypothesis: hypothesis.id.to_string(), exercised_by: exercised, not_exercised }
    };
    material.plan.hypotheses.iter().map(one).collect()
}

fn confidence(judged: &Judged<'_>) -> Vec<Confidence> {
    let one = |claim: &Claim| {
        let delta = judged.draft_delta(&claim.id);
        let ends: Vec<String> =
            judged.trying(&claim.id).map(|s| format!("{} {}", s.scenario.id, s.verdict)).collect();
        let reason = match (delta, ends.is_empty()) {
            (_, true) => "no scenario of this run can break it".to_string(),
            (Delta::More, _) => format!("every scenario against it held: {}", ends.join(", ")),
            _ => ends.join(", "),
        };
        Confidence { claim: claim.id.clone(), delta, reason }
    };
    judged.record.claims.iter().map(one).collect()
}

/// What the plan's argument is worth after this run.
fn worth(judged: &Judged<'_>, claim: &str) -> String {
    let trying: Vec<_> = judged.trying(claim).collect();
    let short: Vec<String> = trying
        .iter()
        .filter(|scenario| !scenario.as_expected())
        .map(|scenario| format!("{} ended {}", scenario.scenario.id, scenario.verdict))
        .collect();
    match (trying.is_empty(), short.is_empty()) {
        (true, _) => "nothing: no scenario against it was run".to_string(),
        (_, true) => "it stands: all of its scenarios ended as they should".to_string(),
        _ => format!("less than argued: {}", short.join(", ")),
    }
}

fn artifacts() -> Vec<Artifact> {
    let rows = [
        ("report.html", "the report, for a browser"),
        ("results.json", "this record"),
        ("plan.md", "the plan as it was"),
        ("run.json", "what was asked for"),
        ("events.jsonl", "everything that happened"),
        ("metrics", "operations and latency of each trial, second by second"),
    ];
    rows.map(|(path, what)| Artifact { path: path.to_string(), what: what.to_string() }).to_vec()
}

/// Whether everything a scenario needs is there, by the table of the environment.
pub fn missing_for(plan: &Plan, scenario: &str, environment: &[Requirement]) -> Vec<String> {
    let rows = plan.environment.iter().zip(environment);
    let needed = rows.filter(|(row, found)| {
        found.presence == Presence::Missing
            && row.used_by.iter().any(|user| user.id.to_string() == scenario)
    });
    needed.map(|(_, found)| format!("{} ({})", found.requirement, found.source)).collect()
}

#[cfg(test)]
mod tests;
