//! Descriptions of systems: `systems/NAME.toml`.
//!
//! A description says how a node is started and looked at, and nothing about tests. It is read
//! once, checked as a whole, and errors name the line and what to do. Key by key:
//! docs/formats/system.md.

mod check;
mod description;
mod lookup;
mod options;
mod places;
mod releases;
#[cfg(test)]
mod tests;
mod values;

pub use lookup::{builtin_names, known_names, load};

pub(crate) use description::{
    ClientSpec, Description, HoldsSpec, Over, PackageSpec, PortUse, ReadySpec, ReleaseSpec,
    RoleSpec, SignalSpec, StopSignal, WheelSpec,
};
pub(crate) use options::{GENERATOR_OPTION, checked_options};
pub(crate) use releases::RELEASE_OPTION;
pub(crate) use values::{Get, Pointer};

use std::path::PathBuf;

/// A system, as it is described.
#[derive(Clone, PartialEq, Debug)]
pub struct SystemSpec {
    /// What it is called: the name of its file.
    pub name: String,
    /// What it is, in a line.
    pub about: String,
    /// The file it was read from; `None` for one that is built in.
    pub file: Option<PathBuf>,
    pub(crate) described: Description,
}

/// Why there is no description.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SpecError {
    /// Nobody has described it.
    #[error(
        "there is no system `{name}`: no systems/{name}.toml in {} and above, and it is not built \
         in; there are {}",
        .looked.join(", "), .exist.join(", ")
    )]
    Unknown {
        /// What was asked for.
        name: String,
        /// Where it was looked for.
        looked: Vec<String>,
        /// What could have been asked for.
        exist: Vec<String>,
    },
    /// The file cannot be read.
    #[error("{file}: cannot be read: {message}")]
    Unreadable {
        /// The file.
        file: String,
        /// Why not.
        message: String,
    },
    /// It does not describe a system.
    #[error("{file}:{line}: {message}")]
    Bad {
        /// The file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// What is wrong, and what to do.
        message: String,
    },
}

/// What stands between the test and the system, by the description's own account.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Retries {
    /// A call of the client is one request: it is sent once or not at all.
    None,
    /// The client sends again by itself, so one call may have several effects.
    Hidden,
}

impl SystemSpec {
    /// Reads a description. `file` is for messages.
    ///
    /// # Errors
    /// If it is no TOML, has a key nobody knows, or contradicts itself.
    pub fn parse(name: &str, file: &str, text: &str) -> Result<SystemSpec, SpecError> {
        let described = places::read(text).map_err(|problem| SpecError::Bad {
            file: file.to_string(),
            line: problem.line,
            message: problem.message,
        })?;
        let about = described.about.clone();
        Ok(SystemSpec { name: name.to_string(), about, file: None, described })
    }

    /// The releases that can be fetched, each with a line about it.
    pub fn releases(&self) -> Vec<(&str, &str)> {
        let releases = self.described.releases.iter();
        releases.map(|(name, release)| (name.as_str(), release.about.as_str())).collect()
    }

    /// Whether a release can be started here: it was fetched, or what it needs is installed.
    pub fn is_at_hand(&self, release: &str) -> bool {
        self.lacks(release).is_none()
    }

    /// What this machine lacks for a release, with what to do about it; `None`: nothing.
    pub fn lacks(&self, release: &str) -> Option<String> {
        let options = [(RELEASE_OPTION.to_string(), release.into())].into();
        crate::cluster::programs(self, &options).err().map(|error| error.to_string())
    }

    /// The packages of a release that run here, each with its version; none if nobody knows.
    pub fn versions(&self, release: &str) -> Vec<String> {
        crate::releases::versions(self, release)
    }

    /// How many nodes it has unless somebody says otherwise.
    pub fn nodes_default(&self) -> usize {
        self.described.nodes.default
    }

    /// Whether it can have this many nodes.
    pub fn allows_nodes(&self, nodes: usize) -> bool {
        self.described.nodes.allows(nodes)
    }

    /// Texts of lines that its log may hold although nothing is wrong with it.
    pub fn ordinary_lines(&self) -> &[String] {
        &self.described.node.ordinary
    }

    /// Whether clients are processes of their own, or can be.
    pub fn has_client_processes(&self) -> bool {
        !self.described.client.maelstrom
    }

    /// The roles that can be asked for.
    pub fn roles(&self) -> Vec<&str> {
        self.described.roles.keys().map(String::as_str).collect()
    }

    /// Whether a signal of this name can be read once it runs.
    pub fn has_signal(&self, name: &str) -> bool {
        match name {
            "restarts" => true,
            "heartbeat-gap" => self.described.node.heartbeat_probe().is_some(),
            _ => self.described.signals.contains_key(name),
        }
    }

    /// Whether such a signal is read from the kernel of a node in a namespace of its own.
    pub fn is_signal_of_namespaces(name: &str) -> bool {
        crate::cluster::tcp_counters::has(name)
    }

    /// Whether some of its ports take datagrams: then they can be lost, doubled and reordered
    /// without namespaces.
    pub fn has_datagrams(&self) -> bool {
        self.described.ports.values().any(|uses| uses.contains(&PortUse::Datagrams))
    }

    /// Whether the client repeats requests by itself, and why that is so or is known.
    pub fn retries(&self) -> (Retries, Option<&str>) {
        (self.described.client.retries, self.described.client.reason.as_deref())
    }

    /// What is wrong with options somebody wants to give it; empty if nothing is.
    pub fn option_problems(
        &self,
        options: &std::collections::BTreeMap<String, serde_json::Value>,
    ) -> Vec<String> {
        checked_options(&self.described.options, options).err().unwrap_or_default()
    }
}
