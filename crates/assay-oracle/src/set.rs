//! A growing set: what became of each element that was added, as Jepsen's `set-full` tells it.
//!
//! `add` puts an element in; `read` (and a final state) lists all elements. An element is *known*
//! once its add was acknowledged or a read that showed it has returned. A read that begins later
//! must show it: if one does not and a later one does, the element was *stale*; if none does any
//! more, it is *lost*. Elements whose add timed out may show up or not, but once seen they stay.

use crate::built_in::{BuiltIn, Check};
use crate::contract::{OracleError, OracleInfo};
use crate::draft::Plant;
use crate::durable::counts;
use crate::options::Options;
use crate::table::{FINAL, READ, REMOVE, Row, count, group_by};
use crate::tally::real_time;
use crate::{fact, plants};
use assay_history::{OpIndex, ValueId};
use rustc_hash::FxHashMap;

/// What is known about one element.
struct Element {
    value: ValueId,
    add: Option<OpIndex>,
    /// The acknowledged add or first read that made it known, and when.
    known: Option<(i64, OpIndex)>,
    /// Reads that show it, as places in the list of reads.
    present: Vec<usize>,
    possible: bool,
}

/// How the elements of one set fared.
#[derive(Default)]
struct Fates {
    stable: usize,
    lost: usize,
    stale: usize,
    never_read: usize,
}

fn run(check: &mut Check<'_, '_>) -> Result<(), OracleError> {
    let table = check.table;
    let Some(margin) = real_time(table, check.options.clock_skew_ns, check.tally) else {
        return Ok(());
    };
    let mut fates = Fates::default();
    for (_, rows) in group_by(table.rows.iter(), |row| row.key) {
        one_set(check, &rows, margin, &mut fates);
    }
    check.tally.evidence(format!(
        "elements: {} stable, {} stale for a while, {} lost, {} never looked for",
        count(fates.stable),
        count(fates.stale),
        count(fates.lost),
        count(fates.never_read)
    ));
    Ok(())
}

fn one_set(check: &mut Check<'_, '_>, rows: &[&Row<'_>], margin: i64, fates: &mut Fates) {
    let table = check.table;
    let is_read = |row: &&&Row<'_>| {
        row.ok() && (row.is(READ) || row.is(FINAL)) && table.values.as_list(row.output).is_some()
    };
    let mut reads: Vec<&Row<'_>> = rows.iter().filter(is_read).copied().collect();
    reads.sort_by_key(|row| (row.start, row.index));
    if reads.is_empty() {
        return;
    }
    if rows.iter().any(|row| row.is(REMOVE) && row.possible()) {
        check.tally.not_covered("sets from which elements are removed: use the model `set`");
        return;
    }
    let adds = rows.iter().filter(|row| row.verb == "add" || row.verb == "insert").copied();
    let mut elements = collect(check, adds, &reads, margin);
    elements.sort_by_key(|e| (e.add, e.known.map(|(_, op)| op)));
    for element in &elements {
        fate(check, element, &reads, margin, fates);
    }
}

/// All elements, with the reads that show them; reports those nobody added and repetitions.
fn collect<'a, 'r: 'a>(
    check: &mut Check<'_, '_>,
    adds: impl Iterator<Item = &'a Row<'r>>,
    reads: &[&Row<'_>],
    margin: i64,
) -> Vec<Element> {
    let table = check.table;
    let mut elements: FxHashMap<ValueId, Element> = FxHashMap::default();
    let new = |value| Element { value, add: None, known: None, present: vec![], possible: false };
    for add in adds {
        let element = elements.entry(add.input).or_insert_with(|| new(add.input));
        element.possible |= add.possible();
        element.add = element.add.or(Some(add.index));
        if add.ok() && element.known.is_none_or(|(at, _)| add.end < at) {
            element.known = Some((add.end, add.index));
        }
        check.tally.checked(1);
    }
    for (place, read) in reads.iter().enumerate() {
        let items = table.values.as_list(read.output).unwrap_or_default();
        check.tally.steps(items.len());
        check.tally.checked(1);
        let mut repeated: Vec<(ValueId, usize)> =
            counts(items).into_iter().filter(|&(_, times)| times > 1).collect();
        repeated.sort_by_key(|&(item, _)| table.text(item));
        for (item, _) in repeated {
            duplicated(check, item, read.index);
        }
        for &item in items {
            let element = elements.entry(item).or_insert_with(|| new(item));
            if element.present.last() == Some(&place) {
                continue;
            }
            element.present.push(place);
            if !element.possible {
                phantom(check, item, read.index);
            }
            let read_end = read.end.saturating_add(margin);
            if element.known.is_none_or(|(at, _)| read_end < at) {
                element.known = Some((read.end, read.index));
            }
        }
    }
    elements.into_values().filter(|element| element.possible).collect()
}

fn duplicated(check: &mut Check<'_, '_>, item: ValueId, read: OpIndex) {
    let table = check.table;
    let text = table.text(item);
    let facts = || vec![fact!("twice", read, read, "", text.clone())];
    check.tally.anomaly("duplicated", &[read], facts, || {
        format!("{} lists {} more than once", table.say(read), table.text(item))
    });
}

fn phantom(check: &mut Check<'_, '_>, item: ValueId, read: OpIndex) {
    let table = check.table;
    let text = table.text(item);
    let facts = || vec![fact!("unsent", read, text.clone())];
    check.tally.anomaly("phantom", &[read], facts, || {
        format!("{} lists {}, which nobody added", table.say(read), table.text(item))
    });
}

/// Decides between stable, stale, lost and never read.
fn fate(
    check: &mut Check<'_, '_>,
    element: &Element,
    reads: &[&Row<'_>],
    margin: i64,
    fates: &mut Fates,
) {
    let table = check.table;
    let Some((known_at, known)) = element.known else { return };
    let after = reads.partition_point(|read| read.start <= known_at.saturating_add(margin));
    if after == reads.len() {
        fates.never_read += 1;
        return;
    }
    // The last read after the element was known that does not show it.
    let mut present = element.present.iter().rev().peekable();
    let absent = (after..reads.len()).rev().find(|place| {
        if present.peek() == Some(&place) {
            present.next();
            return false;
        }
        true
    });
    let Some(absent) = absent else {
        fates.stable += 1;
        return;
    };
    let read = reads[absent];
    let came_back = element.present.iter().any(|&place| reads[place].end >= read.start);
    if came_back {
        fates.stale += 1;
        if check.options.stale_reads_allowed {
            return;
        }
    } else {
        fates.lost += 1;
    }
    let kind = if came_back { "stale" } else { "lost" };
    let text = table.text(element.value);
    let facts = || {
        vec![
            fact!("knows", known, text.clone()),
            fact!("before", known, read.index, margin),
            fact!("holds", read.index, read.index, "", text.clone(), 0usize),
            fact!("unremoved", read.index),
        ]
    };
    check.tally.anomaly(kind, &[known, read.index], facts, || {
        let end = if came_back { "it came back later" } else { "no later read shows it" };
        format!(
            "{} was known from {} and is missing from {}; {end}",
            table.text(element.value),
            table.say(known),
            table.say(read.index)
        )
    });
}

pub(crate) static SET: BuiltIn = BuiltIn {
    info: &OracleInfo {
        name: "set",
        aliases: &["set-full"],
        patterns: &[10],
        claim: "an element that was added, once known, is in every later read",
        needs: "`add` (input: the element) and `read`/`final` (output: a list) by key; the \
                option `stale-reads-allowed` where only loss counts",
        algorithm: "per element, when it was known, and the last later read without it",
        cost: "O(size of all reads)",
        cannot_see: "elements no read looked for after they were known; sets with removal",
        failure_mode: "an element is counted as known before its add was acknowledged: the time \
                       of knowing is the end of the add, or of the read that showed it",
        kinds: &["lost", "stale", "phantom", "duplicated"],
    },
    run,
    example_options: Options::default,
    good: "0 add - 1 ok\n0 add - 2 unknown\n1 read - - ok [1]\n1 read - - ok [2,1]",
    bad: "0 add - 1 ok\n0 add - 2 ok\n1 read - - ok [1,2]\n1 read - - ok [2]",
    plants: &[
        Plant { kind: "lost", apply: plants::drop_from_read },
        Plant { kind: "phantom", apply: plants::phantom_in_read },
    ],
};
