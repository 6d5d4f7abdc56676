//! A run record with its verdicts computed again, from the facts up.

use super::record::{Arm, Delta, RunRecord, Scenario};
use assay_verdict::{
    Audits, Expectation, Facts, Family, Judgement, RunVerdict, Verdict, aggregate, judge,
};

/// A run with its verdicts, as computed.
pub struct Judged<'r> {
    /// What was recorded.
    pub record: &'r RunRecord,
    /// Its scenarios.
    pub scenarios: Vec<JudgedScenario<'r>>,
    /// The verdict of the run.
    pub verdict: RunVerdict,
}

/// A scenario with its verdict.
pub struct JudgedScenario<'r> {
    /// What was recorded.
    pub scenario: &'r Scenario,
    /// Its arms.
    pub arms: Vec<JudgedArm<'r>>,
    /// The verdict of all arms together.
    pub verdict: Verdict,
    /// Why.
    pub sentence: String,
}

impl JudgedScenario<'_> {
    /// Whether a defect is planted in it.
    pub fn is_canary(&self) -> bool {
        self.scenario.expect == Expectation::Refuted
    }

    /// Whether it ended as it is meant to.
    pub fn as_expected(&self) -> bool {
        self.scenario.expect.is_met_by(self.verdict)
    }
}

/// An arm with its verdict.
pub struct JudgedArm<'r> {
    /// What was recorded.
    pub arm: &'r Arm,
    /// The facts, with tier and audits computed from the measured numbers.
    pub facts: Facts,
    /// The verdict.
    pub judgement: Judgement,
}

impl<'r> Judged<'r> {
    /// Computes every verdict of a record from its facts; recorded verdicts are not looked at.
    pub fn of(record: &'r RunRecord) -> Judged<'r> {
        let scenarios: Vec<JudgedScenario> = record.scenarios.iter().map(scenario).collect();
        let ends: Vec<(Verdict, Expectation)> =
            scenarios.iter().map(|judged| (judged.verdict, judged.scenario.expect)).collect();
        Judged { record, verdict: RunVerdict::expecting(&ends), scenarios }
    }

    /// The scenarios that can break a claim.
    pub fn trying<'a>(&'a self, claim: &'a str) -> impl Iterator<Item = &'a JudgedScenario<'r>> {
        let tries = move |judged: &&JudgedScenario| {
            judged.scenario.claims.iter().any(|tried| tried == claim)
        };
        self.scenarios.iter().filter(tries)
    }

    /// What the verdicts alone do to the confidence in a claim. More: every scenario that can
    /// break it is hardened. Less: one of them failed or says less than it should. Unchanged: the
    /// rest, such as smoke passes or no scenario at all. A canary that was caught says nothing
    /// about the claim; one that was not makes every pass beside it worth less.
    pub fn draft_delta(&self, claim: &str) -> Delta {
        let canary_missed = |judged: &JudgedScenario| !judged.as_expected() && judged.is_canary();
        if self.trying(claim).any(canary_missed) {
            return Delta::Less;
        }
        let real = self.trying(claim).filter(|judged| !judged.is_canary());
        let verdicts: Vec<Verdict> = real.map(|judged| judged.verdict).collect();
        if verdicts.iter().any(|verdict| verdict.family() != Family::Pass) {
            Delta::Less
        } else if !verdicts.is_empty() && verdicts.iter().all(|v| *v == Verdict::PassHardening) {
            Delta::More
        } else {
            Delta::Unchanged
        }
    }
}

fn scenario(scenario: &Scenario) -> JudgedScenario<'_> {
    let arms: Vec<JudgedArm> = scenario.arms.iter().map(|arm| judged_arm(scenario, arm)).collect();
    let (verdict, sentence) = match &arms[..] {
        [only] => (only.judgement.verdict, only.judgement.sentence.clone()),
        all => {
            let verdicts: Vec<Verdict> = all.iter().map(|arm| arm.judgement.verdict).collect();
            let whole = aggregate(&verdicts);
            (whole.verdict, whole.sentence)
        }
    };
    JudgedScenario { scenario, arms, verdict, sentence }
}

fn judged_arm<'r>(scenario: &Scenario, arm: &'r Arm) -> JudgedArm<'r> {
    let mut facts = arm.facts.clone();
    if let Facts::Ran(run) = &mut facts {
        run.tier = scenario.budgets_of(arm).tier_met(&arm.size);
        run.audits = Audits::of(run, &arm.measured);
    }
    let judgement = judge(&facts);
    JudgedArm { arm, facts, judgement }
}
