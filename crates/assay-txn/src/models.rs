//! Isolation models: what each forbids, and which implies which.
//!
//! Two tables, and everything else is computed from them. Sources: Adya, "Weak Consistency" (1999)
//! for PL-1 to PL-SS; Bailis et al., "Highly Available Transactions" (2013) and "RAMP" (2014) for
//! monotonic atomic view and read atomic; Cerone, Bernardi and Gotsman (2015) and Cerone and
//! Gotsman (2018) for causal, prefix, parallel snapshot isolation and for snapshot isolation as the
//! absence of cycles without two anti-dependencies in a row; Daudjee and Salem (2004) for strong
//! session and strong variants.

use crate::anomaly::Kind;
use crate::cycles::{Class, Level};
use crate::search::View;
use serde::Serialize;

/// The models, each after all it implies.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
#[expect(missing_docs, reason = "the table below says what each is")]
pub enum Model {
    ReadUncommitted,
    StrongSessionReadUncommitted,
    StrongReadUncommitted,
    ReadCommitted,
    StrongSessionReadCommitted,
    StrongReadCommitted,
    MonotonicView,
    CursorStability,
    MonotonicAtomicView,
    ReadAtomic,
    Causal,
    Prefix,
    ConsistentView,
    ForwardConsistentView,
    ParallelSnapshotIsolation,
    UpdateSerializable,
    RepeatableRead,
    SnapshotIsolation,
    StrongSessionSnapshotIsolation,
    StrongSnapshotIsolation,
    Serializable,
    StrongSessionSerializable,
    StrictSerializable,
}

/// How many models there are.
pub const MODEL_COUNT: usize = 23;

struct Entry {
    model: Model,
    /// Its name, then its aliases.
    names: &'static [&'static str],
    /// What it implies directly.
    implies: &'static [Model],
}

use Model::*;

/// By model: names, and what it implies directly.
const TABLE: [Entry; MODEL_COUNT] = [
    Entry { model: ReadUncommitted, names: &["read-uncommitted", "PL-1"], implies: &[] },
    Entry {
        model: StrongSessionReadUncommitted,
        names: &["strong-session-read-uncommitted"],
        implies: &[ReadUncommitted],
    },
    Entry {
        model: StrongReadUncommitted,
        names: &["strong-read-uncommitted"],
        implies: &[StrongSessionReadUncommitted],
    },
    Entry { model: ReadCommitted, names: &["read-committed", "PL-2"], implies: &[ReadUncommitted] },
    Entry {
        model: StrongSessionReadCommitted,
        names: &["strong-session-read-committed"],
        implies: &[ReadCommitted, StrongSessionReadUncommitted],
    },
    Entry {
        model: StrongReadCommitted,
        names: &["strong-read-committed"],
        implies: &[StrongSessionReadCommitted, StrongReadUncommitted],
    },
    Entry {
        model: MonotonicView,
        names: &["monotonic-view", "monotonic-snapshot-read", "PL-2L", "PL-MSR"],
        implies: &[ReadCommitted],
    },
    Entry {
        model: CursorStability,
        names: &["cursor-stability", "PL-CS"],
        implies: &[ReadCommitted],
    },
    Entry {
        model: MonotonicAtomicView,
        names: &["monotonic-atomic-view", "MAV"],
        implies: &[ReadCommitted],
    },
    Entry { model: ReadAtomic, names: &["read-atomic", "RA"], implies: &[MonotonicAtomicView] },
    Entry {
        model: Causal,
        names: &["causal", "causal-cerone", "transactional-causal", "CC"],
        implies: &[ReadAtomic],
    },
    Entry { model: Prefix, names: &["prefix", "prefix-consistency", "PC"], implies: &[ReadAtomic] },
    Entry {
        model: ConsistentView,
        names: &["consistent-view", "PL-2+"],
        implies: &[MonotonicView, ReadAtomic, CursorStability],
    },
    Entry {
        model: ForwardConsistentView,
        names: &["forward-consistent-view", "PL-FCV"],
        implies: &[ConsistentView],
    },
    Entry {
        model: ParallelSnapshotIsolation,
        names: &["parallel-snapshot-isolation", "PSI"],
        implies: &[ConsistentView],
    },
    Entry {
        model: UpdateSerializable,
        names: &["update-serializable", "PL-3U"],
        implies: &[ForwardConsistentView],
    },
    Entry {
        model: RepeatableRead,
        names: &["repeatable-read", "PL-2.99"],
        implies: &[ConsistentView],
    },
    Entry {
        model: SnapshotIsolation,
        names: &["snapshot-isolation", "SI", "PL-SI"],
        implies: &[ParallelSnapshotIsolation, Prefix, ForwardConsistentView],
    },
    Entry {
        model: StrongSessionSnapshotIsolation,
        names: &["strong-session-snapshot-isolation"],
        implies: &[SnapshotIsolation, StrongSessionReadCommitted, Causal],
    },
    Entry {
        model: StrongSnapshotIsolation,
        names: &["strong-snapshot-isolation"],
        implies: &[StrongSessionSnapshotIsolation, StrongReadCommitted],
    },
    Entry {
        model: Serializable,
        names: &["serializable", "conflict-serializable", "view-serializable", "1SR", "PL-3"],
        implies: &[RepeatableRead, SnapshotIsolation, UpdateSerializable],
    },
    Entry {
        model: StrongSessionSerializable,
        names: &["strong-session-serializable", "strong-session-1SR"],
        implies: &[Serializable, StrongSessionSnapshotIsolation],
    },
    Entry {
        model: StrictSerializable,
        names: &["strict-serializable", "strong-serializable", "strong-1SR", "PL-SS"],
        implies: &[StrongSessionSerializable, StrongSnapshotIsolation],
    },
];

/// The weakest models that an anomaly of this kind is impossible in.
fn forbidding(kind: Kind) -> &'static [Model] {
    use Class::{G0, G1c, G2Item, GNonadjacent, GSingle};
    use Level::{Plain, Process, Realtime};
    match kind {
        Kind::Phantom | Kind::DuplicateElements | Kind::CyclicVersions => &[ReadUncommitted],
        Kind::G1a | Kind::G1b | Kind::DirtyUpdate | Kind::IncompatibleOrder => &[ReadCommitted],
        Kind::NonmonotonicView => &[MonotonicAtomicView, MonotonicView],
        Kind::Internal | Kind::FracturedRead => &[ReadAtomic],
        Kind::CausalRead => &[Causal],
        Kind::LostUpdate => &[CursorStability],
        Kind::Cycle(G0, Plain) => &[ReadUncommitted],
        Kind::Cycle(G0, Process) => &[StrongSessionReadUncommitted],
        Kind::Cycle(G0, Realtime) => &[StrongReadUncommitted],
        Kind::Cycle(G1c, Plain) => &[ReadCommitted],
        Kind::Cycle(G1c, Process) => &[StrongSessionReadCommitted],
        Kind::Cycle(G1c, Realtime) => &[StrongReadCommitted],
        Kind::Cycle(GSingle, Plain) => &[ConsistentView],
        Kind::Cycle(GNonadjacent, Plain) => &[SnapshotIsolation, RepeatableRead],
        Kind::Cycle(GSingle | GNonadjacent, Process) => &[StrongSessionSnapshotIsolation],
        Kind::Cycle(GSingle | GNonadjacent, Realtime) => &[StrongSnapshotIsolation],
        Kind::Cycle(G2Item, Plain) => &[RepeatableRead],
        Kind::Cycle(G2Item, Process) => &[StrongSessionSerializable],
        Kind::Cycle(G2Item, Realtime) => &[StrictSerializable],
        Kind::NoOrder(View::Prefix, _) => &[Prefix],
        Kind::NoOrder(View::Snapshot, Plain) => &[SnapshotIsolation],
        Kind::NoOrder(View::Snapshot, Process) => &[StrongSessionSnapshotIsolation],
        Kind::NoOrder(View::Snapshot, Realtime) => &[StrongSnapshotIsolation],
        Kind::NoOrder(View::Serial, Plain) => &[Serializable],
        Kind::NoOrder(View::Serial, Process) => &[StrongSessionSerializable],
        Kind::NoOrder(View::Serial, Realtime) => &[StrictSerializable],
    }
}

impl Model {
    /// All models, each after all it implies.
    pub fn all() -> impl DoubleEndedIterator<Item = Model> {
        TABLE.iter().map(|entry| entry.model)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        TABLE[self as usize].names[0]
    }

    /// All its names.
    pub fn names(self) -> &'static [&'static str] {
        TABLE[self as usize].names
    }

    /// The model with this name or alias.
    pub fn named(name: &str) -> Option<Model> {
        let has = |entry: &&Entry| entry.names.iter().any(|known| known.eq_ignore_ascii_case(name));
        TABLE.iter().find(has).map(|entry| entry.model)
    }

    /// What it implies, itself included.
    pub fn implied(self) -> Models {
        let direct = TABLE[self as usize].implies.iter();
        direct.fold(Models(1 << self as u8), |all, model| all.or(model.implied()))
    }

    /// The kinds of anomalies that are impossible in it.
    pub fn forbids(self) -> Vec<Kind> {
        let implied = self.implied();
        let impossible = |kind: &Kind| forbidding(*kind).iter().any(|&model| implied.has(model));
        Kind::ALL.into_iter().filter(impossible).collect()
    }
}

/// A set of models.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Models(u32);

impl Models {
    /// The models that anomalies of these kinds rule out: those that forbid one, and all that imply
    /// such a model.
    pub fn ruled_out_by(kinds: &[Kind]) -> Models {
        Models::ruled_out(kinds, &[])
    }

    /// As [`Models::ruled_out_by`], where more is known than the kinds tell: `also` is ruled out.
    pub(crate) fn ruled_out(kinds: &[Kind], also: &[Model]) -> Models {
        let mut direct = Models::default();
        for &model in kinds.iter().flat_map(|&kind| forbidding(kind)).chain(also) {
            direct.0 |= 1 << model as u8;
        }
        let out = Model::all().filter(|model| model.implied().0 & direct.0 != 0);
        Models(out.fold(0, |bits, model| bits | 1 << model as u8))
    }

    /// Whether a model is in the set.
    pub fn has(self, model: Model) -> bool {
        self.0 & (1 << model as u8) != 0
    }

    pub(crate) fn or(self, other: Models) -> Models {
        Models(self.0 | other.0)
    }

    /// The models of the set, each after all it implies.
    pub fn iter(self) -> impl Iterator<Item = Model> {
        Model::all().filter(move |&model| self.has(model))
    }

    /// Those that imply no other of the set: the weakest.
    pub fn weakest(self) -> Vec<Model> {
        self.iter().filter(|&model| model.implied().0 & self.0 == 1 << model as u8).collect()
    }
}

/// The strongest models that are still possible: those that no other possible model implies.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Strongest(pub Vec<Model>);

impl Strongest {
    pub(crate) fn of(ruled_out: Models) -> Strongest {
        let possible: Vec<Model> = Model::all().filter(|&model| !ruled_out.has(model)).collect();
        let implied_by_other = |model: Model| {
            possible.iter().any(|&other| other != model && other.implied().has(model))
        };
        Strongest(possible.iter().copied().filter(|&model| !implied_by_other(model)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_stands_in_the_order_of_the_models_and_implies_only_what_stands_before() {
        for (i, entry) in TABLE.iter().enumerate() {
            assert_eq!(entry.model as usize, i);
            assert!(entry.implies.iter().all(|&weaker| (weaker as usize) < i), "{:?}", entry.model);
        }
    }

    #[test]
    fn every_name_names_one_model() {
        let mut names: Vec<&str> = TABLE.iter().flat_map(|entry| entry.names).copied().collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn a_stronger_model_forbids_all_that_a_weaker_one_does() {
        for stronger in Model::all() {
            for weaker in stronger.implied().iter() {
                let strong = stronger.forbids();
                assert!(weaker.forbids().iter().all(|kind| strong.contains(kind)));
            }
        }
    }

    #[test]
    fn strict_serializable_forbids_everything_and_nothing_rules_out_nothing() {
        assert_eq!(StrictSerializable.forbids().len(), Kind::ALL.len());
        assert_eq!(Models::ruled_out_by(&[]), Models::default());
        assert_eq!(Strongest::of(Models::default()).0, [StrictSerializable]);
    }
}
