//! No lost acknowledgement: what was acknowledged is in the final state.
//!
//! Elements (`add`, `append`, `enqueue`, ...) must be in the list, or in the list a map holds
//! under their key. Of keys that are written (`write`, `put`) the final map must hold a value that
//! may have been the last. A write that timed out is neither acknowledged nor rejected: it may be
//! there or not. A write that is acknowledged while the dump is under way is not judged by it.

use crate::built_in::{BuiltIn, Check};
use crate::contract::{OracleError, OracleInfo};
use crate::draft::Plant;
use crate::options::Options;
use crate::state::State;
use crate::table::{ADD, REMOVE, Row, WRITE, count, group_by};
use crate::tally::real_time;
use crate::{fact, plants};
use assay_history::ValueId;
use rustc_hash::{FxHashMap, FxHashSet};

fn run(check: &mut Check<'_, '_>) -> Result<(), OracleError> {
    let table = check.table;
    let dumps = table.dumps();
    let adds: Vec<&Row<'_>> = table.rows.iter().filter(|row| row.ok() && row.is(ADD)).collect();
    let writes = table.rows.iter().filter(|row| row.is(WRITE) && row.possible());
    if dumps.is_empty() {
        if table.rows.iter().any(|row| row.ok() && (row.is(ADD) || row.is(WRITE))) {
            check
                .tally
                .not_covered("there is no final state (`final`, `dump`): nothing to compare");
        }
        return Ok(());
    }
    let Some(margin) = real_time(table, check.options.clock_skew_ns, check.tally) else {
        return Ok(());
    };
    let states: Vec<State<'_, '_>> = dumps.iter().map(|&row| State::new(table, row)).collect();
    elements(check, &states, &adds, margin);
    let touched = touched(&table.rows);
    for (key, of_key) in group_by(writes, |row| row.key) {
        if touched.contains(&key) {
            check.tally.not_covered("keys that deletes or cas touch");
        } else {
            values(check, &states, key, &of_key, margin);
        }
    }
    let unknown = table.rows.iter().filter(|row| row.is(ADD) || row.is(WRITE));
    let unknown = unknown.filter(|row| row.possible() && !row.ok()).count();
    check.tally.evidence(format!("{} writes of unknown outcome count as neither", count(unknown)));
    Ok(())
}

/// What may have been removed again, by key.
fn removed(rows: &[Row<'_>]) -> FxHashSet<(ValueId, ValueId)> {
    let removes = rows.iter().filter(|row| row.is(REMOVE) && row.possible());
    removes.map(|row| (row.key, row.input)).collect()
}

/// How the elements of one dump fared.
#[derive(Default)]
struct Found {
    judged: usize,
    lost: usize,
    late: usize,
}

fn elements(check: &mut Check<'_, '_>, states: &[State<'_, '_>], adds: &[&Row<'_>], margin: i64) {
    let removed = removed(&check.table.rows);
    let mut found = Found::default();
    for state in states {
        let here = adds.iter().copied().filter(|add| state.covers(add.key));
        // A list answers for all keys at once, a map for each apart.
        let groups = group_by(here, |row| if state.by_key() { row.key } else { state.row.key });
        for (key, adds) in groups {
            let Some(present) = state.elements(key) else { continue };
            check.tally.steps(present.len());
            let present: FxHashSet<ValueId> = present.into_iter().collect();
            for add in adds {
                let gone = removed.contains(&(add.key, add.input));
                if gone || removed.contains(&(add.key, ValueId::NULL)) {
                    check.tally.not_covered("elements that were removed, or may have been");
                } else if add.end.saturating_add(margin) >= state.row.start {
                    found.late += 1;
                } else {
                    found.judged += 1;
                    if !present.contains(&add.input) {
                        found.lost += 1;
                        lost(check, add, &state.row, margin);
                    }
                }
            }
        }
    }
    if found.judged > 0 {
        check.tally.checked(found.judged);
        let kept = count(found.judged - found.lost);
        let all = format!("{} acknowledged elements, {kept} found", count(found.judged));
        check.tally.evidence(all);
    }
    if found.late > 0 {
        let late = count(found.late);
        check.tally.not_covered(format!("{late} acknowledged while a dump was read"));
    }
}

fn lost(check: &mut Check<'_, '_>, add: &Row<'_>, dump: &Row<'_>, margin: i64) {
    let table = check.table;
    let element = table.text(add.input);
    let facts = || {
        vec![
            fact!("ok", add.index),
            fact!("before", add.index, dump.index, margin),
            fact!("sent", add.index, "", element.clone()),
            fact!("holds", dump.index, add.index, "", element.clone(), 0usize),
            fact!("kept", add.index),
        ]
    };
    check.tally.anomaly("lost-ack", &[add.index, dump.index], facts, || {
        format!("{} was acknowledged and is not in {}", table.say(add.index), table.say(dump.index))
    });
}

/// Keys whose final value more than plain writes decides.
fn touched(rows: &[Row<'_>]) -> FxHashSet<ValueId> {
    let touching = |row: &&Row<'_>| row.possible() && (row.is(REMOVE) || row.verb == "cas");
    rows.iter().filter(touching).map(|row| row.key).collect()
}

fn values(
    check: &mut Check<'_, '_>,
    states: &[State<'_, '_>],
    key: ValueId,
    writes: &[&Row<'_>],
    margin: i64,
) {
    let table = check.table;
    for state in states {
        let Some(value) = state.value(key) else { continue };
        let dump = &state.row;
        let acked = writes.iter().filter(|w| w.ok() && w.end.saturating_add(margin) < dump.start);
        let Some(last) = acked.clone().max_by_key(|w| (w.start, w.index)) else { continue };
        check.tally.checked(acked.count());
        // The value may stay if one of its writers is not certainly overwritten by the last, and
        // did not begin after the dump.
        let mut writers = writes.iter().filter(|w| w.input == value);
        let allowed = writers.any(|w| {
            w.end.saturating_add(margin) >= last.start && w.start <= dump.end.saturating_add(margin)
        });
        if allowed {
            continue;
        }
        let facts = || {
            vec![
                fact!("ok", last.index),
                fact!("before", last.index, dump.index, margin),
                fact!("cannot_be_last", dump.index, last.index, table.text(value), margin),
            ]
        };
        check.tally.anomaly("lost-ack", &[last.index, dump.index], facts, || {
            format!(
                "{} was acknowledged, but {} shows {} there, which can only be older",
                table.say(last.index),
                table.say(dump.index),
                table.text(value)
            )
        });
    }
}

/// Counts how often each value occurs.
pub(crate) fn counts(items: &[ValueId]) -> FxHashMap<ValueId, usize> {
    let mut counts = FxHashMap::default();
    for &item in items {
        *counts.entry(item).or_insert(0) += 1;
    }
    counts
}

pub(crate) static NO_LOST_ACK: BuiltIn = BuiltIn {
    info: &OracleInfo {
        name: "no-lost-ack",
        aliases: &["durability", "no-lost-acks"],
        patterns: &[10],
        claim: "every acknowledged write is in the final state",
        needs: "`add`/`append`/`insert`/`enqueue`/`send`/`produce`/`publish`/`push` (input: the \
                element) or `write`/`put`; a `final`/`dump`/`final-read` (output: a list, or a \
                map by key)",
        algorithm: "each element acknowledged before the dump began is looked up in it; of \
                    written keys, the last acknowledged write must not be missing",
        cost: "O(n + size of the dumps · keys they list)",
        cannot_see: "elements that were removed; that an equal element was written twice and \
                     lost once; what was lost and repaired before the dump",
        failure_mode: "counting timeouts as acknowledged: they are neither, here",
        kinds: &["lost-ack"],
    },
    run,
    example_options: Options::default,
    good: "0 add - 1 ok\n0 add - 2 unknown\n1 add - 3 fail\n0 final - - ok [1]",
    bad: "0 add - 1 ok\n0 add - 2 ok\n0 final - - ok [1]",
    plants: &[
        Plant { kind: "lost-ack", apply: plants::drop_from_final },
        Plant { kind: "rolled-back", apply: plants::roll_back_value },
    ],
};
