//! How much is enough: budgets from blocks and from prose, and whether one is stronger.

use crate::machine::{Machine, Tier};
use crate::prose::{Quantity, quantities};
use crate::time::{Time, unit_seconds};
use serde::Serialize;
use std::collections::BTreeMap;
use std::time::Duration;

/// A budget in four dimensions.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Budget {
    /// How long.
    pub duration: Option<Time>,
    /// How many fault windows.
    pub faults: Option<f64>,
    /// How many seeds.
    pub seeds: Option<f64>,
    /// How large: nodes, clients, tenants, ...
    pub sizes: BTreeMap<String, f64>,
}

impl Budget {
    /// A tier of a block; sizes it does not name are those of the system and the workload.
    pub fn of_tier(tier: &Tier, machine: &Machine) -> Budget {
        let workload = machine.workload.as_ref();
        let number = |own: Option<u64>, base: Option<u64>| own.or(base).map(|n| n as f64);
        let nodes = machine.system.as_ref().and_then(|system| system.nodes);
        let sizes = [
            ("node", number(tier.nodes, nodes)),
            ("client", number(tier.clients, workload.map(|w| w.clients))),
            ("key", number(tier.keys, workload.and_then(|w| w.keys))),
            ("rate", tier.rate.or(workload.and_then(|w| w.rate))),
            ("group", number(tier.groups, None)),
        ];
        Budget {
            duration: tier.duration,
            faults: tier.faults.map(|n| n as f64),
            seeds: tier.seeds.map(|n| n as f64),
            sizes: sizes
                .into_iter()
                .filter_map(|(name, size)| Some((name.to_string(), size?)))
                .collect(),
        }
    }

    /// A budget in prose: `8 tenants x 30 min x 5 nemesis windows x 3 seeds`.
    pub fn of_text(text: &str) -> Budget {
        let mut budget = Budget::default();
        for Quantity { number, words } in quantities(text) {
            let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(&word.as_str()));
            let unit = words.first().and_then(|unit| unit_seconds(unit));
            if let Some(seconds) = unit {
                let longest = Duration::from_secs(366 * 86_400).as_secs_f64();
                let time = Time(Duration::from_secs_f64((number * seconds).clamp(0.0, longest)));
                budget.duration.get_or_insert(time);
            } else if has(&["seed", "seeds"]) {
                budget.seeds.get_or_insert(number);
            } else if has(&["fault", "faults", "window", "windows", "nemesis", "nemeses"]) {
                budget.faults.get_or_insert(number);
            } else if let Some(noun) = words.first() {
                budget.sizes.entry(singular(noun)).or_insert(number);
            }
        }
        budget
    }

    /// Whether the text said anything that is a budget.
    pub fn is_empty(&self) -> bool {
        *self == Budget::default()
    }

    /// The dimensions it says nothing about.
    pub fn missing(&self) -> Vec<&'static str> {
        let mut missing = Vec::new();
        for (name, there) in [
            ("size", !self.sizes.is_empty()),
            ("duration", self.duration.is_some()),
            ("faults", self.faults.is_some()),
            ("seeds", self.seeds.is_some()),
        ] {
            if !there {
                missing.push(name);
            }
        }
        missing
    }

    /// In which dimensions it is not strictly stronger than `smoke`, in words.
    pub fn not_stronger_than(&self, smoke: &Budget) -> Vec<String> {
        let mut weak = Vec::new();
        let mut compare = |name: &str, mine: Option<f64>, theirs: Option<f64>| {
            if let (Some(mine), Some(theirs)) = (mine, theirs)
                && mine <= theirs
            {
                weak.push(format!("{name} ({mine} against {theirs})"));
            }
        };
        let seconds = |time: Option<Time>| time.map(|time| time.0.as_secs_f64());
        compare("duration in seconds", seconds(self.duration), seconds(smoke.duration));
        compare("faults", self.faults, smoke.faults);
        compare("seeds", self.seeds, smoke.seeds);
        let pairs = self
            .sizes
            .iter()
            .filter_map(|(name, mine)| smoke.sizes.get(name).map(|theirs| (name, *mine, *theirs)));
        let pairs: Vec<_> = pairs.collect();
        let smaller = pairs.iter().filter(|(_, mine, theirs)| mine < theirs);
        weak.extend(smaller.map(|(name, mine, theirs)| format!("{name}s ({mine} < {theirs})")));
        if !pairs.is_empty() && pairs.iter().all(|(_, mine, theirs)| mine <= theirs) {
            weak.push("size (no size is greater)".to_string());
        }
        weak
    }
}

fn singular(noun: &str) -> String {
    noun.strip_suffix('s').filter(|rest| rest.len() > 1).unwrap_or(noun).to_string()
}

/// Whether a text is `not provided — REASON. Revisit when: CONDITION.`
pub fn is_disclosure(text: &str) -> bool {
    let lower = text.trim().to_lowercase();
    let Some(rest) = lower.strip_prefix("not provided") else { return false };
    let Some((reason, condition)) = rest.split_once("revisit when:") else { return false };
    let words = |text: &str| {
        let text = text.trim_matches(|c: char| !c.is_alphanumeric());
        !text.is_empty() && text != "tbd"
    };
    let dashed = reason.trim_start().starts_with(['—', '–', '-', ':']);
    dashed && words(reason) && words(condition)
}

#[cfg(test)]
mod tests {
    use super::{Budget, is_disclosure};

    #[test]
    fn budgets_are_read_from_prose() {
        let budget = Budget::of_text("8 tenants x 30 min × 5 nemesis windows, 3 seeds");
        assert_eq!(budget.sizes.get("tenant"), Some(&8.0));
        assert_eq!(budget.duration.map(|t| t.to_string()).as_deref(), Some("30m"));
        assert_eq!((budget.faults, budget.seeds), (Some(5.0), Some(3.0)));
        assert!(Budget::of_text("TBD").is_empty());
        assert_eq!(Budget::of_text("60s, 1 seed").missing(), ["size", "faults"]);
    }

    #[test]
    fn stronger_means_in_every_dimension() {
        let smoke = Budget::of_text("2 tenants x 60 s x 1 fault x 1 seed");
        for (text, weak) in [
            ("8 tenants x 30 min x 5 faults x 3 seeds", 0),
            ("8 tenants x 30 min x 5 faults x 1 seed", 1),
            ("2 tenants x 30 min x 5 faults x 3 seeds", 1),
            ("2 tenants x 60 s x 1 fault x 1 seed", 4),
        ] {
            let found = Budget::of_text(text).not_stronger_than(&smoke);
            assert_eq!(found.len(), weak, "{text}: {found:?}");
        }
    }

    #[test]
    fn a_statement_has_a_reason_and_a_condition() {
        for (text, good) in [
            ("not provided — no soak rig. Revisit when: staging exists.", true),
            ("Not provided - no rig. Revisit when: 2.0", true),
            ("not provided — no rig.", false),
            ("not provided — . Revisit when: later", false),
            ("not provided — TBD. Revisit when: TBD", false),
            ("TBD", false),
            ("see §6b", false),
            ("", false),
        ] {
            assert_eq!(is_disclosure(text), good, "{text}");
        }
    }
}
