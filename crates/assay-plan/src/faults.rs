//! The faults a plan may name: 50 of them, with how one knows that they landed.
//!
//! A fault that was asked for is not a fault that happened. So each row says what the injector can
//! count, what a victim notices, and how the fault is undone; and which options `with` may give it.
//! `assay explain fault ID` shows a row.

mod options;
mod rows;

pub use options::{FaultOption, OptionProblem, Worth, bytes};
pub use rows::FAULTS;

use serde::Serialize;

/// What a fault does harm to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Family {
    /// A process.
    Process,
    /// Messages.
    Network,
    /// What is on disk.
    Storage,
    /// Clocks.
    Time,
    /// Several nodes at once.
    Cluster,
    /// A share of the machine.
    Resources,
}

/// What a machine has to allow for a fault.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rights {
    /// Nothing: a proxy, a signal, a file of the node, or the node's own system calls.
    None,
    /// Namespaces: root, or a user namespace.
    Namespaces,
    /// A disk of a node's own: root, or FUSE.
    Disk,
    /// Root.
    Root,
}

impl Rights {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Rights::None => "none",
            Rights::Namespaces => "root or a user namespace",
            Rights::Disk => "root or FUSE",
            Rights::Root => "root",
        }
    }
}

/// A fault of the taxonomy.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Fault {
    /// How a plan names it.
    pub id: &'static str,
    /// Other names for it.
    pub aliases: &'static [&'static str],
    /// What it is.
    pub title: &'static str,
    /// What it harms.
    pub family: Family,
    /// How it is done.
    pub how: &'static str,
    /// What proves it: on the side that injects, and on the side that suffers.
    pub evidence: &'static str,
    /// How it is undone.
    pub heal: &'static str,
    /// How it fails to be what it seems.
    pub caveat: &'static str,
    /// What it takes.
    pub rights: Rights,
}

impl Fault {
    /// The fault with this id or alias.
    pub fn named(name: &str) -> Option<&'static Fault> {
        FAULTS.iter().find(|fault| fault.id == name || fault.aliases.contains(&name))
    }
}

/// Words before a target that pick nodes when the fault begins.
pub const ROLES: [&str; 10] = [
    "leader",
    "follower",
    "minority",
    "majority",
    "any",
    "all",
    "one",
    "clients",
    "some-clients",
    "others",
];

#[cfg(test)]
mod tests {
    use super::{FAULTS, Family, Fault};

    #[test]
    fn the_taxonomy_has_50_rows_in_six_families() {
        let count = |family| FAULTS.iter().filter(|fault| fault.family == family).count();
        let families = [
            Family::Process,
            Family::Network,
            Family::Storage,
            Family::Time,
            Family::Cluster,
            Family::Resources,
        ];
        assert_eq!(families.map(count), [5, 18, 12, 2, 10, 3]);
        let mut names: Vec<&str> =
            FAULTS.iter().flat_map(|f| [f.id].into_iter().chain(f.aliases.to_vec())).collect();
        names.sort_unstable();
        let all = names.len();
        names.dedup();
        assert_eq!(names.len(), all, "no name is used twice");
        assert_eq!(Fault::named("asymmetric-partition").map(|f| f.id), Some("part-asym"));
    }
}
