//! Logs with offsets: readers agree, nothing acknowledged is cut off, no gaps.
//!
//! `append` (input: the entry; output: its offset, or null); `read`/`poll` with input null returns
//! the whole log as a list, with input *n* the entries from offset *n* on as a list (or the one
//! entry there). An entry may also be a record `{offset, value}`.

use crate::built_in::{BuiltIn, Check};
use crate::contract::{OracleError, OracleInfo};
use crate::draft::Plant;
use crate::options::Options;
use crate::table::{FINAL, READ, Row, count, group_by};
use crate::tally::real_time;
use crate::{fact, plants};
use assay_history::{OpIndex, ValueId, View};
use rustc_hash::FxHashMap;

/// What an operation says stands at which offset.
fn entries(check: &Check<'_, '_>, row: &Row<'_>) -> Vec<(i64, ValueId)> {
    let table = check.table;
    if row.verb == "append" {
        let offset = table.version(row);
        return offset.map(|offset| (offset, row.input)).into_iter().collect();
    }
    let start = table.values.as_int(row.input).unwrap_or(0);
    let items = match table.values.view(row.output) {
        View::List(items) => items.to_vec(),
        View::Null => Vec::new(),
        _ => vec![row.output],
    };
    let place = |(i, item): (usize, ValueId)| {
        let field = |name| table.values.field(item, name);
        match (field("offset").and_then(|o| table.values.as_int(o)), field("value")) {
            (Some(offset), Some(value)) => (offset, value),
            _ => (start + i as i64, item),
        }
    };
    items.into_iter().enumerate().map(place).collect()
}

/// Whether a read shows everything from some offset to the end.
fn whole(check: &Check<'_, '_>, row: &Row<'_>) -> bool {
    row.input.is_null() && check.table.values.as_list(row.output).is_some()
}

fn run(check: &mut Check<'_, '_>) -> Result<(), OracleError> {
    let table = check.table;
    let Some(margin) = real_time(table, check.options.clock_skew_ns, check.tally) else {
        return Ok(());
    };
    let appended = appended(&table.rows);
    let relevant = table.rows.iter().filter(|row| row.ok());
    let relevant = relevant
        .filter(|row| row.verb == "append" || row.verb == "poll" || row.is(READ) || row.is(FINAL));
    for (_, rows) in group_by(relevant, |row| row.key) {
        one_log(check, &appended, &rows, margin);
    }
    Ok(())
}

fn one_log(check: &mut Check<'_, '_>, appended: &Appended, rows: &[&Row<'_>], margin: i64) {
    let mut at: FxHashMap<i64, (ValueId, OpIndex)> = FxHashMap::default();
    // When each offset was known to be filled, at the earliest.
    let mut known: FxHashMap<i64, (i64, OpIndex)> = FxHashMap::default();
    let mut of_value: FxHashMap<ValueId, (i64, OpIndex)> = FxHashMap::default();
    let mut entries_seen = 0;
    for row in rows {
        let entries = entries(check, row);
        entries_seen += entries.len();
        check.tally.checked(usize::from(!entries.is_empty()));
        let mut last: Option<i64> = None;
        for &(offset, value) in &entries {
            if let Some(last) = last.filter(|&last| last + 1 != offset) {
                gap(check, row.index, last, offset);
            }
            last = Some(offset);
            let (other, source) = *at.entry(offset).or_insert((value, row.index));
            if other != value {
                diverged(check, offset, source, row.index);
            }
            let (first, source) = *of_value.entry(value).or_insert((offset, row.index));
            if first != offset && appended.get(&(row.key, value)) == Some(&1) {
                repeated(check, value, (first, source), (offset, row.index));
            }
            let entry = known.entry(offset).or_insert((row.end, row.index));
            *entry = (*entry).min((row.end, row.index));
        }
    }
    check.tally.evidence(format!(
        "{} entries seen by {} operations",
        count(entries_seen),
        count(rows.len())
    ));
    let wholes: Vec<&&Row<'_>> = rows.iter().filter(|row| whole(check, row)).collect();
    truncated(check, &known, &wholes, margin);
    unlogged(check, rows, &wholes, margin);
}

/// How often each entry of each log may have been appended. Logs repeat values lawfully.
type Appended = FxHashMap<(ValueId, ValueId), usize>;

fn appended(rows: &[Row<'_>]) -> Appended {
    let mut appended = Appended::default();
    for row in rows.iter().filter(|row| row.verb == "append" && row.possible()) {
        *appended.entry((row.key, row.input)).or_default() += 1;
    }
    appended
}

fn gap(check: &mut Check<'_, '_>, read: OpIndex, from: i64, to: i64) {
    let table = check.table;
    let facts = || vec![fact!("gap", read, from, to)];
    check.tally.anomaly("offset-gap", &[read], facts, || {
        format!("{} goes from offset {from} to offset {to}", table.say(read))
    });
}

fn diverged(check: &mut Check<'_, '_>, offset: i64, a: OpIndex, b: OpIndex) {
    let table = check.table;
    let facts = || vec![fact!("key", a, b), fact!("entry_differs", a, b, offset)];
    check.tally.anomaly("divergence", &[a, b], facts, || {
        format!("offset {offset} differs between {} and {}", table.say(a), table.say(b))
    });
}

fn repeated(
    check: &mut Check<'_, '_>,
    value: ValueId,
    (first, a): (i64, OpIndex),
    (second, b): (i64, OpIndex),
) {
    let table = check.table;
    let text = table.text(value);
    let facts = || {
        vec![
            fact!("entry", a, first, text.clone()),
            fact!("entry", b, second, text.clone()),
            fact!("appended_once", a, text.clone()),
            fact!("key", a, b),
            fact!("unequal", first, second),
        ]
    };
    check.tally.anomaly("duplicate", &[a, b], facts, || {
        format!(
            "{} was appended once and stands at offset {first} ({}) and {second} ({})",
            table.text(value),
            table.say(a),
            table.say(b)
        )
    });
}

/// Whole reads that end before an offset that was filled before they began.
fn truncated(
    check: &mut Check<'_, '_>,
    known: &FxHashMap<i64, (i64, OpIndex)>,
    wholes: &[&&Row<'_>],
    margin: i64,
) {
    let table = check.table;
    // By time of knowing, the highest offset known so far.
    let mut events: Vec<(i64, i64, OpIndex)> =
        known.iter().map(|(&offset, &(end, op))| (end, offset, op)).collect();
    events.sort();
    let mut highest: Vec<(i64, i64, OpIndex)> = Vec::new();
    for (end, offset, op) in events {
        if highest.last().is_none_or(|last| offset > last.1) {
            highest.push((end, offset, op));
        }
    }
    for read in wholes {
        let before = highest.partition_point(|h| h.0.saturating_add(margin) < read.start);
        let Some(&(_, offset, source)) = before.checked_sub(1).map(|i| &highest[i]) else {
            continue;
        };
        let end = entries(check, read).last().map_or(-1, |&(offset, _)| offset);
        if end >= offset {
            continue;
        }
        let facts = || {
            vec![
                fact!("before", source, read.index, margin),
                fact!("key", source, read.index),
                fact!("reaches", source, offset),
                fact!("ends", read.index, end),
                fact!("below", end, offset),
            ]
        };
        check.tally.anomaly("truncated", &[source, read.index], facts, || {
            format!(
                "offset {offset} was known from {}, but {} ends at offset {end}",
                table.say(source),
                table.say(read.index)
            )
        });
    }
}

/// Appends without an offset that a later whole read does not show.
fn unlogged(check: &mut Check<'_, '_>, rows: &[&Row<'_>], wholes: &[&&Row<'_>], margin: i64) {
    let table = check.table;
    let Some(last) = wholes.iter().max_by_key(|row| (row.start, row.index)) else { return };
    let shown: rustc_hash::FxHashSet<ValueId> =
        entries(check, last).into_iter().map(|(_, value)| value).collect();
    let appends = rows.iter().filter(|row| row.verb == "append");
    for append in appends.filter(|row| row.end.saturating_add(margin) < last.start) {
        if shown.contains(&append.input) {
            continue;
        }
        let text = table.text(append.input);
        let facts = || {
            vec![
                fact!("ok", append.index),
                fact!("before", append.index, last.index, margin),
                fact!("sent", append.index, "", text.clone()),
                fact!("not_in_log", last.index, text.clone()),
            ]
        };
        check.tally.anomaly("lost-ack", &[append.index, last.index], facts, || {
            format!(
                "{} was acknowledged and is not in {}",
                table.say(append.index),
                table.say(last.index)
            )
        });
    }
}

pub(crate) static LOG: BuiltIn = BuiltIn {
    info: &OracleInfo {
        name: "log",
        aliases: &["log-offsets"],
        patterns: &[9, 10],
        claim: "all readers of a log agree at every offset, and acknowledged entries stay",
        needs: "`append` (input: the entry; output: its offset or null) and `read`/`poll`/`final` \
                (input: null for all, or an offset; output: list, or records {offset, value})",
        algorithm: "one table of offsets; the highest offset known before each whole read began",
        cost: "O(entries read · log)",
        cannot_see: "what no reader looked at; whether appends are ordered in real time (the \
                     linearizability model `log` sees it)",
        failure_mode: "a read whose output has no offset cannot be compared: record it",
        kinds: &["offset-gap", "divergence", "truncated", "lost-ack", "duplicate"],
    },
    run,
    example_options: Options::default,
    good: "0 append l a ok 0\n0 append l b ok 1\n1 read l - ok [\"a\",\"b\"]\n\
           2 read l 1 ok [\"b\"]",
    bad: "0 append l a ok 0\n0 append l b ok 1\n1 read l - ok [\"a\"]",
    plants: &[
        Plant { kind: "truncated", apply: plants::drop_from_read },
        Plant { kind: "divergence", apply: plants::phantom_in_read },
    ],
};
