//! The rules themselves, in words.

use serde::Serialize;

/// A rule about histories.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
pub enum Rule {
    /// Every `op_id` is unique.
    V1,
    /// Every record has all twelve columns.
    V2,
    /// `complete_ts` is null exactly where the outcome is unknown, and an unknown outcome has no
    /// output.
    V3,
    /// No operation completes before it was invoked, or is invoked before it was due.
    V4,
    /// An operation has an output or an error, not both.
    V5,
    /// A process has at most one operation open at a time.
    V6,
    /// `fault_epoch` agrees with the declared fault windows.
    V7,
    /// `node_seen` is there where the claim is about nodes.
    V8,
    /// Every `op_type` belongs to the model.
    V9,
    /// One monotonic clock stamped all operations.
    V10,
    /// As many operations were sent as were recorded and checked.
    V11,
}

impl Rule {
    /// All rules, in order.
    pub const ALL: [Rule; 11] = [
        Rule::V1,
        Rule::V2,
        Rule::V3,
        Rule::V4,
        Rule::V5,
        Rule::V6,
        Rule::V7,
        Rule::V8,
        Rule::V9,
        Rule::V10,
        Rule::V11,
    ];

    /// The rule in a few words.
    pub fn title(self) -> &'static str {
        TEXTS[self as usize].0
    }

    /// What the rule is, why it matters and how to fix the recorder, in one paragraph.
    pub fn page(self) -> &'static str {
        TEXTS[self as usize].1
    }
}

impl std::fmt::Display for Rule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self:?}")
    }
}

impl std::str::FromStr for Rule {
    type Err = ();

    /// Finds a rule by its name, such as `V3`, in either case.
    fn from_str(name: &str) -> Result<Rule, ()> {
        let same = |rule: &Rule| rule.to_string().eq_ignore_ascii_case(name);
        Rule::ALL.into_iter().find(same).ok_or(())
    }
}

/// Title and page of each rule, in order.
const TEXTS: [(&str, &str); 11] = [
    (
        "op_id is unique",
        "Every operation has an op_id of its own, and so has every retry: each send over the \
         network is one operation. Where two share an id, their invocations and completions cannot \
         be told apart, and whatever a checker concludes may rest on a pair that never belonged \
         together; a repeated id with another output is a bug of the recorder. Number operations \
         with one counter for the whole run, or use UUIDs.",
    ),
    (
        "all twelve columns are recorded",
        "A record has all twelve columns; one that does not apply is null, never left out, because \
         a column that is absent cannot be told from one the recorder forgot. Without input, \
         output, complete_ts or timeout_marker the checkers are weak: they cannot see what was \
         sent, what came back, or whether the outcome is known. Without key, error, node_seen or \
         fault_epoch it is a note: null is assumed. Write every column in every record; in pair \
         form the invoke line has eight, the complete line seven.",
    ),
    (
        "unknown outcomes are marked, and have no output",
        "complete_ts is null exactly when nobody learnt the outcome, and then timeout_marker is \
         true. An answer that came but does not tell whether the operation took effect may have a \
         complete_ts beside the marker. An unknown outcome has no output: a value that was \
         received is an outcome that is known. A timeout that is not marked counts as a success or \
         a failure it never was, and hides anomalies. Record each timeout with complete_ts null, \
         timeout_marker true, output null; an operation without any completion record counts as \
         unknown.",
    ),
    (
        "nothing completes before it was invoked",
        "complete_ts is not before invoke_ts. Real-time order is what a linearizability checker \
         checks; an operation that ends before it begins shows that the clock jumped, or that two \
         clocks were mixed. Take both times from the same monotonic clock, the first before the \
         send and the second after the answer. Where order comes from the position of records, \
         times are for display and this is a note. Nor is due_ts, where there is one, after \
         invoke_ts: with that only service levels are weak.",
    ),
    (
        "output and error exclude each other",
        "An operation has an output, when it succeeded, or an error, when it certainly did not \
         take effect. With both, a checker must disregard one of them, and either choice may be \
         wrong. Record the error as the error and leave output null; where the answer does not \
         tell whether the operation took effect, set timeout_marker and keep the error as \
         diagnosis.",
    ),
    (
        "a process does one thing at a time",
        "A process stands for one client that waits for each answer before it goes on. Session \
         guarantees (read your writes, monotonic reads), locks and process order rely on that. \
         Where operations of one process overlap, give each connection or task its own process_id, \
         or declare pipelining in the header (\"pipelined\": true). An operation without \
         completion while its process goes on needs a completion with timeout_marker true.",
    ),
    (
        "fault_epoch agrees with the fault windows",
        "Every operation whose lifetime intersects a declared fault window carries the fault_epoch \
         of that window, and an operation outside all windows carries null. Without that nobody \
         can say whether the fault overlapped the workload, so a pass under fault proves nothing. \
         Stamp operations with the epoch that is active when they are sent or when they complete, \
         and write each window as a fault line.",
    ),
    (
        "node_seen is recorded where nodes matter",
        "Claims about replication, leadership or membership are claims about nodes: a stale read \
         is only stale on the replica that served it. Then node_seen names the node, leader or \
         route of every operation with a known outcome. Record what the client library connected \
         to, or what the answer says served it.",
    ),
    (
        "every op_type belongs to the model",
        "Every op_type is one that the model knows. A checker that skipped operations it does not \
         understand would pass histories whose writes it never saw. Choose the model that has \
         these operations (docs/models.md), or rename them in the recorder.",
    ),
    (
        "one monotonic clock",
        "Times of different processes are compared, so they come from one monotonic clock, and the \
         header says so (\"clock\": \"monotonic\"). Wall clocks jump and differ between machines: \
         an order of events read from them may be an order that never was. Use the monotonic clock \
         of one machine that runs all clients; a clock that is not declared is noted and taken to \
         be monotonic.",
    ),
    (
        "no operation got lost on the way to the checker",
        "The number of operations the workload sent, the number the recorder wrote and the number \
         the checker took in are equal. A recorder that loses operations loses the interesting \
         ones first: those around a crash. End the file with a footer line that has \"sent\" and \
         \"recorded\"; a missing footer is a note, because a recorder that was killed cannot write \
         one.",
    ),
];
