//! A ledger: credits and debits of an account, each applied once.
//!
//! `credit` and `debit` (key: the account; input `{id, amount}`, with the idempotency id in the
//! field that `business_key` names, `id` if it is not set) and `balance` or `read` (output: a whole
//! number). A balance must lie between what is certain and what is possible: a request that was
//! acknowledged before the read counts once, however often it was sent; one that may have happened
//! counts both ways. If even with every possible credit an account could not have paid for the
//! debits it acknowledged, money was spent twice.

use crate::built_in::{BuiltIn, Check};
use crate::contract::{OracleError, OracleInfo};
use crate::draft::Plant;
use crate::options::Options;
use crate::table::{READ, Row, count, group_by};
use crate::tally::real_time;
use crate::{fact, plants};
use assay_history::{NEVER, OpIndex, ValueId};
use rustc_hash::FxHashMap;

/// One request, however often it was sent.
struct Request {
    amount: i64,
    /// When it may have taken effect, at the earliest.
    possible_from: i64,
    /// When it certainly had, at the earliest; [`NEVER`] if it may not have.
    certain_from: i64,
    /// The attempt whose acknowledgement makes it certain.
    acked: Option<OpIndex>,
}

fn run(check: &mut Check<'_, '_>) -> Result<(), OracleError> {
    let table = check.table;
    let Some(margin) = real_time(table, check.options.clock_skew_ns, check.tally) else {
        return Ok(());
    };
    for (_, rows) in group_by(table.rows.iter(), |row| row.key) {
        let requests = requests(check, &rows)?;
        balances(check, &rows, &requests, margin);
        if !check.options.negative_allowed {
            overspent(check, &requests, margin);
        }
    }
    Ok(())
}

fn requests(check: &Check<'_, '_>, rows: &[&Row<'_>]) -> Result<Vec<Request>, OracleError> {
    let table = check.table;
    let path = check.options.business_key.as_deref().unwrap_or("id");
    let mut places: FxHashMap<ValueId, usize> = FxHashMap::default();
    let mut requests: Vec<Request> = Vec::new();
    let is_request = |row: &&&Row<'_>| ["credit", "debit"].contains(&row.verb) && row.possible();
    for row in rows.iter().filter(is_request) {
        let bad = |what: &str| OracleError::BadOperation {
            place: table.place(row.index),
            what: what.to_string(),
        };
        let amount = table.at_path(row.input, "amount").or(Some(row.input));
        let amount = amount.and_then(|id| table.values.as_int(id));
        let amount = amount.ok_or_else(|| bad("the input has no whole number `amount`"))?;
        let amount = if row.verb == "debit" { amount.saturating_neg() } else { amount };
        let id = table.at_path(row.input, path).filter(|id| !id.is_null());
        // A request without an id is its own: no retry can share it.
        let fresh = requests.len();
        let place = match id {
            Some(id) => *places.entry(id).or_insert(fresh),
            None => fresh,
        };
        if place == fresh {
            let (possible_from, certain_from) = (row.start, NEVER);
            requests.push(Request { amount, possible_from, certain_from, acked: None });
        }
        let request = &mut requests[place];
        if request.amount != amount {
            return Err(bad("the same id was used before with another amount"));
        }
        request.possible_from = request.possible_from.min(row.start);
        if row.ok() && row.end < request.certain_from {
            (request.certain_from, request.acked) = (row.end, Some(row.index));
        }
    }
    Ok(requests)
}

/// Sums of amounts by time, to be asked for the sum before a time.
struct Prefix {
    times: Vec<i64>,
    sums: Vec<i64>,
}

impl Prefix {
    fn new(mut items: Vec<(i64, i64)>) -> Prefix {
        items.sort_unstable();
        let mut sum = 0i64;
        let sums = items.iter().map(|&(_, amount)| {
            sum = sum.saturating_add(amount);
            sum
        });
        let sums = sums.collect();
        Prefix { times: items.into_iter().map(|(time, _)| time).collect(), sums }
    }

    /// The sum of everything whose time is less than `time`.
    fn before(&self, time: i64) -> i64 {
        let count = self.times.partition_point(|&t| t < time);
        count.checked_sub(1).map_or(0, |last| self.sums[last])
    }
}

/// The bounds of a balance at a time: what certainly happened, and what may have.
struct Bounds {
    opening: i64,
    gains_certain: Prefix,
    losses_certain: Prefix,
    gains_possible: Prefix,
    losses_possible: Prefix,
}

impl Bounds {
    fn new(requests: &[Request], opening: i64) -> Bounds {
        let pick = |time: fn(&Request) -> i64, part: fn(i64) -> i64| {
            Prefix::new(requests.iter().map(|r| (time(r), part(r.amount))).collect())
        };
        let gain: fn(i64) -> i64 = |amount| amount.max(0);
        let loss: fn(i64) -> i64 = |amount| amount.min(0);
        Bounds {
            opening,
            gains_certain: pick(|r| r.certain_from, gain),
            losses_certain: pick(|r| r.certain_from, loss),
            gains_possible: pick(|r| r.possible_from, gain),
            losses_possible: pick(|r| r.possible_from, loss),
        }
    }

    /// Least and most, for what is certain before one time and possible before another.
    fn between(&self, certain: i64, possible: i64) -> (i64, i64) {
        let least = self.opening.saturating_add(self.gains_certain.before(certain));
        let most = self.opening.saturating_add(self.losses_certain.before(certain));
        let least = least.saturating_add(self.losses_possible.before(possible));
        (least, most.saturating_add(self.gains_possible.before(possible)))
    }
}

fn balances(check: &mut Check<'_, '_>, rows: &[&Row<'_>], requests: &[Request], margin: i64) {
    let table = check.table;
    let bounds = Bounds::new(requests, check.options.opening_balance);
    let is_read = |row: &&&Row<'_>| row.ok() && (row.verb == "balance" || row.is(READ));
    let mut judged = 0;
    for row in rows.iter().filter(is_read) {
        let Some(balance) = table.values.as_int(row.output) else { continue };
        judged += 1;
        // An effect that may come as late as the read ends is possible: equal times overlap.
        let until = row.end.saturating_add(margin).saturating_add(1);
        let (low, high) = bounds.between(row.start.saturating_sub(margin), until);
        if (low..=high).contains(&balance) {
            continue;
        }
        let kind = if balance < low { "balance-too-low" } else { "balance-too-high" };
        let facts = || {
            let opening = check.options.opening_balance;
            let path = check.options.business_key.as_deref().unwrap_or("id");
            vec![fact!("out_of_bounds", row.index, path, opening, low, high, balance, margin)]
        };
        let why = match kind {
            "balance-too-low" => "a credit was lost, or a debit applied twice",
            _ => "a credit was applied twice, or a debit lost",
        };
        check.tally.anomaly(kind, &[row.index], facts, || {
            format!(
                "{} shows {balance}; what happened allows {low} to {high}: {why}",
                table.say(row.index)
            )
        });
    }
    if judged > 0 {
        check.tally.checked(judged + requests.len());
        check.tally.evidence(format!(
            "{}: {} balances against {} requests",
            rows.first().map_or_else(String::new, |row| table.text(row.key)),
            count(judged),
            count(requests.len())
        ));
    }
}

/// Debits that were acknowledged although no order of events could have paid for them.
fn overspent(check: &mut Check<'_, '_>, requests: &[Request], margin: i64) {
    let table = check.table;
    let bounds = Bounds::new(requests, check.options.opening_balance);
    let mut debits: Vec<(i64, OpIndex)> = requests
        .iter()
        .filter(|r| r.amount < 0)
        .filter_map(|r| r.acked.map(|op| (r.certain_from, op)))
        .collect();
    debits.sort_unstable();
    check.tally.checked(debits.len());
    for (at, op) in debits {
        let certain = at.saturating_sub(margin).saturating_add(1);
        let (_, high) = bounds.between(certain, at.saturating_add(margin).saturating_add(1));
        if high >= 0 {
            continue;
        }
        let facts = || {
            let opening = check.options.opening_balance;
            let path = check.options.business_key.as_deref().unwrap_or("id");
            vec![fact!("overspent", op, path, opening, high, margin)]
        };
        check.tally.anomaly("double-spend", &[op], facts, || {
            format!(
                "when {} was acknowledged, the account could hold {high} at most",
                table.say(op)
            )
        });
        // Everything later is overspent for the same reason.
        return;
    }
}

pub(crate) static LEDGER: BuiltIn = BuiltIn {
    info: &OracleInfo {
        name: "ledger",
        aliases: &["accounts"],
        patterns: &[11, 12],
        claim: "each credit and debit counts once, however often it was sent, and none is lost",
        needs: "`credit`/`debit` (key: account; input {id, amount}) and `balance`/`read` \
                (output: whole number); the options `business-key` (default `id`), \
                `opening-balance` and `negative-allowed`",
        algorithm: "requests by id; for each balance the range between certain and possible \
                    requests, from prefix sums",
        cost: "O(n log n)",
        cannot_see: "wrong balances inside the range that requests of unknown outcome allow",
        failure_mode: "deduplicating by op_id instead of the id inside the input",
        kinds: &["balance-too-low", "balance-too-high", "double-spend"],
    },
    run,
    example_options: Options::default,
    good: "0 credit a {\"id\":1,\"amount\":10} unknown\n0 credit a {\"id\":1,\"amount\":10} ok\n\
           0 debit a {\"id\":2,\"amount\":4} unknown\n1 balance a - ok 6",
    bad: "0 credit a {\"id\":1,\"amount\":10} unknown\n0 credit a {\"id\":1,\"amount\":10} ok\n\
          1 balance a - ok 20",
    plants: &[Plant { kind: "wrong-balance", apply: plants::wrong_balance }],
};
