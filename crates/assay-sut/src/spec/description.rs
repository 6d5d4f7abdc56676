//! What a description consists of, key by key as it stands in the file.

use super::Retries;
use super::values::{Get, Pointer, Time};
use crate::command::Word;
use crate::template::Template;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;

/// Nodes of one cluster.
pub(crate) const NODES_MAX: usize = 32;
/// How long nodes may take to become ready, unless described.
const READY_TIME: Duration = Duration::from_secs(30);
/// How long a node may take to stop, unless described.
const GRACE_TIME: Duration = Duration::from_secs(5);

/// A whole file.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Description {
    pub(crate) about: String,
    #[serde(default)]
    pub(crate) requires: Vec<String>,
    #[serde(default)]
    pub(crate) nodes: NodeCounts,
    /// What can be fetched of it, by the value of the option `release`.
    #[serde(default)]
    pub(crate) releases: BTreeMap<String, ReleaseSpec>,
    #[serde(default)]
    pub(crate) options: BTreeMap<String, OptionSpec>,
    #[serde(default)]
    pub(crate) ports: BTreeMap<String, Vec<PortUse>>,
    pub(crate) node: NodeSpec,
    /// What holds on every node once the cluster has found itself.
    pub(crate) formed: Option<ReadySpec>,
    #[serde(default)]
    pub(crate) roles: BTreeMap<String, RoleSpec>,
    #[serde(default)]
    pub(crate) signals: BTreeMap<String, SignalSpec>,
    #[serde(default)]
    pub(crate) quiescence: QuiescenceSpec,
    pub(crate) client: ClientSpec,
}

/// Where the programs of one release come from.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReleaseSpec {
    pub(crate) about: String,
    /// Debian packages that hold them.
    #[serde(default)]
    pub(crate) packages: Vec<PackageSpec>,
    /// Commands that have to be those of this release: fetched, or in `installed`.
    #[serde(default)]
    pub(crate) provides: Vec<String>,
    /// The directory of its programs where its packages are installed.
    pub(crate) installed: Option<std::path::PathBuf>,
    /// A Python wheel that does.
    pub(crate) wheel: Option<WheelSpec>,
}

impl ReleaseSpec {
    /// Whether it says which version or file it is, so that another will not do.
    pub(crate) fn is_pinned(&self) -> bool {
        self.wheel.is_some() || self.packages.iter().any(PackageSpec::is_pinned)
    }
}

/// A Debian package: whatever the archive has of it, or a version of a series, or one version, or
/// one file.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum PackageSpec {
    Name(String),
    Pinned(PinnedPackage),
}

#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PinnedPackage {
    pub(crate) name: String,
    pub(crate) version: Option<String>,
    /// How the version begins. Archives replace a package when it is mended: then a version that
    /// was named exactly cannot be had any more, and the series can.
    pub(crate) series: Option<String>,
    pub(crate) sha256: Option<String>,
}

impl PackageSpec {
    pub(crate) fn is_pinned(&self) -> bool {
        match self {
            PackageSpec::Name(_) => false,
            PackageSpec::Pinned(pinned) => {
                pinned.version.is_some() || pinned.series.is_some() || pinned.sha256.is_some()
            }
        }
    }

    /// Whether a version is one that is meant. Of a package that is only named, none is.
    pub(crate) fn means(&self, version: &str) -> bool {
        let exact = self.version().is_some_and(|wanted| wanted == version);
        exact || self.series().is_some_and(|series| version.starts_with(series))
    }

    pub(crate) fn series(&self) -> Option<&str> {
        match self {
            PackageSpec::Name(_) => None,
            PackageSpec::Pinned(pinned) => pinned.series.as_deref(),
        }
    }

    pub(crate) fn name(&self) -> &str {
        match self {
            PackageSpec::Name(name) => name,
            PackageSpec::Pinned(pinned) => &pinned.name,
        }
    }

    pub(crate) fn version(&self) -> Option<&str> {
        match self {
            PackageSpec::Name(_) => None,
            PackageSpec::Pinned(pinned) => pinned.version.as_deref(),
        }
    }

    pub(crate) fn sha256(&self) -> Option<&str> {
        match self {
            PackageSpec::Name(_) => None,
            PackageSpec::Pinned(pinned) => pinned.sha256.as_deref(),
        }
    }
}

/// A wheel, of which one file is meant and no other.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WheelSpec {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) sha256: String,
}

/// How many nodes.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NodeCounts {
    pub(crate) default: usize,
    #[serde(default)]
    pub(crate) allowed: Vec<usize>,
}

impl Default for NodeCounts {
    fn default() -> NodeCounts {
        NodeCounts { default: 1, allowed: Vec::new() }
    }
}

impl NodeCounts {
    pub(crate) fn allows(&self, nodes: usize) -> bool {
        let listed = self.allowed.is_empty() || self.allowed.contains(&nodes);
        (1..=NODES_MAX).contains(&nodes) && listed
    }
}

/// An option; its kind is that of its default.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OptionSpec {
    pub(crate) about: String,
    pub(crate) default: Value,
    /// What it, or an element of it, may be; anything of its kind if this is empty.
    #[serde(default)]
    pub(crate) values: Vec<Value>,
}

/// Who connects to a port.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum PortUse {
    Peers,
    Clients,
    /// Nodes, at each other's real addresses: for what cannot be led through a proxy.
    Direct,
    /// With datagrams (UDP), not with connections.
    Datagrams,
}

/// A node's process.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NodeSpec {
    pub(crate) command: Vec<Word>,
    #[serde(default)]
    pub(crate) environment: BTreeMap<String, Template>,
    #[serde(default)]
    pub(crate) ready: ReadySpec,
    pub(crate) heartbeat: Option<HeartbeatSpec>,
    /// Texts of lines that sound like a disaster and are none.
    #[serde(default)]
    pub(crate) ordinary: Vec<String>,
    #[serde(default)]
    pub(crate) stop: StopSpec,
}

impl NodeSpec {
    /// What is asked of a node all the time; the ready probe, if nothing else is named.
    pub(crate) fn heartbeat_probe(&self) -> Option<&Get> {
        self.heartbeat.as_ref().map(|heartbeat| &heartbeat.get).or(self.ready.get.as_ref())
    }
}

#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HeartbeatSpec {
    pub(crate) get: Get,
}

/// When a node is ready: one of the three, or as soon as it runs.
#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReadySpec {
    /// An HTTP answer of 200.
    pub(crate) get: Option<Get>,
    /// A port that takes connections.
    pub(crate) connect: Option<String>,
    /// A line of the log.
    pub(crate) log: Option<String>,
    within: Option<Time>,
}

impl ReadySpec {
    pub(crate) fn within(&self) -> Duration {
        self.within.map_or(READY_TIME, |time| time.0)
    }

    pub(crate) fn ways(&self) -> usize {
        let (get, connect) = (self.get.is_some(), self.connect.is_some());
        usize::from(get) + usize::from(connect) + usize::from(self.log.is_some())
    }
}

/// How a node is stopped.
#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StopSpec {
    #[serde(default)]
    pub(crate) signal: StopSignal,
    grace: Option<Time>,
}

impl StopSpec {
    pub(crate) fn grace(&self) -> Duration {
        self.grace.map_or(GRACE_TIME, |time| time.0)
    }
}

/// What asks a node to end.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum StopSignal {
    #[default]
    Term,
    Int,
    Quit,
    Kill,
}

/// Who has a role: nodes that say so, or those a command lists.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RoleSpec {
    pub(crate) get: Option<Get>,
    pub(crate) pointer: Option<Pointer>,
    pub(crate) equals: Option<Value>,
    /// Of several that say so, only those where this number is highest.
    pub(crate) highest: Option<Pointer>,
    pub(crate) command: Option<Vec<Word>>,
}

/// A number of the system.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SignalSpec {
    pub(crate) get: Option<Get>,
    pub(crate) pointer: Option<Pointer>,
    pub(crate) command: Option<Vec<Word>>,
    pub(crate) log: Option<String>,
    #[serde(default)]
    pub(crate) over: Over,
}

/// How the numbers of several nodes become one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Over {
    /// Counters that only grow while a process lives: added up, over restarts as well.
    #[default]
    Sum,
    /// Levels: the highest.
    Max,
}

/// When nothing is going on any more.
#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct QuiescenceSpec {
    pub(crate) pending: Option<HoldsSpec>,
    pub(crate) converged: Option<HoldsSpec>,
}

/// Something that holds or does not.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HoldsSpec {
    pub(crate) get: Option<Get>,
    /// Values that are equal within each node.
    #[serde(default)]
    pub(crate) equal: Vec<Pointer>,
    /// Values that are the same on all nodes.
    #[serde(default)]
    pub(crate) same: Vec<Pointer>,
    /// Values that are these.
    #[serde(default)]
    pub(crate) is: BTreeMap<Pointer, Value>,
    /// A command that exits 0.
    pub(crate) command: Option<Vec<Word>>,
}

/// How operations are done: one of the three.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClientSpec {
    pub(crate) builtin: Option<String>,
    pub(crate) command: Option<Vec<Word>>,
    #[serde(default)]
    pub(crate) environment: BTreeMap<String, Template>,
    #[serde(default)]
    pub(crate) maelstrom: bool,
    /// The Maelstrom workload, where the generator leaves a choice.
    pub(crate) workload: Option<String>,
    /// The port it talks to; not needed if clients have only one.
    pub(crate) port: Option<String>,
    pub(crate) retries: Retries,
    pub(crate) reason: Option<String>,
}
