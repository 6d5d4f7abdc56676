//! `assay.toml`: levels of rules, lattices and paths.

use crate::rules::{self, Level};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The file `assay.toml`. Everything has a default; other tables of the file are left to others.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct File {
    /// What `assay guard` uses.
    #[serde(default)]
    pub guard: Config,
}

/// What `assay guard` can be told.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Config {
    /// Levels of rules, by name: `T12 = "off"`.
    pub rules: BTreeMap<String, Level>,
    /// Where the records of approvals are.
    pub approvals: String,
    /// Paths that are not looked at: a file, a directory, or a pattern with `*` and `**`.
    pub ignore: Vec<String>,
    /// Paths of documents with requirements, besides those known by their names.
    pub requirements: Vec<String>,
    /// Units from fine to coarse, one list each; a step to a coarser one is a finding (Q04).
    pub granularity: Vec<Vec<String>>,
    /// Kinds of equality from strict to loose (Q05).
    pub equality: Vec<Vec<String>>,
    /// Authors of changes that are programs: texts that occur in their name or address.
    pub agents: Vec<String>,
    /// Constants of TLA+ configurations that bound a model, besides those known by their names.
    pub bounds: Vec<String>,
    /// Names of macros and functions that check something, besides those known.
    pub assertions: Vec<String>,
}

fn lists(words: &[&[&str]]) -> Vec<Vec<String>> {
    words.iter().map(|list| list.iter().map(ToString::to_string).collect()).collect()
}

impl Default for Config {
    fn default() -> Config {
        Config {
            rules: BTreeMap::new(),
            approvals: ".assay/approvals".to_string(),
            ignore: Vec::new(),
            requirements: Vec::new(),
            granularity: lists(&[
                &["bit", "byte", "page", "block", "column chunk", "row group", "file", "volume"],
                &["field", "row", "table", "database"],
                &["event", "batch", "stream"],
                &["message", "request", "session", "connection"],
                &["record", "segment", "partition", "topic"],
                &["key", "shard", "node", "cluster"],
                &["line", "function", "module", "crate"],
                &["operation", "transaction", "job"],
                &["millisecond", "second", "minute", "hour", "day", "week", "month", "year"],
            ]),
            equality: lists(&[&[
                "byte-identical",
                "byte-for-byte",
                "bit-identical",
                "bit-equal",
                "identical",
                "exactly equal",
                "equal",
                "semantically equivalent",
                "logically equivalent",
                "functionally equivalent",
                "equivalent",
                "compatible",
                "consistent",
                "similar",
                "comparable",
            ]]),
            agents: [
                "[bot]",
                "-bot@",
                "bot@",
                "claude",
                "copilot",
                "codex",
                "cursor",
                "devin",
                "aider",
                "gemini",
                "assistant",
                "agent",
                "noreply@anthropic",
                "openai",
            ]
            .map(str::to_string)
            .to_vec(),
            bounds: Vec::new(),
            assertions: Vec::new(),
        }
    }
}

/// Why `assay.toml` cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// Not TOML, or a field that is not known.
    #[error("{0}")]
    Syntax(String),
    /// A rule that is not there.
    #[error("guard.rules: there is no rule {0}; `assay guard rules` lists them")]
    Rule(String),
}

impl Config {
    /// Reads the text of an `assay.toml`.
    pub fn parse(text: &str) -> Result<Config, ConfigError> {
        let file: File = toml_edit::de::from_str(text)
            .map_err(|error| ConfigError::Syntax(error.to_string().trim().to_string()))?;
        for name in file.guard.rules.keys() {
            if rules::find(name).is_none() {
                return Err(ConfigError::Rule(name.clone()));
            }
        }
        Ok(file.guard)
    }

    /// The level of a rule.
    pub fn level(&self, rule: rules::RuleId) -> Level {
        self.rules.get(rule.0).copied().unwrap_or(Level::Error)
    }

    /// Whether a path is not looked at.
    pub fn ignores(&self, path: &str) -> bool {
        self.ignore.iter().any(|pattern| matches(pattern, path))
    }
}

/// The JSON Schema of `assay.toml`.
pub fn schema() -> serde_json::Value {
    serde_json::to_value(schemars::schema_for!(File)).unwrap_or_default()
}

/// Whether a path is `pattern`, lies below it, or fits it: `*` stays within a name, `**` does not.
pub fn matches(pattern: &str, path: &str) -> bool {
    let pattern = pattern.trim_end_matches('/');
    if !pattern.contains('*') {
        return path == pattern || path.strip_prefix(pattern).is_some_and(|r| r.starts_with('/'));
    }
    glob(pattern.as_bytes(), path.as_bytes())
}

/// Iterative matching with the last star to come back to: linear in practice, never exponential.
fn glob(pattern: &[u8], path: &[u8]) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut single: Option<(usize, usize)> = None;
    let mut double: Option<(usize, usize)> = None;
    while t < path.len() {
        if pattern[p..].starts_with(b"**") {
            p += if pattern[p + 2..].starts_with(b"/") { 3 } else { 2 };
            double = Some((p, t));
            single = None;
        } else if pattern.get(p) == Some(&b'*') {
            p += 1;
            single = Some((p, t));
        } else if pattern.get(p) == Some(&path[t]) {
            (p, t) = (p + 1, t + 1);
        } else if let Some((after, from)) = single.filter(|(_, from)| path[*from] != b'/') {
            single = Some((after, from + 1));
            (p, t) = (after, from + 1);
        } else if let Some((after, from)) = double {
            double = Some((after, from + 1));
            single = None;
            (p, t) = (after, from + 1);
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|byte| *byte == b'*')
}
