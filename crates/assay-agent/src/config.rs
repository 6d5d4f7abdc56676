//! Which program an agent is, as people write it down.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// How an agent is started. Read from TOML, field by field in docs/formats/agents.md.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(try_from = "Fields", into = "Fields")]
pub struct AgentConfig {
    /// The program and the language it speaks.
    pub engine: Engine,
    /// Names of variables of the environment it gets, besides those every program needs.
    pub env: Vec<String>,
    /// Places it may write to, besides its directory and its drop box. `~` is the home directory.
    pub writable: Vec<String>,
}

/// The program and the language it speaks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Engine {
    /// `claude -p --output-format stream-json`.
    Claude {
        /// Where it is.
        program: String,
        /// Which model.
        model: Option<String>,
        /// Further arguments.
        args: Vec<String>,
    },
    /// `codex exec --json`.
    Codex {
        /// Where it is.
        program: String,
        /// Which model.
        model: Option<String>,
        /// Further arguments.
        args: Vec<String>,
    },
    /// Anything that speaks the Agent Client Protocol on its standard input and output.
    Acp {
        /// Program and arguments.
        command: Vec<String>,
    },
    /// Anything that reads a prompt on its standard input.
    Command {
        /// Program and arguments.
        command: Vec<String>,
    },
    /// A script of actions.
    Scripted {
        /// The file.
        script: PathBuf,
    },
}

/// Why a configuration is none.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ConfigError {
    /// Not TOML, or fields that are not known.
    #[error("{0}")]
    Toml(String),
    /// A field the engine needs.
    #[error("an agent with engine = \"{engine}\" needs `{field}`")]
    Missing {
        /// Which engine.
        engine: &'static str,
        /// Which field.
        field: &'static str,
    },
    /// A field the engine does not have.
    #[error("an agent with engine = \"{engine}\" has no `{field}`: leave it out")]
    Unused {
        /// Which engine.
        engine: &'static str,
        /// Which field.
        field: &'static str,
    },
    /// Not the name of a variable.
    #[error("env: `{name}` is not the name of a variable; values are taken from the environment")]
    Variable {
        /// What stands there.
        name: String,
    },
}

/// The fields of all engines.
#[derive(Clone, Default, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    engine: EngineName,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    program: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    args: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    command: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    script: Option<PathBuf>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    env: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    writable: Vec<String>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum EngineName {
    Claude,
    Codex,
    Acp,
    #[default]
    Command,
    Scripted,
}

impl AgentConfig {
    /// An agent that needs nothing of its own.
    pub fn of(engine: Engine) -> AgentConfig {
        AgentConfig { engine, env: Vec::new(), writable: Vec::new() }
    }

    /// Reads one from TOML.
    ///
    /// # Errors
    /// If it is not TOML, or says too little or too much; with line and column.
    pub fn parse(text: &str) -> Result<AgentConfig, ConfigError> {
        toml_edit::de::from_str(text).map_err(|error| ConfigError::Toml(error.to_string()))
    }
}

impl TryFrom<Fields> for AgentConfig {
    type Error = ConfigError;

    fn try_from(fields: Fields) -> Result<AgentConfig, ConfigError> {
        let good = |name: &&String| {
            !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        };
        if let Some(name) = fields.env.iter().find(|name| !good(name)) {
            return Err(ConfigError::Variable { name: name.clone() });
        }
        let Fields { engine, program, model, args, command, script, env, writable } = fields;
        let name = engine.text();
        let unused = |present: bool, field| match present {
            true => Err(ConfigError::Unused { engine: name, field }),
            false => Ok(()),
        };
        let cli = matches!(engine, EngineName::Claude | EngineName::Codex);
        let spoken = matches!(engine, EngineName::Acp | EngineName::Command);
        unused(program.is_some() && !cli, "program")?;
        unused(model.is_some() && !cli, "model")?;
        unused(!args.is_empty() && !cli, "args")?;
        unused(!command.is_empty() && !spoken, "command")?;
        unused(script.is_some() && engine != EngineName::Scripted, "script")?;
        if spoken && command.first().is_none_or(String::is_empty) {
            return Err(ConfigError::Missing { engine: name, field: "command" });
        }
        let program = program.unwrap_or_else(|| name.to_string());
        let engine = match (engine, script) {
            (EngineName::Claude, _) => Engine::Claude { program, model, args },
            (EngineName::Codex, _) => Engine::Codex { program, model, args },
            (EngineName::Acp, _) => Engine::Acp { command },
            (EngineName::Command, _) => Engine::Command { command },
            (EngineName::Scripted, Some(script)) => Engine::Scripted { script },
            (EngineName::Scripted, None) => {
                return Err(ConfigError::Missing { engine: name, field: "script" });
            }
        };
        Ok(AgentConfig { engine, env, writable })
    }
}

impl From<AgentConfig> for Fields {
    fn from(config: AgentConfig) -> Fields {
        let fields = Fields { env: config.env, writable: config.writable, ..Fields::default() };
        let engine = match &config.engine {
            Engine::Claude { .. } => EngineName::Claude,
            Engine::Codex { .. } => EngineName::Codex,
            Engine::Acp { .. } => EngineName::Acp,
            Engine::Command { .. } => EngineName::Command,
            Engine::Scripted { .. } => EngineName::Scripted,
        };
        match config.engine {
            Engine::Claude { program, model, args } | Engine::Codex { program, model, args } => {
                Fields { engine, program: Some(program), model, args, ..fields }
            }
            Engine::Acp { command } | Engine::Command { command } => {
                Fields { engine, command, ..fields }
            }
            Engine::Scripted { script } => Fields { engine, script: Some(script), ..fields },
        }
    }
}

impl EngineName {
    fn text(self) -> &'static str {
        match self {
            EngineName::Claude => "claude",
            EngineName::Codex => "codex",
            EngineName::Acp => "acp",
            EngineName::Command => "command",
            EngineName::Scripted => "scripted",
        }
    }
}

impl Engine {
    /// Its name in a configuration.
    pub fn name(&self) -> &'static str {
        match self {
            Engine::Claude { .. } => "claude",
            Engine::Codex { .. } => "codex",
            Engine::Acp { .. } => "acp",
            Engine::Command { .. } => "command",
            Engine::Scripted { .. } => "scripted",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configurations_are_read_and_written_again() {
        for text in [
            "engine = 'claude'\nmodel = 'sonnet'\nargs = ['--permission-mode', 'plan']",
            "engine = 'codex'\nprogram = '/opt/codex'\nenv = ['OPENAI_API_KEY']",
            "engine = 'acp'\ncommand = ['gemini', '--experimental-acp']\nwritable = ['~/.gemini']",
            "engine = 'command'\ncommand = ['sh']",
            "engine = 'scripted'\nscript = 'worker.toml'",
        ] {
            let config = AgentConfig::parse(text).expect(text);
            let json = serde_json::to_value(&config).expect("JSON");
            assert_eq!(serde_json::from_value::<AgentConfig>(json).expect("again"), config);
            assert!(text.contains(config.engine.name()), "{text}");
        }
    }

    #[test]
    fn a_bad_configuration_says_what_to_change() {
        for (text, expected) in [
            ("", "engine"),
            ("engine = 'gpt'", "unknown variant"),
            ("engine = 'acp'", "needs `command`"),
            ("engine = 'command'\ncommand = ['']", "needs `command`"),
            ("engine = 'scripted'", "needs `script`"),
            ("engine = 'claude'\ncommand = ['x']", "has no `command`"),
            ("engine = 'command'\ncommand = ['x']\nmodel = 'm'", "has no `model`"),
            ("engine = 'claude'\nenv = ['A=b']", "is not the name of a variable"),
            ("engine = 'claude'\nbudget = 3", "unknown field"),
        ] {
            let error = AgentConfig::parse(text).expect_err(text).to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
