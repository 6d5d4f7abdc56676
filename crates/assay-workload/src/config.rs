//! What a workload is made from, and what can be wrong with it.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// Clients of one workload.
pub const CLIENTS_MAX: usize = 100_000;
/// Keys of one workload: the table of a skewed distribution is kept in memory.
pub const KEYS_MAX: u64 = 1_000_000;

/// Which keys are hot.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Distribution {
    /// None.
    #[default]
    Uniform,
    /// The first ones, by Zipf's law; the option `skew` says how much.
    Zipf,
}

/// What a workload is made from.
#[derive(Clone, PartialEq, Debug)]
pub struct Config {
    /// The name of a generator: see [`crate::GENERATORS`].
    pub generator: String,
    /// How many clients.
    pub clients: usize,
    /// How many objects.
    pub keys: u64,
    /// Which of them are hot.
    pub distribution: Distribution,
    /// Shares of the operation types; empty: the generator's own.
    pub mix: BTreeMap<String, u64>,
    /// More for the generator.
    pub options: BTreeMap<String, Value>,
    /// What all chance comes from.
    pub seed: u64,
}

impl Config {
    /// A config with the generator's own mix and options, and no hot keys.
    pub fn new(generator: &str, clients: usize, keys: u64, seed: u64) -> Config {
        Config {
            generator: generator.to_string(),
            clients,
            keys,
            distribution: Distribution::Uniform,
            mix: BTreeMap::new(),
            options: BTreeMap::new(),
            seed,
        }
    }
}

/// Why there is no such workload.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum ConfigError {
    /// No generator has this name.
    #[error("there is no generator `{name}`{help}; there are {known}")]
    UnknownGenerator {
        /// What was asked for.
        name: String,
        /// The name that may have been meant.
        help: String,
        /// All names.
        known: String,
    },
    /// The mix names an operation type that the generator does not make.
    #[error("the generator `{generator}` makes no `{op}`{help}; it makes {known}")]
    UnknownOp {
        /// The generator.
        generator: String,
        /// What the mix names.
        op: String,
        /// The name that may have been meant.
        help: String,
        /// What it makes.
        known: String,
    },
    /// The shares of the mix are all zero.
    #[error("the mix of `{generator}` has no share above 0: nothing would ever be done")]
    EmptyMix {
        /// The generator.
        generator: String,
    },
    /// The generator has no such option.
    #[error("the generator `{generator}` has no option `{option}`{help}; it has {known}")]
    UnknownOption {
        /// The generator.
        generator: String,
        /// What was set.
        option: String,
        /// The name that may have been meant.
        help: String,
        /// Its options.
        known: String,
    },
    /// An option cannot have this value.
    #[error("the option `{option}` is {expected}, not {found}")]
    BadOption {
        /// The option.
        option: String,
        /// What it can be.
        expected: String,
        /// What it was, as JSON.
        found: String,
    },
    /// A number is out of its range.
    #[error("{what} must be {least} to {most}, not {found}")]
    OutOfRange {
        /// Of what.
        what: &'static str,
        /// The least it can be.
        least: u64,
        /// The most it can be.
        most: u64,
        /// What it was.
        found: u64,
    },
    /// A rate at which nothing can arrive.
    #[error("{rate} operations a second cannot arrive: a rate is above 0 and at most 1e9")]
    BadRate {
        /// The rate.
        rate: f64,
    },
}
