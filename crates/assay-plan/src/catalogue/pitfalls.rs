//! Sixteen ways in which systems like this one have failed.

use serde::Serialize;

/// An entry of the list.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Pitfall {
    /// Its number, from 1.
    pub number: usize,
    /// What goes wrong.
    pub title: &'static str,
    /// Techniques that find it.
    pub techniques: &'static [&'static str],
    /// The claims it usually falsifies.
    pub at_risk: &'static str,
    /// What would notice.
    pub oracle: &'static str,
    /// What to ask the code.
    pub ask: &'static str,
}

const JEPSEN: &str = "jepsen-and-elle";
const CRASH: &str = "crash-recovery-and-upgrade";
const CHAOS: &str = "chaos-and-fault-injection";
const PROPERTY: &str = "property-and-metamorphic";
const PERFORMANCE: &str = "performance-and-benchmarking";

const fn pitfall(
    number: usize,
    title: &'static str,
    techniques: &'static [&'static str],
    [at_risk, oracle, ask]: [&'static str; 3],
) -> Pitfall {
    Pitfall { number, title, techniques, at_risk, oracle, ask }
}

/// The list; the first six appear in most published analyses.
#[rustfmt::skip]
pub const PITFALLS: [Pitfall; 16] = [
    pitfall(1, "Lost update: two writers and a partition", &[JEPSEN], [
        "durability, safety", "linearizability:register or list-append",
        "Does a write check what it replaces, on the node that decides?"]),
    pitfall(2, "Stale read from a follower", &[JEPSEN, PROPERTY], [
        "safety: read-your-writes, monotonic reads", "monotonic-reads, linearizability",
        "Can a node answer a read without asking anybody?"]),
    pitfall(3, "Replicas that differ after a partition or restart", &[JEPSEN], [
        "convergence, durability", "replicas: all keys of all replicas compared at rest",
        "What brings a replica back, and who checks that it did?"]),
    pitfall(4, "Order taken from wall clocks", &[JEPSEN], [
        "safety: linearizability", "linearizability",
        "Is a time of day compared with one of another machine?"]),
    pitfall(5, "Lost answer taken for a lost commit", &[JEPSEN], [
        "idempotency, durability", "exactly-once, no-lost-ack",
        "What does a client do after a timeout, and what does the server do then?"]),
    pitfall(6, "Members change while something else changes", &[CHAOS, CRASH], [
        "membership", "membership, replicas",
        "Can two changes of members overlap, or one be tried twice?"]),
    pitfall(7, "Recovery leads to another state", &[CRASH], [
        "durability, idempotency", "replay-equivalence",
        "Is what is replayed exactly what was applied?"]),
    pitfall(8, "Schema changes under traffic", &[CRASH], [
        "operational", "no-lost-ack over a full scan",
        "Who writes in the old form while the new one is being built?"]),
    pitfall(9, "Ids or sequence numbers that collide", &[PROPERTY, JEPSEN], [
        "safety, ordering", "property: unique and rising",
        "Who hands them out after a restart or a failover?"]),
    pitfall(10, "A change feed that loses or repeats", &[JEPSEN], [
        "ordering, idempotency", "order, exactly-once",
        "When is the cursor stored, before or after the work?"]),
    pitfall(11, "Half a transaction across shards", &[JEPSEN], [
        "isolation", "list-append across keys, bank",
        "Who decides if a shard is gone between prepare and commit?"]),
    pitfall(12, "Clock skew beyond what was assumed", &[CHAOS], [
        "safety of leases and snapshots", "lease, linearizability under bounded skew",
        "Which bound is assumed, and what enforces it?"]),
    pitfall(13, "Permissions, quotas or metadata that differ by node", &[PROPERTY, JEPSEN], [
        "boundary", "replicas after healing",
        "How long may a node decide by what it remembers?"]),
    pitfall(14, "A lease runs out under unrelated load", &[CHAOS, PERFORMANCE], [
        "liveness, safety", "slo on renewal, lease",
        "Does renewal share a queue, a thread or a disk with the work?"]),
    pitfall(15, "A cold cache forgets what was done before", &[CRASH], [
        "idempotency", "exactly-once across a restart",
        "Where does the memory of past requests live?"]),
    pitfall(16, "One entry blocks all behind it", &[PROPERTY, CRASH], [
        "liveness", "slo on the age of the oldest entry, property",
        "What happens to an entry whose subject does not exist?"]),
];

impl Pitfall {
    /// Its page.
    pub fn page(&self) -> String {
        format!(
            "Ask: {}\n\nAt risk: {}\n\nLook with: {}\n\nOracle: {}",
            self.ask,
            self.at_risk,
            self.techniques.join(", "),
            self.oracle
        )
    }
}
