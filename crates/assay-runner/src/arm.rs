//! What a plan asks for in one scenario or arm, turned into trials.

use crate::investigate::Allowance;
use crate::schedule::{self, ScheduleError};
use crate::spec::{CheckChoice, Options, SystemChoice, TrialSpec, WorkloadChoice};
use assay_plan::budget::Budget as Planned;
use assay_plan::machine::{Distribution, Machine, Release as PlannedRelease, Settings, Tier};
use assay_verdict::{Budget, Budgets, Release};

/// Keys of a workload that does not say how many.
const KEYS_DEFAULT: u64 = 8;
/// Nodes of a system when neither plan nor description says how many.
const NODES_DEFAULT: u64 = 3;
/// Reruns of a reduction that does not say how many.
const RERUNS_DEFAULT: u64 = 20;
/// Milliseconds of a reduction that does not say how long.
const REDUCTION_MS_DEFAULT: u128 = 300_000;

/// Why an arm cannot be run as it is written.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ArmError {
    /// A table is missing.
    #[error("the machine block has no [{0}]")]
    NoTable(&'static str),
    /// A tier is missing.
    #[error("the machine block has no budget.{0} with a duration")]
    NoTier(&'static str),
    /// The faults cannot be scheduled.
    #[error(transparent)]
    Schedule(#[from] ScheduleError),
}

/// How far a run goes.
#[derive(
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Debug,
    Default,
    serde::Serialize,
    serde::Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Depth {
    /// The smoke budget only.
    Smoke,
    /// Smoke, then hardening.
    #[default]
    Hardening,
    /// Smoke, then the release budget where there is one.
    Release,
}

/// A tier of a machine block.
pub fn tier(machine: &Machine, depth: Depth) -> Result<Tier, ArmError> {
    let budgets = machine.budget.as_ref().ok_or(ArmError::NoTable("budget"))?;
    let (name, tier) = match (depth, &budgets.release) {
        (Depth::Smoke, _) => ("smoke", budgets.smoke.clone()),
        (Depth::Release, Some(PlannedRelease::Tier(tier))) => ("release", Some(tier.clone())),
        _ => ("hardening", budgets.hardening.clone()),
    };
    tier.filter(|tier| tier.duration.is_some()).ok_or(ArmError::NoTier(name))
}

/// The seeds of a tier: they count up from the first.
pub fn seeds(machine: &Machine, tier: &Tier) -> Vec<u64> {
    let first = machine.seed.unwrap_or(1);
    (0..tier.seeds.unwrap_or(1).max(1)).map(|n| first.wrapping_add(n)).collect()
}

/// One trial of an arm, with nothing left to decide.
pub fn trial(
    scenario: &str,
    machine: &Machine,
    tier: &Tier,
    seed: u64,
) -> Result<TrialSpec, ArmError> {
    let system = machine.system.as_ref().ok_or(ArmError::NoTable("system"))?;
    let workload = machine.workload.as_ref().ok_or(ArmError::NoTable("workload"))?;
    let checker = machine.checker.as_ref().ok_or(ArmError::NoTable("checker"))?;
    let ms = |time: assay_plan::time::Time| u64::try_from(time.0.as_millis()).unwrap_or(u64::MAX);
    let duration_ms = tier.duration.map_or(0, ms);
    let nodes = tier.nodes.or(system.nodes).unwrap_or(NODES_DEFAULT);
    Ok(TrialSpec {
        scenario: scenario.to_string(),
        seed,
        duration_ms,
        system: SystemChoice {
            name: system.name.clone(),
            // Known once the description is found.
            digest: None,
            nodes: usize::try_from(nodes).unwrap_or(usize::MAX),
            network: system.network,
            options: options(&system.options),
        },
        workload: WorkloadChoice {
            generator: workload.generator.clone(),
            clients: usize::try_from(tier.clients.unwrap_or(workload.clients))
                .unwrap_or(usize::MAX),
            rate: tier.rate.or(workload.rate),
            keys: tier.keys.or(workload.keys).unwrap_or(KEYS_DEFAULT),
            zipf: workload.distribution == Distribution::Zipf,
            mix: workload.mix.clone(),
            timeout_ms: ms(workload.timeout).max(1),
            options: options(&workload.options),
        },
        windows: schedule::windows(&machine.nemesis, duration_ms, seed)?,
        check: CheckChoice {
            names: checker.name.clone(),
            options: options(&checker.options),
            model: machine.model.as_ref().map(|model| model.name.clone()),
            model_options: machine.model.as_ref().map(|m| options(&m.options)).unwrap_or_default(),
        },
    })
}

fn options(settings: &Settings) -> Options {
    let json = |value| serde_json::to_value(value).expect("a setting is made of JSON's types");
    settings.iter().map(|(name, value)| (name.clone(), json(value))).collect()
}

/// The systems of a plan, each with the release its scenarios ask for, where they name one.
pub fn releases(plan: &assay_plan::Plan) -> Vec<(String, String)> {
    let machines = plan.scenarios.iter().filter_map(|scenario| scenario.block.as_ref());
    let system = |block: &assay_plan::block::Block| {
        let system = block.machine.system.as_ref()?;
        let release = options(&system.options).get("release")?.as_str()?.to_string();
        Some((system.name.clone(), release))
    };
    let mut all: Vec<(String, String)> = machines.filter_map(system).collect();
    all.sort();
    all.dedup();
    all
}

/// How many reruns a reduction may take, how long, and how small the cluster may get.
pub fn allowance(machine: &Machine) -> Allowance {
    let reduction = machine.reduction.clone().unwrap_or_default();
    let time = reduction.time.map_or(REDUCTION_MS_DEFAULT, |time| time.0.as_millis());
    Allowance {
        reruns: reduction.reruns.unwrap_or(RERUNS_DEFAULT),
        time_ms: u64::try_from(time).unwrap_or(u64::MAX),
        nodes_min: reduction.nodes.and_then(|nodes| usize::try_from(nodes).ok()),
    }
}

/// The three budgets as the verdict compares them. The size of a configuration is one number: all
/// its sizes added up, so that more of anything is more.
pub fn budgets(machine: &Machine) -> Budgets {
    let planned = machine.budget.clone().unwrap_or_default();
    let budget = |tier: Option<&Tier>| tier.map(|tier| size_of(tier, machine)).unwrap_or_default();
    Budgets {
        smoke: budget(planned.smoke.as_ref()),
        hardening: budget(planned.hardening.as_ref()),
        release: match &planned.release {
            Some(PlannedRelease::Tier(tier)) => Release::Budget(size_of(tier, machine)),
            Some(PlannedRelease::Statement(text)) => disclosed(text),
            None => Release::not_provided("the plan does not say", "the plan says"),
        },
    }
}

fn size_of(tier: &Tier, machine: &Machine) -> Budget {
    let planned = Planned::of_tier(tier, machine);
    let whole = |number: Option<f64>| number.unwrap_or(0.0).max(0.0).ceil() as u64;
    let duration = planned.duration.map_or(0, |time| time.0.as_millis());
    Budget {
        config_size: planned.sizes.values().map(|size| whole(Some(*size))).sum(),
        duration_ms: u64::try_from(duration).unwrap_or(u64::MAX),
        faults: whole(planned.faults),
        seeds: whole(planned.seeds),
    }
}

/// The size of trials of a tier in which so many faults landed and so many seeds agree.
pub fn size(machine: &Machine, tier: &Tier, duration_ms: u64, faults: u64, seeds: u64) -> Budget {
    Budget { duration_ms, faults, seeds, ..size_of(tier, machine) }
}

/// `not provided — REASON. Revisit when: CONDITION.`, word for word.
fn disclosed(text: &str) -> Release {
    let rest = text.trim_start();
    let rest = rest.get("not provided".len()..).unwrap_or(rest);
    let rest = rest.trim_start_matches([' ', '—', '–', '-']);
    let (reason, revisit) = rest.split_once("Revisit when:").unwrap_or((rest, ""));
    Release::not_provided(reason.trim(), revisit.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCK: &str = r#"
seed = 4
[system]
name = "kv"
nodes = 3
options = { defects = ["stale-reads"] }
[workload]
generator = "register"
clients = 6
rate = 300
keys = 4
timeout = "1s"
[[nemesis]]
fault = "leader-iso"
target = "leader"
at = "2s"
for = "1s"
every = "4s"
[checker]
name = "linearizability:register"
[budget]
release = "not provided — one machine. Revisit when: there are more."
[budget.smoke]
duration = "4s"
faults = 1
seeds = 1
[budget.hardening]
duration = "10s"
faults = 2
seeds = 3
clients = 10
"#;

    fn machine() -> Machine {
        toml_edit::de::from_str(BLOCK).expect("a machine block")
    }

    #[test]
    fn a_tier_becomes_trials_with_nothing_left_to_decide() {
        let machine = machine();
        let hardening = tier(&machine, Depth::Hardening).expect("a tier");
        assert_eq!(seeds(&machine, &hardening), [4, 5, 6]);
        let spec = trial("S1", &machine, &hardening, 5).expect("a trial");
        assert_eq!((spec.duration_ms, spec.workload.clients, spec.windows.len()), (10_000, 10, 2));
        let smoke = tier(&machine, Depth::Smoke).expect("a tier");
        let spec = trial("S1", &machine, &smoke, 4).expect("a trial");
        assert_eq!((spec.duration_ms, spec.workload.clients, spec.windows.len()), (4_000, 6, 1));
        let text = serde_json::to_string(&spec).expect("JSON");
        assert_eq!(serde_json::from_str::<TrialSpec>(&text).expect("a spec"), spec);
    }

    #[test]
    fn budgets_climb_and_disclosures_are_kept_word_for_word() {
        let budgets = budgets(&machine());
        assert_eq!(budgets.check(), Ok(()));
        assert_eq!(budgets.release, Release::not_provided("one machine.", "there are more."));
        let tier = tier(&machine(), Depth::Release).expect("falls back to hardening");
        let met = budgets.tier_met(&size(&machine(), &tier, 10_000, 2, 3));
        assert_eq!(met, assay_verdict::Tier::Hardening);
        let short = budgets.tier_met(&size(&machine(), &tier, 9_999, 2, 3));
        assert_eq!(short, assay_verdict::Tier::Smoke);
    }

    #[test]
    fn the_lint_allows_what_generators_take_and_no_more() {
        use assay_plan::machine::{CLIENTS_MAX, KEYS_MAX, NODES_MAX};
        assert_eq!(KEYS_MAX, assay_workload::KEYS_MAX);
        assert_eq!(CLIENTS_MAX, assay_workload::CLIENTS_MAX as u64);
        let kv = assay_sut::load("kv", None).expect("it is built in");
        assert!(!kv.allows_nodes(NODES_MAX as usize + 1));
    }

    #[test]
    fn what_is_missing_is_named() {
        for (drop, missing) in [("[checker]", "checker"), ("[workload]", "workload")] {
            let at = BLOCK.find(drop).expect("a table");
            let end = BLOCK[at + 1..].find("\n[").map_or(BLOCK.len(), |end| at + 1 + end);
            let text = format!("{}{}", &BLOCK[..at], &BLOCK[end..]);
            let machine: Machine = toml_edit::de::from_str(&text).expect("a machine block");
            let hardening = tier(&machine, Depth::Hardening).expect("a tier");
            let error = trial("S1", &machine, &hardening, 1).expect_err(missing);
            assert!(error.to_string().contains(missing), "{error}");
        }
    }
}
