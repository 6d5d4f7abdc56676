//! Exactly once, at least once, at most once: effects per business key.
//!
//! A request carries a business (idempotency) key inside its input; a retry repeats it. Every
//! operation with such a key is an attempt. Effects are what final states list (`final`, `dump`:
//! each element is the key itself or a record with the key at the same path), and what each
//! consumer was handed (`consume`, `dequeue`, ...). An attempt that timed out may have had its
//! effect or not; it makes none necessary and one possible.
//!
//! Where a request may have several effects because it is delivered again, an effect can name its
//! delivery (the option `delivery-key`). Then no delivery may have two of them, so that there are
//! never more effects than deliveries.

use crate::built_in::{BuiltIn, Check};
use crate::contract::{OracleError, OracleInfo};
use crate::draft::Plant;
use crate::options::Options;
use crate::table::{FINAL, Row, TAKE, Table, count, group_by};
use crate::tally::real_time;
use crate::{fact, plants};
use assay_history::{OpIndex, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

/// How often a request may have its effect.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Promise {
    Exactly,
    AtLeast,
    AtMost,
}

/// Where effects are seen: a final state, or everything one consumer was handed.
struct View<'h> {
    ops: Vec<Row<'h>>,
    effects: Vec<(ValueId, OpIndex)>,
    is_final: bool,
}

fn run(check: &mut Check<'_, '_>, promise: Promise) -> Result<(), OracleError> {
    let Some(path) = check.options.business_key.as_deref() else {
        return Err(OracleError::OptionMissing {
            oracle: "exactly-once",
            option: "business-key",
            why: "it names the field inside the input that a retry repeats, such as `request.id`",
        });
    };
    let table = check.table;
    let attempts = attempts(table, path)?;
    let views = views(table, path);
    let mut groups: FxHashMap<ValueId, Vec<&Row<'_>>> = FxHashMap::default();
    for (key, row) in &attempts {
        groups.entry(*key).or_default().push(row);
    }
    let mut effects = 0;
    for view in &views {
        effects += view.effects.len();
        if promise != Promise::AtLeast {
            duplicates(check, view, path);
        }
        rejected(check, view, &groups, path);
    }
    if let Some(delivery) = check.options.delivery_key.clone() {
        deliveries(check, &delivery);
    }
    let finals = views.iter().filter(|view| view.is_final).count();
    if promise != Promise::AtMost {
        missing(check, &views, &attempts, path);
        if finals == 0 && !attempts.is_empty() {
            check.tally.undecided(
                "there is no final state, so nobody can say whether every acknowledged request \
                 had its effect",
            );
        }
    }
    if !views.is_empty() {
        check.tally.checked(attempts.len());
        check.tally.evidence(format!(
            "{} attempts with {} keys, {} effects in {} views",
            count(attempts.len()),
            count(groups.len()),
            count(effects),
            count(views.len())
        ));
    }
    Ok(())
}

/// Every operation with a key, failed ones included.
fn attempts<'h>(table: &Table<'h>, path: &str) -> Result<Vec<(ValueId, Row<'h>)>, OracleError> {
    let mut attempts = Vec::new();
    let mut all_ids = true;
    for row in table.rows.iter().filter(|row| !row.is(FINAL) && !row.is(TAKE)) {
        let key = table.at_path(row.input, path).filter(|key| !key.is_null());
        if let Some(key) = key {
            all_ids &= key == table.history.op(row.index).op_id;
            attempts.push((key, *row));
        }
    }
    if all_ids && !attempts.is_empty() {
        return Err(OracleError::KeyIsOpId { path: path.to_string(), ops: attempts.len() });
    }
    Ok(attempts)
}

/// A final state that is neither a list nor a map shows nothing: it is no view.
fn views<'h>(table: &Table<'h>, path: &str) -> Vec<View<'h>> {
    let keyed = |items: Vec<ValueId>, row: &Row<'h>| -> Vec<(ValueId, OpIndex)> {
        let key_of = |item: ValueId| table.at_path(item, path).unwrap_or(item);
        items.into_iter().map(|item| (key_of(item), row.index)).collect()
    };
    let dumps = table.dumps();
    let finals = dumps.iter().filter_map(|row| {
        let effects = keyed(table.elements(row, row.key)?, row);
        Some(View { ops: vec![*row], effects, is_final: true })
    });
    let takes = table.rows.iter().filter(|row| row.ok() && row.is(TAKE));
    let consumers = group_by(takes, |row| row.process);
    let handed = consumers.iter().map(|(_, rows)| View {
        ops: rows.iter().map(|row| **row).collect(),
        effects: rows.iter().flat_map(|row| keyed(table.items(row.output), row)).collect(),
        is_final: false,
    });
    finals.chain(handed).collect()
}

fn duplicates(check: &mut Check<'_, '_>, view: &View<'_>, path: &str) {
    let table = check.table;
    let mut seen: FxHashMap<ValueId, OpIndex> = FxHashMap::default();
    let mut told: FxHashSet<ValueId> = FxHashSet::default();
    for &(key, op) in &view.effects {
        let Some(&first) = seen.get(&key) else {
            seen.insert(key, op);
            continue;
        };
        if !told.insert(key) {
            continue;
        }
        let text = table.text(key);
        let facts = || vec![fact!("twice", first, op, path, text.clone())];
        let ops = if first == op { vec![op] } else { vec![first, op] };
        check.tally.anomaly("duplicate-effect", &ops, facts, || {
            format!(
                "the request with key {} had its effect more than once: seen in {} and in {}",
                table.text(key),
                table.say(first),
                table.say(op)
            )
        });
    }
}

/// Deliveries that had two effects. Only final states say which delivery an effect is of; one that
/// does not is left out, and said.
fn deliveries(check: &mut Check<'_, '_>, path: &str) {
    let table = check.table;
    let (mut named, mut unnamed) = (0, 0);
    for dump in &table.dumps() {
        let effects = table.elements(dump, dump.key).unwrap_or_default();
        let mut seen: FxHashMap<ValueId, bool> = FxHashMap::default();
        for effect in effects {
            let Some(delivery) = table.at_path(effect, path).filter(|found| !found.is_null())
            else {
                unnamed += 1;
                continue;
            };
            named += 1;
            let told = match seen.get_mut(&delivery) {
                None => {
                    seen.insert(delivery, false);
                    continue;
                }
                Some(told) => std::mem::replace(told, true),
            };
            if told {
                continue;
            }
            let text = table.text(delivery);
            let facts = || vec![fact!("twice", dump.index, dump.index, path, text.clone())];
            check.tally.anomaly("repeated-delivery", &[dump.index], facts, || {
                format!(
                    "delivery {text} had its effect more than once in {}",
                    table.say(dump.index)
                )
            });
        }
    }
    if unnamed > 0 {
        let unnamed = count(unnamed);
        check.tally.not_covered(format!("{unnamed} effects without a delivery at `{path}`"));
    }
    check.tally.evidence(format!("{} effects that name their delivery", count(named)));
}

/// Effects of requests that were all rejected.
fn rejected(
    check: &mut Check<'_, '_>,
    view: &View<'_>,
    groups: &FxHashMap<ValueId, Vec<&Row<'_>>>,
    path: &str,
) {
    let table = check.table;
    let mut strangers = 0;
    let mut told: FxHashSet<ValueId> = FxHashSet::default();
    for &(key, op) in &view.effects {
        let Some(attempts) = groups.get(&key) else {
            strangers += 1;
            continue;
        };
        if attempts.iter().any(|row| row.possible()) || !told.insert(key) {
            continue;
        }
        let (attempt, text) = (attempts[0].index, table.text(key));
        let facts = || vec![fact!("rejected", attempt, op, path, text.clone())];
        check.tally.anomaly("effect-of-rejected", &[attempt, op], facts, || {
            format!(
                "every attempt with key {} failed, first {}, and yet its effect is in {}",
                table.text(key),
                table.say(attempt),
                table.say(op)
            )
        });
    }
    if strangers > 0 {
        let strangers = count(strangers);
        check.tally.not_covered(format!("{strangers} effects whose key no attempt here has"));
    }
}

/// Acknowledged requests without an effect in a final state that was read afterwards.
fn missing(
    check: &mut Check<'_, '_>,
    views: &[View<'_>],
    attempts: &[(ValueId, Row<'_>)],
    path: &str,
) {
    let table = check.table;
    let Some(margin) = real_time(table, check.options.clock_skew_ns, check.tally) else { return };
    for view in views.iter().filter(|view| view.is_final) {
        let present: FxHashSet<ValueId> = view.effects.iter().map(|&(key, _)| key).collect();
        let dump = &view.ops[0];
        let mut told: FxHashSet<ValueId> = FxHashSet::default();
        for (key, attempt) in attempts {
            let due = attempt.ok() && attempt.end.saturating_add(margin) < dump.start;
            let here = dump.key.is_null() || dump.key == attempt.key;
            if !due || !here || present.contains(key) || !told.insert(*key) {
                continue;
            }
            let text = table.text(*key);
            let facts = || {
                vec![
                    fact!("ok", attempt.index),
                    fact!("before", attempt.index, dump.index, margin),
                    fact!("sent", attempt.index, path, text.clone()),
                    fact!("holds", dump.index, dump.index, path, text.clone(), 0usize),
                ]
            };
            check.tally.anomaly("missing-effect", &[attempt.index, dump.index], facts, || {
                format!(
                    "{} was acknowledged, but no effect with key {} is in {}",
                    table.say(attempt.index),
                    table.text(*key),
                    table.say(dump.index)
                )
            });
        }
    }
}

const NEEDS: &str = "requests with a business key inside the input, at the path in the option \
    `business-key`; effects in `final`/`dump` (a list of keys or of records with the key at the \
    same path) or in `consume`/`dequeue`/`poll`/`recv`/`deliver` outputs; the option \
    `delivery-key` where records in `final`/`dump` name the delivery they are of";
const COST: &str = "one pass, O(n) time and memory";
const TRAP: &str = "the key is op_id, so that no two attempts share it: an error";
const CANNOT: &str = "effects outside the final state and the consumers; effects of keys nobody \
    sent (counted as not covered)";

fn example_options() -> Options {
    let (business_key, delivery_key) = (Some("id".to_string()), Some("handed".to_string()));
    Options { business_key, delivery_key, ..Options::default() }
}

const GOOD: &str = "
    0 pay a {\"id\":\"r1\"} unknown
    0 pay a {\"id\":\"r1\"} ok
    1 pay a {\"id\":\"r2\"} fail
    0 final - - ok [{\"id\":\"r1\",\"handed\":1}]";
const TWO: &str = "
    0 pay a {\"id\":\"r1\"} ok
    0 pay a {\"id\":\"r1\"} ok
    0 final - - ok [{\"id\":\"r1\",\"handed\":1},{\"id\":\"r1\",\"handed\":2}]";
const NONE: &str = "0 pay a {\"id\":\"r1\"} ok\n0 final - - ok []";
const TWICE: Plant = Plant { kind: "duplicate-effect", apply: plants::repeat_in_final };
const AGAIN: Plant = Plant { kind: "repeated-delivery", apply: plants::repeat_in_final };
const LOST: Plant = Plant { kind: "missing-effect", apply: plants::drop_from_final };

macro_rules! effect_oracle {
    (
        $static:ident, $promise:expr, $name:expr, $claim:expr, $kinds:expr, $bad:expr, $plants:expr
    ) => {
        pub(crate) static $static: BuiltIn = BuiltIn {
            info: &OracleInfo {
                name: $name,
                aliases: &[],
                patterns: &[11],
                claim: $claim,
                needs: NEEDS,
                algorithm: "group attempts by key; count effects per key in every view",
                cost: COST,
                cannot_see: CANNOT,
                failure_mode: TRAP,
                kinds: $kinds,
            },
            run: |check| run(check, $promise),
            example_options,
            good: GOOD,
            bad: $bad,
            plants: $plants,
        };
    };
}

effect_oracle!(
    EXACTLY_ONCE,
    Promise::Exactly,
    "exactly-once",
    "an acknowledged request has exactly one effect, however often it was sent",
    &["duplicate-effect", "missing-effect", "effect-of-rejected", "repeated-delivery"],
    TWO,
    &[TWICE, LOST]
);
effect_oracle!(
    AT_LEAST_ONCE,
    Promise::AtLeast,
    "at-least-once",
    "an acknowledged request has an effect",
    &["missing-effect", "effect-of-rejected", "repeated-delivery"],
    NONE,
    &[LOST, AGAIN]
);
effect_oracle!(
    AT_MOST_ONCE,
    Promise::AtMost,
    "at-most-once",
    "a request has no more than one effect, however often it was sent",
    &["duplicate-effect", "effect-of-rejected", "repeated-delivery"],
    TWO,
    &[TWICE]
);
