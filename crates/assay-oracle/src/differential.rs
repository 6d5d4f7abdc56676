//! Differential and in-run assertions: a reference implementation as oracle, and assertions that
//! the run itself recorded.
//!
//! **Differential**: the same operations were sent to two systems; operations with the same `op_id`
//! must have the same answer. **Property**: operations of type `assert` (key: which assertion;
//! output: true or false) were evaluated during the run.

use crate::built_in::{BuiltIn, Check};
use crate::contract::{OracleError, OracleInfo};
use crate::draft::{Draft, Plant};
use crate::fact;
use crate::options::Options;
use crate::sketch::sketch;
use crate::states::Comparison;
use crate::table::{Row, Table, clip, count, group_by};
use assay_history::{OpIndex, Outcome, ValueId};
use rand_chacha::ChaCha8Rng;
use rustc_hash::FxHashMap;
use std::sync::Arc;

fn differential(check: &mut Check<'_, '_>) -> Result<(), OracleError> {
    let Some(reference) = check.options.reference.clone() else {
        return Err(OracleError::OptionMissing {
            oracle: "differential",
            option: "reference",
            why: "the history of the reference implementation, with the same op_ids",
        });
    };
    let other = Table::new(&reference);
    let id = |table: &Table<'_>, op: OpIndex| table.text(table.history.op(op).op_id);
    let places: FxHashMap<String, &Row<'_>> =
        other.rows.iter().map(|row| (id(&other, row.index), row)).collect();
    let (mut compared, mut unmatched, mut unknown, mut asked) = (0, 0, 0, 0);
    let rows = check.table.rows.clone();
    for row in &rows {
        let Some(theirs) = places.get(&id(check.table, row.index)) else {
            unmatched += 1;
            continue;
        };
        let question = |table: &Table<'_>, row: &Row<'_>| {
            (row.verb.to_string(), table.text(row.key), table.text(row.input))
        };
        if question(check.table, row) != question(&other, theirs) {
            asked += 1;
        } else if [row.outcome, theirs.outcome].contains(&Outcome::Unknown) {
            unknown += 1;
        } else {
            compared += 1;
            answer(check, &other, row, theirs);
        }
    }
    check.tally.checked(compared);
    check.tally.evidence(format!("{} answers compared with the reference", count(compared)));
    let gaps = [
        (unmatched, "operations that the reference was not asked"),
        (asked, "operations whose type, key or input differs under the same op_id"),
        (unknown, "operations of unknown outcome on either side"),
    ];
    for (number, what) in gaps.into_iter().filter(|(number, _)| *number > 0) {
        check.tally.not_covered(format!("{} {what}", count(number)));
    }
    Ok(())
}

fn answer(check: &mut Check<'_, '_>, other: &Table<'_>, mine: &Row<'_>, theirs: &Row<'_>) {
    let table = check.table;
    let mut comparison = Comparison { ignore: &check.options.ignore_fields, leaves: 0, ignored: 0 };
    let found = comparison.first((table, mine.output), (other, theirs.output), "");
    let words = match (mine.outcome == theirs.outcome, found) {
        (false, _) => format!("{:?} here, {:?} there", mine.outcome, theirs.outcome),
        (true, Some(found)) if mine.ok() => {
            format!("{} here, {} there", clip(found.left), clip(found.right))
        }
        _ => return,
    };
    let facts = || vec![fact!("reference_differs", mine.index, theirs.index)];
    check.tally.anomaly("answers-differ", &[mine.index], facts, || {
        format!("{} was answered differently by the reference: {words}", table.say(mine.index))
    });
}

fn property(check: &mut Check<'_, '_>) -> Result<(), OracleError> {
    let table = check.table;
    let asserts = table.rows.iter().filter(|row| row.verb == "assert");
    let mut fired_names = Vec::new();
    for (key, rows) in group_by(asserts, |row| row.key) {
        let (mut fired, mut passed) = (0, 0);
        for row in &rows {
            let holds = table.values.field(row.output, "ok").unwrap_or(row.output);
            let failed = row.outcome == Outcome::Fail || holds == ValueId::FALSE;
            if row.outcome == Outcome::Unknown || !(failed || holds == ValueId::TRUE) {
                check.tally.not_covered("assertions without an answer of true or false");
                continue;
            }
            fired += 1;
            passed += usize::from(!failed);
            if failed {
                let facts = || vec![fact!("assert_failed", row.index)];
                check.tally.anomaly("assertion-failed", &[row.index], facts, || {
                    format!("{} did not hold", table.say(row.index))
                });
            }
        }
        check.tally.checked(fired);
        let name = table.name(key);
        check.tally.evidence(format!("{name}: fired {}, passed {}", count(fired), count(passed)));
        if fired > 0 {
            fired_names.push(name);
        }
    }
    for name in &check.options.assertions_expected {
        if !fired_names.contains(name) {
            check
                .tally
                .undecided(format!("the assertion {name} never fired: its path was not taken"));
        }
    }
    Ok(())
}

fn change_answer(draft: &mut Draft, rng: &mut ChaCha8Rng) -> bool {
    let verbs: Vec<String> = draft.ops.iter().map(|op| op.op_type.clone()).collect();
    let verbs: Vec<&str> = verbs.iter().map(String::as_str).collect();
    let Some(at) = draft.pick(&verbs, rng) else { return false };
    draft.ops[at].op.output = draft.fresh(rng);
    true
}

fn fail_assert(draft: &mut Draft, rng: &mut ChaCha8Rng) -> bool {
    let Some(at) = draft.pick(&["assert"], rng) else { return false };
    draft.ops[at].op.output = ValueId::FALSE;
    true
}

pub(crate) static DIFFERENTIAL: BuiltIn = BuiltIn {
    info: &OracleInfo {
        name: "differential",
        aliases: &["reference"],
        patterns: &[6],
        claim: "the system answers as the reference implementation does",
        needs: "any operations with the op_ids of the option `reference`; the option \
                `ignore-fields` for declared nondeterminism",
        algorithm: "operations joined by op_id, outputs compared leaf by leaf",
        cost: "O(n)",
        cannot_see: "a bug that the reference shares; differences that concurrency allows look \
                     like anomalies: compare runs with one client, or order-independent answers",
        failure_mode: "the reference shares the bug: use an independent one",
        kinds: &["answers-differ"],
    },
    run: differential,
    example_options: || Options {
        reference: Some(Arc::new(sketch("0 write x 1 ok\n0 read x - ok 1"))),
        ..Options::default()
    },
    good: "0 write x 1 ok\n0 read x - ok 1",
    bad: "0 write x 1 ok\n0 read x - ok 2",
    plants: &[Plant { kind: "answers-differ", apply: change_answer }],
};

pub(crate) static PROPERTY: BuiltIn = BuiltIn {
    info: &OracleInfo {
        name: "property",
        aliases: &["assertions"],
        patterns: &[2],
        claim: "every assertion that was evaluated during the run held",
        needs: "`assert` (key: which; output: true, false or {ok: ...}); the option \
                `assertions-expected`",
        algorithm: "counted by assertion: fired and passed",
        cost: "O(n)",
        cannot_see: "what the assertions do not say",
        failure_mode: "the path was never taken: assertions that are expected and did not fire \
                       leave it undecided, and none at all checks nothing",
        kinds: &["assertion-failed"],
    },
    run: property,
    example_options: Options::default,
    good: "0 assert sorted - ok true\n0 assert sorted - ok true",
    bad: "0 assert sorted - ok true\n0 assert sorted - ok false",
    plants: &[Plant { kind: "assertion-failed", apply: fail_assert }],
};
