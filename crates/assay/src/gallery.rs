//! The gallery: published findings, each as a plan with two twins.
//!
//! An entry says what it must show, and the table holds a run to it: the kind of anomaly that was
//! published, not just any; and how long a twin is meant to take: one over [`TWIN_SECONDS_MAX`] is
//! marked.

use assay_plan::faults::{Fault, Rights};
use assay_plan::machine::{Machine, Network};

/// How long a twin is meant to take at the tier of hardening, on two cores.
pub const TWIN_SECONDS_MAX: u32 = 90;

/// An entry.
pub struct Entry {
    /// What it is called.
    pub name: &'static str,
    /// What it shows, in a line.
    pub about: &'static str,
    /// Where it was published.
    pub published: &'static str,
    /// The kinds of anomaly that were published: the red twin has to find one of them.
    pub kinds: &'static [&'static str],
    /// About how many seconds the green and the red twin took, on two cores with other work.
    pub seconds: [u32; 2],
    /// Its plan: S1 is the green twin, S2 the red one.
    pub plan: &'static str,
}

/// What an entry needs of a machine, as `assay doctor` calls it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Needs {
    /// Nothing special.
    C,
    /// Namespaces.
    B,
    /// Root, or FUSE where it is to be had.
    Disk,
    /// Root.
    A,
}

impl Needs {
    /// `A: root` and so on.
    pub fn words(self) -> &'static str {
        match self {
            Needs::C => "C: no rights",
            Needs::B => "B: root or user namespaces",
            Needs::Disk => "A: root, or fusermount3",
            Needs::A => "A: root",
        }
    }
}

impl Entry {
    fn machines(&self) -> Vec<Machine> {
        let plan = assay_plan::parse(self.plan);
        let blocks = plan.scenarios.into_iter().filter_map(|scenario| scenario.block);
        blocks.map(|block| block.machine).collect()
    }

    /// The systems of its twins, with their releases.
    pub fn systems(&self) -> Vec<String> {
        let releases = assay_runner::arm::releases(&assay_plan::parse(self.plan));
        releases.into_iter().map(|(system, release)| format!("{system} {release}")).collect()
    }

    /// What it needs, by the faults and networks of its plan.
    pub fn needs(&self) -> Needs {
        let of = |machine: &Machine| {
            let network = machine.system.as_ref().map(|system| system.network);
            let inside = network.is_some_and(|network| network != Network::Proxies);
            let rights = machine.nemesis.iter().map(|nemesis| {
                match Fault::named(&nemesis.fault).map(|fault| fault.rights) {
                    Some(Rights::Root) => Needs::A,
                    Some(Rights::Disk) => Needs::Disk,
                    Some(Rights::Namespaces) => Needs::B,
                    Some(Rights::None) | None => Needs::C,
                }
            });
            rights.chain(inside.then_some(Needs::B)).max()
        };
        self.machines().iter().filter_map(of).max().unwrap_or(Needs::C)
    }

    /// The seed its plan begins with.
    pub fn seed(&self) -> u64 {
        self.machines().first().and_then(|machine| machine.seed).unwrap_or(1)
    }
}

macro_rules! entries {
    ($(($name:literal, $about:literal, $from:literal, $kinds:expr, $seconds:expr)),+ $(,)?) => {
        /// All entries.
        pub const GALLERY: &[Entry] = &[$(Entry {
            name: $name,
            about: $about,
            published: $from,
            kinds: &$kinds,
            seconds: $seconds,
            plan: include_str!(concat!("../../../examples/gallery/", $name, "/plan.md")),
        }),+];
    };
}

entries![
    (
        "etcd-lost-writes",
        "etcd 3.5.1 loses acknowledged writes when a node is killed; 3.4 does not",
        "etcd issue 13766 and its postmortem, 2022",
        ["lost-ack", "replicas-differ"],
        [84, 85]
    ),
    (
        "etcd-stale-reads",
        "serializable reads of etcd are stale while a leader is cut off; linearizable ones are not",
        "etcd documentation, API guarantees; Jepsen, 2014",
        ["not-linearizable"],
        [62, 65]
    ),
    (
        "ledger-double-booking",
        "payments sent again without a request id are booked twice; with one they are not",
        "payment APIs on idempotency keys; IETF draft on the Idempotency-Key header",
        ["duplicate-effect"],
        [40, 82]
    ),
    (
        "nats-power-loss",
        "JetStream loses acknowledged messages when the power fails; synced always it does not",
        "Jepsen, NATS 2.12.1, 2025; NATS documentation on sync_interval",
        ["lost"],
        [69, 69]
    ),
    (
        "postgres-failover",
        "an asynchronous standby that takes over lacks commits; a synchronous one does not",
        "PostgreSQL documentation on replication; GitHub, incident of October 2018",
        ["lost"],
        [68, 72]
    ),
    (
        "postgres-lost-update",
        "read committed of PostgreSQL loses updates; repeatable read does not",
        "PostgreSQL documentation on isolation; Berenson and others, 1995 (P4)",
        ["lost-update", "G-single"],
        [44, 28]
    ),
    (
        "postgres-write-skew",
        "repeatable read of PostgreSQL shows write skew; serializable does not",
        "PostgreSQL documentation on isolation; Jepsen, PostgreSQL 12.3, 2020",
        ["G2-item"],
        [40, 22]
    ),
    (
        "queue-ack-before-work",
        "jobs acknowledged before the work are lost with their consumer; after it they are not",
        "RabbitMQ documentation on acknowledgements; Redis documentation on LMOVE",
        ["missing-effect"],
        [43, 59]
    ),
    (
        "redis-lock-expiry",
        "a holder that was paused writes after its lease is over, unless tokens are compared",
        "Kleppmann, How to do distributed locking, 2016",
        ["stale-token-accepted"],
        [47, 55]
    ),
    (
        "redis-sentinel-lost-writes",
        "a cut-off Redis master acknowledges writes that are thrown away; with WAIT they are not",
        "Jepsen, Redis Sentinel, 2013; Redis documentation on Sentinel",
        ["lost"],
        [66, 54]
    ),
    (
        "zookeeper-stale-reads",
        "a ZooKeeper server that is cut off gives old answers; after a transaction it does not",
        "ZooKeeper documentation on consistency; Jepsen, 2013",
        ["not-linearizable"],
        [63, 67]
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_twin_fits_its_budget_and_says_what_it_needs() {
        for entry in GALLERY {
            let fits = |seconds: &u32| (1..=TWIN_SECONDS_MAX).contains(seconds);
            assert!(entry.seconds.iter().all(fits), "{}: {:?}", entry.name, entry.seconds);
            assert!(!entry.kinds.is_empty() && !entry.systems().is_empty(), "{}", entry.name);
            let cuts_power = entry.plan.contains("fault = \"fsync-loss\"");
            let needs = if cuts_power { Needs::Disk } else { Needs::C };
            assert_eq!(entry.needs(), needs, "{}", entry.name);
        }
    }
}
