//! Which program an agent is, as people write it down.

use serde::{Deserialize, Serialize};
use std::net::IpAddr;
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
    /// A session of `assay serve`, which runs the agent.
    Session(SessionConfig),
}

/// Where sessions are begun, and which.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SessionConfig {
    /// The server, on this machine: `http://127.0.0.1:8377`.
    pub url: String,
    /// The id of the agent.
    pub agent: String,
    /// The id of the environment.
    pub environment: String,
    /// The name of the variable that has a key of the server.
    pub key: String,
}

impl SessionConfig {
    fn new(
        url: String,
        agent: String,
        environment: String,
        key: String,
    ) -> Result<SessionConfig, ConfigError> {
        SessionConfig::authority(&url)?;
        for (field, id, prefix) in
            [("agent", &agent, "agent_"), ("environment", &environment, "env_")]
        {
            if id.strip_prefix(prefix).is_none_or(str::is_empty) {
                return Err(ConfigError::Id { field, id: id.clone(), prefix });
            }
        }
        if !is_variable(&key) {
            return Err(ConfigError::Variable { field: "key", name: key });
        }
        Ok(SessionConfig { url, agent, environment, key })
    }

    /// Host and port of an address.
    ///
    /// # Errors
    /// If it leads elsewhere than to this machine: only here can directories be lent, and keys be
    /// sent by plain HTTP.
    pub fn authority(url: &str) -> Result<String, ConfigError> {
        let wrong = || ConfigError::Url { url: url.to_string() };
        let authority = url.strip_prefix("http://").ok_or_else(wrong)?;
        let authority = authority.strip_suffix('/').unwrap_or(authority);
        let (host, port) = authority.rsplit_once(':').ok_or_else(wrong)?;
        let name = host.trim_start_matches('[').trim_end_matches(']');
        let is_near = name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
        let is_port = port.parse::<u16>().is_ok_and(|port| port > 0);
        match (is_near || name == "localhost") && is_port {
            true => Ok(authority.to_string()),
            false => Err(wrong()),
        }
    }
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
    /// Not a server that can be lent a directory.
    #[error("url: `{url}` must be http://, an address of this machine, and a port")]
    Url {
        /// What stands there.
        url: String,
    },
    /// Not the id of something that a server has.
    #[error("{field}: `{id}` is no id of `assay serve`; it begins with {prefix}")]
    Id {
        /// Which field.
        field: &'static str,
        /// What stands there.
        id: String,
        /// How it would begin.
        prefix: &'static str,
    },
    /// Not the name of a variable.
    #[error(
        "{field}: `{name}` is not the name of a variable; values are taken from the environment"
    )]
    Variable {
        /// Which field.
        field: &'static str,
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    agent: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    environment: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    key: Option<String>,
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
    Session,
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
        if let Some(name) = fields.env.iter().find(|name| !is_variable(name)) {
            return Err(ConfigError::Variable { field: "env", name: name.clone() });
        }
        let Fields { engine, program, model, args, command, script, .. } = fields;
        let Fields { url, agent, environment, key, env, writable, .. } = fields;
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
        let served = engine == EngineName::Session;
        let places =
            [(&url, "url"), (&agent, "agent"), (&environment, "environment"), (&key, "key")];
        for (place, field) in places {
            unused(place.is_some() && !served, field)?;
        }
        // What it gets and where it works is for its server to say.
        unused(!env.is_empty() && served, "env")?;
        unused(!writable.is_empty() && served, "writable")?;
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
            (EngineName::Session, _) => {
                let needed = |value: Option<String>, field| {
                    value.ok_or(ConfigError::Missing { engine: name, field })
                };
                Engine::Session(SessionConfig::new(
                    needed(url, "url")?,
                    needed(agent, "agent")?,
                    needed(environment, "environment")?,
                    needed(key, "key")?,
                )?)
            }
        };
        Ok(AgentConfig { engine, env, writable })
    }
}

fn is_variable(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
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
            Engine::Session(_) => EngineName::Session,
        };
        match config.engine {
            Engine::Claude { program, model, args } | Engine::Codex { program, model, args } => {
                Fields { engine, program: Some(program), model, args, ..fields }
            }
            Engine::Acp { command } | Engine::Command { command } => {
                Fields { engine, command, ..fields }
            }
            Engine::Scripted { script } => Fields { engine, script: Some(script), ..fields },
            Engine::Session(SessionConfig { url, agent, environment, key }) => Fields {
                engine,
                url: Some(url),
                agent: Some(agent),
                environment: Some(environment),
                key: Some(key),
                ..fields
            },
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
            EngineName::Session => "session",
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
            Engine::Session(_) => "session",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn served(url: &str, agent: &str, key: &str) -> String {
        format!(
            "engine = 'session'\n{url}\nagent = '{agent}'\nenvironment = 'env_1'\nkey = '{key}'"
        )
    }

    #[test]
    fn configurations_are_read_and_written_again() {
        for text in [
            "engine = 'claude'\nmodel = 'sonnet'\nargs = ['--permission-mode', 'plan']",
            "engine = 'codex'\nprogram = '/opt/codex'\nenv = ['OPENAI_API_KEY']",
            "engine = 'acp'\ncommand = ['gemini', '--experimental-acp']\nwritable = ['~/.gemini']",
            "engine = 'command'\ncommand = ['sh']",
            "engine = 'scripted'\nscript = 'worker.toml'",
            &served("url = 'http://127.0.0.1:8377'", "agent_1", "KEY"),
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
            ("engine = 'session'", "needs `url`"),
            ("engine = 'command'\ncommand = ['x']\nkey = 'K'", "has no `key`"),
            (&served("url = 'http://[::1]:80/'\nenv = ['A']", "agent_1", "K"), "has no `env`"),
            (
                &served("url = 'http://localhost:80'\nargs = ['-x']", "agent_1", "K"),
                "has no `args`",
            ),
            (&served("url = 'http://localhost:80'", "sonnet", "K"), "begins with agent_"),
            (&served("url = 'http://localhost:80'", "agent_1", "asy_-"), "key: `asy_-` is not"),
            (&served("url = 'https://127.0.0.1:80'", "agent_1", "K"), "an address of this machine"),
            (&served("url = 'http://127.0.0.1'", "agent_1", "K"), "and a port"),
            (&served("url = 'http://127.0.0.1.example:80'", "agent_1", "K"), "of this machine"),
            (&served("url = 'http://10.0.0.1:80'", "agent_1", "K"), "of this machine"),
        ] {
            let error = AgentConfig::parse(text).expect_err(text).to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
