//! What a machine needs to run a scenario: the fenced `toml` block, as types.
//!
//! Every field is written once, here and not in prose. Unknown keys are errors: a misspelled key
//! that is silently ignored is a fault that never happens. What the values mean is in
//! docs/formats/plan.md.

use crate::landing::{Predicate, PredicateError};
use crate::time::{Time, TimeRange};
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;

/// Nodes of a system: no description of one allows more.
pub const NODES_MAX: u64 = 32;
/// Objects of a workload: no generator takes more.
pub const KEYS_MAX: u64 = 1_000_000;
/// Clients of a workload: no generator takes more.
pub const CLIENTS_MAX: u64 = 100_000;

/// A machine block. Everything is optional here; the lint says what is missing.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Machine {
    /// The first seed; further ones count up from it.
    pub seed: Option<u64>,
    /// `refuted` for a canary: a scenario with a known defect that must go red, so that a pass of
    /// the others is worth something. `upheld` otherwise.
    pub expect: Option<Expectation>,
    /// What is tested.
    pub system: Option<System>,
    /// What clients do.
    pub workload: Option<Workload>,
    /// What goes wrong meanwhile.
    pub nemesis: Vec<Nemesis>,
    /// What the objects promise.
    pub model: Option<ModelChoice>,
    /// How operations are recorded.
    pub history: Option<Recording>,
    /// What judges them.
    pub checker: Option<CheckerChoice>,
    /// What unclear outcomes count as.
    pub ambiguity: Option<Ambiguity>,
    /// What is done with a failure.
    pub reduction: Option<Reduction>,
    /// How much is enough.
    pub budget: Option<Budgets>,
}

impl Machine {
    /// This block with the tables of an arm's block in place of its own.
    pub fn overlaid(&self, arm: &Machine) -> Machine {
        let (own, arm) = (self.clone(), arm.clone());
        Machine {
            seed: arm.seed.or(own.seed),
            expect: arm.expect.or(own.expect),
            system: arm.system.or(own.system),
            workload: arm.workload.or(own.workload),
            nemesis: if arm.nemesis.is_empty() { own.nemesis } else { arm.nemesis },
            model: arm.model.or(own.model),
            history: arm.history.or(own.history),
            checker: arm.checker.or(own.checker),
            ambiguity: arm.ambiguity.or(own.ambiguity),
            reduction: arm.reduction.or(own.reduction),
            budget: arm.budget.or(own.budget),
        }
    }
}

/// How a scenario should end.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Expectation {
    /// The claims hold.
    #[default]
    Upheld,
    /// The planted defect is found.
    Refuted,
}

/// A value of an option: what TOML can say, but for dates.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Setting {
    /// Yes or no.
    Flag(bool),
    /// A whole number.
    Integer(i64),
    /// A number.
    Number(f64),
    /// Words.
    Text(String),
    /// Several.
    List(Vec<Setting>),
    /// Named values.
    Table(Settings),
}

/// Options by name.
pub type Settings = BTreeMap<String, Setting>;

/// The system under test.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct System {
    /// An embedded system (`kv`), or `NAME` of `systems/NAME.toml`.
    pub name: String,
    /// How many nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<u64>,
    /// What is between nodes, and between them and clients.
    #[serde(default, skip_serializing_if = "Network::is_default")]
    pub network: Network,
    /// What it is told, such as `defects = ["stale-reads"]`.
    #[serde(default)]
    pub options: Settings,
}

/// What is between the nodes of a system, and between them and clients.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Network {
    /// A proxy for each link: needs nothing, and knows connections.
    #[default]
    Proxies,
    /// A network namespace for each node, joined by a bridge of the kernel: packets are cut.
    Bridge,
    /// A network namespace for each node, joined by a switch of Assay's own: packets are cut, lost,
    /// delayed, repeated and overtaken, from the seed.
    Switch,
}

impl Network {
    /// Whether it is what nobody asked for.
    pub fn is_default(&self) -> bool {
        *self == Network::default()
    }
}

/// What clients do.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// Which operations, in which shape: the name of a generator, usually the model's.
    pub generator: String,
    /// How many clients at once.
    pub clients: u64,
    /// Operations a second that arrive whether or not earlier ones are done; without it each client
    /// waits for its answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,
    /// How many keys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keys: Option<u64>,
    /// Which keys are hot.
    #[serde(default)]
    pub distribution: Distribution,
    /// Shares of the operation types.
    #[serde(default)]
    pub mix: BTreeMap<String, u64>,
    /// When a client gives up waiting: the outcome is then unknown.
    pub timeout: Time,
    /// More for the generator.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub options: Settings,
}

/// Which keys are hot.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Distribution {
    /// None.
    #[default]
    Uniform,
    /// A few.
    Zipf,
}

/// A fault, whom it hits, when, and what proves it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Nemesis {
    /// Its id in the taxonomy.
    pub fault: String,
    /// A role (`leader`, `minority`, ...), a node (`n1`), or a link (`leader -> others`).
    pub target: String,
    /// When it begins, counted from the start of the workload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<TimeRange>,
    /// Which event it begins with: `acks >= 1000`, `elections >= 1`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on: Option<String>,
    /// How long it lasts.
    #[serde(rename = "for")]
    pub lasts: TimeRange,
    /// From one beginning to the next, if it comes again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every: Option<TimeRange>,
    /// How strong: `delay = "200ms"`, `rate = "64KiB"`.
    #[serde(default, rename = "with", skip_serializing_if = "BTreeMap::is_empty")]
    pub strength: Settings,
    /// What proves that it landed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub landing: Option<Landing>,
}

impl Nemesis {
    /// How many windows are sure to fit into a workload of this length; `None` if an event begins
    /// them and nobody knows.
    pub fn windows_min(&self, length: Time) -> Option<u64> {
        let at = self.at?;
        let (length, first_end) = (length.0, at.max.0 + self.lasts.max.0);
        if first_end > length {
            return Some(0);
        }
        let Some(every) = self.every.filter(|every| every.max > Time::default()) else {
            return Some(1);
        };
        Some(1 + ((length - first_end).as_nanos() / every.max.0.as_nanos().max(1)) as u64)
    }
}

/// Both sides of the proof.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Landing {
    /// What the injector must have counted.
    pub injector: String,
    /// What a victim must have noticed.
    pub victim: String,
}

impl Landing {
    /// Both predicates: injector, victim.
    ///
    /// # Errors
    /// If one cannot be read; the lint has said so with its place.
    pub fn predicates(&self) -> Result<(Predicate, Predicate), PredicateError> {
        Ok((Predicate::parse(&self.injector)?, Predicate::parse(&self.victim)?))
    }
}

/// The model.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelChoice {
    /// `register`, ..., or `other(NAME)`.
    pub name: String,
    /// What it is told, such as the initial value.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub options: Settings,
}

/// How operations are recorded: all twelve columns, unless it says otherwise.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Recording {
    /// Who writes down: `in-process`, `external-probe`, `server-side`.
    #[serde(deserialize_with = "one_or_many")]
    pub recording: Vec<String>,
    /// Columns of its own, beyond the twelve.
    pub columns: Vec<String>,
    /// Columns of the twelve that are not recorded.
    pub without: Vec<String>,
}

/// The checker, or why there is none.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CheckerChoice {
    /// One checker or several, as `assay explain checkers` lists them.
    #[serde(deserialize_with = "one_or_many")]
    pub name: Vec<String>,
    /// What `--set` would tell it: `business-key`, `slo.p99`, ...
    pub options: Settings,
    /// Why this checker, where the table has another; or why something else is strong enough.
    pub justification: Option<String>,
}

/// What unclear outcomes count as.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Ambiguity {
    /// No answer in time: `unknown`.
    pub timeouts: String,
    /// An error that may have come after the effect: `unknown`.
    #[serde(rename = "unknown-commits")]
    pub unknown_commits: String,
    /// A second try: `separate-operations`.
    pub retries: String,
    /// Two answers to one operation: `recorder-bug`.
    pub duplicates: String,
}

impl Ambiguity {
    /// The treatments under which checkers are sound, by key.
    pub const SOUND: [(&'static str, &'static str); 4] = [
        ("timeouts", "unknown"),
        ("unknown-commits", "unknown"),
        ("retries", "separate-operations"),
        ("duplicates", "recorder-bug"),
    ];

    /// The values in the order of [`Ambiguity::SOUND`].
    pub fn values(&self) -> [&str; 4] {
        [&self.timeouts, &self.unknown_commits, &self.retries, &self.duplicates]
    }
}

impl Default for Ambiguity {
    fn default() -> Ambiguity {
        let [timeouts, unknown_commits, retries, duplicates] =
            Ambiguity::SOUND.map(|(_, value)| value.to_string());
        Ambiguity { timeouts, unknown_commits, retries, duplicates }
    }
}

/// How a failure is made small.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Reduction {
    /// The smallest cluster that is tried.
    pub nodes: Option<u64>,
    /// How many runs it may take.
    pub reruns: Option<u64>,
    /// How long it may take.
    pub time: Option<Time>,
    /// What else to do, for people.
    pub note: Option<String>,
}

/// Three tiers of evidence.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Budgets {
    /// Shows that the harness works.
    pub smoke: Option<Tier>,
    /// What `PASS-hardening` takes.
    pub hardening: Option<Tier>,
    /// What a release takes, or why nobody provides it.
    pub release: Option<Release>,
}

/// How much of everything a tier takes. Sizes that are not named are those of the system and the
/// workload.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Tier {
    /// How long the workload runs, per seed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration: Option<Time>,
    /// How many fault windows must land, per seed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub faults: Option<u64>,
    /// How many seeds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seeds: Option<u64>,
    /// Nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodes: Option<u64>,
    /// Clients.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clients: Option<u64>,
    /// Keys.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keys: Option<u64>,
    /// Operations a second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,
    /// Groups: tenants, shards, priority classes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub groups: Option<u64>,
}

/// The release tier, or the statement that there is none.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(untagged)]
pub enum Release {
    /// Provided.
    Tier(Tier),
    /// `not provided — REASON. Revisit when: CONDITION.`
    Statement(String),
}

impl<'de> Deserialize<'de> for Release {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Release, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = Release;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a table, or the text `not provided — REASON. Revisit when: …`")
            }
            fn visit_str<E>(self, text: &str) -> Result<Release, E> {
                Ok(Release::Statement(text.to_string()))
            }
            fn visit_map<A: serde::de::MapAccess<'de>>(self, map: A) -> Result<Release, A::Error> {
                let tier = serde::de::value::MapAccessDeserializer::new(map);
                Tier::deserialize(tier).map(Release::Tier)
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

/// `"a"` or `["a", "b"]`.
fn one_or_many<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    struct Visitor;
    impl<'de> serde::de::Visitor<'de> for Visitor {
        type Value = Vec<String>;
        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("a text or a list of texts")
        }
        fn visit_str<E>(self, text: &str) -> Result<Vec<String>, E> {
            Ok(vec![text.to_string()])
        }
        fn visit_seq<A: serde::de::SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
            Vec::deserialize(serde::de::value::SeqAccessDeserializer::new(list))
        }
    }
    deserializer.deserialize_any(Visitor)
}
