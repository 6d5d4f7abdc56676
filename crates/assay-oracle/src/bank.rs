//! A bank: transfers move money, the total stays.
//!
//! `transfer` (input `{from, to, amount}` or `[from, to, amount]`) and `read` (output: a map from
//! account to balance, or a list of balances). Every read must show the same total, for a transfer
//! moves money at once or not at all, whatever became of it; no account may be overdrawn unless
//! that is allowed. Between the first and the last read each balance must also have moved by what
//! was transferred: transfers of unknown outcome, and those that overlap a read, count both ways.

use crate::built_in::{BuiltIn, Check};
use crate::contract::{OracleError, OracleInfo};
use crate::draft::Plant;
use crate::options::Options;
use crate::table::{FINAL, READ, Row, count};
use crate::tally::real_time;
use crate::{fact, plants};
use assay_history::View;
use std::collections::BTreeMap;

/// The balances a read shows, by account; `None` if it shows none.
fn balances(check: &Check<'_, '_>, row: &Row<'_>) -> Option<BTreeMap<String, i64>> {
    let table = check.table;
    match table.values.view(row.output) {
        View::Map(flat) => flat
            .chunks_exact(2)
            .map(|pair| Some((table.name(pair[0]), table.values.as_int(pair[1])?)))
            .collect(),
        View::List(items) => items
            .iter()
            .enumerate()
            .map(|(i, &item)| Some((i.to_string(), table.values.as_int(item)?)))
            .collect(),
        _ => None,
    }
}

/// A transfer's accounts and amount.
fn transfer(check: &Check<'_, '_>, row: &Row<'_>) -> Result<(String, String, i64), OracleError> {
    let table = check.table;
    let part = |name: &str, place: usize| match table.values.as_list(row.input) {
        Some(items) => items.get(place).copied(),
        None => table.values.field(row.input, name),
    };
    let amount = part("amount", 2).and_then(|id| table.values.as_int(id));
    match (part("from", 0), part("to", 1), amount) {
        (Some(from), Some(to), Some(amount)) => Ok((table.name(from), table.name(to), amount)),
        _ => Err(OracleError::BadOperation {
            place: table.place(row.index),
            what: "a transfer's input is {from, to, amount} or [from, to, amount], with a whole \
                   number for the amount"
                .to_string(),
        }),
    }
}

fn run(check: &mut Check<'_, '_>) -> Result<(), OracleError> {
    let table = check.table;
    let is_read = |row: &&Row<'_>| row.ok() && (row.is(READ) || row.is(FINAL));
    let mut reads: Vec<(Row<'_>, BTreeMap<String, i64>)> = Vec::new();
    for row in table.rows.iter().filter(is_read) {
        if let Some(balances) = balances(check, row) {
            reads.push((*row, balances));
        }
    }
    reads.sort_by_key(|(row, _)| (row.end, row.index));
    check.tally.checked(reads.len());
    totals(check, &reads);
    if !check.options.negative_allowed {
        for (row, balances) in &reads {
            for (account, &balance) in balances.iter().filter(|(_, balance)| **balance < 0) {
                let facts = || vec![fact!("negative", row.index, account.as_str(), balance)];
                check.tally.anomaly("negative-balance", &[row.index], facts, || {
                    format!("{} shows {account} at {balance}", table.say(row.index))
                });
            }
        }
    }
    if let [first, .., last] = &reads[..]
        && let Some(margin) = real_time(table, check.options.clock_skew_ns, check.tally)
    {
        moved(check, first, last, margin)?;
    }
    check.tally.evidence(format!("{} reads of all balances", count(reads.len())));
    Ok(())
}

fn totals(check: &mut Check<'_, '_>, reads: &[(Row<'_>, BTreeMap<String, i64>)]) {
    let table = check.table;
    let sum = |balances: &BTreeMap<String, i64>| -> i64 {
        balances.values().fold(0, |sum: i64, &b| sum.saturating_add(b))
    };
    let Some((first, opening)) = reads.first() else { return };
    let expected = check.options.total.unwrap_or_else(|| sum(opening));
    for (row, balances) in reads {
        let total = sum(balances);
        if total == expected {
            continue;
        }
        let declared = check.options.total.is_some();
        let facts = || {
            let mut facts =
                vec![fact!("total", row.index, total), fact!("unequal", total, expected)];
            if !declared {
                facts.push(fact!("total", first.index, expected));
            }
            facts
        };
        let ops = if declared { vec![row.index] } else { vec![first.index, row.index] };
        check.tally.anomaly("wrong-total", &ops, facts, || {
            let source = if declared { "declared" } else { "read first" };
            format!("{} adds up to {total}, not to the {expected} {source}", table.say(row.index))
        });
    }
}

/// Each balance must have moved by what was transferred between two reads.
fn moved(
    check: &mut Check<'_, '_>,
    (first, opening): &(Row<'_>, BTreeMap<String, i64>),
    (last, closing): &(Row<'_>, BTreeMap<String, i64>),
    margin: i64,
) -> Result<(), OracleError> {
    let table = check.table;
    let mut bounds: BTreeMap<&str, (i64, i64)> =
        opening.iter().map(|(account, &b)| (account.as_str(), (b, b))).collect();
    let transfers = table.rows.iter().filter(|row| row.verb == "transfer" && row.possible());
    let mut judged = 0;
    for row in transfers {
        let (from, to, amount) = transfer(check, row)?;
        let over = row.end.saturating_add(margin) < first.start;
        let ahead = row.start > last.end.saturating_add(margin);
        if over || ahead {
            continue;
        }
        judged += 1;
        let between = row.start > first.end.saturating_add(margin)
            && row.end.saturating_add(margin) < last.start;
        let certain = row.ok() && between;
        for (account, delta) in [(from, amount.saturating_neg()), (to, amount)] {
            let Some(bound) = bounds.get_mut(account.as_str()) else { continue };
            bound.0 = bound.0.saturating_add(if certain { delta } else { delta.min(0) });
            bound.1 = bound.1.saturating_add(if certain { delta } else { delta.max(0) });
        }
    }
    check.tally.checked(judged);
    for (account, (low, high)) in bounds {
        let Some(&balance) = closing.get(account) else { continue };
        if (low..=high).contains(&balance) {
            continue;
        }
        let facts = || {
            vec![fact!("moved_wrong", first.index, last.index, account, low, high, balance, margin)]
        };
        check.tally.anomaly("wrong-balance", &[first.index, last.index], facts, || {
            format!(
                "{account} stood at {} in {} and at {balance} in {}; the transfers between allow \
                 {low} to {high}",
                opening[account],
                table.say(first.index),
                table.say(last.index)
            )
        });
    }
    Ok(())
}

pub(crate) static BANK: BuiltIn = BuiltIn {
    info: &OracleInfo {
        name: "bank",
        aliases: &["constant-total"],
        patterns: &[12],
        claim: "transfers move money and never make or lose any; no account is overdrawn",
        needs: "`transfer` (input {from, to, amount} or a list of the three) and `read`/`final` \
                (output: map account to balance, or list); the options `total` and \
                `negative-allowed`",
        algorithm: "the total of every read; and for each account the range that certain and \
                    possible transfers allow between the first and the last read",
        cost: "O(n · accounts)",
        cannot_see: "wrong balances that stay in the range which unknown transfers allow; which \
                     transfer went wrong",
        failure_mode: "a total taken from the run itself sees only change: declare `total`",
        kinds: &["wrong-total", "negative-balance", "wrong-balance"],
    },
    run,
    example_options: || Options { total: Some(20), ..Options::default() },
    good: "0 read - - ok {\"a\":10,\"b\":10}\n0 transfer - [\"a\",\"b\",3] ok\n\
           1 transfer - [\"b\",\"a\",1] unknown\n0 read - - ok {\"a\":8,\"b\":12}",
    bad: "0 read - - ok {\"a\":10,\"b\":10}\n0 transfer - [\"a\",\"b\",3] ok\n\
          0 read - - ok {\"a\":7,\"b\":10}",
    plants: &[Plant { kind: "wrong-total", apply: plants::wrong_balance }],
};
