//! Two audits that every pass has to survive: ten red flags and fourteen weak oracles.
//!
//! A *red flag* is a way for a broken test to be green: the generator stopped, the fault did
//! nothing, errors were swallowed. A *weak oracle* is a way of looking that misses violations
//! when it is the only one. Each item is answered by a [`Check`]; what nobody answered is
//! [`Check::Unknown`] and counts like a raised item. `measure` computes the answers from numbers.

mod items;
mod measure;

pub use items::{Effect, Exemption, RedFlag, WeakOracle};
pub use measure::{
    Applicable, Clock, Controls, Groups, Health, LogScan, Measured, OracleKind, Partitions,
    RATE_PERCENT_MIN, REPLICAS_MIN, Retries, Silence, Surfaces, Topologies,
};

use crate::facts::Fault;
use serde::{Deserialize, Serialize};

/// The answer to one item of an audit.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Check {
    /// Looked at, in order; with the numbers that show it.
    Clean(String),
    /// Looked at, not in order; with the numbers that show it.
    Raised(String),
    /// It cannot occur here; with the reason.
    NotApplicable(String),
    /// Nobody looked; with what would have to be measured.
    Unknown(String),
}

impl Default for Check {
    fn default() -> Check {
        Check::Unknown("nobody looked".to_string())
    }
}

impl Check {
    /// The state as a word.
    pub const fn word(&self) -> &'static str {
        match self {
            Check::Clean(_) => "clean",
            Check::Raised(_) => "raised",
            Check::NotApplicable(_) => "not applicable",
            Check::Unknown(_) => "unknown",
        }
    }

    /// The evidence, the reason, or what is missing.
    pub fn text(&self) -> &str {
        match self {
            Check::Clean(text)
            | Check::Raised(text)
            | Check::NotApplicable(text)
            | Check::Unknown(text) => text,
        }
    }

    /// Whether the item stands in nobody's way. "Not applicable" counts only with a reason, and
    /// only where the item can be inapplicable at all: it must not become a way around an audit.
    pub fn is_settled(&self, exemption: Exemption, fault: &Fault) -> bool {
        match self {
            Check::Clean(_) => true,
            Check::Raised(_) | Check::Unknown(_) => false,
            Check::NotApplicable(reason) => match exemption {
                Exemption::Never => false,
                Exemption::WithoutFault => {
                    matches!(fault, Fault::NotPlanned) && !reason.trim().is_empty()
                }
                Exemption::WithReason => !reason.trim().is_empty(),
            },
        }
    }
}

/// The answers to all items. Those of a default are unknown.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Audits {
    /// Red flags 1 to 10.
    pub red_flags: [Check; 10],
    /// Weak oracles 1 to 14.
    pub weak_oracles: [Check; 14],
}

impl Audits {
    /// The answer to a red flag.
    pub fn red_flag(&self, item: RedFlag) -> &Check {
        &self.red_flags[item.index()]
    }

    /// The answer to a weak oracle.
    pub fn weak_oracle(&self, item: WeakOracle) -> &Check {
        &self.weak_oracles[item.index()]
    }

    /// Whether no red flag with this effect is open.
    pub fn red_flags_settled(&self, effect: Effect, fault: &Fault) -> bool {
        self.open_red_flags(effect, fault).next().is_none()
    }

    /// Whether no weak oracle with this effect is open.
    pub fn weak_oracles_settled(&self, effect: Effect, fault: &Fault) -> bool {
        self.open_weak_oracles(effect, fault).next().is_none()
    }

    /// The red flags with this effect that are open.
    pub fn open_red_flags<'a>(
        &'a self,
        effect: Effect,
        fault: &'a Fault,
    ) -> impl Iterator<Item = RedFlag> + 'a {
        let of_effect = RedFlag::ALL.iter().copied().filter(move |item| item.effect() == effect);
        of_effect.filter(move |item| !self.red_flag(*item).is_settled(item.exemption(), fault))
    }

    /// The weak oracles with this effect that are open.
    pub fn open_weak_oracles<'a>(
        &'a self,
        effect: Effect,
        fault: &'a Fault,
    ) -> impl Iterator<Item = WeakOracle> + 'a {
        let of_effect = WeakOracle::ALL.iter().copied().filter(move |item| item.effect() == effect);
        of_effect.filter(move |item| !self.weak_oracle(*item).is_settled(item.exemption(), fault))
    }
}
