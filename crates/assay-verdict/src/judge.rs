//! Facts in, a judgement out: the verdict, the way to it, and one sentence with the reason.
//!
//! There is no parameter to override it. Whoever wants another verdict needs other facts.

use crate::audit::Effect;
use crate::budget::Tier;
use crate::facts::{Calibration, Facts, Fault, Operator, RunFacts, Violation};
use crate::named::named;
use crate::rules::{RULES, Rule};
use crate::state::{Family, Verdict};
use serde::Serialize;

named! {
    /// What stands beside a verdict, because its name alone would hide it.
    pub enum Annotation {
        /// A violation was seen, and the planned fault may not have been on.
        FaultNotProven = "fault_proven=false",
        /// A smoke pass under a fault that was on.
        FaultActive = "fault_active=true",
        /// The budget kept it from being more.
        CappedByBudget = "capped_by=budget",
        /// The number of seeds kept it from being more.
        CappedBySeeds = "capped_by=seeds",
        /// The calibration of the checker kept it from being more.
        CappedByCalibration = "capped_by=calibration",
        /// An open audit item kept it from being more.
        CappedByAudit = "capped_by=audit",
        /// The release budget was met.
        Release = "release",
        /// A pass whose checker was not tried on planted anomalies.
        NotCalibrated = "calibrated=false",
        /// A violation whose seed was not run again.
        NotRerun = "rerun=false",
        /// The result waits for open red flags.
        PendingAudit = "pending-audit",
        /// The operator was not told what is missing.
        OperatorNotTold = "operator_told=false",
    }
}

/// A question that was asked on the way, and how it was answered.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Step {
    /// The rule.
    pub rule: &'static str,
    /// When it decides.
    pub when: &'static str,
    /// Whether it decided.
    pub decided: bool,
}

/// A verdict with its reason.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Judgement {
    /// The verdict.
    pub verdict: Verdict,
    /// The rules that were asked, in order; the last one decided.
    pub path: Vec<Step>,
    /// The verdict and the fact that decided, in one sentence.
    pub sentence: String,
    /// What must be said beside the verdict.
    pub annotations: Vec<Annotation>,
}

/// The rules before all others, and the one after.
const NOT_ATTEMPTED: (&str, &str) = ("not-attempted", "nobody tried");
const CAPABILITY_MISSING: (&str, &str) = ("capability-missing", "a capability is missing");
const ALL_HELD: (&str, &str) = ("all-held", "no other rule decided");

/// The verdict alone.
pub fn verdict(facts: &Facts) -> Verdict {
    match facts {
        Facts::NotAttempted { .. } => Verdict::NotRun,
        Facts::CapabilityMissing { operator: Operator::NotTold, .. } => Verdict::NotRun,
        Facts::CapabilityMissing { operator: Operator::Told, .. } => Verdict::InconclusiveEnv,
        Facts::Ran(run) => deciding(run).map_or(Verdict::PassHardening, |(_, rule)| rule.verdict),
    }
}

fn deciding(run: &RunFacts) -> Option<(usize, &'static Rule)> {
    RULES.iter().enumerate().find(|(_, rule)| (rule.fires)(run))
}

/// The verdict, the way to it and the reason.
///
/// ```
/// use assay_verdict::{Facts, Verdict, judge};
///
/// let judgement = judge(&Facts::NotAttempted { reason: "time ran out".into() });
/// assert_eq!(judgement.verdict, Verdict::NotRun);
/// assert_eq!(judgement.sentence, "NOT-RUN: it was not attempted (time ran out).");
/// ```
pub fn judge(facts: &Facts) -> Judgement {
    let step = |(rule, when), decided| Step { rule, when, decided };
    let verdict = verdict(facts);
    let (path, because, annotations) = match facts {
        Facts::NotAttempted { reason } => {
            let because = format!("it was not attempted ({})", or(reason, "no reason is given"));
            (vec![step(NOT_ATTEMPTED, true)], because, Vec::new())
        }
        Facts::CapabilityMissing { capabilities, operator } => {
            let missing = capabilities.join(", ");
            let missing = or(&missing, "a capability it needs");
            let (because, annotations) = match operator {
                Operator::Told => (format!("missing before the start: {missing}"), Vec::new()),
                Operator::NotTold => (
                    format!("the operator was never told that this is missing: {missing}"),
                    vec![Annotation::OperatorNotTold],
                ),
            };
            let path = vec![step(NOT_ATTEMPTED, false), step(CAPABILITY_MISSING, true)];
            (path, because, annotations)
        }
        Facts::Ran(run) => {
            let mut path = vec![step(NOT_ATTEMPTED, false), step(CAPABILITY_MISSING, false)];
            let decided = deciding(run);
            let asked = decided.map_or(RULES.len(), |(at, _)| at + 1);
            let steps = RULES[..asked].iter().enumerate();
            path.extend(steps.map(|(at, rule)| {
                step((rule.name, rule.when), decided.is_some_and(|(by, _)| by == at))
            }));
            let because = match decided {
                Some((_, rule)) => (rule.because)(run),
                None => {
                    path.push(step(ALL_HELD, true));
                    all_held(run)
                }
            };
            (path, because, annotations(run, verdict, decided.map(|(_, rule)| rule)))
        }
    };
    Judgement { verdict, path, sentence: format!("{verdict}: {because}."), annotations }
}

fn or<'a>(text: &'a str, otherwise: &'a str) -> &'a str {
    if text.trim().is_empty() { otherwise } else { text }
}

fn all_held(run: &RunFacts) -> String {
    let consumed = run.operations.consumed.unwrap_or(0);
    let during = match run.fault {
        Fault::Planned { ops_during_fault: Some(ops), .. } => ops,
        _ => 0,
    };
    format!(
        "the fault landed, {during} operations overlap it, the checker consumed all {consumed} \
         operations and found nothing, {} seeds agree",
        run.seeds_agreeing
    )
}

fn annotations(run: &RunFacts, verdict: Verdict, rule: Option<&Rule>) -> Vec<Annotation> {
    let mut notes = Vec::new();
    let planned = run.fault != Fault::NotPlanned;
    if verdict.family() == Family::Fail {
        if planned && !run.fault_proven() {
            notes.push(Annotation::FaultNotProven);
        }
        if run.violation == Violation::NotRerun {
            notes.push(Annotation::NotRerun);
        }
        return notes;
    }
    if verdict == Verdict::PassSmoke && run.fault_active() {
        notes.push(Annotation::FaultActive);
    }
    match rule.map(|rule| rule.name) {
        Some("smoke-budget" | "duration-not-proven" | "below-smoke") => {
            notes.push(Annotation::CappedByBudget);
        }
        Some("few-seeds") => notes.push(Annotation::CappedBySeeds),
        Some("checker-not-calibrated" | "checker-blind") => {
            notes.push(Annotation::CappedByCalibration);
        }
        Some("weak-oracle-surface" | "weak-oracle-model" | "oracle-skipped") => {
            notes.push(Annotation::CappedByAudit);
        }
        _ => {}
    }
    if !run.audits.red_flags_settled(Effect::Held, &run.fault) {
        notes.push(Annotation::PendingAudit);
    }
    if verdict.family() == Family::Pass && run.calibration == Calibration::NotDone {
        notes.push(Annotation::NotCalibrated);
    }
    if verdict == Verdict::PassHardening && run.tier == Tier::Release {
        notes.push(Annotation::Release);
    }
    notes
}
