//! What can be wrong with a transactional history.

use crate::cycles::{Class, Cycle, Level};
use crate::search::View;
use assay_history::{TxnKey, ValueId};
use rustc_hash::FxHashSet;

/// The kinds of anomalies.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Kind {
    /// A read returned what nobody wrote.
    Phantom,
    /// A list has the same element twice.
    DuplicateElements,
    /// The versions of a key have no order: a transaction's own writes are out of order, or the
    /// declared assumptions do not hold.
    CyclicVersions,
    /// Two reads of a list contradict each other: neither is the beginning of the other.
    IncompatibleOrder,
    /// A committed transaction built on what an aborted one wrote.
    DirtyUpdate,
    /// A read returned what an aborted transaction wrote.
    G1a,
    /// A read returned what its writer overwrote in the same transaction.
    G1b,
    /// A transaction contradicts itself.
    Internal,
    /// A transaction saw part of another's writes, and later an older version.
    NonmonotonicView,
    /// A transaction saw part of another's writes, and an older version where the other wrote.
    FracturedRead,
    /// A transaction read an older version than what it depends on, directly or not, had written.
    CausalRead,
    /// Two transactions read the same version and both replaced it.
    LostUpdate,
    /// A cycle.
    Cycle(Class, Level),
    /// No order of moments explains all reads: a search has tried them.
    NoOrder(View, Level),
}

impl Kind {
    /// All kinds, in the order of a report: the most basic first.
    pub const ALL: [Kind; 34] = {
        use Class::{G0, G1c, G2Item, GNonadjacent, GSingle};
        use Level::{Plain, Process, Realtime};
        use View::{Prefix, Serial, Snapshot};
        [
            Kind::Phantom,
            Kind::DuplicateElements,
            Kind::CyclicVersions,
            Kind::IncompatibleOrder,
            Kind::DirtyUpdate,
            Kind::G1a,
            Kind::G1b,
            Kind::Internal,
            Kind::NonmonotonicView,
            Kind::FracturedRead,
            Kind::CausalRead,
            Kind::LostUpdate,
            Kind::Cycle(G0, Plain),
            Kind::Cycle(G0, Process),
            Kind::Cycle(G0, Realtime),
            Kind::Cycle(G1c, Plain),
            Kind::Cycle(G1c, Process),
            Kind::Cycle(G1c, Realtime),
            Kind::Cycle(GSingle, Plain),
            Kind::Cycle(GSingle, Process),
            Kind::Cycle(GSingle, Realtime),
            Kind::Cycle(GNonadjacent, Plain),
            Kind::Cycle(GNonadjacent, Process),
            Kind::Cycle(GNonadjacent, Realtime),
            Kind::Cycle(G2Item, Plain),
            Kind::Cycle(G2Item, Process),
            Kind::Cycle(G2Item, Realtime),
            Kind::NoOrder(Prefix, Plain),
            Kind::NoOrder(Snapshot, Plain),
            Kind::NoOrder(Snapshot, Process),
            Kind::NoOrder(Snapshot, Realtime),
            Kind::NoOrder(Serial, Plain),
            Kind::NoOrder(Serial, Process),
            Kind::NoOrder(Serial, Realtime),
        ]
    };

    /// Its name, as people who know Adya and Elle expect it.
    pub fn name(self) -> &'static str {
        use Class::{G0, G1c, G2Item, GNonadjacent, GSingle};
        use Level::{Plain, Process, Realtime};
        match self {
            Kind::Phantom => "phantom",
            Kind::DuplicateElements => "duplicate-elements",
            Kind::CyclicVersions => "cyclic-versions",
            Kind::IncompatibleOrder => "incompatible-order",
            Kind::DirtyUpdate => "dirty-update",
            Kind::G1a => "G1a",
            Kind::G1b => "G1b",
            Kind::Internal => "internal",
            Kind::NonmonotonicView => "nonmonotonic-view",
            Kind::FracturedRead => "fractured-read",
            Kind::CausalRead => "causal-violation",
            Kind::LostUpdate => "lost-update",
            Kind::Cycle(G0, Plain) => "G0",
            Kind::Cycle(G0, Process) => "G0-process",
            Kind::Cycle(G0, Realtime) => "G0-realtime",
            Kind::Cycle(G1c, Plain) => "G1c",
            Kind::Cycle(G1c, Process) => "G1c-process",
            Kind::Cycle(G1c, Realtime) => "G1c-realtime",
            Kind::Cycle(GSingle, Plain) => "G-single",
            Kind::Cycle(GSingle, Process) => "G-single-process",
            Kind::Cycle(GSingle, Realtime) => "G-single-realtime",
            Kind::Cycle(GNonadjacent, Plain) => "G-nonadjacent",
            Kind::Cycle(GNonadjacent, Process) => "G-nonadjacent-process",
            Kind::Cycle(GNonadjacent, Realtime) => "G-nonadjacent-realtime",
            Kind::Cycle(G2Item, Plain) => "G2-item",
            Kind::Cycle(G2Item, Process) => "G2-item-process",
            Kind::Cycle(G2Item, Realtime) => "G2-item-realtime",
            Kind::NoOrder(View::Prefix, _) => "no-prefix-order",
            Kind::NoOrder(View::Snapshot, Plain) => "no-snapshot-order",
            Kind::NoOrder(View::Snapshot, Process) => "no-snapshot-order-process",
            Kind::NoOrder(View::Snapshot, Realtime) => "no-snapshot-order-realtime",
            Kind::NoOrder(View::Serial, Plain) => "no-serial-order",
            Kind::NoOrder(View::Serial, Process) => "no-serial-order-process",
            Kind::NoOrder(View::Serial, Realtime) => "no-serial-order-realtime",
        }
    }

    /// The kind with this name.
    pub fn named(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// What it is, in one sentence.
    pub fn meaning(self) -> &'static str {
        match self {
            Kind::Phantom => "a read returned a value that nobody wrote",
            Kind::DuplicateElements => "a list has an element twice that was appended once",
            Kind::CyclicVersions => "versions of a key come before each other",
            Kind::IncompatibleOrder => {
                "two reads of a list contradict each other: neither is the beginning of the other"
            }
            Kind::DirtyUpdate => "a committed transaction built on what an aborted one wrote",
            Kind::G1a => "a committed transaction read what an aborted one wrote",
            Kind::G1b => "a transaction read what its writer overwrote before it committed",
            Kind::Internal => "a transaction's read contradicts its own earlier reads and writes",
            Kind::NonmonotonicView => {
                "a transaction saw part of what another wrote, and later an older version"
            }
            Kind::FracturedRead => {
                "a transaction saw part of what another wrote, and beside it an older version"
            }
            Kind::CausalRead => {
                "a transaction read an older version than what it depends on had written"
            }
            Kind::LostUpdate => "several transactions read the same version and replaced it",
            Kind::Cycle(Class::G0, _) => "transactions overwrote each other in a circle",
            Kind::Cycle(Class::G1c, _) => "information flowed in a circle",
            Kind::Cycle(Class::GSingle, _) => {
                "a circle in which one transaction did not see another's write (read skew)"
            }
            Kind::Cycle(Class::GNonadjacent, _) => {
                "a circle in which several transactions missed writes, never two in a row (long \
                 fork and its like)"
            }
            Kind::Cycle(Class::G2Item, _) => {
                "a circle in which transactions missed each other's writes (write skew)"
            }
            Kind::NoOrder(View::Serial, _) => {
                "no order, one transaction after the other, explains what these transactions read"
            }
            Kind::NoOrder(View::Snapshot, _) => {
                "no order of snapshots and commits, without two writers of a key at the same time, \
                 explains what these transactions read"
            }
            Kind::NoOrder(View::Prefix, _) => {
                "no order of snapshots and commits explains what these transactions read"
            }
        }
    }
}

/// An anomaly and what shows it. Transactions are given by their number.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Anomaly {
    /// What kind.
    pub kind: Kind,
    /// The facts.
    pub evidence: Evidence,
}

impl Anomaly {
    /// The transactions that an anomaly is about, without repetitions, in order of appearance.
    pub fn txns(&self) -> Vec<u32> {
        let mut txns: Vec<u32> = match &self.evidence {
            Evidence::Read { reader, writer, .. } => {
                writer.iter().copied().chain([*reader]).collect()
            }
            Evidence::Internal { txn, .. } => vec![*txn],
            Evidence::Incompatible { readers, .. } => readers.to_vec(),
            Evidence::DirtyUpdate { reader, aborted, committed, .. } => {
                vec![*aborted, *committed, *reader]
            }
            Evidence::LostUpdate { txns, .. } => txns.clone(),
            Evidence::CyclicVersions { versions, .. } => {
                versions.iter().flat_map(|step| step.txns).collect()
            }
            Evidence::Weak { steps } => {
                let readers = steps.iter().filter_map(|(_, why)| match why {
                    WeakStep::Before { reader, .. } => Some(*reader),
                    _ => None,
                });
                steps.iter().map(|&(t, _)| t).chain(readers).collect()
            }
            Evidence::Cycle { cycle, .. } => cycle.steps.iter().map(|&(t, _)| t).collect(),
            Evidence::NoOrder { txns, writers } => [&txns[..], writers].concat(),
        };
        let mut seen = FxHashSet::default();
        txns.retain(|&t| t != u32::MAX && seen.insert(t));
        txns
    }
}

/// The facts behind an anomaly: enough for [`crate::verify`] to check it against the history.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Evidence {
    /// `reader` read `value` from `key` (as an element, if it is a list); `writer` wrote it.
    Read {
        /// Who read.
        reader: u32,
        /// What.
        key: TxnKey,
        /// What came back.
        value: ValueId,
        /// Who had written it; `None` if nobody did.
        writer: Option<u32>,
    },
    /// The micro-operation `mop` of `txn` contradicts what came before it.
    Internal {
        /// The transaction.
        txn: u32,
        /// Its micro-operation, from 0.
        mop: u32,
    },
    /// `readers` saw lists of `key` that differ at element `at`.
    Incompatible {
        /// The list.
        key: TxnKey,
        /// Two readers.
        readers: [u32; 2],
        /// Where they differ, from 0.
        at: u32,
    },
    /// `reader` saw `value` of `aborted` in a list, and behind it what `committed` appended.
    DirtyUpdate {
        /// The list.
        key: TxnKey,
        /// Who saw it.
        reader: u32,
        /// Who aborted.
        aborted: u32,
        /// What it had appended.
        value: ValueId,
        /// Who appended behind it.
        committed: u32,
    },
    /// All `txns` read the same version of `key` and then wrote it.
    LostUpdate {
        /// The key.
        key: TxnKey,
        /// The last value they had seen; null before the first.
        version: ValueId,
        /// The transactions.
        txns: Vec<u32>,
    },
    /// Each version of `key` comes before the next, and the last before the first.
    CyclicVersions {
        /// The key.
        key: TxnKey,
        /// The versions, each with why it comes before the next.
        versions: Vec<VersionStep>,
    },
    /// Transactions, each committed before the next, the last before the first. A single one
    /// committed before the initial version.
    Weak {
        /// The transactions, each with why it comes before the next.
        steps: Vec<(u32, WeakStep)>,
    },
    /// A cycle, with what each step rests on.
    Cycle {
        /// The cycle.
        cycle: Cycle,
        /// By step: the key, what the first did there, what the second did there.
        because: Vec<Because>,
    },
    /// No order of these transactions, and of those they read from, explains what they read.
    NoOrder {
        /// The transactions.
        txns: Vec<u32>,
        /// Others that they read from.
        writers: Vec<u32>,
    },
}

/// Why a version comes before another.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum VersionReason {
    /// The key held nothing at first.
    Initial,
    /// A transaction read the first and wrote the second.
    WritesFollowReads,
    /// A process saw the first before the second.
    Process,
    /// Somebody was done with the first before somebody began with the second.
    Realtime,
    /// One transaction wrote first the one, then the other.
    Transaction,
    /// Somebody read a list in which they stand in this order.
    List,
}

/// One step in an order of versions: `version`, and why it comes before the next one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct VersionStep {
    /// The version; null before the first write.
    pub version: ValueId,
    /// Why it comes before the next.
    pub reason: VersionReason,
    /// Who was done with it, and who then met the next one.
    pub txns: [u32; 2],
}

/// Why a transaction committed before another, in the models that say nothing about versions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WeakStep {
    /// The same process issued them one after the other.
    Session,
    /// The second read this value of the first.
    Read {
        /// The key.
        key: TxnKey,
        /// The value.
        value: ValueId,
    },
    /// `reader` could see the first, which wrote `key`, and read `value` of the second there.
    Before {
        /// Who read.
        reader: u32,
        /// What.
        key: TxnKey,
        /// What came back.
        value: ValueId,
    },
    /// Lists show that the first appended to `key` before the second.
    Version {
        /// The list.
        key: TxnKey,
        /// What the first appended.
        first: ValueId,
        /// What the second appended.
        second: ValueId,
    },
}

/// What an edge between two transactions rests on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Because {
    /// Both did something to `key`: the first read or wrote `first`, the second read or wrote
    /// `second` (null: nothing was there yet). `order` shows that the first is the earlier version,
    /// where that needs showing.
    Key {
        /// The key.
        key: TxnKey,
        /// What the first transaction wrote, or the last thing it saw.
        first: ValueId,
        /// What the second transaction wrote, or saw.
        second: ValueId,
        /// From `first` to `second`, for registers.
        order: Vec<VersionStep>,
    },
    /// The order of a process, or real time.
    Order,
}
