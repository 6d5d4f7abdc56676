//! What a sandbox can promise on this machine, and why it cannot promise the rest.

use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;

/// One promise.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Capability {
    /// Files outside of the session's own directories can neither be read nor changed.
    Files,
    /// The paths inside are the same everywhere (`/workspace`), and `/tmp` is private.
    PrivateRoot,
    /// Nothing of the host's environment can be seen.
    Environment,
    /// Whatever a call starts ends with it.
    Lifetime,
    /// There is no network.
    NetworkOff,
    /// There is the network of the machine.
    NetworkOpen,
    /// There is a network that leads to named hosts only.
    NetworkLimited,
    /// No process has more memory than the limit.
    MemoryOfProcess,
    /// All processes together have no more memory than the limit.
    MemoryTotal,
    /// There are no more processes than the limit.
    Processes,
    /// No file grows beyond the limit.
    FileSize,
    /// No process uses more processor time than the limit.
    Cpu,
    /// No call takes longer than the limit.
    Time,
    /// No call writes more output than the limit.
    Output,
    /// Calls run as a user of their own.
    SeparateUser,
    /// System calls that only attack a kernel are refused.
    SystemCalls,
}

impl Capability {
    /// All of them.
    pub const ALL: [Capability; 16] = [
        Capability::Files,
        Capability::PrivateRoot,
        Capability::Environment,
        Capability::Lifetime,
        Capability::NetworkOff,
        Capability::NetworkOpen,
        Capability::NetworkLimited,
        Capability::MemoryOfProcess,
        Capability::MemoryTotal,
        Capability::Processes,
        Capability::FileSize,
        Capability::Cpu,
        Capability::Time,
        Capability::Output,
        Capability::SeparateUser,
        Capability::SystemCalls,
    ];

    /// What a sandbox must promise unless less is asked for, besides its network.
    pub const NEEDED: [Capability; 9] = [
        Capability::Files,
        Capability::Environment,
        Capability::Lifetime,
        Capability::MemoryOfProcess,
        Capability::Processes,
        Capability::FileSize,
        Capability::Cpu,
        Capability::Time,
        Capability::Output,
    ];

    /// Its name in settings and reports.
    pub fn name(self) -> &'static str {
        match self {
            Capability::Files => "files",
            Capability::PrivateRoot => "private-root",
            Capability::Environment => "environment",
            Capability::Lifetime => "lifetime",
            Capability::NetworkOff => "network-off",
            Capability::NetworkOpen => "network-open",
            Capability::NetworkLimited => "network-limited",
            Capability::MemoryOfProcess => "memory-of-process",
            Capability::MemoryTotal => "memory-total",
            Capability::Processes => "processes",
            Capability::FileSize => "file-size",
            Capability::Cpu => "cpu",
            Capability::Time => "time",
            Capability::Output => "output",
            Capability::SeparateUser => "separate-user",
            Capability::SystemCalls => "system-calls",
        }
    }
}

impl fmt::Display for Capability {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.name())
    }
}

/// What a sandbox promises, and for what it does not, why not and what to do.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Capabilities {
    /// How it is done here, in a few words.
    pub how: String,
    /// What is there.
    pub present: Vec<Capability>,
    /// What is not, with the reason.
    pub missing: BTreeMap<Capability, String>,
}

impl Capabilities {
    /// Sorts all capabilities into present and missing: `missing` says why something is.
    pub(crate) fn new(how: String, missing: BTreeMap<Capability, String>) -> Capabilities {
        let is_there = |one: &Capability| !missing.contains_key(one);
        let present = Capability::ALL.into_iter().filter(is_there).collect();
        Capabilities { how, present, missing }
    }

    /// Whether this is promised.
    pub fn has(&self, one: Capability) -> bool {
        !self.missing.contains_key(&one)
    }

    /// What of these is missing, in a sentence for each; empty if nothing is.
    pub fn lacks(&self, needs: impl IntoIterator<Item = Capability>) -> Vec<String> {
        let why = |one| self.missing.get(&one).map(|why| format!("{one}: {why}"));
        needs.into_iter().filter_map(why).collect()
    }
}

impl fmt::Display for Capabilities {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let missing: Vec<&str> = self.missing.keys().map(|one| one.name()).collect();
        match missing.is_empty() {
            true => write!(out, "{}; everything is there", self.how),
            false => write!(out, "{}; without {}", self.how, missing.join(", ")),
        }
    }
}
