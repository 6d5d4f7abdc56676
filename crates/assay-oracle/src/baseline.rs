//! Did it get worse? Runs of a candidate against runs of a baseline.
//!
//! Each run is one `sample` operation (or several, which are averaged): the key is `baseline` or
//! `candidate`, the process is the run, the output is the number measured (larger is worse). The
//! ratio of means gets a bootstrap confidence interval over **runs**; one run on either side proves
//! nothing and is refused. [`compare`] does the same for numbers at hand.

use crate::built_in::{BuiltIn, Check};
use crate::contract::{OracleError, OracleInfo};
use crate::draft::{Draft, Plant};
use crate::fact;
use crate::options::{BaselineLimits, Options};
use crate::table::{Table, count};
use assay_history::{OpIndex, ValueId, View};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeMap;

/// Fewer runs than this on either side are refused.
pub const RUNS_MIN: usize = 3;
/// The most draws.
const RESAMPLES_MAX: u32 = 1_000_000;

/// How a candidate compares with a baseline.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Comparison {
    /// The candidate's mean over the baseline's.
    pub ratio: f64,
    /// The lower end of the ratio's confidence interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// Compares runs of two systems, one number per run.
///
/// # Errors
/// When a limit makes no sense.
pub fn compare(
    baseline: &[f64],
    candidate: &[f64],
    limits: &BaselineLimits,
) -> Result<Option<Comparison>, OracleError> {
    if !(0.5..1.0).contains(&limits.confidence) {
        let what = "must lie between 0.5 and 1".to_string();
        return Err(OracleError::BadOption { option: "baseline.confidence", what });
    }
    if limits.resamples == 0 || limits.resamples > RESAMPLES_MAX {
        let what = format!("must lie between 1 and {RESAMPLES_MAX}");
        return Err(OracleError::BadOption { option: "baseline.resamples", what });
    }
    if baseline.len() < RUNS_MIN || candidate.len() < RUNS_MIN {
        return Ok(None);
    }
    let mean = |runs: &[f64]| runs.iter().sum::<f64>() / runs.len() as f64;
    let mut rng = ChaCha8Rng::seed_from_u64(limits.seed);
    let mut draw = |runs: &[f64]| {
        let drawn: Vec<f64> =
            (0..runs.len()).map(|_| runs[rng.random_range(0..runs.len())]).collect();
        mean(&drawn)
    };
    let mut ratios: Vec<f64> =
        (0..limits.resamples).map(|_| draw(candidate) / draw(baseline)).collect();
    ratios.sort_by(f64::total_cmp);
    let tail = (1.0 - limits.confidence) / 2.0;
    let at = |share: f64| ratios[((ratios.len() - 1) as f64 * share).round() as usize];
    let ratio = mean(candidate) / mean(baseline);
    Ok(Some(Comparison { ratio, low: at(tail), high: at(1.0 - tail) }))
}

/// One number per run of one side, with the operations they come from.
fn runs(table: &Table<'_>, side: &str) -> (Vec<f64>, Vec<OpIndex>) {
    let mut runs: BTreeMap<String, (f64, usize)> = BTreeMap::new();
    let mut ops = Vec::new();
    let rows = table.rows.iter().filter(|row| row.ok() && row.verb == "sample");
    for row in rows.filter(|row| table.name(row.key) == side) {
        let number = match table.values.view(row.output) {
            View::Int(int) => int as f64,
            View::Number(text) => match text.parse::<f64>() {
                Ok(number) if number.is_finite() => number,
                _ => continue,
            },
            _ => continue,
        };
        ops.push(row.index);
        let run = runs.entry(table.process(row.process)).or_default();
        *run = (run.0 + number, run.1 + 1);
    }
    (runs.values().map(|(sum, times)| sum / *times as f64).collect(), ops)
}

fn run(check: &mut Check<'_, '_>) -> Result<(), OracleError> {
    let limits = &check.options.baseline;
    let (baseline, ops) = runs(check.table, "baseline");
    let (candidate, more) = runs(check.table, "candidate");
    let ops = [ops, more].concat();
    if ops.is_empty() {
        return Ok(());
    }
    check.tally.checked(ops.len());
    let runs = format!("{} baseline and {} candidate runs", baseline.len(), candidate.len());
    let Some(found) = compare(&baseline, &candidate, limits)? else {
        check.tally.undecided(format!(
            "{runs}: at least {RUNS_MIN} of each are needed, for one run against one run cannot \
             tell a regression from chance"
        ));
        return Ok(());
    };
    if !(found.low.is_finite() && found.high.is_finite()) {
        check.tally.undecided("the baseline's mean is zero: there is no ratio");
        return Ok(());
    }
    let Comparison { ratio, low, high } = found;
    check.tally.evidence(format!(
        "{runs}; ratio {ratio:.4}, {:.0} % interval {low:.4} to {high:.4}, {} draws from seed {}",
        limits.confidence * 100.0,
        count(limits.resamples as usize),
        limits.seed
    ));
    let limit = 1.0 + limits.tolerance;
    if low > limit {
        let facts = || vec![fact!("mean_ratio", ratio, limit)];
        check.tally.anomaly("regression", &ops, facts, || {
            format!("the candidate is {ratio:.4} times the baseline, surely more than {limit}")
        });
    } else if high > limit {
        check.tally.undecided(format!(
            "the interval {low:.4} to {high:.4} lies on both sides of {limit}: more runs"
        ));
    }
    Ok(())
}

fn worsen(draft: &mut Draft, _: &mut ChaCha8Rng) -> bool {
    let candidate = draft.values.str("candidate");
    let mut any = false;
    for op in draft.ops.iter_mut().filter(|op| op.key == candidate) {
        if let Some(old) = draft.values.as_int(op.op.output) {
            op.op.output = draft.values.int(old.saturating_mul(2));
            any = true;
        }
    }
    any && candidate != ValueId::NULL
}

pub(crate) static BASELINE: BuiltIn = BuiltIn {
    info: &OracleInfo {
        name: "baseline",
        aliases: &["regression"],
        patterns: &[5],
        claim: "the candidate is not worse than the baseline by more than the tolerance",
        needs: "`sample` (key: `baseline` or `candidate`; process: the run; output: a number, \
                larger is worse); the option `baseline` with a seed",
        algorithm: "bootstrap interval of the ratio of means over runs",
        cost: "O(runs · draws)",
        cannot_see: "what differed between the machines of the two sides; runs that depend on \
                     each other",
        failure_mode: "one run against one run: refused, at least three of each are needed",
        kinds: &["regression"],
    },
    run,
    example_options: Options::default,
    good: "0 sample baseline - ok 100\n1 sample baseline - ok 102\n2 sample baseline - ok 101\n\
           3 sample candidate - ok 101\n4 sample candidate - ok 100\n5 sample candidate - ok 102",
    bad: "0 sample baseline - ok 100\n1 sample baseline - ok 102\n2 sample baseline - ok 101\n\
          3 sample candidate - ok 151\n4 sample candidate - ok 150\n5 sample candidate - ok 152",
    plants: &[Plant { kind: "regression", apply: worsen }],
};
