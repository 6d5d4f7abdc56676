//! What happens when an invariant is violated.

use std::fmt;
use std::sync::OnceLock;

/// What a violated check does. All of them count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Policy {
    /// Panics.
    Panic,
    /// Says it on stderr (or through [`set_log`]) and goes on: the 1st, 2nd, 4th, 8th … time, so
    /// that a hot loop does not drown its log.
    Log,
    /// Returns it as an error.
    Return,
}

impl Policy {
    pub(crate) const fn code(self) -> u8 {
        match self {
            Policy::Panic => 0,
            Policy::Log => 1,
            Policy::Return => 2,
        }
    }

    pub(crate) const fn of(code: u8) -> Policy {
        match code {
            0 => Policy::Panic,
            1 => Policy::Log,
            _ => Policy::Return,
        }
    }
}

/// An invariant that does not hold, with the values that show it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation {
    /// The id.
    pub id: &'static str,
    /// The sentence that is not true.
    pub says: &'static str,
    /// Where to read about it.
    pub see: &'static str,
    /// What it was, by name.
    pub values: Vec<(&'static str, String)>,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} violated: {}", self.id, self.says)?;
        for (at, (name, value)) in self.values.iter().enumerate() {
            write!(f, "{} {name} = {value}", if at == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

impl std::error::Error for Violation {}

static LOG: OnceLock<fn(&Violation, u64)> = OnceLock::new();

/// Where [`Policy::Log`] goes instead of stderr: the violation, and how many there were. The first
/// caller decides; false if somebody did before.
pub fn set_log(log: fn(&Violation, u64)) -> bool {
    LOG.set(log).is_ok()
}

pub(crate) fn react(policy: Policy, violation: Violation, count: u64) -> Result<(), Violation> {
    match policy {
        Policy::Panic => panic!("{violation}"),
        Policy::Return => Err(violation),
        Policy::Log => {
            if count.is_power_of_two() {
                match LOG.get() {
                    Some(log) => log(&violation, count),
                    None => eprintln!("{violation} (number {count}; see {})", violation.see),
                }
            }
            Ok(())
        }
    }
}
