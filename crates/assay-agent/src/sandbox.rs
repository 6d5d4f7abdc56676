//! Writes that are impossible, where the kernel can make them so.
//!
//! Landlock restricts the thread that asks for it and all processes started from it, for good. So a
//! thread of its own restricts itself and starts the agent; nobody else is affected, and no code
//! runs between fork and exec. Restricted processes cannot signal or trace those that are not: an
//! agent can end neither its keeper nor whoever runs it.
//!
//! What is not restricted: reading, running programs, and the network.

use landlock::{
    ABI, AccessFs, LandlockStatus, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetStatus, Scope,
    path_beneath_rules,
};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::PathBuf;

/// The newest version that this was tried with. Older kernels give what they have.
const TRIED: ABI = ABI::V7;
/// The version since which files elsewhere cannot be cut short either (Linux 6.2).
const REFUSES_TRUNCATION: u32 = 3;
/// The version since which signals are refused (Linux 6.12).
const REFUSES_SIGNALS: u32 = 6;
/// What programs write to without meaning a file. No terminal: what is written to one can make it
/// type, and those of people are in one directory with all others.
const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// Whether the kernel is to keep an agent from writing elsewhere.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sandbox {
    /// If it can. What it did is said in the result.
    WhenAvailable,
    /// It must; otherwise the agent is not started.
    Required,
    /// It is not asked.
    Off,
}

/// What keeps an agent from writing elsewhere.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "protection", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Protection {
    /// The kernel does.
    Landlock {
        /// The version of its interface that is used.
        version: u32,
        /// Whether all of what was asked for is in effect: older kernels do not keep an agent from
        /// cutting files short, or from sending signals.
        complete: bool,
    },
    /// Whoever runs it for us sees to it, in a sandbox of its own.
    Server {
        /// Who.
        who: String,
    },
    /// Nothing does.
    None {
        /// Why not.
        why: String,
    },
}

impl Protection {
    /// Whether nothing elsewhere can be changed. The first two versions do not keep a file from
    /// being cut short.
    pub fn refuses_writes(&self) -> bool {
        match self {
            Protection::Landlock { version, .. } => *version >= REFUSES_TRUNCATION,
            Protection::Server { .. } => true,
            Protection::None { .. } => false,
        }
    }

    /// Whether no process elsewhere can be ended.
    pub fn refuses_signals(&self) -> bool {
        match self {
            Protection::Landlock { version, .. } => *version >= REFUSES_SIGNALS,
            Protection::Server { .. } => true,
            Protection::None { .. } => false,
        }
    }
}

impl fmt::Display for Protection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let version = match self {
            Protection::Landlock { version, .. } => version,
            Protection::Server { who } => {
                return write!(f, "the sandbox of {who} keeps it from writing elsewhere");
            }
            Protection::None { why } => {
                return write!(f, "nothing keeps it from writing elsewhere: {why}");
            }
        };
        match (self.refuses_writes(), self.refuses_signals()) {
            (true, true) => write!(f, "the kernel refuses writes elsewhere (Landlock {version})"),
            (true, false) => {
                write!(f, "the kernel refuses writes elsewhere, not signals (Landlock {version})")
            }
            (false, _) => {
                write!(f, "the kernel refuses most writes elsewhere (Landlock {version})")
            }
        }
    }
}

/// Restricts this thread, and what is started from it, to writing below these places. Places that
/// are not there are left out.
pub(crate) fn restrict(writable: &[PathBuf]) -> Protection {
    match try_restrict(writable) {
        Ok(protection) => protection,
        Err(error) => Protection::None { why: error.to_string() },
    }
}

fn try_restrict(writable: &[PathBuf]) -> Result<Protection, landlock::RulesetError> {
    let writes = AccessFs::from_write(TRIED);
    let status = Ruleset::default()
        .handle_access(writes)?
        .scope(Scope::Signal)?
        .create()?
        .add_rules(path_beneath_rules(writable, writes))?
        .add_rules(path_beneath_rules(DEVICES, AccessFs::WriteFile | AccessFs::IoctlDev))?
        .restrict_self()?;
    let version = match status.landlock {
        LandlockStatus::Available { effective_abi, .. } => effective_abi as u32,
        LandlockStatus::NotEnabled => {
            let why = "Landlock is switched off in this kernel".to_string();
            return Ok(Protection::None { why });
        }
        LandlockStatus::NotImplemented => {
            let why = "this kernel has no Landlock (Linux 5.13 and later have it)".to_string();
            return Ok(Protection::None { why });
        }
    };
    Ok(match status.ruleset {
        RulesetStatus::FullyEnforced => Protection::Landlock { version, complete: true },
        RulesetStatus::PartiallyEnforced => Protection::Landlock { version, complete: false },
        RulesetStatus::NotEnforced => {
            Protection::None { why: "the kernel did not take the rules".to_string() }
        }
    })
}

/// What an agent would be protected by here. Found out by trying: a thread restricts itself and
/// then writes where it must not.
pub fn probe() -> Protection {
    let no_place = |error| Protection::None { why: format!("no place to try it: {error}") };
    let place = match tempfile::tempdir() {
        Ok(place) => place,
        Err(error) => return no_place(error),
    };
    let (inside, outside) = (place.path().join("inside"), place.path().join("outside"));
    if let Err(error) = std::fs::create_dir(&inside) {
        return no_place(error);
    }
    let tried = std::thread::spawn(move || {
        let protection = restrict(std::slice::from_ref(&inside));
        if matches!(protection, Protection::None { .. }) {
            return protection;
        }
        let allowed = std::fs::write(inside.join("file"), "").is_ok();
        let refused = std::fs::write(&outside, "").is_err();
        match allowed && refused {
            true => protection,
            false => Protection::None { why: "Landlock is there and does not work".to_string() },
        }
    });
    tried.join().unwrap_or_else(|_| Protection::None { why: "trying it failed".to_string() })
}

#[cfg(test)]
mod tests {
    use super::Protection;

    #[test]
    fn writes_are_refused_before_signals_are() {
        for (version, writes, signals, said) in [
            (1, false, false, "most writes elsewhere (Landlock 1)"),
            (2, false, false, "most writes elsewhere (Landlock 2)"),
            (3, true, false, "refuses writes elsewhere, not signals (Landlock 3)"),
            (4, true, false, "refuses writes elsewhere, not signals (Landlock 4)"),
            (5, true, false, "refuses writes elsewhere, not signals (Landlock 5)"),
            (6, true, true, "refuses writes elsewhere (Landlock 6)"),
            (7, true, true, "refuses writes elsewhere (Landlock 7)"),
        ] {
            let here = Protection::Landlock { version, complete: version >= 6 };
            let found = (here.refuses_writes(), here.refuses_signals());
            assert_eq!(found, (writes, signals), "{version}");
            assert!(here.to_string().ends_with(said), "{here}");
        }
        let none = Protection::None { why: "it was switched off".to_string() };
        assert!(!none.refuses_writes() && !none.refuses_signals());
    }
}
