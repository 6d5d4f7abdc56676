//! Why a run cannot be reported. All reasons are collected: whoever has to mend a record wants to
//! see everything at once.

use super::record::Delta;
use assay_verdict::{RunVerdict, Tier, Verdict};

/// One reason not to report a run.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Refusal {
    /// An id that cannot be the name of a file, or is taken.
    #[error("`{id}`: ids are letters, digits, `-` and `_`, at most 64, and `report` is taken")]
    UnusableId {
        /// The id.
        id: String,
    },
    /// Two things with one id.
    #[error("`{id}` is used twice")]
    DuplicateId {
        /// The id.
        id: String,
    },
    /// A reference to something that is not in the record.
    #[error("{place} names `{id}`, which is not in the record")]
    DanglingReference {
        /// Who refers to it.
        place: String,
        /// The id.
        id: String,
    },
    /// A scenario without arms.
    #[error("{scenario}: has no arms, so there is nothing to judge (one arm if it is not split)")]
    NoArms {
        /// The scenario.
        scenario: String,
    },
    /// A recorded verdict of an arm that its facts do not give.
    #[error("{arm}: recorded as {recorded}, but its facts say {sentence}")]
    VerdictNotComputed {
        /// Scenario and arm.
        arm: String,
        /// What the record says.
        recorded: Verdict,
        /// What the facts say.
        sentence: String,
    },
    /// A recorded verdict of a scenario that its arms do not give.
    #[error("{scenario}: recorded as {recorded}, but its arms say {sentence}")]
    ScenarioVerdictNotComputed {
        /// The scenario.
        scenario: String,
        /// What the record says.
        recorded: Verdict,
        /// What the arms say.
        sentence: String,
    },
    /// A recorded verdict of the run that its scenarios do not give.
    #[error("the run is recorded as {recorded}, but its scenarios say {computed}")]
    RunVerdictNotComputed {
        /// What the record says.
        recorded: RunVerdict,
        /// What the scenarios say.
        computed: RunVerdict,
    },
    /// A recorded tier that the budgets do not give.
    #[error("{arm}: recorded tier {recorded}, but its size meets {computed}")]
    TierNotComputed {
        /// Scenario and arm.
        arm: String,
        /// What the record says.
        recorded: Tier,
        /// What size and budgets say.
        computed: Tier,
    },
    /// A recorded answer of an audit that the measured numbers do not give.
    #[error("{arm}: {item} is recorded as `{recorded}`, but the numbers say `{computed}`")]
    AuditNotComputed {
        /// Scenario and arm.
        arm: String,
        /// The item.
        item: String,
        /// What the record says.
        recorded: String,
        /// What the numbers say.
        computed: String,
    },
    /// The same number twice, with two values.
    #[error("{arm}: {what}")]
    NumbersDisagree {
        /// Scenario and arm.
        arm: String,
        /// Which.
        what: String,
    },
    /// A hardening pass without the signal that proves the fault.
    #[error("{arm}: a PASS-hardening with an empty cell for landing evidence")]
    LandingEmpty {
        /// Scenario and arm.
        arm: String,
    },
    /// A pass without oracle evidence.
    #[error("{arm}: a pass that does not say which oracle consumed how many operations")]
    OracleEvidenceEmpty {
        /// Scenario and arm.
        arm: String,
    },
    /// A violation that is not written up.
    #[error("{scenario}: {verdict}, but there is no finding about it")]
    FindingMissing {
        /// The scenario.
        scenario: String,
        /// Its verdict.
        verdict: Verdict,
    },
    /// A finding with a gap.
    #[error("{finding}: {gap}")]
    FindingIncomplete {
        /// The finding.
        finding: String,
        /// What is missing.
        gap: Gap,
    },
    /// A hypothesis nobody accounts for.
    #[error("{hypothesis}: missing from the coverage summary; say who tried it, or why nobody did")]
    HypothesisMissing {
        /// The hypothesis.
        hypothesis: String,
    },
    /// A row of the coverage summary that says nothing.
    #[error("{hypothesis}: neither exercised nor given a reason")]
    CoverageEmpty {
        /// The hypothesis.
        hypothesis: String,
    },
    /// A claim nobody argues for.
    #[error("{claim}: has no adequacy row (the plan's argument, and what it is worth now)")]
    AdequacyMissing {
        /// The claim.
        claim: String,
    },
    /// No word about the confidence in a claim.
    #[error("{claim}: has no confidence delta; the verdicts suggest {}", .draft.name())]
    ConfidenceMissing {
        /// The claim.
        claim: String,
        /// What the verdicts suggest.
        draft: Delta,
    },
    /// More confidence than the verdicts carry. Less is everyone's right.
    #[error(
        "{claim}: confidence {}, but the verdicts carry at most {}",
        .recorded.name(), .draft.name()
    )]
    ConfidenceTooHigh {
        /// The claim.
        claim: String,
        /// What the record says.
        recorded: Delta,
        /// What the verdicts carry.
        draft: Delta,
    },
    /// A scenario that began before anyone looked for existing tools.
    #[error("{scenario}: its first entry ({at}) comes before \"Toolbox discovered\"")]
    ScenarioBeforeToolbox {
        /// The scenario.
        scenario: String,
        /// When.
        at: String,
    },
    /// A timeline that goes backwards.
    #[error("the timeline goes backwards at {at}: entries are appended, never inserted")]
    TimelineBackwards {
        /// Where.
        at: String,
    },
    /// Something that must not be blank.
    #[error("{place}: {what} is empty")]
    Blank {
        /// Where.
        place: String,
        /// What.
        what: &'static str,
    },
}

/// What a finding lacks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Gap {
    /// Whose fault.
    #[error("no blame: pick one, or the value that says it is not known yet")]
    Blame,
    /// Which kind of bug.
    #[error("no class of bug (TaxDC)")]
    Class,
    /// How bad.
    #[error("no severity")]
    Severity,
    /// How to see it again.
    #[error("no reproducer, and no reason why not")]
    Reproducer,
    /// What shows it.
    #[error("no evidence")]
    Evidence,
    /// What happened.
    #[error("does not say what happened")]
    WhatHappened,
    /// What is thought to be behind it.
    #[error("no guess at the cause")]
    RootCause,
    /// What comes next.
    #[error("no next action")]
    NextAction,
}

/// All reasons not to report a run; never empty.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the run cannot be reported, for {} reason(s); the first: {}", .0.len(), first(.0))]
pub struct Refusals(pub Vec<Refusal>);

fn first(refusals: &[Refusal]) -> String {
    refusals.first().map(ToString::to_string).unwrap_or_default()
}
