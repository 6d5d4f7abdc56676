//! Queues whose consumers share: FIFO for each producer, or for all, and nothing lost, invented or
//! handed over twice.
//!
//! `enqueue` (input: an element written once) and `dequeue` (output: the element, null for "was
//! empty") by key; `drain` and final states (output: list) say what was left. If *x* was enqueued
//! before *y* (its enqueue had completed when the other began), *y* must not be out of the queue
//! before anybody asks for *x*: real time, so wall clocks need a declared skew.

use crate::built_in::{BuiltIn, Check};
use crate::contract::{Fact, OracleError, OracleInfo};
use crate::draft::Plant;
use crate::options::Options;
use crate::table::{ADD, FINAL, Row, TAKE, count, group_by};
use crate::tally::real_time;
use crate::{fact, plants};
use assay_history::{OpIndex, ValueId};
use rustc_hash::FxHashMap;

const DRAIN: &[&str] = &["drain"];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Fifo {
    PerProducer,
    Total,
}

/// An element that was put in and taken out.
struct Passed<'a, 'h> {
    sent: &'a Row<'h>,
    taken: &'a Row<'h>,
}

fn run(check: &mut Check<'_, '_>, fifo: Fifo) -> Result<(), OracleError> {
    let table = check.table;
    let Some(margin) = real_time(table, check.options.clock_skew_ns, check.tally) else {
        return Ok(());
    };
    for (_, rows) in group_by(table.rows.iter(), |row| row.key) {
        one_queue(check, &rows, fifo, margin);
    }
    Ok(())
}

fn one_queue(check: &mut Check<'_, '_>, rows: &[&Row<'_>], fifo: Fifo, margin: i64) {
    let table = check.table;
    let mut sent: FxHashMap<ValueId, (&Row<'_>, usize)> = FxHashMap::default();
    for row in rows.iter().filter(|row| row.is(ADD) && row.possible()) {
        let entry = sent.entry(row.input).or_insert((row, 0));
        entry.1 += 1;
        if entry.1 == 2 {
            check.tally.not_covered("the order of elements that were enqueued more than once");
        }
    }
    let is_take = |row: &&&Row<'_>| row.ok() && (row.is(TAKE) || row.is(DRAIN) || row.is(FINAL));
    let mut outs: FxHashMap<ValueId, Vec<&Row<'_>>> = FxHashMap::default();
    let mut passed: Vec<Passed<'_, '_>> = Vec::new();
    for row in rows.iter().filter(is_take).copied() {
        let items = table.items(row.output);
        check.tally.checked(usize::from(!items.is_empty()));
        for item in items {
            let before = outs.entry(item).or_default();
            // A final state is looked at, not taken out.
            if !row.is(FINAL) {
                before.push(row);
            }
            match sent.get(&item) {
                None => phantom(check, item, row.index),
                Some((_, times)) if before.len() > *times && !check.options.redelivery_allowed => {
                    duplicate(check, item, before);
                }
                // A drain or dump is one read of everything left: no order is promised inside.
                Some((send, 1)) if send.ok() && row.is(TAKE) && before.len() == 1 => {
                    passed.push(Passed { sent: send, taken: row });
                }
                Some(_) => {}
            }
        }
    }
    let lines: Vec<Vec<&Passed<'_, '_>>> = match fifo {
        Fifo::Total => vec![passed.iter().collect()],
        Fifo::PerProducer => {
            let mut lines: FxHashMap<u32, Vec<&Passed<'_, '_>>> = FxHashMap::default();
            passed.iter().for_each(|p| lines.entry(p.sent.process.0).or_default().push(p));
            let mut lines: Vec<_> = lines.into_iter().collect();
            lines.sort_by_key(|(producer, _)| *producer);
            lines.into_iter().map(|(_, line)| line).collect()
        }
    };
    for line in lines {
        overtaken(check, line, fifo, margin);
    }
    lost(check, rows, &outs, margin);
}

fn phantom(check: &mut Check<'_, '_>, item: ValueId, take: OpIndex) {
    let table = check.table;
    let text = table.text(item);
    let facts = || vec![fact!("unsent", take, text.clone())];
    check.tally.anomaly("phantom", &[take], facts, || {
        format!("{} returned {}, which nobody enqueued", table.say(take), table.text(item))
    });
}

fn duplicate(check: &mut Check<'_, '_>, item: ValueId, takes: &[&Row<'_>]) {
    let table = check.table;
    let (first, again) = (takes[0].index, takes[takes.len() - 1].index);
    let text = table.text(item);
    let ops: Vec<OpIndex> = takes.iter().map(|row| row.index).collect();
    let facts = || {
        let mut fact = fact!("more_often_than_sent", text.clone());
        fact.args.extend(ops.iter().map(|&op| op.into()));
        vec![fact]
    };
    check.tally.anomaly("duplicate", &[first, again], facts, || {
        format!("{} was handed out again by {}", table.text(item), table.say(again))
    });
}

/// Looks for an element that was asked for only after one enqueued later was already out.
fn overtaken(check: &mut Check<'_, '_>, line: Vec<&Passed<'_, '_>>, fifo: Fifo, margin: i64) {
    let table = check.table;
    let mut by_take = line.clone();
    by_take.sort_by_key(|p| (p.taken.start, p.taken.index));
    let mut by_end = line;
    by_end.sort_by_key(|p| (p.taken.end, p.taken.index));
    let mut out = by_end.into_iter().peekable();
    let mut newest: Option<&Passed<'_, '_>> = None;
    // Order within one producer is by its own clock and needs no margin.
    let send_margin = if fifo == Fifo::Total { margin } else { 0 };
    for x in by_take {
        while let Some(y) = out.next_if(|y| y.taken.end.saturating_add(margin) < x.taken.start) {
            if newest.is_none_or(|best| y.sent.start > best.sent.start) {
                newest = Some(y);
            }
        }
        let Some(y) = newest.filter(|y| y.sent.start > x.sent.end.saturating_add(send_margin))
        else {
            continue;
        };
        let facts = || {
            vec![
                fact!("before", x.sent.index, y.sent.index, send_margin),
                fact!("delivered", y.sent.index, y.taken.index),
                fact!("delivered", x.sent.index, x.taken.index),
                fact!("before", y.taken.index, x.taken.index, margin),
                fact!("sole", x.sent.index),
                fact!("sole", y.sent.index),
            ]
        };
        let ops = [x.sent.index, y.sent.index, y.taken.index, x.taken.index];
        check.tally.anomaly("reordered", &ops, facts, || {
            format!(
                "{} came after {}, yet it was out ({}) before {} was asked for ({})",
                table.say(y.sent.index),
                table.say(x.sent.index),
                table.say(y.taken.index),
                table.text(x.sent.input),
                table.say(x.taken.index)
            )
        });
    }
}

/// Acknowledged elements that nobody got, although the queue was drained. Each dequeue of unknown
/// outcome may have swallowed one.
fn lost(
    check: &mut Check<'_, '_>,
    rows: &[&Row<'_>],
    outs: &FxHashMap<ValueId, Vec<&Row<'_>>>,
    margin: i64,
) {
    let table = check.table;
    let drains = rows.iter().filter(|row| row.ok() && (row.is(DRAIN) || row.is(FINAL)));
    let Some(drain) = drains.max_by_key(|row| (row.start, row.index)) else {
        check.tally.not_covered("loss: the queue was not drained (`drain` or `final`)");
        return;
    };
    let due =
        |row: &&&Row<'_>| row.ok() && row.is(ADD) && row.end.saturating_add(margin) < drain.start;
    let due: Vec<&Row<'_>> = rows.iter().filter(due).copied().collect();
    let missing: Vec<OpIndex> =
        due.iter().filter(|row| !outs.contains_key(&row.input)).map(|row| row.index).collect();
    let swallowers =
        rows.iter().filter(|row| (row.is(TAKE) || row.is(DRAIN)) && row.possible() && !row.ok());
    let swallowers = swallowers.count();
    check.tally.checked(due.len());
    check.tally.evidence(format!(
        "{} acknowledged enqueues before the drain, {} not handed out, {} dequeues of unknown \
         outcome",
        count(due.len()),
        count(missing.len()),
        count(swallowers)
    ));
    if missing.is_empty() {
        return;
    }
    let unknown_drain = rows.iter().any(|row| row.is(DRAIN) && row.possible() && !row.ok());
    if missing.len() <= swallowers || unknown_drain {
        check.tally.undecided(format!(
            "{} elements are missing, but {} dequeues of unknown outcome may have taken them",
            count(missing.len()),
            count(swallowers)
        ));
        return;
    }
    let facts = || {
        let mut fact: Fact = fact!("nowhere", drain.index, margin);
        fact.args.extend(missing.iter().map(|&op| op.into()));
        vec![fact]
    };
    check.tally.anomaly("lost", &missing, facts, || {
        format!(
            "{} acknowledged elements were never handed out, first {}, although {} found the \
             queue at its end; unknown dequeues account for at most {}",
            count(missing.len()),
            table.say(missing[0]),
            table.say(drain.index),
            count(swallowers)
        )
    });
}

const NEEDS: &str = "`enqueue`/`send`/... (input: an element written once) and \
    `dequeue`/`recv`/... (output: the element, a list, or null) by key; `drain` or `final` \
    (output: list) for loss";
const PLANTS: &[Plant] = &[
    Plant { kind: "reordered", apply: plants::swap_deliveries },
    Plant { kind: "duplicate", apply: plants::repeat_delivery },
    Plant { kind: "phantom", apply: plants::phantom_delivery },
];
const KINDS: &[&str] = &["reordered", "duplicate", "phantom", "lost"];
const CANNOT: &str = "order among concurrent enqueues or dequeues; dequeues that return \"empty\" \
    too early (the linearizability model `queue` sees them); loss without a drain";
const TRAP: &str = "a dequeue that timed out may have taken an element: its loss is not held \
    against the queue";

pub(crate) static FIFO_PRODUCER: BuiltIn = BuiltIn {
    info: &OracleInfo {
        name: "fifo-producer",
        aliases: &["fifo-per-producer"],
        patterns: &[9],
        claim: "elements of one producer leave in the order it sent them; none lost or repeated",
        needs: NEEDS,
        algorithm: "per producer, a sweep over dequeues by start with the newest enqueue out",
        cost: "O(n log n)",
        cannot_see: CANNOT,
        failure_mode: TRAP,
        kinds: KINDS,
    },
    run: |check| run(check, Fifo::PerProducer),
    example_options: Options::default,
    good: "0 enqueue q 1 ok\n1 enqueue q 2 ok\n0 enqueue q 3 ok\n2 dequeue q - ok 2\n\
           2 dequeue q - ok 1\n2 drain q - ok [3]",
    bad: "0 enqueue q 1 ok\n0 enqueue q 3 ok\n2 dequeue q - ok 3\n2 dequeue q - ok 1",
    plants: PLANTS,
};

pub(crate) static QUEUE: BuiltIn = BuiltIn {
    info: &OracleInfo {
        name: "queue",
        aliases: &["total-queue"],
        patterns: &[9],
        claim: "elements leave in the order they entered, whoever sent them; none lost or repeated",
        needs: NEEDS,
        algorithm: "a sweep over dequeues by start with the newest enqueue already out",
        cost: "O(n log n)",
        cannot_see: CANNOT,
        failure_mode: TRAP,
        kinds: KINDS,
    },
    run: |check| run(check, Fifo::Total),
    example_options: Options::default,
    good: "0 enqueue q 1 ok\n1 enqueue q 2 ok\n2 dequeue q - ok 1\n2 dequeue q - ok 2\n\
           2 drain q - ok []",
    bad: "0 enqueue q 1 ok\n1 enqueue q 2 ok\n2 dequeue q - ok 2\n2 dequeue q - ok 1",
    plants: PLANTS,
};
