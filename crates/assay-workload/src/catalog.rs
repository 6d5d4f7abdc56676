//! The generators, as data: what docs/workloads.md and error messages are made from.

/// An operation type that a generator makes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OpInfo {
    /// Its name in the history.
    pub name: &'static str,
    /// Its input.
    pub input: &'static str,
    /// What comes back.
    pub output: &'static str,
    /// Its share where the mix is not given.
    pub share: u64,
    /// Whether it changes anything: what only reads needs no id.
    pub changes: bool,
}

/// An option of a generator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OptionInfo {
    /// Its name.
    pub name: &'static str,
    /// What it is for.
    pub about: &'static str,
    /// Its default, as JSON.
    pub default: &'static str,
}

/// What it means to send a call again after an unknown outcome.
///
/// A system that knows the id gives the second sending the outcome of the first, whose effect lies
/// *before* the second began. Only a checker that puts attempts with one id together can take the
/// two for operations of their own; every other one must be told that they are one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Resend {
    /// Each sending is an operation of its own: the checkers group attempts by the id in the input.
    OwnOperation,
    /// All sendings are one operation, from the first invocation to the last completion. It is *ok*
    /// if any sending is; it is *fail* only if the first one is.
    SameOperation,
}

/// A generator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GeneratorInfo {
    /// Its name in plans.
    pub name: &'static str,
    /// What its clients do.
    pub about: &'static str,
    /// The operation types it makes.
    pub ops: &'static [OpInfo],
    /// Its options, besides those that all have.
    pub options: &'static [OptionInfo],
    /// What is done before the clients start; empty: nothing.
    pub setup: &'static str,
    /// What is read when they are done.
    pub finals: &'static str,
    /// The checkers its histories fit.
    pub checkers: &'static [&'static str],
    /// What sending again means.
    pub resend: Resend,
}

const fn op(
    name: &'static str,
    input: &'static str,
    output: &'static str,
    share: u64,
    changes: bool,
) -> OpInfo {
    OpInfo { name, input, output, share, changes }
}

const fn option(name: &'static str, about: &'static str, default: &'static str) -> OptionInfo {
    OptionInfo { name, about, default }
}

const RETRIES: &str = "how often a call of unknown outcome is sent again with the same id";
const RETRY: OptionInfo = option("retries", RETRIES, "0");
const TXN_OPS: OptionInfo =
    option("txn-ops", "how many micro-operations a transaction has, as a range", "\"1..4\"");
const READ_PERCENT: OptionInfo =
    option("read-percent", "how many of the micro-operations read, in percent", "50");
const PATTERN: OptionInfo = option(
    "pattern",
    "`mixed`: reads and writes in any order; `updates`: a transaction reads some objects and then \
     writes each of them",
    "\"mixed\"",
);

/// Options of every generator.
pub(crate) const COMMON: &[OptionInfo] =
    &[option("skew", "the exponent of Zipf's law, for the distribution `zipf`", "0.99")];

const READ: OpInfo = op("read", "–", "the value", 50, false);
const WRITE: OpInfo = op("write", "a value nobody else writes", "–", 35, true);
const REPLICAS: &str = "reads each key once; dumps every node, a map by key";

const fn generator_of(
    name: &'static str,
    about: &'static str,
    ops: &'static [OpInfo],
    options: &'static [OptionInfo],
    finals: &'static str,
    checkers: &'static [&'static str],
) -> GeneratorInfo {
    let (setup, resend) = ("", Resend::SameOperation);
    GeneratorInfo { name, about, ops, options, setup, finals, checkers, resend }
}

/// Every generator.
#[rustfmt::skip]
pub const GENERATORS: &[GeneratorInfo] = &[
    generator_of("register", "Reads, writes, and compares-and-swaps from the last value the client \
         saw of that key.",
        &[READ, WRITE,
          op("cas", "`[from, to]`", "`true` swapped, `false` compared unequal", 15, true)],
        &[RETRY], REPLICAS,
        &["linearizability:register", "no-lost-ack", "replicas", "causal"]),
    generator_of("map", "Reads and writes many keys.", &[READ, OpInfo { share: 50, ..WRITE }],
        &[RETRY], REPLICAS,
        &["linearizability:register", "no-lost-ack", "replicas", "causal"]),
    generator_of("session", "Reads and writes; now and then a client connects anew, which begins \
         another session.",
        &[READ, OpInfo { share: 45, ..WRITE }, op("reconnect", "–", "–", 5, false)],
        &[RETRY], REPLICAS,
        &["read-your-writes", "monotonic-reads", "monotonic-writes", "writes-follow-reads",
          "causal", "replicas"]),
    generator_of("kv-append", "Gets and puts strings, and appends to them; every piece is written \
         once.",
        &[op("get", "–", "the whole string", 45, false), op("put", "string", "–", 10, true),
          op("append", "string", "–", 45, true)],
        &[RETRY], "gets each key once; dumps every node, a map by key",
        &["linearizability:kv", "replicas"]),
    generator_of("rw-register", "Transactions that read and write several registers.",
        &[op("txn", "list of `[\"r\", key, null]` and `[\"w\", key, value]`",
             "the same with what was read", 1, true)],
        &[TXN_OPS, READ_PERCENT, PATTERN, RETRY],
        "reads each key once, some in a transaction; dumps every node, a map by key",
        &["rw-register", "replicas"]),
    generator_of("list-append", "Transactions that read and append to several lists. A list that \
         is long enough makes way for a new one.",
        &[op("txn", "list of `[\"r\", key, null]` and `[\"append\", key, value]`",
             "the same with what was read", 1, true)],
        &[TXN_OPS, READ_PERCENT, PATTERN,
          option("appends-per-key", "about how long a list gets before a new key takes its place",
              "128"), RETRY],
        "reads each key once, some in a transaction; dumps every node, a map by key",
        &["list-append", "replicas"]),
    generator_of("set", "Adds elements, asks for single ones, and reads whole sets.",
        &[op("add", "element", "whether it was new, or –", 45, true),
          op("contains", "element", "`true` or `false`", 45, false),
          op("read", "–", "list of elements", 10, false)],
        &[RETRY], REPLICAS,
        &["linearizability:set", "set", "no-lost-ack", "replicas"]),
    generator_of("queue", "Puts elements into queues and takes them out.",
        &[op("enqueue", "element: a record with its id, or a number", "–", 55, true),
          op("dequeue", "–", "the element, or null for empty", 45, true)],
        &[option("business-key", "the field of an element that holds its id; an empty text makes \
              elements plain numbers", "\"id\""), RETRY],
        "takes elements out of each queue until it is empty; then dumps each queue on every node, \
         as the list of all elements it ever accepted",
        &["linearizability:queue", "queue", "fifo-producer", "at-least-once", "exactly-once",
          "at-most-once", "no-lost-ack", "replicas"]),
    generator_of("log", "Appends entries, and reads single offsets or whole logs.",
        &[op("append", "entry", "its offset", 50, true),
          op("read", "offset, or null for all", "the entry there; the whole log", 50, false)],
        &[option("whole-read-percent", "how many of the reads are of the whole log, in percent",
              "5"), RETRY], REPLICAS,
        &["linearizability:log", "log", "no-lost-ack", "replicas"]),
    generator_of("counter", "Adds to numbers and reads them.",
        &[op("add", "1 to 9", "–", 30, true), op("inc", "–", "–", 10, true),
          op("dec", "–", "–", 10, true), op("read", "–", "the value", 50, false)],
        &[RETRY], REPLICAS, &["linearizability:counter", "invariant", "replicas"]),
    generator_of("lock", "Takes locks and gives back what it holds. After an acquire of unknown \
         outcome it releases in any case, or the lock might stay taken for ever. What is drawn \
         from the mix and makes no sense gives way to what does.",
        &[op("acquire", "the holder", "–", 50, true), op("release", "the holder", "–", 50, true)],
        &[RETRY], "dumps every node: holders by key",
        &["lock", "linearizability:mutex", "replicas"]),
    generator_of("lease", "Takes leases, renews and releases them, and uses what they guard. Some \
         holders oversleep: they ask for the lease again until they get it or have been refused \
         often enough, then use first the new token and then the old one, which must not work. \
         What is drawn from the mix and makes no sense gives way to what does.",
        &[op("acquire", "`{\"holder\", \"ttl_ms\"}`", "the fencing token", 25, true),
          op("renew", "token", "–", 15, true), op("use", "token", "–", 45, true),
          op("release", "token", "–", 15, true)],
        &[option("ttl-ms", "how long a lease lasts, in milliseconds", "200"),
          option("uses", "how many uses follow each grant at once", "0"),
          option("oversleep-percent", "how many of the holders oversleep, in percent", "20"),
          option("refusals-max", "after so many refusals they stop asking", "200")],
        "dumps every node: leases by key", &["lease", "linearizability:lease", "replicas"]),
    GeneratorInfo {
        setup: "opens one account for each key",
        ..generator_of("bank", "Moves money between accounts, and reads all of them.",
            &[op("transfer", "`{\"from\", \"to\", \"amount\"}`", "–", 60, true),
              op("read", "–", "balances by account", 40, false)],
            &[option("balance", "what an account holds at first", "100"),
              option("amount-max", "the most that is moved at once", "20"), RETRY],
            "reads all balances; dumps every node: balances by account",
            &["bank", "invariant", "replicas"])
    },
    GeneratorInfo {
        resend: Resend::OwnOperation,
        ..generator_of("ledger", "Credits and debits accounts, each time with an id of its own \
             that stays the same when it is sent again, and asks for balances.",
            &[op("credit", "`{\"id\", \"amount\"}`", "–", 45, true),
              op("debit", "`{\"id\", \"amount\"}`", "–", 45, true),
              op("balance", "–", "whole number", 10, false)],
            &[option("amount-max", "the most that is debited at once; credits are up to twice as \
                  much", "20"), option("retries", RETRIES, "2")],
            "asks for each balance; dumps every node: the entries of each account, records with \
             id and amount",
            &["ledger", "exactly-once", "at-least-once", "at-most-once", "replicas"])
    },
    generator_of("membership", "Asks nodes who belongs to the cluster; where the mix says so, \
         members join and leave. Clients have members of their own to move, so that who joined \
         last is certain.",
        &[op("view", "–", "list of members", 1, false), op("join", "member", "–", 0, true),
          op("leave", "member", "–", 0, true)],
        &[option("members", "names of members that may join and leave",
              "[\"m1\", \"m2\", \"m3\"]")],
        "asks every node for its view; dumps every node: its members",
        &["membership", "replicas"]),
];

/// The generator of a name.
pub fn generator(name: &str) -> Option<&'static GeneratorInfo> {
    GENERATORS.iter().find(|info| info.name == name)
}
