//! Scripts: what an agent does, written down beforehand.
//!
//! The engine of demos and tests, and a process like any other: it writes files, commits, hands
//! over artifacts, says things, hangs, crashes and lies as told. Limits, kills and sandboxes treat
//! it like any agent. Format: docs/formats/agents.md.

mod play;
mod template;

pub use play::play;

use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The largest script, in bytes.
const SCRIPT_BYTES_MAX: u64 = 1 << 20;

/// Why a script cannot be played.
#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    /// It cannot be read.
    #[error("{}: cannot read: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// It is too large.
    #[error("{}: larger than {SCRIPT_BYTES_MAX} bytes: not a script", path.display())]
    Large {
        /// The file.
        path: PathBuf,
    },
    /// It is not a script.
    #[error("{}: {why}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// What is wrong, with line and column.
        why: String,
    },
    /// Nothing in it is for this situation.
    #[error("{}: no step is for {situation}", path.display())]
    NoStep {
        /// The file.
        path: PathBuf,
        /// The variables of this run.
        situation: String,
    },
}

#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Script {
    /// The first whose conditions hold is played.
    step: Vec<Step>,
}

#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    /// Variables that must have these values. None: always.
    #[serde(default)]
    when: BTreeMap<String, Plain>,
    #[serde(rename = "do", default)]
    actions: Vec<Action>,
}

/// A value of a variable; numbers may be written as such.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(untagged)]
enum Plain {
    Text(String),
    Number(i64),
}

impl Plain {
    fn is(&self, value: &str) -> bool {
        match self {
            Plain::Text(text) => text == value,
            Plain::Number(number) => number.to_string() == value,
        }
    }
}

/// One thing to do. Texts are templates; see `template`.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(tag = "action", rename_all = "kebab-case", deny_unknown_fields)]
enum Action {
    Write {
        path: String,
        text: String,
        #[serde(default)]
        may_fail: bool,
    },
    Append {
        path: String,
        text: String,
        #[serde(default)]
        may_fail: bool,
    },
    Replace {
        path: String,
        old: String,
        new: String,
        #[serde(default)]
        may_fail: bool,
    },
    Delete {
        path: String,
        #[serde(default)]
        may_fail: bool,
    },
    Run {
        command: Vec<String>,
        #[serde(default)]
        may_fail: bool,
    },
    Commit {
        message: String,
        #[serde(default)]
        may_fail: bool,
    },
    Drop {
        name: String,
        text: String,
        #[serde(default)]
        may_fail: bool,
    },
    Say {
        text: String,
    },
    Usage {
        input_tokens: u64,
        output_tokens: u64,
    },
    RateLimit {
        retry_after_millis: Option<u64>,
    },
    Flood {
        bytes: u64,
    },
    Sleep {
        millis: u64,
    },
    Hang {},
    Exit {
        code: u8,
    },
    Signal {
        number: i32,
    },
}

impl Script {
    fn read(path: &Path) -> Result<Script, ScriptError> {
        let io = |source| ScriptError::Io { path: path.to_path_buf(), source };
        if std::fs::metadata(path).map_err(io)?.len() > SCRIPT_BYTES_MAX {
            return Err(ScriptError::Large { path: path.to_path_buf() });
        }
        let text = std::fs::read_to_string(path).map_err(io)?;
        let format = |why| ScriptError::Format { path: path.to_path_buf(), why };
        Script::parse(&text).map_err(format)
    }

    fn parse(text: &str) -> Result<Script, String> {
        toml_edit::de::from_str(text).map_err(|error| error.to_string())
    }

    fn step(&self, variables: &BTreeMap<String, String>) -> Option<&Step> {
        let holds = |(name, value): (&String, &Plain)| {
            variables.get(name).is_some_and(|actual| value.is(actual))
        };
        self.step.iter().find(|step| step.when.iter().all(holds))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(of: &[(&str, &str)]) -> BTreeMap<String, String> {
        of.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect()
    }

    #[test]
    fn the_first_step_whose_conditions_hold_is_played() {
        let text = "
            [[step]]
            when = { role = 'worker', iteration = 2 }
            do = [{ action = 'say', text = 'two' }]
            [[step]]
            when = { role = 'worker' }
            do = [{ action = 'say', text = 'any' }]
            [[step]]
            when = { role = 'verifier' }
        ";
        let script = Script::parse(text).expect("a script");
        let place = |of: &[(&str, &str)]| {
            let step = script.step(&variables(of))?;
            script.step.iter().position(|other| other == step)
        };
        assert_eq!(place(&[("role", "worker"), ("iteration", "2")]), Some(0));
        assert_eq!(place(&[("role", "worker"), ("iteration", "3")]), Some(1));
        assert_eq!(place(&[("role", "verifier")]), Some(2));
        assert_eq!(place(&[("iteration", "2")]), None);
    }

    #[test]
    fn a_bad_script_says_where() {
        for (text, expected) in [
            ("", "step"),
            ("[[step]]\nif = 1", "line 2"),
            ("[[step]]\n[[step.do]]\naction = 'fly'", "unknown variant"),
            ("[[step]]\n[[step.do]]\naction = 'say'", "text"),
            ("[[step]]\n[[step.do]]\naction = 'exit'\ncode = 256", "256"),
            ("[[step]]\n[[step.do]]\naction = 'hang'\nfor = 3", "for"),
        ] {
            let error = Script::parse(text).expect_err(text);
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
