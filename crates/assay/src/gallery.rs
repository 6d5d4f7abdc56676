//! The gallery: published findings, each as a plan with two twins.

/// An entry.
pub struct Entry {
    /// What it is called.
    pub name: &'static str,
    /// What it shows, in a line.
    pub about: &'static str,
    /// Where it was published.
    pub published: &'static str,
    /// Its plan: S1 is the green twin, S2 the red one.
    pub plan: &'static str,
}

macro_rules! entries {
    ($(($name:literal, $about:literal, $published:literal)),+ $(,)?) => {
        /// All entries.
        pub const GALLERY: &[Entry] = &[$(Entry {
            name: $name,
            about: $about,
            published: $published,
            plan: include_str!(concat!("../../../examples/gallery/", $name, "/plan.md")),
        }),+];
    };
}

entries![
    (
        "etcd-lost-writes",
        "etcd 3.5.1 loses acknowledged writes when a node is killed; 3.4 does not",
        "etcd issue 13766 and its postmortem, 2022"
    ),
    (
        "etcd-stale-reads",
        "serializable reads of etcd are stale while a leader is cut off; linearizable ones are not",
        "etcd documentation, API guarantees; Jepsen, 2014"
    ),
    (
        "ledger-double-booking",
        "payments sent again without a request id are booked twice; with one they are not",
        "payment APIs on idempotency keys; IETF draft on the Idempotency-Key header"
    ),
    (
        "nats-power-loss",
        "JetStream loses acknowledged messages when the power fails; synced always it does not",
        "Jepsen, NATS 2.12.1, 2025; NATS documentation on sync_interval"
    ),
    (
        "postgres-failover",
        "an asynchronous standby that takes over lacks commits; a synchronous one does not",
        "PostgreSQL documentation on replication; GitHub, incident of October 2018"
    ),
    (
        "postgres-lost-update",
        "read committed of PostgreSQL loses updates; repeatable read does not",
        "PostgreSQL documentation on isolation; Berenson and others, 1995 (P4)"
    ),
    (
        "postgres-write-skew",
        "repeatable read of PostgreSQL shows write skew; serializable does not",
        "PostgreSQL documentation on isolation; Jepsen, PostgreSQL 12.3, 2020"
    ),
    (
        "queue-ack-before-work",
        "jobs acknowledged before the work are lost with their consumer; after it they are not",
        "RabbitMQ documentation on acknowledgements; Redis documentation on LMOVE"
    ),
    (
        "redis-lock-expiry",
        "late requests of a former holder get through unless tokens are compared",
        "Kleppmann, How to do distributed locking, 2016"
    ),
    (
        "redis-sentinel-lost-writes",
        "a cut-off Redis master acknowledges writes that are thrown away; with WAIT they are not",
        "Jepsen, Redis Sentinel, 2013; Redis documentation on Sentinel"
    ),
    (
        "zookeeper-stale-reads",
        "a ZooKeeper server that is cut off gives old answers; after a transaction it does not",
        "ZooKeeper documentation on consistency; Jepsen, 2013"
    ),
];
