//! Scripts: what an agent says and does, written down beforehand.

use assay_session::ErrorKind;
use serde::Deserialize;
use serde_json::{Map, Value};

/// Turns of a script, and steps of a turn.
const TURNS_MAX: usize = 1000;
const STEPS_MAX: usize = 1000;

/// The script of `--demo`, and of whoever gives none.
const BUILT_IN: &str = include_str!("demo.toml");

/// A script. The first turn that fits a message is played.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// The turns.
    #[serde(default)]
    pub turn: Vec<Turn>,
}

/// What is played for which message.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Turn {
    /// Only for agents of this name.
    pub agent: Option<String>,
    /// Only for messages with this in them.
    pub when: Option<String>,
    /// One after the other.
    pub steps: Vec<Step>,
}

/// One step: exactly one of the first fields, and what belongs to it.
#[derive(Clone, PartialEq, Default, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Step {
    /// Says this.
    pub say: Option<String>,
    /// Thinks.
    pub think: Option<bool>,
    /// Uses a tool, of either kind, as the agent's tools allow.
    pub call: Option<String>,
    /// Uses several at once.
    pub calls: Option<Vec<CallStep>>,
    /// Fails and tries again.
    pub retry: Option<ErrorKind>,
    /// Fails for good.
    pub fail: Option<ErrorKind>,
    /// Does nothing until a file of this name is in the directory of holds, or an interrupt comes.
    pub hold: Option<String>,
    /// What the tool is given.
    pub input: Map<String, Value>,
    /// What a built-in tool gives; without it the tool is run.
    pub result: Option<String>,
    /// Whether that is a failure.
    pub is_error: bool,
    /// What to say about an error.
    pub message: Option<String>,
    /// Whether it was tried often enough.
    pub exhausted: bool,
}

/// One of several calls.
#[derive(Clone, PartialEq, Default, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallStep {
    /// The tool.
    pub call: String,
    /// What it is given.
    #[serde(default)]
    pub input: Map<String, Value>,
    /// What a built-in tool gives; without it the tool is run.
    pub result: Option<String>,
    /// Whether that is a failure.
    #[serde(default)]
    pub is_error: bool,
}

/// Why a script is none.
#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    /// Not TOML, or not these fields.
    #[error("{0}")]
    Toml(#[from] toml_edit::de::Error),
    /// A step with no meaning, or with several.
    #[error(
        "turn {turn}, step {step}: must have exactly one of say, think, call, calls, retry, fail \
         and hold"
    )]
    Step {
        /// Which turn, from 1.
        turn: usize,
        /// Which step, from 1.
        step: usize,
    },
    /// A name that could lead elsewhere.
    #[error("turn {turn}, step {step}: a hold is a name of letters, digits, `-` and `_`")]
    Hold {
        /// Which turn, from 1.
        turn: usize,
        /// Which step, from 1.
        step: usize,
    },
    /// Too much of it.
    #[error("a script has at most {TURNS_MAX} turns of at most {STEPS_MAX} steps")]
    Size,
}

impl Step {
    fn meanings(&self) -> usize {
        let Step { say, think, call, calls, retry, fail, hold, .. } = self;
        let present = [
            say.is_some(),
            think.is_some(),
            call.is_some(),
            calls.is_some(),
            retry.is_some(),
            fail.is_some(),
            hold.is_some(),
        ];
        present.into_iter().filter(|is_there| *is_there).count()
    }
}

impl Script {
    /// Reads a script.
    ///
    /// # Errors
    /// Names what is wrong and where.
    pub fn parse(text: &str) -> Result<Script, ScriptError> {
        let script: Script = toml_edit::de::from_str(text)?;
        let is_long = |turn: &Turn| turn.steps.len() > STEPS_MAX;
        if script.turn.len() > TURNS_MAX || script.turn.iter().any(is_long) {
            return Err(ScriptError::Size);
        }
        for (turn, one) in (1..).zip(&script.turn) {
            for (step, one) in (1..).zip(&one.steps) {
                if one.meanings() != 1 {
                    return Err(ScriptError::Step { turn, step });
                }
                let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
                let hold = one.hold.as_deref().unwrap_or("-");
                if hold.is_empty() || !hold.chars().all(is_plain) {
                    return Err(ScriptError::Hold { turn, step });
                }
            }
        }
        Ok(script)
    }

    /// The script that comes with the server.
    pub fn built_in() -> Script {
        Script::parse(BUILT_IN).expect("a test parses it")
    }

    /// The turn for a message.
    pub fn find(&self, agent: &str, text: &str) -> Option<&Turn> {
        let fits = |turn: &&Turn| {
            turn.agent.as_deref().is_none_or(|name| name == agent)
                && turn.when.as_deref().is_none_or(|part| text.contains(part))
        };
        self.turn.iter().find(fits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_that_comes_along_answers_everything() {
        let script = Script::built_in();
        assert!(script.find("anybody", "anything").is_some());
        assert!(script.find("demo", "the weather, please").expect("a turn").steps.len() > 1);
    }

    #[test]
    fn a_bad_script_is_refused_with_its_place() {
        let cases = [
            ("[[turn]]\nsteps = [{}]", "turn 1, step 1"),
            ("[[turn]]\nsteps = [{say = 'a'}, {say = 'a', call = 'b'}]", "turn 1, step 2"),
            ("[[turn]]\nsteps = [{hold = '../x'}]", "a hold is a name"),
            ("[[turn]]\nsteps = [{shout = 'a'}]", "shout"),
            ("[[turn]]\nsteps = [{fail = 'x'}]", "x"),
            ("nonsense", "TOML"),
        ];
        for (text, expected) in cases {
            let error = Script::parse(text).expect_err(text).to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
