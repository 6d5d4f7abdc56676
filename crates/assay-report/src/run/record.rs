//! What is written down about a run: the input of all its documents.
//!
//! Two kinds of content stand side by side. What was measured (facts, counts, times) decides the
//! verdicts, which are computed again when a document is made. What people wrote (what happened,
//! whose fault, why it is enough) is only checked for being there.

use assay_verdict::{
    Blame, Budget, Budgets, BugClass, BugTag, Check, Expectation, Facts, Measured, Release,
    RunVerdict, Severity, Verdict,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Declares structs of a run record: unknown fields are errors, so that a slip of the pen is not
/// taken for a missing value.
macro_rules! record {
    ($(
        $(#[$meta:meta])*
        pub struct $name:ident { $($(#[$doc:meta])* pub $field:ident: $type:ty,)* }
    )*) => {
        $(
            $(#[$meta])*
            #[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
            #[serde(deny_unknown_fields)]
            pub struct $name { $($(#[$doc])* pub $field: $type,)* }
        )*
    };
}

/// The version of the format; a reader refuses others.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub enum Format {
    /// This one.
    #[serde(rename = "assay-run/1")]
    V1,
}

/// A moment in coordinated universal time to the second, `2026-11-16T05:43:09Z`; such texts sort
/// as the moments do.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
#[schemars(extend("pattern" = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$"))]
pub struct Utc(String);

impl Utc {
    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for Utc {
    type Error = String;

    fn try_from(text: String) -> Result<Utc, String> {
        const SHAPE: &[u8] = b"0000-00-00T00:00:00Z";
        let fits = text.len() == SHAPE.len()
            && text.bytes().zip(SHAPE).all(|(found, wanted)| match wanted {
                b'0' => found.is_ascii_digit(),
                _ => found == *wanted,
            });
        if fits { Ok(Utc(text)) } else { Err(format!("`{text}` is not like 2026-11-16T05:43:09Z")) }
    }
}

record! {
    /// Everything about one run of a plan.
    pub struct RunRecord {
        /// The version of this format.
        pub format: Format,
        /// The system under test.
        pub sut: String,
        /// The plan, as a path.
        pub plan: String,
        /// The commit that was tested.
        pub commit: String,
        /// The directory of the run.
        pub directory: String,
        /// Who ran it.
        pub operator: String,
        /// What the system already brings for testing.
        pub toolbox: Toolbox,
        /// What the plan needs, and what was there.
        pub environment: Vec<Requirement>,
        /// What was looked at before the first scenario.
        pub preconditions: Preconditions,
        /// What happened when, in order.
        pub timeline: Vec<TimelineEntry>,
        /// The claims of the plan.
        pub claims: Vec<Claim>,
        /// The hypotheses of the plan.
        pub hypotheses: Vec<Hypothesis>,
        /// What became of each hypothesis.
        pub coverage: Vec<Coverage>,
        /// What the plan itself leaves open; `null` if nobody wrote it down.
        #[serde(default)]
        pub residual: Option<Vec<Residual>>,
        /// The scenarios, in the order of the plan.
        pub scenarios: Vec<Scenario>,
        /// What was found.
        pub findings: Vec<Finding>,
        /// What the run does to the confidence in each claim.
        pub confidence: Vec<Confidence>,
        /// The verdict of the run, as recorded; it is computed again.
        pub verdict: RunVerdict,
        /// Files of the run.
        pub artifacts: Vec<Artifact>,
    }

    /// What the system already brings for testing: looked for before any scenario starts.
    pub struct Toolbox {
        /// When it had been looked through; `null` if nobody did.
        pub discovered_at: Option<Utc>,
        /// What was found; empty is an answer, too.
        pub tools: Vec<Tool>,
    }

    /// A script, target or document that helps.
    pub struct Tool {
        /// Where it is.
        pub path: String,
        /// What it does.
        pub role: String,
    }

    /// Something the plan needs.
    pub struct Requirement {
        /// What.
        pub requirement: String,
        /// Whether it is there.
        pub presence: Presence,
        /// Its version, where it has one.
        pub version: Option<String>,
        /// How one knows: a probe, the operator.
        pub source: String,
    }

    /// Four things to look at before the first scenario.
    pub struct Preconditions {
        /// The system is up.
        pub cluster_up: Check,
        /// Logs and metrics arrive.
        pub observability_live: Check,
        /// A baseline was measured.
        pub baseline_captured: Check,
        /// The fault injector answers.
        pub fault_plane_responsive: Check,
    }

    /// One event.
    pub struct TimelineEntry {
        /// When.
        pub at: Utc,
        /// Of which scenario; `null` if of none.
        pub scenario: Option<String>,
        /// What.
        pub event: String,
        /// What else is to be said.
        pub notes: String,
    }

    /// What the system promises.
    pub struct Claim {
        /// Its id, such as C1.
        pub id: String,
        /// The promise.
        pub text: String,
        /// Why the plan thinks its scenarios are enough, and what is left of that.
        pub adequacy: Option<Adequacy>,
    }

    /// An argument that scenarios are enough.
    pub struct Adequacy {
        /// The plan's argument.
        pub argument: String,
        /// What the argument is worth after this run.
        pub after: String,
    }

    /// How a claim could be false.
    pub struct Hypothesis {
        /// Its id, such as H1.
        pub id: String,
        /// The idea.
        pub text: String,
    }

    /// What became of a hypothesis.
    pub struct Coverage {
        /// Its id.
        pub hypothesis: String,
        /// The scenarios that tried it.
        pub exercised_by: Vec<String>,
        /// Why none did.
        pub not_exercised: Option<NotExercised>,
    }

    /// Why a hypothesis was not tried.
    pub struct NotExercised {
        /// The kind of reason.
        pub kind: Omission,
        /// The reason.
        pub reason: String,
    }

    /// Something the plan leaves open, whatever its scenarios show.
    pub struct Residual {
        /// What.
        pub uncertainty: String,
        /// Why no scenario covers it.
        pub why_uncovered: String,
        /// Why that can be borne today.
        pub why_acceptable: String,
        /// When it has to be looked at again.
        pub revisit_when: String,
    }

    /// A scenario of the plan.
    pub struct Scenario {
        /// Its id, such as S1; letters, digits, `-` and `_`.
        pub id: String,
        /// Its name.
        pub name: String,
        /// The claims it can break.
        pub claims: Vec<String>,
        /// How it is meant to end: `refuted` for a canary, in which a defect is planted.
        #[serde(default = "upheld")]
        pub expect: Expectation,
        /// The three budgets of every arm that has none of its own.
        pub budgets: Budgets,
        /// One for a plain scenario, several for one that is split.
        pub arms: Vec<Arm>,
        /// The verdict, as recorded; it is computed again.
        pub verdict: Verdict,
    }

    /// A scenario, or one of the surfaces it is split into.
    pub struct Arm {
        /// Its id; that of the scenario if there is only one.
        pub id: String,
        /// The surface it goes through, for claims about boundaries.
        pub surface: Option<String>,
        /// What judges it: checker, assertion, threshold.
        pub oracle: String,
        /// Its own budgets, where its workload or budget is not that of the scenario.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub budgets: Option<Budgets>,
        /// The size of the run.
        pub size: Budget,
        /// The seeds that were run.
        pub seeds: Vec<u64>,
        /// When it started.
        pub started: Option<Utc>,
        /// When it ended.
        pub ended: Option<Utc>,
        /// What the verdict is computed from.
        pub facts: Facts,
        /// What the audits are computed from.
        pub measured: Measured,
        /// What was planted into copies of its histories, and what of it the checkers caught.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub planted: Vec<Planted>,
        /// What of that was left out, and why: rounds that time did not allow, checkers that could
        /// not be tried.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub planted_less: Vec<String>,
        /// The verdict, as recorded; it is computed again.
        pub verdict: Verdict,
        /// Files of this arm.
        pub artifacts: Vec<String>,
        /// What else is to be said.
        pub notes: String,
    }

    /// Anomalies of one kind that were planted for one checker, over all trials that count.
    pub struct Planted {
        /// The checker.
        pub checker: String,
        /// What was planted: `stale-read`, `lost-write`, `duplicate`.
        pub kind: String,
        /// Copies with such an anomaly.
        pub planted: u64,
        /// Copies that the checker refuted.
        pub caught: u64,
        /// Of those planted, the copies that are anomalous by construction: only these count.
        pub certain: u64,
        /// Of these, the copies that the checker refuted.
        pub certain_caught: u64,
    }

    /// A broken claim, or something else that has to be told.
    pub struct Finding {
        /// Its id, such as F1.
        pub id: String,
        /// The scenario.
        pub scenario: String,
        /// The hypothesis it speaks to.
        pub hypothesis: String,
        /// What happened.
        pub what_happened: String,
        /// How to see it again.
        pub reproducer: Reproducer,
        /// Whose fault it is.
        pub blame: Option<Blame>,
        /// The kind of bug.
        pub class: Option<BugClass>,
        /// Further labels.
        pub tags: Vec<BugTag>,
        /// How bad it is.
        pub severity: Option<Severity>,
        /// Files and numbers that show it.
        pub evidence: Vec<String>,
        /// What is thought to be behind it.
        pub root_cause: String,
        /// What to do next, and who.
        pub next_action: String,
    }

    /// What the run does to the confidence in a claim.
    pub struct Confidence {
        /// The claim.
        pub claim: String,
        /// Which way.
        pub delta: Delta,
        /// Why.
        pub reason: String,
    }

    /// A file of the run.
    pub struct Artifact {
        /// Where it is, from the directory of the run.
        pub path: String,
        /// What it holds.
        pub what: String,
    }
}

impl Scenario {
    /// The budgets that the size of an arm is compared with.
    pub fn budgets_of<'r>(&'r self, arm: &'r Arm) -> &'r Budgets {
        arm.budgets.as_ref().unwrap_or(&self.budgets)
    }

    /// Every release budget with the place it is of: the scenario's, and those of arms that differ.
    pub fn releases(&self) -> Vec<(String, &Release)> {
        let mut all = vec![(self.id.clone(), &self.budgets.release)];
        for arm in &self.arms {
            let own = &self.budgets_of(arm).release;
            if *own != self.budgets.release {
                all.push((format!("{}/{}", self.id, arm.id), own));
            }
        }
        all
    }
}

fn upheld() -> Expectation {
    Expectation::Upheld
}

/// How a violation can be seen again.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", rename_all_fields = "snake_case", deny_unknown_fields)]
pub enum Reproducer {
    /// Reduced: nothing more can be left out.
    Minimised {
        /// What to run.
        command: String,
        /// Events before the reduction.
        events_before: u64,
        /// Events left.
        events_after: u64,
        /// Runs it took.
        reruns: u64,
    },
    /// Not reduced, for this reason.
    NotMinimised {
        /// What to run, if anything shows it.
        command: Option<String>,
        /// Why it is not reduced.
        reason: String,
    },
}

/// Whether something is there.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Presence {
    /// Yes.
    Present,
    /// No.
    Missing,
}

/// Kinds of reasons for not trying a hypothesis.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Omission {
    /// The plan leaves it out.
    OutOfScope,
    /// There is no tool for it.
    MissingTooling,
    /// Later.
    Deferred,
}

/// Which way the confidence in a claim went, worst first.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema,
)]
pub enum Delta {
    /// Down.
    Less,
    /// Neither.
    Unchanged,
    /// Up.
    More,
}

impl Delta {
    /// As a word.
    pub const fn name(self) -> &'static str {
        match self {
            Delta::Less => "Less",
            Delta::Unchanged => "Unchanged",
            Delta::More => "More",
        }
    }
}
