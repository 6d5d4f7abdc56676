//! The options of a generator, read with their defaults.

use crate::catalog::{COMMON, GeneratorInfo, OptionInfo};
use crate::config::{Config, ConfigError};
use crate::near::did_you_mean;
use serde_json::Value;
use std::ops::RangeInclusive;

/// Options by name. Every name has been checked, so that a misspelled one is an error and not a
/// default.
pub(crate) struct Options<'a> {
    info: &'static GeneratorInfo,
    config: &'a Config,
}

impl<'a> Options<'a> {
    pub(crate) fn new(
        info: &'static GeneratorInfo,
        config: &'a Config,
    ) -> Result<Options<'a>, ConfigError> {
        for option in config.options.keys() {
            if !known(info).any(|known| known.name == option) {
                let names = || known(info).map(|known| known.name);
                return Err(ConfigError::UnknownOption {
                    generator: info.name.to_string(),
                    option: option.clone(),
                    help: did_you_mean(option, names()),
                    known: names().collect::<Vec<_>>().join(", "),
                });
            }
        }
        Ok(Options { info, config })
    }

    /// What was set, or the default. A generator without that option has null.
    fn value(&self, name: &str) -> Value {
        if let Some(value) = self.config.options.get(name) {
            return value.clone();
        }
        let option = known(self.info).find(|known| known.name == name);
        let parsed = option.map(|option| serde_json::from_str(option.default));
        parsed.map_or(Value::Null, |value| value.expect("defaults of the catalog are JSON"))
    }

    fn bad(name: &str, expected: impl Into<String>, found: &Value) -> ConfigError {
        let (option, expected) = (name.to_string(), expected.into());
        ConfigError::BadOption { option, expected, found: found.to_string() }
    }

    /// A whole number; the least of its range where the generator has no such option.
    pub(crate) fn natural(
        &self,
        name: &str,
        range: RangeInclusive<u64>,
    ) -> Result<u64, ConfigError> {
        let value = self.value(name);
        if value.is_null() && !self.config.options.contains_key(name) {
            return Ok(*range.start());
        }
        let found = value.as_u64().filter(|found| range.contains(found));
        let expected = || format!("a whole number from {} to {}", range.start(), range.end());
        found.ok_or_else(|| Self::bad(name, expected(), &value))
    }

    pub(crate) fn real(&self, name: &str, range: RangeInclusive<f64>) -> Result<f64, ConfigError> {
        let value = self.value(name);
        let found = value.as_f64().filter(|found| range.contains(found));
        let expected = || format!("a number from {} to {}", range.start(), range.end());
        found.ok_or_else(|| Self::bad(name, expected(), &value))
    }

    pub(crate) fn text(&self, name: &str) -> Result<String, ConfigError> {
        let value = self.value(name);
        let found = value.as_str().map(str::to_string);
        found.ok_or_else(|| Self::bad(name, "a text", &value))
    }

    /// A text of a few.
    pub(crate) fn one_of<T: Copy>(
        &self,
        name: &str,
        known: &[(&str, T)],
    ) -> Result<T, ConfigError> {
        let value = self.value(name);
        let found = known.iter().find(|(word, _)| value.as_str() == Some(word));
        found.map(|(_, meant)| *meant).ok_or_else(|| {
            let words: Vec<String> = known.iter().map(|(word, _)| format!("`{word}`")).collect();
            Self::bad(name, format!("one of {}", words.join(", ")), &value)
        })
    }

    pub(crate) fn texts(&self, name: &str) -> Result<Vec<String>, ConfigError> {
        let value = self.value(name);
        let items = value.as_array().filter(|items| !items.is_empty());
        let texts = |items: &Vec<Value>| -> Option<Vec<String>> {
            items.iter().map(|item| item.as_str().map(str::to_string)).collect()
        };
        items.and_then(texts).ok_or_else(|| Self::bad(name, "a list of texts", &value))
    }

    /// `4`, `"1..4"` or `[1, 4]`: both ends belong to it.
    pub(crate) fn range(
        &self,
        name: &str,
        limits: RangeInclusive<u64>,
    ) -> Result<RangeInclusive<u64>, ConfigError> {
        let value = self.value(name);
        let ends = match &value {
            Value::Number(number) => number.as_u64().map(|n| (n, n)),
            Value::String(text) => text.split_once("..").and_then(|(least, most)| {
                Some((least.trim().parse().ok()?, most.trim().parse().ok()?))
            }),
            Value::Array(items) => match &items[..] {
                [least, most] => least.as_u64().zip(most.as_u64()),
                _ => None,
            },
            _ => None,
        };
        let inside = |n: &u64| limits.contains(n);
        let ends = ends.filter(|(least, most)| least <= most && inside(least) && inside(most));
        let form = || format!("a range within {} to {}, as \"1..4\"", limits.start(), limits.end());
        ends.map(|(least, most)| least..=most).ok_or_else(|| Self::bad(name, form(), &value))
    }
}

/// All options of a generator: its own and those of every generator.
fn known(info: &'static GeneratorInfo) -> impl Iterator<Item = &'static OptionInfo> {
    info.options.iter().chain(COMMON)
}
