//! The contract as types.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A contract that was read.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Contract {
    /// Its short name, from the first heading.
    pub slug: String,
    /// What it is for.
    pub objective: String,
    /// What holds for all stories.
    pub settings: Settings,
    /// The stories in the order in which they are built.
    pub stories: Vec<Story>,
    /// SHA-256 of the whole text.
    pub hash: String,
    /// SHA-256 of each part: `campaign`, and each story by its id.
    pub sections: BTreeMap<String, String>,
    /// The line of the campaign's settings.
    pub line: usize,
}

impl Contract {
    /// A story by its id.
    pub fn story(&self, id: &str) -> Option<&Story> {
        self.stories.iter().find(|story| story.id == id)
    }

    /// Every criterion as `US-001/AC-1`.
    pub fn criteria(&self) -> Vec<String> {
        self.stories.iter().flat_map(Story::criterion_ids).collect()
    }
}

/// What holds for all stories of a campaign.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The whole test suite: run at the end, on one tree, and nothing may fail or be skipped.
    pub suite: CommandSpec,
    /// Which files are tests, as globs.
    pub tests: Vec<String>,
    /// Files that any story may change besides its own.
    #[serde(default)]
    pub shared: Vec<String>,
    /// Files that nobody may change, besides those that are always protected.
    #[serde(default)]
    pub protected: Vec<String>,
    /// Programs that a Verifier may cite besides the contract's own commands.
    #[serde(default)]
    pub citable: Vec<String>,
    /// Ignored directories that survive from one check to the next, such as `target`.
    #[serde(default)]
    pub cache: Vec<String>,
    /// Tests that may be skipped, by name: somebody decided it.
    #[serde(default)]
    pub skips: Vec<String>,
    /// Mapped tests that are made at run time, by name, so that nobody can make them fail: somebody
    /// decided it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub generated: Vec<String>,
    /// Files in which the work may say how tests are run, as globs: somebody decided it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runners: Vec<String>,
    /// Tests from before the campaign that need not pass any more, by name, and test files that
    /// are taken from the work: somebody decided it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outdated: Vec<String>,
    /// Variables of the environment that agents and commands get.
    #[serde(default)]
    pub environment: Vec<String>,
    /// Places outside their tree that agents and commands may write to, such as `~/.cache`.
    #[serde(default)]
    pub writable: Vec<String>,
    /// Whether the work talks to services of others: then layer L2 needs commands.
    #[serde(default)]
    pub external: bool,
    /// Whether something is deployed: then layer L4 needs commands.
    #[serde(default)]
    pub deploys: bool,
    /// When two Verifiers must agree.
    #[serde(default)]
    pub consensus: Consensus,
    /// A tool that tries mutants and writes down what became of them, for CRITICAL stories.
    #[serde(default)]
    pub mutation: Option<CommandSpec>,
    /// How its results are read, where its name does not say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mutants: Option<MutantsFormat>,
    /// How many of a hundred mutants have to be caught, at least.
    #[serde(default = "mutants_percent")]
    pub mutants_percent: u8,
    /// Whether a Verifier looks at the whole at the end.
    #[serde(default = "yes")]
    pub final_verifier: bool,
    /// Who works.
    #[serde(default)]
    pub agents: Agents,
    /// When to give up.
    #[serde(default)]
    pub limits: Limits,
}

fn yes() -> bool {
    true
}

/// Fewer mutants than this, of a hundred, are not enough for anybody.
pub(super) const MUTANTS_PERCENT_MIN: u8 = 60;

fn mutants_percent() -> u8 {
    MUTANTS_PERCENT_MIN
}

/// How a tool for mutation testing says what it found.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MutantsFormat {
    /// `outcomes.json` of cargo-mutants.
    CargoMutants,
    /// `mutmut-cicd-stats.json` of mutmut 3 (`mutmut export-cicd-stats`).
    Mutmut,
    /// What `mutmut junitxml` of mutmut 2 prints: a case for each mutant.
    MutmutJunit,
    /// `{"caught":3,"missed":1,"timeout":0,"unviable":0}`, of any other tool.
    Counts,
}

/// Which stories need two Verifiers. Critical ones always do.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Consensus {
    /// Only critical stories, and the end if there is one.
    #[default]
    Critical,
    /// The end in any case.
    Final,
    /// Every story and the end.
    All,
}

/// Engines by name, such as `claude:opus`; what a name means is up to the crate that runs agents.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Agents {
    /// The Worker: the first is taken, the next when a story keeps failing, and so on.
    pub worker: Vec<String>,
    /// The Verifier.
    pub verifier: String,
    /// The second Verifier, where two must agree.
    pub second: String,
    /// Engines with a name of their own: a program, arguments, variables, places to write to.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub engines: BTreeMap<String, assay_agent::AgentConfig>,
}

/// When to give up. Every way of not getting on counts against one of these.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Workers sent out, in all.
    pub iterations: u32,
    /// Failures in a row.
    pub failures: u32,
    /// The same criterion failing in a row before the engine is changed.
    pub same_criterion: u32,
    /// Workers in a row that leave the tree as it was.
    pub stale: u32,
    /// Agents in a row that could not be run to their end.
    pub infrastructure: u32,
    /// Times a Worker may say that it is blocked.
    pub blocks: u32,
    /// Questions a Verifier may ask.
    pub questions: u32,
    /// Verdicts in a row that were void or refuted.
    pub verdicts: u32,
    /// Time of all agents together, in seconds.
    pub agent_seconds: u64,
    /// Time of all commands that the Leader runs together, in seconds.
    pub gate_seconds: u64,
    /// Tokens of all agents together; 0 is without limit.
    pub tokens: u64,
    /// How long one agent may take, in seconds.
    pub wall_seconds: u64,
    /// How long one agent may be silent, in seconds.
    pub idle_seconds: u64,
    /// How much one agent may print, in bytes.
    pub output_bytes: u64,
    /// How long one command may take, in seconds.
    pub command_seconds: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            iterations: 30,
            failures: 6,
            same_criterion: 2,
            stale: 3,
            infrastructure: 3,
            blocks: 2,
            questions: 3,
            verdicts: 3,
            agent_seconds: 8 * 3600,
            gate_seconds: 8 * 3600,
            tokens: 0,
            wall_seconds: 3600,
            idle_seconds: 900,
            output_bytes: 64 << 20,
            command_seconds: 900,
        }
    }
}

/// One story.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Story {
    /// `US-001`.
    pub id: String,
    /// What it is, in a few words.
    pub title: String,
    /// What is at stake.
    pub risk: Risk,
    /// Which files it may change, as globs, besides tests.
    pub paths: Vec<String>,
    /// What the Leader runs.
    pub layers: BTreeMap<LayerName, Layer>,
    /// What must be true.
    pub criteria: Vec<Criterion>,
    /// Which tests show which criterion; a Worker may add, never take away.
    pub tests: Vec<MappedTest>,
    /// Criteria that hold before the work begins, with the reason: no RED proof is asked for.
    pub existing: BTreeMap<String, String>,
    /// Laws that a person waived.
    pub waivers: Vec<Waiver>,
    /// The line of its heading.
    pub line: usize,
}

impl Story {
    /// Its criteria as `US-001/AC-1`.
    pub fn criterion_ids(&self) -> Vec<String> {
        self.criteria.iter().map(|c| format!("{}/{}", self.id, c.id)).collect()
    }

    /// Its commands with their names, `US-001/L1/1`.
    pub fn commands(&self) -> Vec<(String, &CommandSpec)> {
        let mut all = Vec::new();
        for (name, layer) in &self.layers {
            if let Layer::Required { commands } = layer {
                for (i, command) in commands.iter().enumerate() {
                    all.push((format!("{}/{name:?}/{}", self.id, i + 1), command));
                }
            }
        }
        all
    }

    /// Whether a person waived a law.
    pub fn waives(&self, law: &str) -> bool {
        self.waivers.iter().any(|waiver| waiver.law == law)
    }
}

/// What is at stake.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Risk {
    /// Documents, settings, reading.
    Low,
    /// A feature, a rearrangement.
    Medium,
    /// Deployment, migration.
    High,
    /// Money, safety, health, personal data.
    Critical,
}

/// The layers of verification.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum LayerName {
    /// Units.
    L1,
    /// Together with real services.
    L2,
    /// The whole, from a known input to a number.
    L3,
    /// Deployed.
    L4,
}

/// One layer: commands, or why there are none.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Layer {
    /// It is run.
    Required {
        /// What is run.
        commands: Vec<CommandSpec>,
    },
    /// It is not.
    NotApplicable {
        /// Why.
        not_applicable: String,
    },
}

/// A command that the Leader runs.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommandSpec {
    /// Program and arguments; no shell looks at them.
    pub run: Vec<String>,
    /// The exit code that is expected.
    #[serde(default)]
    pub exit: i32,
    /// Text that the output must contain.
    #[serde(default)]
    pub prints: Option<String>,
    /// How test results are read from its output.
    #[serde(default)]
    pub results: Option<ResultFormat>,
    /// The file with the results, for `junit` and others that write one.
    #[serde(default)]
    pub file: Option<String>,
    /// A command that lists its tests without running them, where its runner is not known to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub list: Option<Vec<String>>,
}

/// How a test runner says what happened.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ResultFormat {
    /// `cargo test`.
    Libtest,
    /// `cargo nextest run`.
    Nextest,
    /// `pytest -v` (or `-rA`).
    Pytest,
    /// `python3 -m unittest -v`.
    Unittest,
    /// `go test -v` or `go test -json`.
    Go,
    /// `jest --json`, `vitest --reporter=json`.
    Jest,
    /// `node --test`, and everything else that speaks TAP.
    Tap,
    /// A JUnit XML file.
    Junit,
}

/// One acceptance criterion.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Criterion {
    /// `AC-1`, unique in its story.
    pub id: String,
    /// What is the case before.
    pub given: Vec<String>,
    /// What somebody does.
    pub when: Vec<String>,
    /// What is the case afterwards.
    pub then: Vec<String>,
    /// Its line.
    pub line: usize,
}

impl Criterion {
    /// All of it as one text.
    pub fn text(&self) -> String {
        let part = |word: &str, lines: &[String]| {
            lines.iter().map(|line| format!("{word} {line}")).collect::<Vec<_>>().join("\n")
        };
        let parts =
            [part("Given", &self.given), part("When", &self.when), part("Then", &self.then)];
        parts.join("\n")
    }
}

/// A test that speaks for a criterion.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MappedTest {
    /// `AC-1`.
    pub criterion: String,
    /// The name that the runner gives it.
    pub name: String,
    /// What it looks at.
    pub category: Category,
}

/// What a test looks at.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Category {
    /// What should work works.
    Happy,
    /// What should not work does not.
    Negative,
    /// At the edge.
    Boundary,
}

/// A person's decision that a law need not hold for a story.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Waiver {
    /// `IL-2` or `IL-4`.
    pub law: String,
    /// Who decided.
    pub by: String,
    /// Why.
    pub why: String,
}
