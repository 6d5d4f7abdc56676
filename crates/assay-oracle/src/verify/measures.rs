//! Whether a fact is true of a history: sums of money, terms of invariants, latencies and rates.

use super::facts::Facts;
use super::formula;
use crate::contract::Arg;
use assay_history::{Op, Outcome, ValueId, View};
use std::collections::BTreeMap;

/// How far two ways of computing the same measured number may differ.
const CLOSE: f64 = 1e-9;
const STATES: &[&str] = &["final", "dump", "final-read"];

pub(super) fn holds(facts: &Facts<'_>, claim: &str, args: &[Arg]) -> Option<bool> {
    let op = |i| facts.op(args, i);
    let int = |i: usize| match args.get(i)? {
        Arg::Int(int) => Some(*int),
        _ => None,
    };
    let real = |i: usize| match args.get(i)? {
        Arg::Real(real) => Some(*real),
        _ => None,
    };
    let text = |i: usize| match args.get(i)? {
        Arg::Text(text) => Some(text.as_str()),
        _ => None,
    };
    let close = |a: f64, b: f64| (a - b).abs() <= CLOSE * a.abs().max(1.0);
    Some(match claim {
        "total" => {
            let balances = balances(facts, &op(0)?)?;
            balances.values().fold(0, |sum: i64, &b| sum.saturating_add(b)) == int(1)?
        }
        "negative" => {
            let balance = *balances(facts, &op(0)?)?.get(text(1)?)?;
            balance == int(2)? && balance < 0
        }
        "moved_wrong" => {
            let (first, last, account) = (op(0)?, op(1)?, text(2)?);
            let bounds = moved(facts, &first, &last, account, int(6)?)?;
            let balance = *balances(facts, &last)?.get(account)?;
            let inside = bounds.0 <= balance && balance <= bounds.1;
            bounds == (int(3)?, int(4)?) && balance == int(5)? && !inside
        }
        "out_of_bounds" => {
            let (read, margin) = (op(0)?, int(6)?);
            let (start, end) = facts.h.span(&read);
            let times = (start.saturating_sub(margin), end.saturating_add(margin));
            let bounds = account(facts, &read, text(1)?, int(2)?, times)?;
            let balance = facts.h.values.as_int(read.output)?;
            let inside = bounds.0 <= balance && balance <= bounds.1;
            bounds == (int(3)?, int(4)?) && balance == int(5)? && !inside
        }
        "overspent" => {
            let (debit, margin) = (op(0)?, int(4)?);
            let at = facts.h.span(&debit).1;
            let times = (at.saturating_sub(margin).saturating_add(1), at.saturating_add(margin));
            let most = account(facts, &debit, text(1)?, int(2)?, times)?.1;
            debit.outcome() == Outcome::Ok && most == int(3)? && most < 0
        }
        "false" => is_false(facts, &op(0)?, text(1)?)?,
        "term" => term(facts, op(0)?.output, text(1)?, text(2)?)? == text(3)?,
        "group_measure" => {
            let measured = group(facts, text(0)?, text(1)?, text(2)?, int(5)? as usize)?;
            let beyond = match text(0)? {
                "throughput" => measured < real(4)?,
                _ => measured > real(4)?,
            };
            close(measured, real(3)?) && beyond
        }
        "window_measure" => {
            let measured = window(facts, text(0)?, int(1)?, int(2)?)?;
            let floor = ["throughput", "availability"].contains(&text(0)?);
            let beyond = if floor { measured < real(4)? } else { measured > real(4)? };
            close(measured, real(3)?) && beyond
        }
        "mean_ratio" => {
            let ratio = mean_of_runs(facts, "candidate")? / mean_of_runs(facts, "baseline")?;
            close(ratio, real(0)?) && ratio > real(1)?
        }
        _ => return None,
    })
}

fn balances(facts: &Facts<'_>, op: &Op) -> Option<BTreeMap<String, i64>> {
    let int = |id| facts.h.values.as_int(id);
    match facts.h.values.view(op.output) {
        View::List(items) => {
            items.iter().enumerate().map(|(i, &v)| Some((i.to_string(), int(v)?))).collect()
        }
        _ => facts.pairs(op.output).into_iter().map(|(n, v)| Some((n, int(v)?))).collect(),
    }
}

/// What an account may hold at the last of two reads.
fn moved(facts: &Facts<'_>, a: &Op, b: &Op, account: &str, margin: i64) -> Option<(i64, i64)> {
    let opening = *balances(facts, a)?.get(account)?;
    let (mut low, mut high) = (opening, opening);
    for op in facts.possible().filter(|op| facts.verb(op) == "transfer") {
        let part = |name, place| facts.at(op.input, name).or_else(|| facts.at(op.input, place));
        let name = |id| facts.h.values.as_str(id).map_or_else(|| facts.text(id), str::to_string);
        let amount = facts.h.values.as_int(part("amount", "2")?)?;
        if facts.before(&op, a, margin)
            || facts.h.span(b).1.saturating_add(margin) < facts.h.span(&op).0
        {
            continue;
        }
        let after = facts.h.span(a).1.saturating_add(margin) < facts.h.span(&op).0;
        let certain = op.outcome() == Outcome::Ok && after && facts.before(&op, b, margin);
        for (place, delta) in
            [(part("from", "0")?, amount.saturating_neg()), (part("to", "1")?, amount)]
        {
            if name(place) == account {
                low = low.saturating_add(if certain { delta } else { delta.min(0) });
                high = high.saturating_add(if certain { delta } else { delta.max(0) });
            }
        }
    }
    Some((low, high))
}

/// What an account may hold, if requests acknowledged before the first time count for certain and
/// those begun by the second may.
fn account(
    facts: &Facts<'_>,
    of: &Op,
    path: &str,
    opening: i64,
    (certain, possible): (i64, i64),
) -> Option<(i64, i64)> {
    let mut requests: BTreeMap<String, (i64, bool, bool)> = BTreeMap::new();
    let is_request = |op: &Op| op.key == of.key && ["credit", "debit"].contains(&facts.verb(op));
    for op in facts.possible().filter(is_request) {
        let amount = facts.h.values.as_int(facts.at(op.input, "amount").unwrap_or(op.input))?;
        let amount = if facts.verb(&op) == "debit" { amount.saturating_neg() } else { amount };
        let id = facts.at(op.input, path).filter(|id| !id.is_null());
        let id = id.map_or_else(|| format!("op {}", op.index.0), |id| facts.text(id));
        let request = requests.entry(id).or_insert((amount, false, false));
        let (start, end) = facts.h.span(&op);
        request.1 |= op.outcome() == Outcome::Ok && end < certain;
        request.2 |= start <= possible;
    }
    let bound = |pick: fn(i64) -> i64| {
        requests.values().fold(opening, |sum, &(amount, certain, possible)| match certain {
            true => sum.saturating_add(amount),
            false => sum.saturating_add(if possible { pick(amount) } else { 0 }),
        })
    };
    Some((bound(|amount| amount.min(0)), bound(|amount| amount.max(0))))
}

fn is_false(facts: &Facts<'_>, dump: &Op, invariant: &str) -> Option<bool> {
    let ok = dump.outcome() == Outcome::Ok && facts.is(dump, STATES);
    let term = |function: &str, paths: &str| term(facts, dump.output, function, paths);
    Some(ok && formula::is_false(invariant, &term)?)
}

/// What a function of a path comes to in a state.
fn term(facts: &Facts<'_>, state: ValueId, function: &str, paths: &str) -> Option<String> {
    let select = |path: &str| {
        path.split('.').fold(vec![state], |at, part| {
            let step = |&value: &ValueId| match (facts.h.values.view(value), part) {
                (View::List(items), "*") => items.to_vec(),
                (_, "*") => facts.pairs(value).into_iter().map(|pair| pair.1).collect(),
                _ => facts.at(value, part).into_iter().collect(),
            };
            at.iter().flat_map(step).collect::<Vec<ValueId>>()
        })
    };
    let (first, second) = paths.split_once(',').unwrap_or((paths, ""));
    let found = select(first);
    let texts: Vec<String> = found.iter().map(|&id| facts.text(id)).collect();
    let whole: Option<Vec<i128>> = texts.iter().map(|text| text.parse().ok()).collect();
    let real: Option<Vec<f64>> = texts.iter().map(|text| text.parse().ok()).collect();
    Some(match (function, whole) {
        ("path", _) if texts.len() == 1 => texts.first()?.clone(),
        ("count", _) => found.len().to_string(),
        ("unique", _) => (1..texts.len()).all(|i| !texts[..i].contains(&texts[i])).to_string(),
        ("refs", _) => found.iter().all(|id| select(second).contains(id)).to_string(),
        ("sum", Some(whole)) => whole.iter().sum::<i128>().to_string(),
        ("sum", None) => real?.iter().sum::<f64>().to_string(),
        ("min", Some(whole)) => whole.iter().min()?.to_string(),
        ("max", Some(whole)) => whole.iter().max()?.to_string(),
        ("min", None) if real.is_some() => real?.into_iter().reduce(f64::min)?.to_string(),
        ("max", None) if real.is_some() => real?.into_iter().reduce(f64::max)?.to_string(),
        ("min", None) => texts.iter().min()?.clone(),
        ("max", None) => texts.iter().max()?.clone(),
        _ => return None,
    })
}

/// The operations of a run, without the states dumped afterwards; those that were due before they
/// were sent begin when they were due.
fn run<'f>(facts: &'f Facts<'_>) -> impl Iterator<Item = Op> + 'f {
    let ops = facts.h.ops().filter(|op| !facts.is(op, STATES));
    ops.map(|op| match facts.h.due_ts(op.index) {
        Some(due) if due < op.invoke_ts => Op { invoke_ts: due, ..op },
        _ => op,
    })
}

/// A quantile of latencies, with operations of unknown outcome as quick or as slow as can be.
fn quantile(ops: &[Op], permille: usize, unknown: i64) -> Option<i64> {
    let latency = |op: &Op| match op.outcome() {
        Outcome::Unknown => unknown,
        _ => op.complete_ts.unwrap_or(i64::MAX).saturating_sub(op.invoke_ts),
    };
    let mut latencies: Vec<i64> = ops.iter().map(latency).collect();
    latencies.sort_unstable();
    latencies.get((latencies.len() * permille).div_ceil(1000).max(1) - 1).copied()
}

/// A measure of some operations, at its best.
fn measure(ops: &[Op], name: &str, seconds: f64) -> Option<f64> {
    let share = |outcome: Outcome| {
        let count = ops.iter().filter(|op| op.outcome() == outcome).count();
        count as f64 / ops.len().max(1) as f64
    };
    Some(match name {
        "p50" => quantile(ops, 500, 0)? as f64,
        "p99" => quantile(ops, 990, 0)? as f64,
        "p999" => quantile(ops, 999, 0)? as f64,
        "error-rate" => share(Outcome::Fail),
        "availability" => 1.0 - share(Outcome::Fail),
        "throughput" => {
            let done = ops.iter().filter(|op| op.outcome() != Outcome::Fail).count();
            done as f64 / seconds
        }
        _ => return None,
    })
}

fn window(facts: &Facts<'_>, name: &str, from: i64, until: i64) -> Option<f64> {
    let ops: Vec<Op> = run(facts).filter(|op| (from..until).contains(&op.invoke_ts)).collect();
    measure(&ops, name, until.saturating_sub(from).max(1) as f64 / 1e9)
}

fn group(facts: &Facts<'_>, formula: &str, by: &str, name: &str, repeats: usize) -> Option<f64> {
    let group_of = |op: &Op| {
        let value = match by {
            "key" => facts.h.key(op.key),
            "process" => facts.h.process(op.process),
            "node" => op.node_seen,
            _ => facts.at(op.input, by.strip_prefix("input:")?)?,
        };
        let named = || facts.h.values.as_str(value).map_or(facts.text(value), str::to_string);
        (!value.is_null()).then(named)
    };
    let all: Vec<Op> = run(facts).filter(|op| group_of(op).is_some()).collect();
    let own: Vec<Op> =
        all.iter().filter(|op| group_of(op).as_deref() == Some(name)).copied().collect();
    let first = all.iter().map(|op| op.invoke_ts).min()?;
    let last = all.iter().map(|op| op.complete_ts.unwrap_or(op.invoke_ts)).max()?;
    Some(match formula {
        "latency" => {
            let of_all = quantile(&all, 990, i64::MAX)?;
            quantile(&own, 990, 0)? as f64 / of_all.max(1) as f64
        }
        "spread" => {
            let length = ((last - first) / repeats as i64).max(1);
            let part = |op: &Op| ((op.invoke_ts - first) / length).min(repeats as i64 - 1);
            let p99 = |unknown: i64| -> Vec<i64> {
                let of = |i: i64| -> Vec<Op> {
                    own.iter().filter(|op| part(op) == i).copied().collect()
                };
                (0..repeats as i64).filter_map(|i| quantile(&of(i), 990, unknown)).collect()
            };
            *p99(0).iter().max()? as f64 / (*p99(i64::MAX).iter().min()?).max(1) as f64
        }
        _ => measure(&own, formula, (last - first).max(1) as f64 / 1e9)?,
    })
}

fn mean_of_runs(facts: &Facts<'_>, side: &str) -> Option<f64> {
    let mut runs: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for op in facts.h.ops().filter(|op| op.outcome() == Outcome::Ok) {
        let of_side = facts.h.values.as_str(facts.h.key(op.key)) == Some(side);
        if of_side && facts.verb(&op) == "sample" {
            let number = facts.text(op.output).parse::<f64>().ok()?;
            runs.entry(op.process.0).or_default().push(number);
        }
    }
    let mean = |numbers: &[f64]| numbers.iter().sum::<f64>() / numbers.len() as f64;
    let means: Vec<f64> = runs.values().map(|run| mean(run)).collect();
    (!means.is_empty()).then(|| mean(&means))
}
