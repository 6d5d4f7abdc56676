//! Two states that must be equal: after a replay, and on all replicas.
//!
//! **Replay equivalence**: an operation of type `replay` returns the state after recovering or
//! replaying; it must equal the last state dumped before it under the same key (`final`, `dump`,
//! `snapshot`). Without a `replay`, the first and last dump of a key are compared. Fields declared
//! nondeterministic are left out, by name, at any depth. States that differ although other
//! operations may have changed them in between are undecided.
//!
//! **Replicas**: each replica (`node_seen`) is dumped when nothing is under way; all must be equal.

use crate::built_in::{BuiltIn, Check};
use crate::contract::{OracleError, OracleInfo};
use crate::draft::Plant;
use crate::options::Options;
use crate::table::{FINAL, READ, Row, Table, clip, count, group_by};
use crate::{fact, plants};
use assay_history::{OpIndex, ValueId, View};

const SNAPSHOT: &[&str] = &["final", "dump", "final-read", "snapshot"];

/// Where two values differ first: the path, and what stands there.
pub(crate) struct Difference {
    pub path: String,
    pub left: String,
    pub right: String,
}

/// Compares values leaf by leaf.
pub(crate) struct Comparison<'a> {
    pub ignore: &'a [String],
    pub leaves: usize,
    pub ignored: usize,
}

impl Comparison<'_> {
    /// The first difference between two values, possibly of different histories.
    pub fn first(
        &mut self,
        (a, left): (&Table<'_>, ValueId),
        (b, right): (&Table<'_>, ValueId),
        path: &str,
    ) -> Option<Difference> {
        let differ = |left: Option<ValueId>, right: Option<ValueId>, path: String| {
            let left = left.map_or("nothing".to_string(), |v| a.text(v));
            let right = right.map_or("nothing".to_string(), |v| b.text(v));
            Some(Difference { path, left, right })
        };
        let inner =
            |name: &str| if path.is_empty() { name.into() } else { format!("{path}.{name}") };
        match (a.values.view(left), b.values.view(right)) {
            (View::Map(l), View::Map(r)) => {
                let pairs = |table: &Table<'_>, flat: &[ValueId]| {
                    let mut pairs: Vec<(String, ValueId)> =
                        flat.chunks_exact(2).map(|p| (table.name(p[0]), p[1])).collect();
                    pairs.sort();
                    pairs
                };
                let (l, r) = (pairs(a, l), pairs(b, r));
                let mut names: Vec<&String> = l.iter().chain(&r).map(|(name, _)| name).collect();
                names.sort();
                names.dedup();
                names.into_iter().find_map(|name| {
                    if self.ignore.contains(name) {
                        self.ignored += 1;
                        return None;
                    }
                    let get = |side: &[(String, ValueId)]| {
                        let at = side.binary_search_by(|(n, _)| n.cmp(name)).ok()?;
                        Some(side[at].1)
                    };
                    match (get(&l), get(&r)) {
                        (Some(x), Some(y)) => self.first((a, x), (b, y), &inner(name)),
                        (x, y) => differ(x, y, inner(name)),
                    }
                })
            }
            (View::List(l), View::List(r)) => (0..l.len().max(r.len())).find_map(|i| {
                let path = inner(&i.to_string());
                match (l.get(i), r.get(i)) {
                    (Some(&x), Some(&y)) => self.first((a, x), (b, y), &path),
                    (x, y) => differ(x.copied(), y.copied(), path),
                }
            }),
            _ => {
                self.leaves += 1;
                let equal = a.text(left) == b.text(right);
                if equal { None } else { differ(Some(left), Some(right), path.to_string()) }
            }
        }
    }
}

/// Compares two states and reports the first difference; false if there was nothing to compare.
fn compare(check: &mut Check<'_, '_>, kind: &'static str, a: &Row<'_>, b: &Row<'_>) -> usize {
    let table = check.table;
    let mut comparison = Comparison { ignore: &check.options.ignore_fields, leaves: 0, ignored: 0 };
    let found = comparison.first((table, a.output), (table, b.output), "");
    let (leaves, ignored) = (comparison.leaves, comparison.ignored);
    check.tally.steps(leaves);
    if let Some(difference) = found {
        let facts = || {
            let path = difference.path.as_str();
            vec![
                fact!("ok", a.index),
                fact!("ok", b.index),
                fact!("differ_at", a.index, b.index, path),
            ]
        };
        check.tally.anomaly(kind, &[a.index, b.index], facts, || {
            let at = if difference.path.is_empty() { "the top" } else { &difference.path };
            format!(
                "at {at}, {} has {} and {} has {}",
                table.say(a.index),
                clip(difference.left.clone()),
                table.say(b.index),
                clip(difference.right.clone())
            )
        });
    } else if leaves == 0 && ignored > 0 {
        check.tally.not_covered("every field that could differ is ignored: nothing was compared");
        return 0;
    }
    check.tally.evidence(format!(
        "{} and {}: {} leaves compared, {} fields ignored",
        table.place(a.index),
        table.place(b.index),
        count(leaves),
        count(ignored)
    ));
    2
}

/// Compares the states around a replay. If they differ although something else may have changed the
/// state between them, nothing follows.
fn around_replay(check: &mut Check<'_, '_>, a: &Row<'_>, b: &Row<'_>) {
    let table = check.table;
    let calm = [SNAPSHOT, READ, &["replay", "assert", "reconnect"]].concat();
    let (known, mut unknown) = table.in_flight(a.start, b.end, &calm);
    if let Some(window) = check.options.settle_ns {
        unknown.retain(|&op| table.row(op).start > a.start.saturating_sub(window));
    }
    let mut others: Vec<OpIndex> = [known, unknown].concat();
    others.retain(|&op| [a.key, ValueId::NULL].contains(&table.row(op).key) || a.key.is_null());
    others.retain(|&op| table.row(op).possible());
    let mut probe = Comparison { ignore: &check.options.ignore_fields, leaves: 0, ignored: 0 };
    let differ = probe.first((table, a.output), (table, b.output), "").is_some();
    if differ && !others.is_empty() {
        check.tally.undecided(format!(
            "{} and {} differ, but {} operations between them may have changed the state, first {}",
            table.say(a.index),
            table.say(b.index),
            count(others.len()),
            table.say(others[0])
        ));
        return;
    }
    let compared = compare(check, "replay-differs", a, b);
    check.tally.checked(compared);
}

fn replay(check: &mut Check<'_, '_>) -> Result<(), OracleError> {
    let table = check.table;
    let states = table.rows.iter().filter(|r| r.ok() && (r.is(SNAPSHOT) || r.verb == "replay"));
    for (_, mut states) in group_by(states, |row| row.key) {
        states.sort_by_key(|row| (row.start, row.index));
        let replays = states.iter().filter(|row| row.verb == "replay").count();
        let mut last: Option<&Row<'_>> = None;
        for state in &states {
            match last {
                Some(before) if state.verb == "replay" => around_replay(check, before, state),
                None if state.verb == "replay" => check.tally.not_covered(format!(
                    "{} has no earlier state to compare with",
                    table.say(state.index)
                )),
                _ => last = Some(state),
            }
        }
        if replays == 0 && states.len() >= 2 {
            around_replay(check, states[0], states[states.len() - 1]);
        }
    }
    Ok(())
}

/// Why a final state is not final: operations under way, or a convergence window not waited for.
fn unsettled(check: &Check<'_, '_>, dumps: &[&Row<'_>]) -> Option<String> {
    let table = check.table;
    let from = dumps.iter().map(|row| row.start).min()?;
    let to = dumps.iter().map(|row| row.end).max()?;
    let (open, _) = table.in_flight(from, to, FINAL);
    if let Some(&op) = open.first() {
        return Some(format!(
            "{} operations were under way while the replicas were dumped, first {}",
            count(open.len()),
            table.say(op)
        ));
    }
    let window = check.options.settle_ns?;
    let ends = table.rows.iter().filter(|row| !row.is(FINAL) && row.start <= to);
    let last = ends.map(|row| if row.end == i64::MAX { row.start } else { row.end }).max()?;
    let waited = from.saturating_sub(last);
    (waited < window).then(|| {
        format!(
            "the dump began {waited} ns after the last operation, within the declared convergence \
             window of {window} ns"
        )
    })
}

fn replicas(check: &mut Check<'_, '_>) -> Result<(), OracleError> {
    let table = check.table;
    let dumps = table.dumps();
    if dumps.is_empty() {
        return Ok(());
    }
    let mut judged = false;
    for (_, of_key) in group_by(dumps.iter(), |row| row.key) {
        // The last dump of each replica counts.
        let named = of_key.iter().copied().filter(|row| !row.node.is_null());
        let last: Vec<&Row<'_>> =
            group_by(named, |row| row.node).iter().map(|(_, rows)| rows[rows.len() - 1]).collect();
        if last.len() < 2 {
            continue;
        }
        judged = true;
        one_group(check, &last);
    }
    if !judged {
        check.tally.undecided(
            "fewer than two replicas were dumped (`node_seen` of `final` or `dump` says which)",
        );
    }
    Ok(())
}

fn one_group(check: &mut Check<'_, '_>, last: &[&Row<'_>]) {
    let table = check.table;
    if let Some(reason) = unsettled(check, last) {
        check.tally.undecided(reason);
        return;
    }
    let to = last.iter().map(|row| row.end).max().unwrap_or(i64::MAX);
    let (_, unknown) = table.in_flight(i64::MIN, to, FINAL);
    let settled = unknown.is_empty() || check.options.settle_ns.is_some();
    let mut probe = Comparison { ignore: &check.options.ignore_fields, leaves: 0, ignored: 0 };
    let (first, rest) = last.split_first().expect("there are two replicas");
    let differs =
        |row: &&&Row<'_>| probe.first((table, first.output), (table, row.output), "").is_some();
    if !settled && rest.iter().filter(differs).count() > 0 {
        check.tally.undecided(format!(
            "the replicas differ, but {} operations of unknown outcome may still be taking \
             effect: declare a convergence window",
            count(unknown.len())
        ));
        return;
    }
    for row in rest {
        let compared = compare(check, "replicas-differ", first, row);
        check.tally.checked(compared.min(1));
    }
    check.tally.checked(1);
    check.tally.evidence(format!("{} replicas compared", count(last.len())));
    if !unknown.is_empty() && check.options.settle_ns.is_none() {
        check.tally.not_covered(format!(
            "{} operations of unknown outcome may take effect after the dump",
            count(unknown.len())
        ));
    }
}

const PLANTS: &[Plant] = &[Plant { kind: "changed-leaf", apply: plants::change_leaf }];

pub(crate) static REPLAY: BuiltIn = BuiltIn {
    info: &OracleInfo {
        name: "replay-equivalence",
        aliases: &["replay"],
        patterns: &[3],
        claim: "replaying or recovering leads to the state that was there before",
        needs: "`dump`/`final`/`snapshot` and then `replay` (output: the state) by key, or two \
                dumps; the option `ignore-fields` for declared nondeterminism",
        algorithm: "leaf by leaf, in the order of field names, up to the first difference",
        cost: "O(size of the states)",
        cannot_see: "differences in ignored fields; differences that a later operation undid",
        failure_mode: "a comparison too lenient: what was compared and ignored is counted, and \
                       ignoring everything checks nothing",
        kinds: &["replay-differs"],
    },
    run: replay,
    example_options: || Options { ignore_fields: vec!["at".to_string()], ..Options::default() },
    good: "0 dump s - ok {\"a\":1,\"at\":5}\n0 replay s - ok {\"a\":1,\"at\":9}",
    bad: "0 dump s - ok {\"a\":1,\"at\":5}\n0 replay s - ok {\"a\":2,\"at\":9}",
    plants: PLANTS,
};

pub(crate) static REPLICAS: BuiltIn = BuiltIn {
    info: &OracleInfo {
        name: "replicas",
        aliases: &["reconciliation", "convergence"],
        patterns: &[13],
        claim: "at rest, all replicas hold the same state",
        needs: "`final`/`dump` with `node_seen` naming the replica (output: its state); nothing \
                else under way; the options `settle` (convergence window) and `ignore-fields`",
        algorithm: "the last dump of each replica, compared leaf by leaf with the first replica's",
        cost: "O(n + size of the states)",
        cannot_see: "replicas that were not dumped; states that are equal and wrong",
        failure_mode: "compared before convergence: operations under way, or a convergence \
                       window not waited for, leave it undecided",
        kinds: &["replicas-differ"],
    },
    run: replicas,
    example_options: Options::default,
    good: "0 write x 1 ok\n1 dump - - ok {\"x\":1} node=a\n1 dump - - ok {\"x\":1} node=b",
    bad: "0 write x 1 ok\n1 dump - - ok {\"x\":1} node=a\n1 dump - - ok {\"x\":0} node=b",
    plants: PLANTS,
};
