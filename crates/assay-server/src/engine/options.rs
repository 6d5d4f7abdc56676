//! Which engines there are, as the operator writes it down.
//!
//! ```toml
//! [models.small]                           # what agents call it
//! base_url = "https://api.example.com"     # POST {base_url}/v1/messages
//! api_key_env = "EXAMPLE_KEY"              # the variable that has the key
//! model = "small-2026"                     # what the endpoint calls it
//! max_tokens = 8192                        # of one answer
//! context_tokens = 200000                  # of one request, its answer included
//! prices = { input = 3, output = 15 }      # US dollars for a million tokens
//!
//! [acp.helper]                             # an agent of the Agent Client Protocol
//! command = ["helper", "--acp"]
//! env = ["HELPER_KEY"]                     # variables it gets, besides the usual ones
//! ```

use super::prices::Prices;
use super::script::Script;
use crate::net::Origin;
use assay_sandbox::{OpenError, ProviderKind};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use url::Url;

/// Engines in one file.
const ENGINES_MAX: usize = 100;
const NAME_MAX: usize = 100;
/// What an answer may have if nothing else is said, and what a request may.
const MAX_TOKENS: u64 = 8192;
const CONTEXT_TOKENS: u64 = 200_000;
/// The least that makes sense.
const CONTEXT_TOKENS_MIN: u64 = 1000;

/// What the server is put together from.
#[derive(Debug)]
pub struct EngineOptions {
    /// What agents with the model `scripted` do, if there is such a model.
    pub script: Option<Script>,
    /// The other engines.
    pub config: EngineConfig,
    /// Who makes sandboxes.
    pub sandbox: ProviderKind,
    /// Whether environments may have an open network.
    pub opens_network: bool,
    /// Names that lead nearby.
    pub origins: Vec<Origin>,
    /// Directories of this machine below which sessions may work in some.
    pub lends: Vec<PathBuf>,
}

/// A file of engines.
#[derive(Clone, PartialEq, Default, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EngineConfig {
    /// Models behind an endpoint, by name.
    #[serde(default)]
    pub models: BTreeMap<String, ModelConfig>,
    /// Agents that are programs, by name.
    #[serde(default)]
    pub acp: BTreeMap<String, AcpConfig>,
}

/// A model behind an endpoint.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelConfig {
    /// Where: `/v1/messages` is added.
    #[serde(deserialize_with = "read_url")]
    pub base_url: Url,
    /// The variable that has the key; none is sent without.
    pub api_key_env: Option<String>,
    /// What the endpoint calls the model, if not as it is called here.
    pub model: Option<String>,
    /// What people call it.
    pub display_name: Option<String>,
    /// How long an answer may be.
    #[serde(default = "max_tokens")]
    pub max_tokens: u64,
    /// How long a request may be, its answer included.
    #[serde(default = "context_tokens")]
    pub context_tokens: u64,
    /// What its tokens cost; sessions have no cost without.
    pub prices: Option<Prices>,
}

fn read_url<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Url, D::Error> {
    let text = String::deserialize(from)?;
    let wrong = |error| serde::de::Error::custom(format!("base_url: `{text}`: {error}"));
    Url::parse(&text).map_err(wrong)
}

fn max_tokens() -> u64 {
    MAX_TOKENS
}

fn context_tokens() -> u64 {
    CONTEXT_TOKENS
}

/// An agent that is a program.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AcpConfig {
    /// Program and arguments.
    pub command: Vec<String>,
    /// What people call it.
    pub display_name: Option<String>,
    /// Names of variables it gets.
    #[serde(default)]
    pub env: Vec<String>,
    /// Places it may write to, besides the workspace of the session.
    #[serde(default)]
    pub writable: Vec<String>,
}

/// Why a file of engines is none.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// Not TOML, or not these fields.
    #[error("{0}")]
    Toml(#[from] toml_edit::de::Error),
    /// One of them makes no sense.
    #[error("`{name}`: {what}")]
    Engine {
        /// Which.
        name: String,
        /// What is wrong, and what would be right.
        what: String,
    },
    /// Too much of it.
    #[error("a file has at most {ENGINES_MAX} engines")]
    Size,
}

/// Why there are no engines.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// There is no sandbox.
    #[error("{0}; `assay sandbox run -- true` says more, and --sandbox none does without")]
    Sandbox(#[from] OpenError),
    /// The system does not say which program this is.
    #[error("cannot find this program to run tools by it: {0}")]
    ThisProgram(std::io::Error),
    /// A key is not there.
    #[error("model `{model}`: the variable {variable} is not set; it has to have the key")]
    NoKey {
        /// Whose.
        model: String,
        /// Which variable.
        variable: String,
    },
    /// A key that cannot be sent.
    #[error("model `{model}`: the variable {variable} has no key in it that could be sent")]
    BadKey {
        /// Whose.
        model: String,
        /// Which variable.
        variable: String,
    },
    /// There is nothing to check certificates by.
    #[error("model `{0}`: no certificates of authorities on this machine; install ca-certificates")]
    NoRoots(String),
    /// Nothing would keep a program from writing elsewhere, or from reading what it must not.
    #[error("acp agent `{name}`: {why}; --sandbox none does without")]
    Unprotected {
        /// Whose.
        name: String,
        /// Why not.
        why: String,
    },
    /// A directory that cannot be lent.
    #[error("--lend {}: {why}", path.display())]
    Lend {
        /// Which.
        path: PathBuf,
        /// Why not.
        why: String,
    },
    /// A program is not there.
    #[error("acp agent `{name}`: the program `{program}` is not there or cannot be run")]
    NoProgram {
        /// Whose.
        name: String,
        /// Which.
        program: String,
    },
}

impl EngineConfig {
    /// Reads a file of engines.
    ///
    /// # Errors
    /// Names what is wrong and where.
    pub fn parse(text: &str) -> Result<EngineConfig, ConfigError> {
        let config: EngineConfig = toml_edit::de::from_str(text)?;
        if config.models.len() + config.acp.len() > ENGINES_MAX {
            return Err(ConfigError::Size);
        }
        let names = || config.models.keys().chain(config.acp.keys());
        for (index, name) in names().enumerate() {
            let bad = |what: &str| ConfigError::Engine { name: name.clone(), what: what.into() };
            let plain = |c: char| c.is_ascii_alphanumeric() || "-_.:".contains(c);
            if name.is_empty() || name.len() > NAME_MAX || !name.chars().all(plain) {
                return Err(bad("a name has up to 100 letters, digits, `-`, `_`, `.` and `:`"));
            }
            if name == super::SCRIPTED {
                return Err(bad("is the name of the engine that plays scripts; take another"));
            }
            if names().skip(index + 1).any(|other| other == name) {
                return Err(bad("is there twice"));
            }
        }
        for (name, model) in &config.models {
            model.check().map_err(|what| ConfigError::Engine { name: name.clone(), what })?;
        }
        for (name, agent) in &config.acp {
            if agent.command.first().is_none_or(String::is_empty) {
                let what = "command: must be a program and its arguments".to_string();
                return Err(ConfigError::Engine { name: name.clone(), what });
            }
        }
        Ok(config)
    }
}

impl ModelConfig {
    fn check(&self) -> Result<(), String> {
        let url = &self.base_url;
        if !["http", "https"].contains(&url.scheme()) || url.host_str().is_none() {
            return Err("base_url: must begin with https:// or http://".into());
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err("base_url: no secrets here; name a variable in api_key_env".into());
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err("base_url: ends before `/v1/messages`".into());
        }
        let name = self.api_key_env.as_deref().unwrap_or("X");
        if name.is_empty() || !name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
            return Err("api_key_env: must be the name of a variable, never a key".into());
        }
        if self.max_tokens == 0 || self.context_tokens < CONTEXT_TOKENS_MIN {
            return Err(format!("context_tokens: at least {CONTEXT_TOKENS_MIN}; max_tokens: 1"));
        }
        if self.max_tokens >= self.context_tokens {
            return Err("max_tokens: must be less than context_tokens, which includes it".into());
        }
        self.prices.map_or(Ok(()), |prices| prices.check())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_engines_is_read_or_refused_by_name() {
        let url = "base_url = 'https://a.example'";
        let good = format!("[models.m]\n{url}\n[acp.a]\ncommand = ['x', '-y']");
        let config = EngineConfig::parse(&good).expect("well-formed");
        assert_eq!(config.models["m"].max_tokens, MAX_TOKENS);
        assert_eq!(config.acp["a"].command, ["x", "-y"]);
        let cases = [
            ("nonsense".to_string(), "TOML"),
            ("[models.m]".to_string(), "base_url"),
            (format!("[models.m]\n{url}\nkey = 'secret'"), "key"),
            ("[models.m]\nbase_url = 'ftp://a.example'".to_string(), "https://"),
            ("[models.m]\nbase_url = 'https://u:p@a.example'".to_string(), "no secrets"),
            (format!("[models.m]\n{url}\napi_key_env = 'sk-1'"), "never a key"),
            (format!("[models.m]\n{url}\nmax_tokens = 0"), "max_tokens"),
            (format!("[models.m]\n{url}\nmax_tokens = 200000"), "must be less"),
            (format!("[models.m]\n{url}\nprices = {{ input = 3 }}"), "output"),
            (format!("[models.m]\n{url}\nprices = {{ input = 3, output = -1 }}"), "prices.output"),
            (format!("[models.m]\n{url}\nprices = {{ input = 3, output = 1, x = 1 }}"), "x"),
            (format!("[models.scripted]\n{url}"), "take another"),
            (format!("[models.'a b']\n{url}"), "a name has"),
            (format!("[models.m]\n{url}\n[acp.m]\ncommand = ['x']"), "is there twice"),
            ("[acp.a]\ncommand = []".to_string(), "must be a program"),
        ];
        for (text, expected) in cases {
            let error = EngineConfig::parse(&text).expect_err(&text).to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
