//! Order: each consumer sees what was produced in the order it was produced, nothing skipped and
//! nothing inserted.
//!
//! `send`/`produce`/`enqueue`/`append`/... put an element (input, written once) into a stream (the
//! key); `consume`/`poll`/`recv`/... hand a consumer (the process) one element or a list. The
//! canonical order is the system's own position (`revision`, or the number in the producer's
//! output) where all elements of a stream have one; otherwise the order in which each producer
//! sent: one element comes before another if its send had completed when the other began. Every
//! consumer is expected to see everything; for consumers that share, use `fifo-producer`.

use crate::built_in::{BuiltIn, Check};
use crate::contract::{OracleError, OracleInfo};
use crate::draft::Plant;
use crate::options::Options;
use crate::table::{ADD, Row, TAKE, count, group_by};
use crate::{fact, plants};
use assay_history::{OpIndex, ValueId};
use rustc_hash::FxHashMap;

/// What was sent: when it entered the canonical order, at the earliest and at the latest.
#[derive(Clone, Copy)]
struct Sent {
    op: OpIndex,
    /// Which canonical order it belongs to: one per producer, or one for all.
    line: u32,
    from: i64,
    until: i64,
    ok: bool,
}

/// The elements of one stream.
type Stream = FxHashMap<ValueId, Sent>;

fn run(check: &mut Check<'_, '_>) -> Result<(), OracleError> {
    let table = check.table;
    let sends = table.rows.iter().filter(|row| row.is(ADD));
    let mut streams: FxHashMap<ValueId, Stream> = FxHashMap::default();
    for (key, sends) in group_by(sends, |row| row.key) {
        streams.insert(key, stream(check, &sends)?);
    }
    let takes = table.rows.iter().filter(|row| row.ok() && row.is(TAKE));
    let empty = Stream::default();
    let mut consumers = 0;
    for ((_, key), takes) in group_by(takes, |row| (row.process, row.key)) {
        consumers += 1;
        let stream = streams.get(&key).unwrap_or(&empty);
        let seen: Vec<(ValueId, OpIndex)> = takes
            .iter()
            .flat_map(|take| table.items(take.output).into_iter().map(|item| (item, take.index)))
            .collect();
        check.tally.checked(takes.iter().filter(|take| !take.output.is_null()).count());
        consumer(check, stream, &seen);
    }
    check.tally.evidence(format!("{} consumers and streams followed", count(consumers)));
    check.tally.evidence(format!("reordering window {}", check.options.reorder_window));
    Ok(())
}

/// What was sent into a stream. Failed sends are not in it.
fn stream(check: &Check<'_, '_>, sends: &[&Row<'_>]) -> Result<Stream, OracleError> {
    let table = check.table;
    let ok = sends.iter().filter(|row| row.ok());
    let positions = ok.clone().all(|row| table.version(row).is_some()) && ok.count() > 0;
    let mut stream = Stream::default();
    for row in sends.iter().filter(|row| row.possible()) {
        let position = if row.ok() { table.version(row).filter(|_| positions) } else { None };
        let (from, until) = match position {
            Some(position) => (position, position),
            // Where in the system's order it came to stand is not known.
            None if positions => (i64::MIN, i64::MAX),
            None => (row.start, row.end),
        };
        let line = if positions { u32::MAX } else { row.process.0 };
        let sent = Sent { op: row.index, line, from, until, ok: row.ok() };
        if let Some(other) = stream.insert(row.input, sent) {
            return Err(OracleError::BadOperation {
                place: table.place(row.index),
                what: format!(
                    "{} was sent before, at {}: order can be told only if elements differ",
                    table.text(row.input),
                    table.place(other.op)
                ),
            });
        }
    }
    Ok(stream)
}

/// Judges what one consumer saw of one stream.
fn consumer(check: &mut Check<'_, '_>, stream: &Stream, seen: &[(ValueId, OpIndex)]) {
    let window = check.options.reorder_window;
    // Of each line, the newest element seen so far but for the last `window` places.
    let mut newest: FxHashMap<u32, (i64, usize)> = FxHashMap::default();
    let mut first: FxHashMap<ValueId, usize> = FxHashMap::default();
    for (place, &(item, take)) in seen.iter().enumerate() {
        if let Some(settled) = place.checked_sub(window + 1)
            && let Some(sent) = stream.get(&seen[settled].0)
        {
            let entry = newest.entry(sent.line).or_insert((sent.from, settled));
            *entry = (*entry).max((sent.from, settled));
        }
        let again = *first.entry(item).or_insert(place) != place;
        if again && !check.options.redelivery_allowed {
            duplicate(check, item, seen[first[&item]].1, take);
        }
        let Some(sent) = stream.get(&item) else {
            insert(check, item, take);
            continue;
        };
        if again || !sent.ok {
            continue;
        }
        if let Some(&(from, other)) = newest.get(&sent.line).filter(|(from, _)| *from > sent.until)
        {
            debug_assert!(from > sent.until);
            reordered(check, stream, sent, &seen[other], take);
        }
    }
    skipped(check, stream, seen, &first);
}

fn duplicate(check: &mut Check<'_, '_>, item: ValueId, first: OpIndex, again: OpIndex) {
    let table = check.table;
    let text = table.text(item);
    let facts = || vec![fact!("twice", first, again, "", text.clone())];
    let ops = if first == again { vec![again] } else { vec![first, again] };
    check.tally.anomaly("duplicate", &ops, facts, || {
        format!("{} was handed over again by {}", table.text(item), table.say(again))
    });
}

fn insert(check: &mut Check<'_, '_>, item: ValueId, take: OpIndex) {
    let table = check.table;
    let text = table.text(item);
    let facts = || vec![fact!("unsent", take, text.clone())];
    check.tally.anomaly("inserted", &[take], facts, || {
        format!("{} handed over {}, which nobody sent", table.say(take), table.text(item))
    });
}

fn reordered(
    check: &mut Check<'_, '_>,
    stream: &Stream,
    sent: &Sent,
    &(other, other_take): &(ValueId, OpIndex),
    take: OpIndex,
) {
    let table = check.table;
    let later = stream[&other].op;
    let window = check.options.reorder_window;
    let facts = || {
        vec![
            fact!("ok", sent.op),
            fact!("ordered", sent.op, later),
            fact!("delivered", later, other_take),
            fact!("delivered", sent.op, take),
            fact!("apart", later, other_take, sent.op, take, window),
        ]
    };
    check.tally.anomaly("reordered", &[sent.op, later, other_take, take], facts, || {
        format!(
            "{} was sent before {}, but client {} saw them the other way round ({}, {})",
            table.say(sent.op),
            table.say(later),
            table.process(table.row(take).process),
            table.place(other_take),
            table.place(take)
        )
    });
}

/// Elements that were not seen although later ones were, more than the window ago.
fn skipped(
    check: &mut Check<'_, '_>,
    stream: &Stream,
    seen: &[(ValueId, OpIndex)],
    first: &FxHashMap<ValueId, usize>,
) {
    let table = check.table;
    let settled = seen.len().saturating_sub(check.options.reorder_window);
    let mut newest: FxHashMap<u32, (i64, usize)> = FxHashMap::default();
    for (place, (item, _)) in seen[..settled].iter().enumerate() {
        if let Some(sent) = stream.get(item).filter(|sent| sent.from != i64::MIN) {
            let entry = newest.entry(sent.line).or_insert((sent.from, place));
            *entry = (*entry).max((sent.from, place));
        }
    }
    let mut missing: Vec<(&ValueId, &Sent)> =
        stream.iter().filter(|(item, sent)| sent.ok && !first.contains_key(item)).collect();
    missing.sort_by_key(|(_, sent)| sent.op);
    for (item, sent) in missing {
        let Some(&(_, place)) = newest.get(&sent.line).filter(|(from, _)| *from > sent.until)
        else {
            continue;
        };
        let (later, take) = (stream[&seen[place].0].op, seen[place].1);
        let window = check.options.reorder_window;
        let facts = || {
            vec![
                fact!("ok", sent.op),
                fact!("ordered", sent.op, later),
                fact!("delivered", later, take),
                fact!("never_delivered", sent.op, take, later, window),
            ]
        };
        check.tally.anomaly("skipped", &[sent.op, later, take], facts, || {
            format!(
                "client {} saw {} ({}) and never {}, which was sent before it",
                table.process(table.row(take).process),
                table.say(later),
                table.place(take),
                table.text(*item)
            )
        });
    }
}

pub(crate) static ORDER: BuiltIn = BuiltIn {
    info: &OracleInfo {
        name: "order",
        aliases: &["prefix", "prefix-order"],
        patterns: &[9],
        claim: "every consumer sees a prefix of the canonical order: no reorder, skip or insert",
        needs: "`send`/`produce`/`enqueue`/`append`/`publish` (input: an element written once; \
                output or `revision`: its position, if known) and `consume`/`poll`/`recv`/\
                `dequeue`/`deliver` (output: an element or a list) by key; the options \
                `reorder-window` and `redelivery-allowed`",
        algorithm: "the newest element a consumer saw, but for the window, must not be newer \
                    than the next; what is older than it and never came was skipped",
        cost: "one pass per consumer, O(n + consumers · elements)",
        cannot_see: "order between producers where no positions are recorded; elements still \
                     on their way when recording stopped",
        failure_mode: "a legitimate reordering window that is not declared makes false alarms: \
                       declare it before the run",
        kinds: &["reordered", "skipped", "inserted", "duplicate"],
    },
    run,
    example_options: Options::default,
    good: "0 send q 1 ok\n0 send q 2 unknown\n0 send q 3 ok\n1 recv q - ok 1\n1 recv q - ok [3,2]",
    bad: "0 send q 1 ok\n0 send q 2 ok\n1 recv q - ok 2\n1 recv q - ok 1",
    plants: &[
        Plant { kind: "reordered", apply: plants::swap_deliveries },
        Plant { kind: "duplicate", apply: plants::repeat_delivery },
        Plant { kind: "inserted", apply: plants::phantom_delivery },
    ],
};
