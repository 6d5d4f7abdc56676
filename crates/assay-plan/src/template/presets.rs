//! What a first scenario looks like for each model.

use crate::words::Category;

/// Values for the template.
pub(super) struct Preset {
    pub category: Category,
    pub claim: &'static str,
    pub scenario: &'static str,
    pub generator: &'static str,
    pub keys: u32,
    pub mix: &'static str,
    pub nemesis: &'static str,
    /// More than the first one of the picker.
    pub checkers: Option<&'static [&'static str]>,
    pub options: Option<&'static str>,
}

const LEADER: &str = "\
[[nemesis]]
fault = \"leader-iso\"
target = \"leader\"
at = \"4s..8s\"                           # a range is drawn from the seed
for = \"6s\"
every = \"20s\"
landing = { injector = \"dropped >= 1\", victim = \"elections >= 1 within 10s\" }
";

const CRASH: &str = "\
[[nemesis]]
fault = \"kill9\"
target = \"any\"
at = \"4s..8s\"                           # a range is drawn from the seed
for = \"3s\"
every = \"20s\"
landing = { injector = \"killed >= 1\", victim = \"restarts >= 1 within 30s\" }
";

const PAUSE: &str = "\
[[nemesis]]
fault = \"pause\"
target = \"leader\"
at = \"4s..8s\"                           # a range is drawn from the seed
for = \"6s\"
every = \"20s\"
landing = { injector = \"stopped >= 1\", victim = \"heartbeat-gap >= 2s\" }
";

const CUT: &str = "\
[[nemesis]]
fault = \"part-asym\"
target = \"leader -> others\"
at = \"4s..8s\"                           # a range is drawn from the seed
for = \"6s\"
every = \"20s\"
landing = { injector = \"dropped >= 1\", victim = \"timeouts >= 1 within 10s\" }
";

impl Preset {
    pub(super) fn of(model: &str) -> Preset {
        let base = Preset {
            category: Category::Safety,
            claim: "a read returns the newest acknowledged write of its key",
            scenario: "linearizable_per_key_under_leader_isolation",
            generator: "register",
            keys: 4,
            mix: "read = 50, write = 40, cas = 10",
            nemesis: LEADER,
            checkers: None,
            options: None,
        };
        match model {
            "map" => Preset {
                category: Category::Isolation,
                claim: "transactions are serializable, across keys",
                scenario: "serializable_across_keys_under_leader_isolation",
                generator: "list-append",
                keys: 8,
                mix: "txn = 100",
                options: Some("options = { consistency-model = \"serializable\" }"),
                ..base
            },
            "counter" => Preset {
                claim: "every acknowledged increment counts once",
                scenario: "no_lost_increment_under_leader_isolation",
                generator: "counter",
                mix: "inc = 60, read = 40",
                ..base
            },
            "session" => Preset {
                claim: "a session sees its own writes, and time does not run backwards for it",
                scenario: "session_guarantees_hold_across_failover",
                generator: "session",
                mix: "read = 60, write = 38, reconnect = 2",
                checkers: Some(&["read-your-writes", "monotonic-reads"]),
                ..base
            },
            _ => Preset::of_shared(model, base),
        }
    }

    /// Models of things that are shared out, kept or counted.
    fn of_shared(model: &str, base: Preset) -> Preset {
        match model {
            "queue" => Preset {
                category: Category::Durability,
                claim: "every acknowledged message is delivered at least once",
                scenario: "delivered_at_least_once_across_crashes",
                generator: "queue",
                keys: 2,
                mix: "enqueue = 50, dequeue = 50",
                nemesis: CRASH,
                options: Some("options = { business-key = \"id\" }"),
                ..base
            },
            "log" => Preset {
                category: Category::Durability,
                claim: "an acknowledged append survives any crash",
                scenario: "no_lost_append_across_crashes",
                generator: "log",
                keys: 2,
                mix: "append = 70, read = 30",
                nemesis: CRASH,
                checkers: Some(&["no-lost-ack", "log"]),
                ..base
            },
            "lock" => Preset {
                claim: "at most one client holds the lock",
                scenario: "one_holder_while_the_leader_is_frozen",
                generator: "lock",
                mix: "acquire = 50, release = 50",
                nemesis: PAUSE,
                ..base
            },
            "lease" => Preset {
                claim: "at most one client holds an unexpired lease, and tokens rise",
                scenario: "one_holder_per_lease_while_the_leader_is_frozen",
                generator: "lease",
                mix: "acquire = 40, renew = 20, use = 20, release = 20",
                nemesis: PAUSE,
                options: Some("options = { lease-ttl = \"5s\" }"),
                ..base
            },
            "membership-table" => Preset {
                category: Category::Membership,
                claim: "all members agree on who belongs, once changes stop",
                scenario: "views_agree_after_one_way_partition",
                generator: "membership",
                keys: 1,
                mix: "join = 30, leave = 20, view = 50",
                nemesis: CUT,
                checkers: Some(&["membership", "replicas"]),
                ..base
            },
            "ledger" => Preset {
                category: Category::Idempotency,
                claim: "a payment with the same idempotency key is booked once",
                scenario: "booked_once_however_often_it_is_retried",
                generator: "ledger",
                keys: 8,
                mix: "credit = 40, debit = 40, balance = 20",
                nemesis: CUT,
                checkers: Some(&["exactly-once", "ledger"]),
                options: Some("options = { business-key = \"id\" }"),
            },
            _ => base,
        }
    }
}
