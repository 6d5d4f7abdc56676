//! What is written down: one event for each thing that happened, in the order it happened.
//!
//! State, screens, reports and the end of a campaign are folds over these, and over nothing else.

use crate::artifact::Artifact;
use crate::contract::{Contract, Score};
use crate::gate::Finding;
use serde::{Deserialize, Serialize};

/// Something that happened.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Event {
    /// The contract was frozen and the campaign began.
    Opened(Box<Opened>),
    /// A person changed the contract.
    Amended(Box<Amended>),
    /// An agent is about to be sent out.
    Dispatched(Dispatch),
    /// An agent came back, one way or the other.
    Returned(Box<Returned>),
    /// The Leader died while an agent was out: what it did does not count.
    Lost {
        /// The number of the dispatch.
        run: u32,
    },
    /// The Leader checked something.
    Checked(Box<Checked>),
    /// A story is verified, and the branch of the campaign stands at its commit.
    Verified {
        /// The story.
        story: String,
        /// Where.
        at: Revision,
    },
    /// A list of things to mend was written.
    FixIssued {
        /// The story that is mended.
        story: String,
        /// What is wrong, with numbers.
        issues: Vec<Issue>,
    },
    /// A person answered a Verifier's question.
    Answered {
        /// Who.
        who: String,
        /// What.
        text: String,
    },
    /// It is over.
    Ended(Terminal),
}

/// How a campaign begins.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Opened {
    /// The contract as it was read.
    pub contract: Contract,
    /// Its text, as a blob.
    pub source: String,
    /// What its criteria earned.
    pub scores: Vec<Score>,
    /// Where the work begins.
    pub base: Revision,
    /// What keeps agents inside their directories.
    pub sandbox: String,
}

/// A change of the contract.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Amended {
    /// The new contract.
    pub contract: Contract,
    /// Its text, as a blob.
    pub source: String,
    /// What its criteria earned.
    pub scores: Vec<Score>,
    /// The old hash.
    pub old: String,
    /// Who decided.
    pub who: String,
    /// Why.
    pub why: String,
}

/// A commit and its tree. Evidence is bound to the tree.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Revision {
    /// The commit.
    pub commit: String,
    /// The tree.
    pub tree: String,
}

/// Who is sent out.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Builds.
    Worker,
    /// Looks for what is wrong.
    Verifier,
    /// Looks again, where two must agree.
    Second,
}

/// What is looked at.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// One story.
    Story(String),
    /// All of them, at one tree.
    Final,
}

impl Scope {
    /// What artifacts call it.
    pub fn name(&self) -> &str {
        match self {
            Scope::Story(id) => id,
            Scope::Final => "ALL",
        }
    }
}

/// An agent that is sent out.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Dispatch {
    /// Counts all dispatches, from 1.
    pub run: u32,
    /// Counts Workers, from 1.
    pub iteration: u32,
    /// Who.
    pub role: Role,
    /// For what.
    pub scope: Scope,
    /// Which engine.
    pub engine: String,
    /// What its artifact must say.
    pub nonce: String,
    /// Where it starts.
    pub at: Revision,
    /// Its prompt, as a blob.
    pub prompt: String,
}

/// How an agent's process ended.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// By itself.
    Exited(i32),
    /// By a signal.
    Signalled(i32),
    /// It was silent for too long.
    IdleTimeout,
    /// It took too long.
    WallTimeout,
    /// It printed too much.
    OutputLimit,
    /// It could not be started.
    SpawnFailed(String),
    /// Whoever runs the model did not let it.
    RateLimited(String),
    /// Whoever ran it for us says that it did not get to its end.
    Failed(String),
    /// It does not speak the protocol it should.
    Unintelligible(String),
}

/// An agent that came back.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Returned {
    /// The dispatch.
    pub run: u32,
    /// How its process ended.
    pub outcome: Outcome,
    /// What was in its drop box.
    pub artifact: Artifact,
    /// The commit it claims, if it exists, with its tree.
    pub claim: Option<Revision>,
    /// Things it changed that it must not: the contract, the record, files outside.
    pub tampered: Vec<String>,
    /// Things of that kind that changed meanwhile, and that the kernel kept it from: somebody else
    /// did that, and it does not count against the agent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub elsewhere: Vec<String>,
    /// Why its verdict does not count: it changed the tree it was to look at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub void: Option<String>,
    /// What it printed, as a blob.
    pub output: String,
    /// How long it took.
    pub ms: u64,
    /// Tokens, measured or 0.
    pub tokens: u64,
    /// What kept it in its directory.
    pub sandbox: String,
}

/// A check of the gate.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    /// The commit exists, follows its base, and is all there is.
    Claim,
    /// Only allowed paths changed.
    Scope,
    /// No test got weaker.
    Gaming,
    /// A command of a story, `US-001/L1/1`.
    Command(String),
    /// The whole suite.
    Suite,
    /// Tests from before the campaign that passed there, on the work.
    Kept,
    /// Mapped tests exist, ran, passed, and are enough (GREEN, IL-4, IL-5), for a story.
    Tests(String),
    /// Mapped tests that are made to fail are said to fail.
    Sabotage,
    /// The same tests fail without the work (RED); at the end those of all stories, as they are
    /// then.
    Red,
    /// Without any one of its changes the tests fail.
    Mutation,
    /// What a verdict cites, run again.
    Citations(Role),
}

/// A command that the Leader ran.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Evidence {
    /// Program and arguments.
    pub command: Vec<String>,
    /// The tree it ran on.
    pub tree: String,
    /// The exit code; none if it was killed.
    pub exit: Option<i32>,
    /// How long it took.
    pub ms: u64,
    /// Its output, as blobs.
    pub stdout: String,
    /// What it said besides.
    pub stderr: String,
    /// The file with results, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// What its tests came to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests: Option<Counts>,
}

/// Test results in numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Counts {
    /// Passed.
    pub passed: u64,
    /// Failed.
    pub failed: u64,
    /// Skipped or ignored.
    pub skipped: u64,
}

/// What a check came to.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Checked {
    /// What was looked at.
    pub scope: Scope,
    /// What was checked.
    pub step: Step,
    /// On what.
    pub at: Revision,
    /// What is wrong; passed if nothing serious is.
    pub findings: Vec<Finding>,
    /// A verdict is not what its own commands say (only for citations).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refuted: Option<String>,
    /// Commands that were run for it.
    pub evidence: Vec<Evidence>,
    /// One line for the screen.
    pub note: String,
    /// Things that its commands changed and must not: the toolchain, the record, files outside.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tampered: Vec<String>,
    /// Why it cannot be done on this machine, now or later: there is no tree to look at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stuck: Option<String>,
    /// How long the commands took that were run for it; what was seen before is not run again.
    #[serde(default)]
    pub ms: u64,
}

impl Checked {
    /// Whether it was done, and nothing serious was found.
    pub fn passed(&self) -> bool {
        let done = self.tampered.is_empty() && self.stuck.is_none();
        done && self.refuted.is_none() && !self.findings.iter().any(Finding::blocks)
    }
}

/// A finding with a number.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Issue {
    /// `I3.1`: iteration and number.
    pub id: String,
    /// What is wrong.
    pub finding: Finding,
}

/// How a campaign ends. Nothing follows.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "UPPERCASE")]
pub enum Terminal {
    /// Everything was shown, at one tree.
    Complete {
        /// Where.
        at: Revision,
    },
    /// It cannot go on.
    Blocked {
        /// Why, in one word.
        category: Blocked,
        /// Why, in a sentence.
        reason: String,
    },
    /// A budget is used up.
    Timeout {
        /// Which.
        reason: String,
    },
    /// A person ended it.
    Aborted {
        /// Why.
        reason: String,
    },
}

impl Event {
    /// Its kind, as the record calls it.
    pub fn kind(&self) -> &'static str {
        match self {
            Event::Opened(_) => "opened",
            Event::Amended(_) => "amended",
            Event::Dispatched(_) => "dispatched",
            Event::Returned(_) => "returned",
            Event::Lost { .. } => "lost",
            Event::Checked(_) => "checked",
            Event::Verified { .. } => "verified",
            Event::FixIssued { .. } => "fix-issued",
            Event::Answered { .. } => "answered",
            Event::Ended(_) => "ended",
        }
    }
}

impl Terminal {
    /// The word for it.
    pub fn word(&self) -> &'static str {
        match self {
            Terminal::Complete { .. } => "COMPLETE",
            Terminal::Blocked { .. } => "BLOCKED",
            Terminal::Timeout { .. } => "TIMEOUT",
            Terminal::Aborted { .. } => "ABORTED",
        }
    }

    /// Why, if there is more to say than the word.
    pub fn reason(&self) -> &str {
        match self {
            Terminal::Complete { .. } => "every criterion was shown at one tree",
            Terminal::Blocked { reason, .. }
            | Terminal::Timeout { reason }
            | Terminal::Aborted { reason } => reason,
        }
    }
}

/// Why a campaign cannot go on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Blocked {
    /// Failures in a row.
    RepeatAxis,
    /// The same criterion kept failing with the strongest engine.
    Architecture,
    /// Workers that change nothing.
    ContextLimit,
    /// Agents that could not be run.
    InfraFailure,
    /// Artifacts that do not fit their dispatch.
    ContractViolation,
    /// Files were changed that must not be.
    Integrity,
    /// A Worker says so.
    WorkerBlocked,
    /// Verdicts that were void or refuted.
    VerifierUnreliable,
    /// Too many questions.
    Question,
}

impl Blocked {
    /// What a person can do about it. The end is final, so none of this is an amendment: the
    /// contract is edited and a campaign begun again.
    pub fn advice(self) -> &'static str {
        match self {
            Blocked::RepeatAxis => "read the last fix contract; sharpen or split the story",
            Blocked::Architecture => "read escalation.md: simplify, split or rearrange by hand",
            Blocked::ContextLimit => "split the story: the Worker does not know how to go on",
            Blocked::InfraFailure => "run the engine by hand and see what it says",
            Blocked::ContractViolation => "the agent does not write its artifact: see its output",
            Blocked::Integrity => "look at what was changed before you trust this machine again",
            Blocked::WorkerBlocked => "remove what is in the way, or change the contract",
            Blocked::VerifierUnreliable => "take another engine for the Verifier",
            Blocked::Question => "write the answer into the contract",
        }
    }
}
