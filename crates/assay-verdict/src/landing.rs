//! Landing: the proof that a fault took hold.
//!
//! An injector that says "ok" has proven nothing: the rule may sit in a chain that no packet
//! passes. A fault has landed when a counter on the injector's side *and* a signal on a victim's
//! side both moved while it was on.
//!
//! ```
//! use assay_verdict::{Landing, LandingState, Signal};
//!
//! let landing = Landing {
//!     fault: "cut off the leader".into(),
//!     injector: Signal::counted("packets dropped", 0, 14_712, 14_712),
//!     victim: Signal::counted("timeouts per second", 0, 0, 0),
//! };
//! assert_eq!(landing.state(), LandingState::Missed, "nobody felt it");
//! ```

use crate::named::named;
use serde::{Deserialize, Serialize};

named! {
    /// Whether a fault took hold.
    pub enum LandingState {
        /// Both sides moved.
        Landed = "landed",
        /// A number that should have been read was not.
        Unknown = "unknown",
        /// A side stood still.
        Missed = "missed",
    }
}

/// A number read before, during and after a fault; `None` was not read.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Signal {
    /// What was counted, with its unit.
    pub what: String,
    /// Before the fault.
    pub before: Option<u64>,
    /// While it was on.
    pub during: Option<u64>,
    /// After it was healed.
    pub after: Option<u64>,
    /// By how much it has to move to count; less than 1 means 1.
    #[serde(default)]
    pub moves_by_min: u64,
}

impl Signal {
    /// A signal of which all three numbers are known.
    pub fn counted(what: &str, before: u64, during: u64, after: u64) -> Signal {
        Signal {
            what: what.to_string(),
            before: Some(before),
            during: Some(during),
            after: Some(after),
            moves_by_min: 1,
        }
    }

    /// Whether it moved, up or down, while the fault was on.
    pub fn state(&self) -> LandingState {
        match (self.before, self.during) {
            (Some(before), Some(during)) if during.abs_diff(before) >= self.moves_by_min.max(1) => {
                LandingState::Landed
            }
            (Some(_), Some(_)) => LandingState::Missed,
            _ => LandingState::Unknown,
        }
    }

    /// The three numbers in a row.
    pub fn numbers(&self) -> String {
        let number = |value: Option<u64>| value.map_or("?".to_string(), |n| n.to_string());
        let (before, during, after) =
            (number(self.before), number(self.during), number(self.after));
        format!("{} {before} → {during} → {after}", self.what)
    }
}

/// What was read on both sides of one fault.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Landing {
    /// The fault.
    pub fault: String,
    /// A counter of the injector.
    pub injector: Signal,
    /// A signal of a victim.
    pub victim: Signal,
}

impl Landing {
    /// Whether it landed: the worse of its two sides.
    pub fn state(&self) -> LandingState {
        self.injector.state().max(self.victim.state())
    }

    /// The numbers, for a cell of a table.
    pub fn evidence(&self) -> String {
        format!(
            "{}: injector {}, victim {}",
            self.fault,
            self.injector.numbers(),
            self.victim.numbers()
        )
    }
}

/// The state of several faults together: the worst of them. No fault at all proves nothing.
pub fn landing_of(landings: &[Landing]) -> LandingState {
    landings.iter().map(Landing::state).max().unwrap_or(LandingState::Unknown)
}
