//! Fairness between groups: the four formulas of pattern 14.
//!
//! A group is a key, a process, a node or a field of the input. Judged are, as far as limits are
//! set: the worst group's 99th percentile of latency over that of all; each group's throughput;
//! each group's share of failures; and how far a group's 99th percentile spreads over equal spans
//! of the run.

use crate::built_in::{BuiltIn, Check};
use crate::contract::{OracleError, OracleInfo};
use crate::draft::{Draft, Plant};
use crate::fact;
use crate::measure::{Against, Sample, at_least, at_most};
use crate::options::{FairnessLimits, Group, Options, Origin};
use crate::table::{FINAL, Row, Table, count};
use assay_history::{OpIndex, ValueId};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeMap;

/// Fewer operations than this say nothing about a 99th percentile.
pub const GROUP_OPS_MIN: usize = 100;

fn group_of(table: &Table<'_>, row: &Row<'_>, group: &Group) -> ValueId {
    match group {
        Group::Key => row.key,
        Group::Process => table.history.process(row.process),
        Group::Node => row.node,
        Group::Input(path) => table.at_path(row.input, path).unwrap_or(ValueId::NULL),
    }
}

fn run(check: &mut Check<'_, '_>) -> Result<(), OracleError> {
    let limits = &check.options.fairness;
    let any = [
        limits.p99_ratio_max,
        limits.throughput_min,
        limits.error_rate_max,
        limits.repeat_spread_max,
    ];
    if any.iter().all(Option::is_none) {
        return Err(OracleError::OptionMissing {
            oracle: "fairness",
            option: "fairness",
            why: "at least one limit, fixed before the run",
        });
    }
    let table = check.table;
    let mut groups: BTreeMap<String, Vec<Row<'_>>> = BTreeMap::new();
    for row in table.rows.iter().filter(|row| !row.is(FINAL)) {
        let group = group_of(table, row, &check.options.group);
        if !group.is_null() {
            groups.entry(table.name(group)).or_default().push(*row);
        }
    }
    for name in &check.options.groups_expected {
        groups.entry(name.clone()).or_default();
    }
    let ops: usize = groups.values().map(Vec::len).sum();
    if ops == 0 {
        return Ok(());
    }
    origin(check, limits.origin);
    if groups.len() < 2 {
        check.tally.undecided(
            "there is only one group: nothing to be fair between, or the grouping is too coarse",
        );
        return Ok(());
    }
    check.tally.checked(ops);
    let sizes: Vec<String> =
        groups.iter().take(8).map(|(name, rows)| format!("{name} {}", count(rows.len()))).collect();
    check.tally.evidence(format!("{} groups: {}", count(groups.len()), sizes.join(", ")));
    judge(check, &groups, &limits.clone());
    Ok(())
}

/// Says what it means where a limit comes from.
pub(crate) fn origin(check: &mut Check<'_, '_>, origin: Origin) {
    match origin {
        Origin::FixedBefore => {}
        Origin::Unstated => check.tally.not_covered("nobody said when the limits were fixed"),
        Origin::ThisRun => check.tally.undecided(
            "the limits were taken from the run they are to judge: they prove nothing about it",
        ),
    }
}

type Groups<'h> = BTreeMap<String, Vec<Row<'h>>>;

fn judge(check: &mut Check<'_, '_>, groups: &Groups<'_>, limits: &FairnessLimits) {
    let table = check.table;
    let all = Sample::new(table, groups.values().flatten());
    let span = all.last.saturating_sub(all.first);
    for (name, rows) in groups {
        let sample = Sample::new(table, rows.iter());
        if let Some(limit) = limits.error_rate_max {
            let (low, high) = sample.error_rate();
            let how = at_most(low, Some(high), limit);
            verdict(check, "error-rate", name, rows, how, low, limit);
        }
        if let Some(limit) = limits.throughput_min {
            let (low, high) = sample.throughput(span);
            let how = at_least(low, high, limit);
            verdict(check, "throughput", name, rows, how, high, limit);
        }
        if rows.is_empty() {
            continue;
        }
        if let Some(limit) = limits.p99_ratio_max {
            let enough = enough(check, name, sample.len());
            let (all_low, all_high) = all.quantile(990);
            let (low, high) = sample.quantile(990);
            let ratio = |a: i64, b: i64| a as f64 / b.max(1) as f64;
            // The least the ratio can be: a quick group among slow others.
            let low = all_high.map_or(0.0, |all_high| ratio(low, all_high));
            let high = high.map(|high| ratio(high, all_low));
            let how = if enough { at_most(low, high, limit) } else { Against::Within };
            verdict(check, "latency", name, rows, how, low, limit);
        }
        if let Some(limit) = limits.repeat_spread_max {
            spread(check, name, rows, (all.first, span), limits.repeats, limit);
        }
    }
}

fn enough(check: &mut Check<'_, '_>, name: &str, ops: usize) -> bool {
    if ops < GROUP_OPS_MIN {
        check.tally.undecided(format!(
            "group {name} has {ops} operations; a 99th percentile needs {GROUP_OPS_MIN}"
        ));
    }
    ops >= GROUP_OPS_MIN
}

fn spread(
    check: &mut Check<'_, '_>,
    name: &str,
    rows: &[Row<'_>],
    (first, span): (i64, i64),
    repeats: usize,
    limit: f64,
) {
    let table = check.table;
    if repeats < 2 {
        check.tally.undecided("a repeat spread needs at least two repeats");
        return;
    }
    let length = (span / repeats as i64).max(1);
    let mut p99: Vec<(i64, Option<i64>)> = Vec::new();
    for repeat in 0..repeats {
        let part = rows.iter().filter(|row| {
            let at = table.history.wanted_ts(&table.history.op(row.index));
            let at = at.saturating_sub(first) / length;
            at.min(repeats as i64 - 1) == repeat as i64
        });
        let sample = Sample::new(table, part);
        if !enough(check, &format!("{name} in repeat {repeat}"), sample.len()) {
            return;
        }
        p99.push(sample.quantile(990));
    }
    let low_max = p99.iter().map(|p| p.0).max().unwrap_or(0);
    let low_min = p99.iter().map(|p| p.0).min().unwrap_or(0);
    let high_min = p99.iter().filter_map(|p| p.1).min();
    let high_max = p99.iter().map(|p| p.1).try_fold(0, |max, p| p.map(|p| max.max(p)));
    let low = high_min.map_or(0.0, |high_min| low_max as f64 / high_min.max(1) as f64);
    let high = high_max.map(|max| max as f64 / low_min.max(1) as f64);
    let how = at_most(low, high, limit);
    verdict(check, "spread", name, rows, how, low, limit);
}

fn verdict(
    check: &mut Check<'_, '_>,
    formula: &'static str,
    name: &str,
    rows: &[Row<'_>],
    how: Against,
    measured: f64,
    limit: f64,
) {
    match how {
        Against::Within => return,
        Against::Open => {
            check.tally.undecided(format!(
                "{formula} of group {name}: operations of unknown outcome could take it either \
                 side of {limit}"
            ));
            return;
        }
        Against::Beyond => {}
    }
    let kind = match formula {
        "latency" => "group-slow",
        "throughput" => "group-starved",
        "error-rate" => "group-failing",
        _ => "group-unsteady",
    };
    let ops: Vec<OpIndex> = rows.iter().take(8).map(|row| row.index).collect();
    let group = match &check.options.group {
        Group::Key => "key".to_string(),
        Group::Process => "process".to_string(),
        Group::Node => "node".to_string(),
        Group::Input(path) => format!("input:{path}"),
    };
    let repeats = check.options.fairness.repeats;
    let facts = || vec![fact!("group_measure", formula, group, name, measured, limit, repeats)];
    check.tally.anomaly(kind, &ops, facts, || {
        format!("group {name}: {formula} is {measured:.4}, the limit is {limit}")
    });
}

fn fail_group(draft: &mut Draft, rng: &mut ChaCha8Rng) -> bool {
    let Some(at) = draft.pick(&["read", "write"], rng) else { return false };
    let key = draft.ops[at].key;
    for op in draft.ops.iter_mut().filter(|op| op.key == key) {
        op.op.error = ValueId::TRUE;
    }
    true
}

pub(crate) static FAIRNESS: BuiltIn = BuiltIn {
    info: &OracleInfo {
        name: "fairness",
        aliases: &["group-fairness"],
        patterns: &[14],
        claim: "no group is starved: of latency, throughput, errors and spread",
        needs: "any operations with times; the options `group` and `fairness` (limits fixed \
                before the run), `groups-expected` so that a group without operations is seen",
        algorithm: "worst p99 over p99 of all, least throughput, error rate by group, spread of \
                    p99 over repeats; each with the range that unknown outcomes leave",
        cost: "O(n log n)",
        cannot_see: "unfairness inside a group; groups that are neither seen nor expected",
        failure_mode: "a group too coarse hides the starved: one group is undecided, and the \
                       sizes of groups are in the evidence",
        kinds: &["group-slow", "group-starved", "group-failing", "group-unsteady"],
    },
    run,
    example_options: || Options {
        fairness: FairnessLimits {
            error_rate_max: Some(0.0),
            origin: Origin::FixedBefore,
            ..FairnessLimits::default()
        },
        ..Options::default()
    },
    good: "0 read a - ok 1\n0 read b - ok 1",
    bad: "0 read a - ok 1\n0 read b - fail",
    plants: &[Plant { kind: "group-failing", apply: fail_group }],
};
