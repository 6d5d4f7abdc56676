//! The table `[adr]` of `assay.toml`: where records are, and what is asked of them here.

use crate::kind::Kind;
use crate::rules;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a finding of a rule means.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
pub enum Level {
    /// Not looked for.
    Off,
    /// Shown, and ends with 2 at most.
    Warn,
    /// Ends with 1.
    #[default]
    Error,
}

/// What `assay adr` can be told.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Config {
    /// Where decisions and their index `README.md` are, from the root of the repository.
    pub directory: String,
    /// Where gaps are, from `directory`.
    pub gaps: String,
    /// Where deviations are, from `directory`.
    pub deviations: String,
    /// Where supplements are, from `directory`.
    pub supplements: String,
    /// How many digits numbers have; without it, as many as the first record has.
    pub digits: Option<u8>,
    /// Sections a kind of record must have, in their order, instead of the usual ones; the kinds
    /// are `adr`, `gap`, `deviation` and `supplement`.
    pub sections: BTreeMap<String, Vec<String>>,
    /// Statuses a kind of record can have, instead of the usual ones. A status of one's own may
    /// follow any other.
    pub statuses: BTreeMap<String, Vec<String>>,
    /// Fields a kind of record must have, instead of the usual ones.
    pub fields: BTreeMap<String, Vec<String>>,
    /// Levels of rules, by name: `A04 = "off"`.
    pub rules: BTreeMap<String, Level>,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            directory: "docs/adr".to_string(),
            gaps: "gaps".to_string(),
            deviations: "deviations".to_string(),
            supplements: "supplements".to_string(),
            digits: None,
            sections: BTreeMap::new(),
            statuses: BTreeMap::new(),
            fields: BTreeMap::new(),
            rules: BTreeMap::new(),
        }
    }
}

/// Why the table cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// Not TOML, or a field that is not known.
    #[error("{0}")]
    Syntax(String),
    /// A rule that is not there.
    #[error("adr.rules: there is no rule {0}; `assay adr rules` lists them")]
    Rule(String),
    /// A kind that is not there.
    #[error("adr.{table}: there is no kind {name}; there are adr, gap, deviation and supplement")]
    Kind {
        /// Which table.
        table: &'static str,
        /// As it was written.
        name: String,
    },
    /// A directory that is outside.
    #[error("adr.{field}: \"{path}\" must be a path below the root, without .. and not absolute")]
    Outside {
        /// Which field.
        field: &'static str,
        /// As it was written.
        path: String,
    },
    /// A number of digits that makes no sense.
    #[error("adr.digits: {0} is not between 3 and 6")]
    Digits(u8),
}

/// Digits of numbers if no record says otherwise.
const DIGITS_USUAL: usize = 4;

#[derive(Default, Deserialize)]
struct File {
    #[serde(default)]
    adr: Config,
}

impl Config {
    /// Reads the text of an `assay.toml`; other tables are left to others.
    pub fn parse(text: &str) -> Result<Config, ConfigError> {
        let file: File = toml_edit::de::from_str(text)
            .map_err(|error| ConfigError::Syntax(error.to_string().trim().to_string()))?;
        let mut config = file.adr;
        config.check()?;
        for path in [
            &mut config.directory,
            &mut config.gaps,
            &mut config.deviations,
            &mut config.supplements,
        ] {
            *path = path.trim_start_matches("./").trim_end_matches('/').to_string();
        }
        Ok(config)
    }

    fn check(&self) -> Result<(), ConfigError> {
        if let Some(name) = self.rules.keys().find(|name| rules::find(name).is_none()) {
            return Err(ConfigError::Rule(name.clone()));
        }
        let tables =
            [("sections", &self.sections), ("statuses", &self.statuses), ("fields", &self.fields)];
        for (table, entries) in tables {
            if let Some(name) = entries.keys().find(|name| Kind::named(name).is_none()) {
                return Err(ConfigError::Kind { table, name: name.clone() });
            }
        }
        let paths = [
            ("directory", &self.directory),
            ("gaps", &self.gaps),
            ("deviations", &self.deviations),
            ("supplements", &self.supplements),
        ];
        for (field, path) in paths {
            let inside = !path.starts_with('/') && path.split('/').all(|part| part != "..");
            if !inside || path.is_empty() || path.contains(['\\', ':']) {
                return Err(ConfigError::Outside { field, path: path.clone() });
            }
        }
        match self.digits {
            Some(digits) if !(3..=6).contains(&digits) => Err(ConfigError::Digits(digits)),
            _ => Ok(()),
        }
    }

    /// The level of a rule.
    pub fn level(&self, rule: &str) -> Level {
        self.rules.get(rule).copied().unwrap_or_default()
    }

    /// The directory of a kind, from the root.
    pub fn home(&self, kind: Kind) -> String {
        match kind {
            Kind::Adr => self.directory.clone(),
            Kind::Gap => format!("{}/{}", self.directory, self.gaps),
            Kind::Deviation => format!("{}/{}", self.directory, self.deviations),
            Kind::Supplement => format!("{}/{}", self.directory, self.supplements),
        }
    }

    /// The index that lists all records.
    pub fn index(&self) -> String {
        format!("{}/README.md", self.directory)
    }

    /// The kind of the records that lie where this file lies.
    pub fn kind_of(&self, path: &str) -> Option<Kind> {
        let (directory, _) = path.rsplit_once('/')?;
        Kind::ALL.into_iter().find(|kind| self.home(*kind) == directory)
    }

    /// The sections a kind must have.
    pub fn sections(&self, kind: Kind) -> Vec<String> {
        chosen(&self.sections, kind, || kind.shape().sections.to_vec())
    }

    /// The statuses a kind can have.
    pub fn statuses(&self, kind: Kind) -> Vec<String> {
        chosen(&self.statuses, kind, || {
            kind.shape().lifecycle.iter().map(|(name, _)| *name).collect()
        })
    }

    /// The fields a kind must have.
    pub fn fields(&self, kind: Kind) -> Vec<String> {
        chosen(&self.fields, kind, || kind.shape().fields.to_vec())
    }

    /// How many digits numbers have, if the first record there is has `first`.
    pub fn digits(&self, first: Option<usize>) -> usize {
        self.digits.map(usize::from).or(first).unwrap_or(DIGITS_USUAL)
    }
}

fn chosen(
    table: &BTreeMap<String, Vec<String>>,
    kind: Kind,
    usual: impl FnOnce() -> Vec<&'static str>,
) -> Vec<String> {
    match table.get(kind.name()) {
        Some(own) => own.clone(),
        None => usual().into_iter().map(str::to_string).collect(),
    }
}

/// The JSON Schema of the table.
pub fn schema() -> serde_json::Value {
    let mut schema = serde_json::to_value(schemars::schema_for!(Config)).unwrap_or_default();
    if let Some(object) = schema.as_object_mut() {
        // It becomes a part of the schema of the whole file, which has both.
        object.retain(|name, _| name != "$schema" && name != "title");
    }
    schema
}
