//! Budgets: how big a run has to be before its result may be called smoke, hardening or release.
//!
//! ```
//! use assay_verdict::{Budget, Budgets, Release, Tier};
//!
//! let budget = |config_size, duration_s: u64, faults, seeds| Budget {
//!     config_size, duration_ms: duration_s * 1000, faults, seeds,
//! };
//! let budgets = Budgets {
//!     smoke: budget(2, 60, 1, 1),
//!     hardening: budget(8, 1800, 5, 3),
//!     release: Release::not_provided("no machine for a day", "a second host is there"),
//! };
//! assert_eq!(budgets.check(), Ok(()));
//! assert_eq!(budgets.tier_met(&budget(8, 1800, 5, 2)), Tier::Smoke, "a seed is missing");
//! ```

use crate::named::named;
use serde::{Deserialize, Serialize};

named! {
    /// The largest budget a run has met.
    pub enum Tier {
        /// Not even the smallest.
        None = "none",
        /// The minimum that may be called a pass at all.
        Smoke = "smoke",
        /// Enough for a hardening pass.
        Hardening = "hardening",
        /// Long, repeated or statistical.
        Release = "release",
    }
}

named! {
    /// What a budget measures.
    pub enum Dimension {
        /// Nodes, tenants, clients: whatever the plan counts.
        ConfigSize = "config size",
        /// How long the workload ran.
        Duration = "duration",
        /// How many faults were injected.
        Faults = "faults",
        /// How many seeds were run.
        Seeds = "seeds",
    }
}

/// The size of a run: what a plan asks for, or what was done.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Budget {
    /// Nodes, tenants, clients: whatever the plan counts.
    pub config_size: u64,
    /// How long the workload runs.
    pub duration_ms: u64,
    /// Faults injected.
    pub faults: u64,
    /// Seeds run.
    pub seeds: u64,
}

impl Budget {
    /// One dimension of it.
    pub const fn of(&self, dimension: Dimension) -> u64 {
        match dimension {
            Dimension::ConfigSize => self.config_size,
            Dimension::Duration => self.duration_ms,
            Dimension::Faults => self.faults,
            Dimension::Seeds => self.seeds,
        }
    }

    /// Whether a run of this size meets `wanted` in every dimension.
    pub fn meets(&self, wanted: &Budget) -> bool {
        Dimension::ALL.iter().all(|&dimension| self.of(dimension) >= wanted.of(dimension))
    }

    /// The dimensions in which it is *not* more than `other`. Empty: strictly stronger.
    pub fn not_stronger_than(&self, other: &Budget) -> Vec<Dimension> {
        let weak = |dimension: &Dimension| self.of(*dimension) <= other.of(*dimension);
        Dimension::ALL.iter().copied().filter(weak).collect()
    }

    /// Whether it is more than `other` in every dimension.
    pub fn strictly_stronger(&self, other: &Budget) -> bool {
        self.not_stronger_than(other).is_empty()
    }
}

/// A time for people: in the largest unit that leaves no remainder.
///
/// ```
/// use assay_verdict::readable_ms;
/// let times = [1_800_000, 90_000, 90_001].map(readable_ms);
/// assert_eq!(times, ["30 min", "90 s", "90001 ms"]);
/// ```
pub fn readable_ms(ms: u64) -> String {
    match ms {
        0 => "0 s".to_string(),
        ms if ms % 3_600_000 == 0 => format!("{} h", ms / 3_600_000),
        ms if ms % 60_000 == 0 => format!("{} min", ms / 60_000),
        ms if ms % 1_000 == 0 => format!("{} s", ms / 1_000),
        ms => format!("{ms} ms"),
    }
}

/// The largest budget, or why there is none.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", rename_all_fields = "kebab-case", deny_unknown_fields)]
pub enum Release {
    /// What a release asks for.
    Budget(Budget),
    /// A gap the plan states openly; reports repeat it word for word.
    NotProvided {
        /// Why there is none.
        reason: String,
        /// When to think about it again.
        revisit_when: String,
    },
}

impl Release {
    /// No release budget, with the reason and when to come back to it.
    pub fn not_provided(reason: &str, revisit_when: &str) -> Release {
        Release::NotProvided { reason: reason.into(), revisit_when: revisit_when.into() }
    }
}

/// The three budgets of a scenario.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Budgets {
    /// The least that may be called a pass.
    pub smoke: Budget,
    /// The least for a hardening pass.
    pub hardening: Budget,
    /// The least for a release, or why there is none.
    pub release: Release,
}

/// Budgets that do not climb.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BudgetError {
    /// Hardening has to ask for more than smoke everywhere, or a smoke run could be hardening.
    #[error("the hardening budget is not more than the smoke budget in: {}", list(.0))]
    HardeningNotStronger(Vec<Dimension>),
}

fn list(dimensions: &[Dimension]) -> String {
    dimensions.iter().map(|d| d.name()).collect::<Vec<_>>().join(", ")
}

impl Budgets {
    /// Whether hardening asks for more than smoke in every dimension.
    ///
    /// # Errors
    /// The dimensions in which it does not.
    pub fn check(&self) -> Result<(), BudgetError> {
        let weak = self.hardening.not_stronger_than(&self.smoke);
        if weak.is_empty() { Ok(()) } else { Err(BudgetError::HardeningNotStronger(weak)) }
    }

    /// The largest tier a run of this size has met. Each tier includes those below it, so a budget
    /// that is written down wrongly can only lower the answer.
    pub fn tier_met(&self, run: &Budget) -> Tier {
        if !run.meets(&self.smoke) {
            return Tier::None;
        }
        if !run.meets(&self.hardening) {
            return Tier::Smoke;
        }
        match &self.release {
            Release::Budget(release) if run.meets(release) => Tier::Release,
            _ => Tier::Hardening,
        }
    }
}
