//! The table of the picker: model, category of claim, checkers.

use super::Proposal;
use super::shape::{Outputs, Shape, Transactions};
use serde::Serialize;

/// What a claim is about.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Category {
    /// Nothing wrong is ever seen.
    Safety,
    /// Something good happens in the end.
    Liveness,
    /// What was acknowledged stays.
    Durability,
    /// Latency and throughput.
    PerformanceSlo,
    /// Upgrades and changes of configuration.
    Operational,
    /// Retries have one effect.
    Idempotency,
    /// Transactions do not see each other half done.
    Isolation,
    /// Order is kept.
    Ordering,
    /// Who belongs to the cluster.
    Membership,
    /// What is separate stays separate.
    Boundary,
    /// No group starves another.
    Fairness,
    /// Requests are answered.
    Availability,
}

impl Category {
    /// All of them, with their names.
    pub const ALL: [(Category, &'static str); 12] = [
        (Category::Safety, "safety"),
        (Category::Liveness, "liveness"),
        (Category::Durability, "durability"),
        (Category::PerformanceSlo, "performance-slo"),
        (Category::Operational, "operational"),
        (Category::Idempotency, "idempotency"),
        (Category::Isolation, "isolation"),
        (Category::Ordering, "ordering"),
        (Category::Membership, "membership"),
        (Category::Boundary, "boundary"),
        (Category::Fairness, "fairness"),
        (Category::Availability, "availability"),
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        let found = Category::ALL.iter().find(|(category, _)| *category == self);
        found.expect("all categories are listed").1
    }

    /// The category with this name; spelling in capitals does not matter.
    pub fn named(name: &str) -> Option<Category> {
        let found = Category::ALL.iter().find(|(_, known)| known.eq_ignore_ascii_case(name));
        found.map(|&(category, _)| category)
    }
}

/// A line of the table.
pub struct Row {
    /// What it proposes.
    pub proposal: Proposal,
    /// What a history needs for it, in words.
    pub needs: &'static str,
    /// Whether a history has that.
    pub fits: fn(&Shape) -> bool,
    /// Whether it is proposed when no category is given.
    pub unasked: bool,
}

const READ: &[&str] = &["read", "get"];
const WRITE: &[&str] = &["write", "put", "cas"];

fn register(shape: &Shape) -> bool {
    let others = ["append", "add", "inc", "transfer", "credit", "enqueue"];
    shape.any(READ) && shape.any(WRITE) && !shape.any(&others) && shape.reads != Outputs::Lists
}

fn counter(shape: &Shape) -> bool {
    shape.any(&["inc", "increment", "dec", "decrement"])
        || (shape.all(&["add"]) && shape.any(READ) && shape.reads == Outputs::Numbers)
}

fn set(shape: &Shape) -> bool {
    shape.all(&["add"]) && (shape.reads == Outputs::Lists || shape.any(&["contains", "remove"]))
}

fn log(shape: &Shape) -> bool {
    shape.all(&["append"]) && !shape.any(WRITE) && shape.reads != Outputs::Strings
}

fn lease(shape: &Shape) -> bool {
    shape.all(&["acquire"]) && (shape.any(&["renew", "use"]) || shape.tokens)
}

fn consumers(shape: &Shape) -> bool {
    shape.any(&["send", "produce", "publish"])
        && shape.any(&["consume", "poll", "recv", "receive", "deliver"])
}

macro_rules! row {
    ($model:expr, $category:ident, $checkers:expr, $unasked:expr, $needs:expr, $reason:expr,
     $decided:expr, $fits:expr) => {
        Row {
            proposal: Proposal {
                model: $model,
                category: Category::$category,
                checkers: $checkers,
                reason: $reason,
                decided_by: $decided,
            },
            needs: $needs,
            fits: $fits,
            unasked: $unasked,
        }
    };
}

/// Every line.
pub static ROWS: &[Row] = &[
    row!(
        "register",
        Safety,
        &["linearizability:register"],
        true,
        "read and write (or cas)",
        "single values that are read and replaced",
        "every read is promised to be current",
        register
    ),
    row!(
        "session",
        Safety,
        &["read-your-writes", "monotonic-reads", "monotonic-writes", "writes-follow-reads"],
        true,
        "read and write with versions of the system, or reconnects",
        "reads and writes with versions: what one session sees can be ordered",
        "only what a session itself did and saw is promised, not the newest value",
        |s| register(s) && (s.versions || s.any(&["reconnect"]))
    ),
    row!(
        "kv",
        Safety,
        &["linearizability:kv"],
        true,
        "put, get and append of strings",
        "strings that are replaced and appended to",
        "every get is promised to be current",
        |s| s.all(&["append"]) && s.any(READ) && s.any(WRITE)
    ),
    row!(
        "counter",
        Safety,
        &["linearizability:counter"],
        true,
        "inc or add, and read of numbers",
        "numbers that are added to",
        "every read is promised to be current",
        |s| counter(s) && s.any(READ)
    ),
    row!(
        "counter",
        Safety,
        &["invariant"],
        false,
        "inc or add, and a final state",
        "the final value can be compared with what was added",
        "only the value at rest is promised",
        |s| counter(s) && s.has_final()
    ),
    row!(
        "set",
        Safety,
        &["linearizability:set"],
        true,
        "add with contains, remove or whole reads",
        "elements that are added and looked for",
        "every read is promised to be current",
        set
    ),
    row!(
        "queue",
        Safety,
        &["linearizability:queue"],
        true,
        "enqueue and dequeue",
        "elements that are put in and taken out",
        "strict first in, first out, with real time",
        |s| s.all(&["enqueue", "dequeue"])
    ),
    row!(
        "stack",
        Safety,
        &["linearizability:stack"],
        true,
        "push and pop",
        "elements that are pushed and popped",
        "strict last in, first out",
        |s| s.all(&["push", "pop"])
    ),
    row!(
        "log",
        Safety,
        &["linearizability:log", "log"],
        true,
        "append and read",
        "entries that are appended and read",
        "every read is promised to be current",
        |s| log(s) && s.any(READ)
    ),
    row!(
        "lock",
        Safety,
        &["lock", "invariant", "linearizability:mutex"],
        true,
        "acquire and release",
        "a lock that is taken and given back",
        "one holder at a time",
        |s| s.all(&["acquire", "release"]) && !lease(s)
    ),
    row!(
        "lease",
        Safety,
        &["lease", "invariant", "linearizability:lease"],
        true,
        "acquire with tokens, renew or use",
        "a lease with tokens or renewals",
        "one holder until it expires",
        lease
    ),
    row!(
        "bank",
        Safety,
        &["bank"],
        true,
        "transfer, and reads of all balances",
        "money that is moved between accounts",
        "the total never changes",
        |s| s.all(&["transfer"]) && (s.any(READ) || s.has_final())
    ),
    row!(
        "assertions",
        Safety,
        &["property"],
        true,
        "assert",
        "assertions made during the run",
        "what the assertions say",
        |s| s.all(&["assert"])
    ),
    row!(
        "map",
        Isolation,
        &["list-append"],
        true,
        "txn of [\"append\",k,v] and [\"r\",k,[..]]",
        "transactions that append to lists: their order can be read off",
        "transactions are isolated, across keys",
        |s| s.transactions == Transactions::ListAppend
    ),
    row!(
        "map",
        Isolation,
        &["rw-register"],
        true,
        "txn of [\"w\",k,v] and [\"r\",k,v]",
        "transactions that read and write values",
        "transactions are isolated, across keys",
        |s| s.transactions == Transactions::RwRegister
    ),
    row!(
        "map",
        Isolation,
        &["set-add"],
        true,
        "txn of [\"add\",k,v] and [\"r\",k,[..]]",
        "transactions that add to sets: a read shows whom it saw",
        "transactions are isolated, across keys",
        |s| s.transactions == Transactions::SetAdd
    ),
    row!(
        "map",
        Isolation,
        &["counter-inc"],
        true,
        "txn of [\"inc\",k,n] and [\"r\",k,n]",
        "transactions that increment counters: sums show part of their order",
        "transactions are isolated, across keys",
        |s| s.transactions == Transactions::CounterInc
    ),
    row!(
        "log",
        Durability,
        &["no-lost-ack", "log", "replay-equivalence"],
        false,
        "append and a final state, replay or whole read",
        "entries that were acknowledged can be looked for",
        "acknowledged entries stay",
        |s| log(s) && (s.has_final() || s.any(&["replay"]) || s.reads == Outputs::Lists)
    ),
    row!(
        "set",
        Durability,
        &["set", "no-lost-ack"],
        false,
        "add, and reads or a final state",
        "elements that were acknowledged can be looked for",
        "acknowledged elements stay",
        |s| s.all(&["add"]) && (s.has_final() || s.reads == Outputs::Lists) && !counter(s)
    ),
    row!(
        "queue",
        Durability,
        &["queue"],
        false,
        "enqueue, dequeue, and drain or final",
        "what went in and did not come out is counted",
        "acknowledged elements come out",
        |s| s.all(&["enqueue", "dequeue"]) && (s.any(&["drain"]) || s.has_final())
    ),
    row!(
        "map",
        Durability,
        &["no-lost-ack"],
        false,
        "write or put, and a final state",
        "written keys can be compared with the final state",
        "the last acknowledged write stays",
        |s| s.any(&["write", "put"]) && s.has_final()
    ),
    row!(
        "snapshot",
        Durability,
        &["replay-equivalence"],
        false,
        "dump and then replay",
        "the state before and after a replay",
        "a replay leads to the same state",
        |s| s.any(&["replay"]) && !log(s)
    ),
    row!(
        "ledger",
        Idempotency,
        &["exactly-once", "ledger"],
        true,
        "credit, debit and balance, with an id inside the input",
        "requests with an idempotency id",
        "a retry has no second effect",
        |s| s.any(&["credit", "debit"])
    ),
    row!(
        "requests",
        Idempotency,
        &["exactly-once"],
        false,
        "requests with a business key, and a final state or consumers",
        "effects can be counted by business key",
        "a retry has no second effect",
        |s| !s.any(&["credit", "debit"])
            && (s.has_final() || consumers(s) || s.all(&["enqueue", "dequeue"]))
    ),
    row!(
        "stream",
        Ordering,
        &["order"],
        true,
        "send, produce or publish, and consume, poll or recv",
        "consumers that each see the whole stream",
        "every consumer sees a prefix",
        consumers
    ),
    row!(
        "queue",
        Ordering,
        &["queue"],
        false,
        "enqueue and dequeue",
        "consumers that share a queue",
        "first in, first out, whoever the producer is",
        |s| s.all(&["enqueue", "dequeue"])
    ),
    row!(
        "queue",
        Ordering,
        &["fifo-producer"],
        false,
        "enqueue and dequeue",
        "consumers that share a queue",
        "first in, first out for each producer alone",
        |s| s.all(&["enqueue", "dequeue"])
    ),
    row!(
        "session",
        Ordering,
        &["causal"],
        false,
        "read and write, every value written once",
        "reads and writes whose causes can be followed",
        "effects are not seen before causes",
        register
    ),
    row!(
        "log",
        Ordering,
        &["log"],
        false,
        "append and read with offsets",
        "entries with offsets",
        "all readers agree at every offset",
        |s| log(s) && s.any(READ)
    ),
    row!(
        "membership-table",
        Membership,
        &["membership", "replicas"],
        true,
        "join, leave and view",
        "views of the cluster",
        "views agree at rest",
        |s| s.all(&["view"]) && s.any(&["join", "leave"])
    ),
    row!(
        "group",
        Fairness,
        &["fairness"],
        false,
        "operations of two groups or more",
        "groups can be told apart by key, process or node",
        "no group is starved",
        |s| !s.verbs.is_empty()
    ),
    row!(
        "service",
        Availability,
        &["slo"],
        false,
        "any operations",
        "answers and errors can be counted",
        "requests are answered",
        |s| !s.verbs.is_empty()
    ),
    row!(
        "service",
        PerformanceSlo,
        &["baseline"],
        false,
        "sample of baseline and candidate runs",
        "runs of two versions",
        "the candidate is not slower",
        |s| s.all(&["sample"])
    ),
    row!(
        "service",
        PerformanceSlo,
        &["slo"],
        false,
        "any operations with times",
        "latency and throughput can be measured",
        "limits are kept",
        |s| !s.verbs.is_empty() && !s.all(&["sample"])
    ),
];

#[cfg(test)]
mod tests {
    use super::{ROWS, Shape};

    const ADD: [&str; 8] =
        ["add", "append", "insert", "enqueue", "send", "produce", "publish", "push"];

    #[test]
    fn adding_alone_is_never_taken_for_a_proof_of_anything() {
        for verb in ADD {
            let shape = Shape { verbs: [verb.to_string()].into(), ..Shape::default() };
            let fits = ROWS.iter().filter(|row| row.unasked && (row.fits)(&shape)).count();
            assert_eq!(fits, 0, "{verb} alone");
        }
    }
}
