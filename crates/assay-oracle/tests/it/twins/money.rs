//! Bank and ledger, by trying every set of requests that may have happened.

use super::{Gen, O, compare};
use assay_oracle::Options;

fn bank(seed: u64) -> String {
    let mut random = Gen::new(seed, 3);
    let mut balances = [4i64, 4, 4];
    random.line(0, "read - -", "ok", "[4,4,4]");
    for _ in 0..random.below(6) {
        let (client, outcome) = (random.client(), random.outcome());
        let (from, to, amount) = (random.below(3), random.below(3), 1 + random.below(3) as i64);
        random.line(client, &format!("transfer - [{from},{to},{amount}]"), outcome, "");
        if outcome == "ok" || (outcome == "unknown" && random.below(2) == 0) {
            balances[from] -= amount;
            balances[to] += amount;
        }
    }
    if random.below(4) == 0 {
        let account = random.below(3);
        balances[account] += 1;
        if random.below(2) == 0 {
            balances[(account + 1) % 3] -= 1;
        }
    }
    let shown = format!("[{},{},{}]", balances[0], balances[1], balances[2]);
    if random.below(3) == 0 {
        random.line(0, "read - -", "ok", &shown);
    } else {
        random.last("read - -", &shown);
    }
    random.text
}

fn numbers(text: &str) -> Vec<i64> {
    serde_json::from_str(text).unwrap()
}

fn bad_bank(ops: &[O]) -> bool {
    let mut reads: Vec<&O> = ops.iter().filter(|op| op.verb == "read").collect();
    reads.sort_by_key(|op| op.end);
    let [first, last] = reads[..] else { panic!("two reads") };
    let (opening, closing) = (numbers(&first.output), numbers(&last.output));
    if opening.iter().sum::<i64>() != closing.iter().sum::<i64>() || closing.iter().any(|&b| b < 0)
    {
        return true;
    }
    let transfers: Vec<&O> = ops
        .iter()
        .filter(|op| op.verb == "transfer" && op.possible())
        .filter(|op| op.end >= first.start && op.start <= last.end)
        .collect();
    let certain = |op: &O| op.ok() && op.start > first.end && op.end < last.start;
    // Each account alone: some set of transfers must bring it at least so far, and some at most.
    (0..3).any(|account| {
        let worlds = (0..1u32 << transfers.len()).filter(|world| {
            transfers.iter().enumerate().all(|(i, op)| world & (1 << i) != 0 || !certain(op))
        });
        let balance = |world: u32| {
            let chosen = transfers.iter().enumerate().filter(|(i, _)| world & (1 << i) != 0);
            chosen.fold(opening[account], |balance, (_, op)| {
                let transfer = numbers(&op.input);
                let debit = if transfer[0] == account as i64 { transfer[2] } else { 0 };
                let credit = if transfer[1] == account as i64 { transfer[2] } else { 0 };
                // A transfer to oneself counts as two halves: the oracle's range is that wide.
                balance - debit + credit
            })
        };
        let found: Vec<i64> = worlds.map(balance).collect();
        closing[account] < *found.iter().min().unwrap()
            || closing[account] > *found.iter().max().unwrap()
    })
}

#[test]
fn bank_agrees_with_every_set_of_transfers() {
    // Transfers to oneself widen the range without meaning: they are left out here.
    let write = |seed: u64| {
        let text = bank(seed);
        let own = |line: &&str| (0..3).any(|a| line.contains(&format!("transfer - [{a},{a},")));
        text.lines().filter(|line| !own(line)).fold(String::new(), |all, line| all + line + "\n")
    };
    compare("bank", &Options::default(), write, bad_bank);
}

fn ledger(seed: u64) -> String {
    let mut random = Gen::new(seed, 3);
    let mut balance = 3i64;
    let mut applied = Vec::new();
    for _ in 0..2 + random.below(6) {
        let (client, id) = (random.client(), random.below(4));
        if random.below(3) == 0 {
            let off = if random.below(6) == 0 { 1 } else { 0 };
            random.line(client, "balance a -", "ok", &(balance + off).to_string());
            continue;
        }
        let outcome = random.outcome();
        // The id decides what is asked for: a retry asks for the same.
        let (verb, amount) = [("credit", 2), ("debit", 3), ("debit", 2), ("credit", 5)][id];
        let input = format!("{{\"id\":{id},\"amount\":{amount}}}");
        random.line(client, &format!("{verb} a {input}"), outcome, "");
        let takes = outcome == "ok" || (outcome == "unknown" && random.below(2) == 0);
        if takes && (!applied.contains(&id) || random.below(8) == 0) {
            applied.push(id);
            balance += if verb == "debit" { -amount } else { amount };
        }
    }
    random.text
}

/// All balances the account may have had, if requests with an end before one time count, and those
/// with a beginning up to another may.
fn possible(ops: &[O], certain_before: i64, possible_until: i64) -> Vec<i64> {
    let mut requests: Vec<(&str, i64, bool, bool)> = Vec::new();
    let is_request = |op: &&O| ["credit", "debit"].contains(&op.verb.as_str()) && op.possible();
    for op in ops.iter().filter(is_request) {
        let amount = serde_json::from_str::<serde_json::Value>(&op.input).unwrap()["amount"]
            .as_i64()
            .unwrap();
        let amount = if op.verb == "debit" { -amount } else { amount };
        let certain = op.ok() && op.end < certain_before;
        let maybe = op.start <= possible_until;
        match requests.iter_mut().find(|request| request.0 == op.input) {
            Some(request) => (request.2, request.3) = (request.2 || certain, request.3 || maybe),
            None => requests.push((&op.input, amount, certain, maybe)),
        }
    }
    requests.iter().fold(vec![3], |balances, &(_, amount, certain, maybe)| {
        let with = balances.iter().map(|b| b + amount);
        match (certain, maybe) {
            (true, _) => with.collect(),
            (false, true) => with.chain(balances.iter().copied()).collect(),
            (false, false) => balances,
        }
    })
}

fn bad_ledger(ops: &[O]) -> bool {
    let wrong = ops.iter().filter(|op| op.verb == "balance").any(|op| {
        let balance: i64 = op.output.parse().unwrap();
        let all = possible(ops, op.start, op.end);
        balance < *all.iter().min().unwrap() || balance > *all.iter().max().unwrap()
    });
    let overspent = ops.iter().filter(|op| op.verb == "debit" && op.ok()).any(|op| {
        // At the end of a debit: what had ended by then had happened, itself included.
        *possible(ops, op.end + 1, op.end).iter().max().unwrap() < 0
    });
    wrong || overspent
}

#[test]
fn ledger_agrees_with_every_set_of_requests() {
    let options = Options { opening_balance: 3, ..Options::default() };
    compare("ledger", &options, ledger, bad_ledger);
}
