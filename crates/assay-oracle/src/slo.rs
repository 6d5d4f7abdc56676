//! A service level: limits fixed before the run, over windows long enough to tell.

use crate::built_in::{BuiltIn, Check};
use crate::contract::{OracleError, OracleInfo};
use crate::draft::{Draft, DraftOp, Plant};
use crate::fact;
use crate::fairness::origin;
use crate::measure::{Against, Sample, at_least, at_most};
use crate::options::{Options, Origin, SloLimits};
use crate::table::{FINAL, Row, count};
use assay_history::{OpIndex, ValueId};
use rand_chacha::ChaCha8Rng;

/// How many operations a quantile needs: ten beyond it.
fn ops_min(permille: usize) -> usize {
    10 * 1000 / (1000 - permille)
}

/// Fewer operations than this say nothing about a rate.
const RATE_OPS_MIN: usize = 10;

struct Window<'a, 'h> {
    rows: Vec<&'a Row<'h>>,
    from: i64,
    length: i64,
}

fn run(check: &mut Check<'_, '_>) -> Result<(), OracleError> {
    let limits = check.options.slo.clone();
    let any = limits.p50_ns_max.is_some()
        || limits.p99_ns_max.is_some()
        || limits.p999_ns_max.is_some()
        || limits.error_rate_max.is_some()
        || limits.throughput_min.is_some()
        || limits.availability_min.is_some();
    if !any {
        return Err(OracleError::OptionMissing {
            oracle: "slo",
            option: "slo",
            why: "at least one limit, fixed before the run",
        });
    }
    let table = check.table;
    let rows: Vec<&Row<'_>> = table.rows.iter().filter(|row| !row.is(FINAL)).collect();
    if rows.is_empty() {
        return Ok(());
    }
    origin(check, limits.origin);
    let windows = windows(check, rows, limits.window_ns)?;
    check.tally.evidence(format!("{} windows judged apart", count(windows.len())));
    for window in &windows {
        check.tally.checked(window.rows.len());
        judge(check, window, &limits);
    }
    Ok(())
}

/// Cuts the run into whole windows; a shorter rest at the end is not judged.
fn windows<'a, 'h>(
    check: &mut Check<'_, 'h>,
    rows: Vec<&'a Row<'h>>,
    length: Option<i64>,
) -> Result<Vec<Window<'a, 'h>>, OracleError> {
    let table = check.table;
    let at = |row: &Row<'_>| table.history.wanted_ts(&table.history.op(row.index));
    let first = rows.iter().map(|row| at(row)).min().unwrap_or(0);
    let all = Sample::new(table, rows.iter().copied());
    let span = all.last.saturating_sub(first).saturating_add(1);
    let Some(length) = length else {
        return Ok(vec![Window { rows, from: first, length: span }]);
    };
    if length <= 0 {
        let what = "must be positive".to_string();
        return Err(OracleError::BadOption { option: "slo.window_ns", what });
    }
    let whole = span / length;
    const WINDOWS_MAX: i64 = 1_000_000;
    if whole > WINDOWS_MAX {
        let what = format!("cuts the run into more than {WINDOWS_MAX} windows");
        return Err(OracleError::BadOption { option: "slo.window_ns", what });
    }
    if whole == 0 {
        check.tally.undecided("the run is shorter than one window");
    }
    let window = |i: i64| Window { rows: Vec::new(), from: first + i * length, length };
    let mut windows: Vec<Window<'_, '_>> = (0..whole).map(window).collect();
    let mut rest = 0;
    for row in rows {
        let place = (at(row).saturating_sub(first) / length) as usize;
        match windows.get_mut(place) {
            Some(window) => window.rows.push(row),
            None => rest += 1,
        }
    }
    if rest > 0 {
        check.tally.not_covered(format!("{} operations after the last whole window", count(rest)));
    }
    Ok(windows)
}

fn judge(check: &mut Check<'_, '_>, window: &Window<'_, '_>, limits: &SloLimits) {
    let sample = Sample::new(check.table, window.rows.iter().copied());
    let quantiles = [(500, limits.p50_ns_max), (990, limits.p99_ns_max), (999, limits.p999_ns_max)];
    for (permille, limit) in quantiles {
        let Some(limit) = limit else { continue };
        let name = match permille {
            500 => "p50",
            990 => "p99",
            _ => "p999",
        };
        if sample.len() < ops_min(permille) {
            too_short(check, window, name, sample.len(), ops_min(permille));
            continue;
        }
        let (low, high) = sample.quantile(permille);
        let how = at_most(low as f64, high.map(|high| high as f64), limit as f64);
        verdict(check, window, name, how, low as f64, limit as f64);
    }
    let (fail_low, fail_high) = sample.error_rate();
    let (through_low, through_high) = sample.throughput(window.length);
    let rates = [
        (
            "error-rate",
            limits
                .error_rate_max
                .map(|limit| (at_most(fail_low, Some(fail_high), limit), fail_low, limit)),
        ),
        (
            "availability",
            limits.availability_min.map(|limit| {
                (at_least(1.0 - fail_high, 1.0 - fail_low, limit), 1.0 - fail_low, limit)
            }),
        ),
        (
            "throughput",
            limits
                .throughput_min
                .map(|limit| (at_least(through_low, through_high, limit), through_high, limit)),
        ),
    ];
    for (name, judged) in rates {
        let Some((how, measured, limit)) = judged else { continue };
        // Too few operations is what a throughput limit is about; a rate of them means nothing.
        if name != "throughput" && sample.len() < RATE_OPS_MIN {
            too_short(check, window, name, sample.len(), RATE_OPS_MIN);
            continue;
        }
        verdict(check, window, name, how, measured, limit);
    }
}

fn too_short(
    check: &mut Check<'_, '_>,
    window: &Window<'_, '_>,
    name: &str,
    ops: usize,
    min: usize,
) {
    check.tally.undecided(format!(
        "the window at {} is too short for {name}: {ops} operations, {min} are needed",
        window.from
    ));
}

fn verdict(
    check: &mut Check<'_, '_>,
    window: &Window<'_, '_>,
    name: &'static str,
    how: Against,
    measured: f64,
    limit: f64,
) {
    match how {
        Against::Within => return,
        Against::Open => {
            check.tally.undecided(format!(
                "{name} in the window at {}: operations of unknown outcome could take it either \
                 side of {limit}",
                window.from
            ));
            return;
        }
        Against::Beyond => {}
    }
    let kind = match name {
        "error-rate" => "too-many-errors",
        "availability" => "unavailable",
        "throughput" => "too-slow-overall",
        _ => "latency-exceeded",
    };
    let ops: Vec<OpIndex> = window.rows.iter().take(8).map(|row| row.index).collect();
    let facts = || {
        let until = window.from.saturating_add(window.length);
        vec![fact!("window_measure", name, window.from, until, measured, limit)]
    };
    check.tally.anomaly(kind, &ops, facts, || {
        let until = window.from.saturating_add(window.length);
        format!("from {} to {until}, {name} is {measured:.4}; the limit is {limit}", window.from)
    });
}

/// How slow everything is where slowness was planted.
pub(crate) const PLANTED_LATENCY_NS: i64 = 600 * 1_000_000_000;

/// Every operation has an answer, after so long: an unknown outcome could lie on either side.
fn answer_all(draft: &mut Draft, latency_ns: impl Fn(Option<i64>) -> i64) {
    for DraftOp { op, .. } in &mut draft.ops {
        let took = op.complete_ts.map(|end| end.saturating_sub(op.invoke_ts));
        op.complete_ts = Some(op.invoke_ts.saturating_add(latency_ns(took)));
        (op.completed, op.timeout_marker) = (true, false);
    }
}

fn fail_all(draft: &mut Draft, _: &mut ChaCha8Rng) -> bool {
    answer_all(draft, |took| took.unwrap_or(1));
    for op in &mut draft.ops {
        op.op.error = ValueId::TRUE;
    }
    !draft.ops.is_empty()
}

fn slow_all(draft: &mut Draft, _: &mut ChaCha8Rng) -> bool {
    answer_all(draft, |_| PLANTED_LATENCY_NS);
    !draft.ops.is_empty()
}

pub(crate) static SLO: BuiltIn = BuiltIn {
    info: &OracleInfo {
        name: "slo",
        aliases: &["service-level"],
        patterns: &[4],
        claim: "latency, errors, throughput and availability stay within limits in every window",
        needs: "any operations with times; the option `slo`: limits fixed before the run, and \
                the length of windows",
        algorithm: "quantiles by nearest rank and rates per window, each with the range that \
                    unknown outcomes leave; an operation counts from when it was due (`due_ts`), \
                    else from when it was sent",
        cost: "O(n log n)",
        cannot_see: "waiting that a closed-loop generator, or a recorder without `due_ts`, never \
                     recorded (coordinated omission)",
        failure_mode: "a window too short (fewer than ten operations beyond the quantile) or a \
                       limit taken from the same run: undecided",
        kinds: &["latency-exceeded", "too-many-errors", "unavailable", "too-slow-overall"],
    },
    run,
    example_options: || Options {
        slo: SloLimits {
            error_rate_max: Some(0.1),
            p50_ns_max: Some(1_000_000_000),
            origin: Origin::FixedBefore,
            ..SloLimits::default()
        },
        ..Options::default()
    },
    good: "0 r - - ok\n0 r - - ok\n0 r - - ok\n0 r - - ok\n0 r - - ok\n\
           0 r - - ok\n0 r - - ok\n0 r - - ok\n0 r - - ok\n0 r - - ok\n\
           0 r - - ok\n0 r - - ok\n0 r - - ok\n0 r - - ok\n0 r - - ok\n\
           0 r - - ok\n0 r - - ok\n0 r - - ok\n0 r - - fail\n0 r - - fail",
    bad: "0 r - - ok\n0 r - - ok\n0 r - - ok\n0 r - - ok\n0 r - - ok\n\
          0 r - - ok\n0 r - - ok\n0 r - - ok\n0 r - - ok\n0 r - - ok\n\
          0 r - - ok\n0 r - - ok\n0 r - - ok\n0 r - - ok\n0 r - - ok\n\
          0 r - - ok\n0 r - - ok\n0 r - - fail\n0 r - - fail\n0 r - - fail",
    plants: &[
        Plant { kind: "too-many-errors", apply: fail_all },
        Plant { kind: "unavailable", apply: fail_all },
        Plant { kind: "too-slow-overall", apply: fail_all },
        Plant { kind: "latency-exceeded", apply: slow_all },
    ],
};
