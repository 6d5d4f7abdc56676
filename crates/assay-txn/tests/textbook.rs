//! Published anomalies, one row each: what happens, what it is called, what is still possible.
//!
//! A row's history has one transaction per `;`: process, outcome, micro-operations. Transactions of
//! one row overlap, but for `|`: what stands behind it begins when what stands before it has ended.

mod support;

use assay_history::{ReadOptions, Style, read_txns};
use assay_txn::{Assume, CheckOptions, Model, check, verify};

struct Row {
    name: &'static str,
    style: Style,
    history: &'static str,
    /// All kinds that are found.
    kinds: &'static [&'static str],
    /// The strongest models that are left.
    possible: &'static [&'static str],
}

const fn lists(
    name: &'static str,
    history: &'static str,
    kinds: &'static [&'static str],
    possible: &'static [&'static str],
) -> Row {
    Row { name, style: Style::ListAppend, history, kinds, possible }
}

const fn registers(
    name: &'static str,
    history: &'static str,
    kinds: &'static [&'static str],
    possible: &'static [&'static str],
) -> Row {
    Row { name, style: Style::RwRegister, history, kinds, possible }
}

const fn sets(
    name: &'static str,
    history: &'static str,
    kinds: &'static [&'static str],
    possible: &'static [&'static str],
) -> Row {
    Row { name, style: Style::SetAdd, history, kinds, possible }
}

const fn counters(
    name: &'static str,
    history: &'static str,
    kinds: &'static [&'static str],
    possible: &'static [&'static str],
) -> Row {
    Row { name, style: Style::CounterInc, history, kinds, possible }
}

const STRICT: &[&str] = &["strict-serializable"];
/// What read skew leaves, at most.
const READ_SKEW: &[&str] = &["strong-read-committed", "cursor-stability"];

/// What a transaction that contradicts itself leaves.
const INTERNAL: &[&str] =
    &["strong-read-committed", "monotonic-view", "cursor-stability", "monotonic-atomic-view"];
/// What lost updates leave.
const LOST_UPDATE: &[&str] = &["strong-read-committed", "monotonic-view", "prefix", "causal"];
const LONG_FORK: &[&str] =
    &["strong-read-committed", "causal", "parallel-snapshot-isolation", "update-serializable"];

#[rustfmt::skip]
const ROWS: &[Row] = &[
    lists("serial", "0 ok append x 1 | 1 ok r x [1], append x 2 | 0 ok r x [1 2]", &[], STRICT),
    lists("nothing was read", "0 ok append x 1; 1 ok append x 2", &[], STRICT),
    lists("an unknown transaction that took effect",
        "0 info append x 1; 1 ok r x [1]", &[], STRICT),
    lists("an unknown transaction that did not", "0 info append x 1 | 1 ok r x []", &[], STRICT),
    lists("an aborted transaction that nobody saw", "0 fail append x 1 | 1 ok r x []", &[], STRICT),
    lists("dirty write",
        "0 ok append x 1, append y 1; 1 ok append x 2, append y 2 | 2 ok r x [1 2], r y [2 1]",
        &["G0"], &[]),
    lists("dirty read of what was aborted", "0 fail append x 1; 1 ok r x [1]",
        &["G1a"], &["strong-read-uncommitted"]),
    lists("dirty read of what was yet to change",
        "0 ok append x 1, append x 2; 1 ok r x [1] | 2 ok r x [1 2]",
        &["G1b", "G-single"], &["strong-read-uncommitted"]),
    lists("circular information flow", "0 ok append x 1, r y [2]; 1 ok append y 2, r x [1]",
        &["G1c"], &["strong-read-uncommitted"]),
    lists("dirty update", "0 fail append x 1; 1 ok append x 2 | 2 ok r x [1 2]",
        &["dirty-update", "G1a"], &["strong-read-uncommitted"]),
    lists("fractured read", "0 ok append x 1, append y 1; 1 ok r x [1], r y []",
        &["nonmonotonic-view", "G-single"], READ_SKEW),
    lists("fractured read, the older version first",
        "0 ok append x 1, append y 1; 1 ok r y [], r x [1]",
        &["fractured-read", "G-single"], INTERNAL),
    lists("an effect without its cause",
        "0 ok append x 1; 1 ok r x [1], append y 1; 2 ok r y [1], r x []",
        &["causal-violation", "G-single"],
        &["strong-read-committed", "monotonic-view", "cursor-stability", "read-atomic"]),
    lists("lost update",
        "0 ok r x [], append x 1; 1 ok r x [], append x 2 | 2 ok r x [1 2]",
        &["lost-update", "G-single"],
        &["strong-read-committed", "monotonic-view", "prefix", "causal"]),
    lists("lost update, and nobody looks", "0 ok r x [], append x 1; 1 ok r x [], append x 2",
        &["lost-update", "G2-item"], LOST_UPDATE),
    lists("write skew", "0 ok r x [], append y 1; 1 ok r y [], append x 2",
        &["G2-item"], &["strong-snapshot-isolation"]),
    lists("long fork",
        "0 ok append x 1; 1 ok append y 1; 2 ok r x [1], r y []; 3 ok r x [], r y [1]",
        &["G-nonadjacent"], LONG_FORK),
    lists("read-only transaction anomaly",
        "0 ok r y [], append y 20; 1 ok r x [], r y [], append x 11; 2 ok r x [], r y [20]",
        &["G2-item"], &["strong-snapshot-isolation"]),
    lists("stale read after the write had ended", "0 ok append x 1 | 1 ok r x []",
        &["G-single-realtime"], &["strong-read-committed", "strong-session-serializable"]),
    lists("a process does not see its own write", "0 ok append x 1 | 0 ok r x []",
        &["causal-violation", "G-single-process"], &["strong-read-committed", "serializable"]),
    lists("a process reads backwards", "0 ok append x 1; 1 ok r x [1] | 1 ok r x []",
        &["causal-violation", "G-single-process"], &["strong-read-committed", "serializable"]),
    lists("its own append is missing", "0 ok append x 1, r x []",
        &["internal"], INTERNAL),
    lists("fuzzy read", "0 ok r x [], r x [1]; 1 ok append x 1",
        &["internal", "fractured-read", "G-single"], INTERNAL),
    lists("lists that contradict each other",
        "0 ok append x 1; 1 ok append x 2; 2 ok r x [1 2]; 3 ok r x [2 1]",
        &["incompatible-order"], &["strong-read-uncommitted"]),
    lists("an element twice", "0 ok append x 1 | 1 ok r x [1 1]", &["duplicate-elements"], &[]),
    lists("an element out of nowhere", "0 ok r x [7]", &["phantom"], &[]),
    lists("appends of one transaction out of order", "0 ok append x 1, append x 2 | 1 ok r x [2 1]",
        &["cyclic-versions"], &[]),
    registers("serial", "0 ok w x 1 | 1 ok r x 1, w x 2 | 0 ok r x 2", &[], STRICT),
    registers("circular information flow", "0 ok w x 1, r y 2; 1 ok w y 2, r x 1",
        &["G1c"], &["strong-read-uncommitted"]),
    registers("dirty read of what was aborted", "0 fail w x 1; 1 ok r x 1",
        &["G1a"], &["strong-read-uncommitted"]),
    registers("dirty read of what was yet to change", "0 ok w x 1, w x 2; 1 ok r x 1",
        &["G1b"], &["strong-read-uncommitted"]),
    registers("fractured read of the initial value", "0 ok w x 1, w y 1; 1 ok r x 1, r y nil",
        &["nonmonotonic-view", "G-single"], READ_SKEW),
    registers("fractured read between two versions",
        "0 ok w x 1, w y 1; 1 ok w x 2, w y 2; 2 ok r x 1, r y 2; 3 ok r x 2, r y 1",
        &["nonmonotonic-view"], READ_SKEW),
    registers("an effect without its cause",
        "0 ok w x 1; 1 ok r x 1, w y 1; 2 ok r y 1, r x nil",
        &["causal-violation", "G-single"],
        &["strong-read-committed", "monotonic-view", "cursor-stability", "read-atomic"]),
    registers("write skew", "0 ok r x nil, w y 1; 1 ok r y nil, w x 2",
        &["G2-item"], &["strong-snapshot-isolation"]),
    registers("lost update", "0 ok r x nil, w x 1; 1 ok r x nil, w x 2",
        &["lost-update", "G2-item"], LOST_UPDATE),
    lists("a retried append that took effect twice",
        "0 info append x 1; 1 ok append x 1 | 2 ok r x [1 1]", &[], STRICT),
    lists("an element that two may have appended hides nobody",
        "0 ok append x 1, append y 1; 1 ok append x 2; 3 info append x 2; 2 ok r x [1 2], r y []",
        &["G-single"],
        &["strong-read-committed", "monotonic-view", "cursor-stability", "causal"]),
    lists("what stands only in a contradicting list has no place",
        "0 ok append x 1, append y 1; 1 ok append x 2; 2 ok append x 4, append y 4; \
         3 ok r x [1 2]; 4 ok r x [4]; 5 ok r y [4 1]",
        &["incompatible-order"], &["strong-read-uncommitted"]),
    lists("the cause is in a transaction that nobody answered for",
        "0 ok append x 1 | 0 info append y 1; 1 ok r y [1], r x []",
        &["causal-violation", "G-single-process"], &["strong-read-committed", "serializable"]),
    registers("a value that was written twice names no version",
        "0 ok w x 1 | 0 ok r x 1, w x 2 | 0 ok w x 1 | 0 ok r x 1, w x 3", &[], STRICT),
    registers("its own write is missing", "0 ok w x 1, r x nil",
        &["internal"], INTERNAL),
    sets("serial, in any order of elements",
        "0 ok add x 1 | 1 ok r x #{1}, add x 2 | 0 ok r x [2 1], add x 3 | 1 ok r x #{3 1 2}",
        &[], STRICT),
    sets("an unknown transaction that took effect", "0 info add x 1; 1 ok r x [1]", &[], STRICT),
    sets("an unknown transaction that did not", "0 info add x 1 | 1 ok r x nil", &[], STRICT),
    sets("dirty read of what was aborted", "0 fail add x 1; 1 ok r x [1]",
        &["G1a"], &["strong-read-uncommitted"]),
    sets("half of what another added", "0 ok add x 1, add x 2; 1 ok r x [2]",
        &["G1b", "fractured-read", "G-single"], &["strong-read-uncommitted"]),
    sets("circular information flow", "0 ok add x 1, r y [2]; 1 ok add y 2, r x [1]",
        &["G1c"], &["strong-read-uncommitted"]),
    sets("fractured read", "0 ok add x 1, add y 1; 1 ok r x [1], r y []",
        &["nonmonotonic-view", "G-single"], READ_SKEW),
    sets("fractured read, the older version first",
        "0 ok add x 1, add y 1; 1 ok r y [], r x [1]",
        &["fractured-read", "G-single"], INTERNAL),
    sets("an effect without its cause", "0 ok add x 1; 1 ok r x [1], add y 1; 2 ok r y [1], r x []",
        &["causal-violation", "G-single"],
        &["strong-read-committed", "monotonic-view", "cursor-stability", "read-atomic"]),
    sets("write skew", "0 ok r x [], add y 1; 1 ok r y [], add x 2",
        &["G2-item"], &["strong-snapshot-isolation"]),
    sets("write skew on one set, where nothing is lost",
        "0 ok r x [], add x 1; 1 ok r x [], add x 2 | 2 ok r x [2 1]",
        &["G2-item"], &["strong-snapshot-isolation"]),
    sets("an add is lost", "0 ok r x [], add x 1; 1 ok r x [], add x 2 | 2 ok r x [2]",
        &["G-single-realtime", "G2-item"],
        &["strong-read-committed", "strong-session-snapshot-isolation"]),
    sets("long fork over two keys",
        "0 ok add x 1; 1 ok add y 1; 2 ok r x [1], r y []; 3 ok r x [], r y [1]",
        &["G-nonadjacent"], LONG_FORK),
    sets("long fork inside one set", "0 ok add x 1; 1 ok add x 2; 2 ok r x [1]; 3 ok r x [2]",
        &["G-nonadjacent"], LONG_FORK),
    sets("two sets that were filled in opposite orders are no dirty write",
        "0 ok add x 1, add y 1; 1 ok add x 2, add y 2; 2 ok r x [1]; 3 ok r y [2]",
        &["G-nonadjacent"], LONG_FORK),
    sets("stale read after the add had ended", "0 ok add x 1 | 1 ok r x []",
        &["G-single-realtime"], &["strong-read-committed", "strong-session-serializable"]),
    sets("a process reads backwards", "0 ok add x 1; 1 ok r x [1] | 1 ok r x []",
        &["causal-violation", "G-single-process"], &["strong-read-committed", "serializable"]),
    sets("its own add is missing", "0 ok add x 1, r x []", &["internal"], INTERNAL),
    sets("an element it had seen is gone", "0 ok r x [1], r x []; 1 ok add x 1",
        &["internal", "nonmonotonic-view", "G-single"], READ_SKEW),
    sets("fuzzy read", "0 ok r x [], r x [1]; 1 ok add x 1",
        &["fractured-read", "G-single"], INTERNAL),
    sets("it saw what it was yet to add", "0 ok r x [1], add x 1", &["internal"], INTERNAL),
    sets("an element out of nowhere", "0 ok r x [7]", &["phantom"], &[]),
    sets("an element that was added twice says nothing",
        "0 ok add x 1 | 1 ok add x 1 | 2 ok r x [] | 3 ok r x [1]", &[], STRICT),
    counters("serial", "0 ok inc x 1 | 1 ok inc x 2, r x 3 | 0 ok r x 3", &[], STRICT),
    counters("null is nothing yet", "0 ok r x nil; 1 ok inc x 1 | 0 ok r x 1", &[], STRICT),
    counters("fractured read", "0 ok inc x 1, inc y 1; 1 ok r x 1, r y 0",
        &["G-single"], &["strong-read-committed", "monotonic-view", "cursor-stability", "causal"]),
    counters("circular information flow",
        "0 ok inc x 1, r x 1, inc y 1, r y 2; 1 ok inc x 1, r x 2, inc y 1, r y 1",
        &["G1c"], &["strong-read-uncommitted"]),
    counters("write skew", "0 ok r x 0, inc y 1; 1 ok r y 0, inc x 1",
        &["G2-item"], &["strong-snapshot-isolation"]),
    counters("lost update", "0 ok inc x 1, r x 1; 1 ok inc x 1, r x 1",
        &["lost-update"], LOST_UPDATE),
    counters("a sum with what was aborted", "0 fail inc x 1; 1 ok inc x 1 | 2 ok r x 2",
        &["G1a"], &["strong-read-uncommitted"]),
    counters("a sum that was passed over", "0 ok inc x 1, inc x 1, r x 2; 1 ok r x 1",
        &["G1b"], &["strong-read-uncommitted"]),
    counters("a sum that nobody made", "0 ok inc x 1 | 1 ok r x 7", &["phantom"], &[]),
    counters("less than nothing", "0 ok r x -1", &["phantom"], &[]),
    counters("its own increment is missing", "0 ok inc x 2, r x 1", &["internal"], INTERNAL),
    counters("fuzzy read", "0 ok r x 0, r x 1; 1 ok inc x 1",
        &["internal", "G-single"], INTERNAL),
    counters("stale read after the increment had ended", "0 ok inc x 1 | 1 ok r x 0",
        &["G-single-realtime"], &["strong-read-committed", "strong-session-serializable"]),
];

/// The history in EDN: what stands before a `|` ends before what stands behind it begins.
fn edn(history: &str) -> String {
    let mut text = String::new();
    for group in history.split('|') {
        let txns: Vec<(&str, &str, String)> = group
            .split(';')
            .map(|txn| {
                let mut words = txn.trim().splitn(3, ' ');
                let mut word = || words.next().expect("process, outcome and what it does");
                let (process, outcome, mops) = (word(), word(), word());
                let mops: Vec<String> =
                    mops.split(',').map(|m| format!("[:{}]", m.trim())).collect();
                (process, outcome, mops.join(" "))
            })
            .collect();
        for (process, _, mops) in &txns {
            text += &format!("{{:process {process}, :type :invoke, :value [{mops}]}}\n");
        }
        for (process, outcome, mops) in &txns {
            text += &format!("{{:process {process}, :type :{outcome}, :value [{mops}]}}\n");
        }
    }
    text
}

fn sorted<'a>(names: &[&'a str]) -> Vec<&'a str> {
    let mut names = names.to_vec();
    names.sort_unstable();
    names
}

#[test]
fn published_anomalies_have_their_names_and_leave_their_models() {
    for row in ROWS {
        let text = edn(row.history);
        let txns = read_txns(text.as_bytes(), &ReadOptions::default(), row.style)
            .unwrap_or_else(|error| panic!("{}: {error:?}\n{text}", row.name));
        let options = CheckOptions { recording_complete: true, ..CheckOptions::default() };
        let report = check(&txns, &options).expect("small histories fit");
        let kinds: Vec<&str> = report.counts.iter().map(|(kind, _)| kind.name()).collect();
        let possible: Vec<&str> = report.strongest.0.iter().map(|model| model.name()).collect();
        assert_eq!(kinds, row.kinds, "{} ({:?})", row.name, row.style);
        assert_eq!(sorted(&possible), sorted(row.possible), "{} ({:?})", row.name, row.style);
        for anomaly in &report.anomalies {
            assert_eq!(verify(&txns, Assume::default(), anomaly), Ok(()), "{}", row.name);
        }
    }
}

#[test]
fn elles_names_are_known() {
    for name in [
        "read-uncommitted",
        "read-committed",
        "monotonic-atomic-view",
        "read-atomic",
        "causal-cerone",
        "consistent-view",
        "cursor-stability",
        "forward-consistent-view",
        "monotonic-snapshot-read",
        "monotonic-view",
        "parallel-snapshot-isolation",
        "prefix",
        "repeatable-read",
        "serializable",
        "snapshot-isolation",
        "strong-read-committed",
        "strong-read-uncommitted",
        "strong-serializable",
        "strong-session-read-committed",
        "strong-session-read-uncommitted",
        "strong-session-serializable",
        "strong-session-snapshot-isolation",
        "strong-snapshot-isolation",
        "strict-serializable",
        "update-serializable",
        "view-serializable",
        "conflict-serializable",
    ] {
        assert!(Model::named(name).is_some(), "{name}");
    }
}
