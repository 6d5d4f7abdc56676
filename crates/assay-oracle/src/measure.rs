//! Latency, errors and throughput of a set of operations, with both ends of what unknown outcomes
//! leave open. An operation counts from when it was due, where its record says so: what clients
//! wait before they can send, they wait for the system.

use crate::table::{FINAL, Row, Table};
use assay_history::Outcome;

/// What a group of operations measured; where outcomes are unknown, the range it lies in.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sample {
    /// Latencies of operations with a known end, sorted.
    latencies: Vec<i64>,
    pub ok: usize,
    pub fail: usize,
    pub unknown: usize,
    pub first: i64,
    pub last: i64,
}

impl Sample {
    /// Measures rows; states dumped after the run are not part of it.
    pub fn new<'a, 'h: 'a>(table: &Table<'_>, rows: impl Iterator<Item = &'a Row<'h>>) -> Sample {
        let mut sample = Sample { first: i64::MAX, last: i64::MIN, ..Sample::default() };
        for row in rows.filter(|row| !row.is(FINAL)) {
            let op = table.history.op(row.index);
            let wanted = table.history.wanted_ts(&op);
            sample.first = sample.first.min(wanted);
            sample.last = sample.last.max(op.complete_ts.unwrap_or(wanted));
            match row.outcome {
                Outcome::Ok => sample.ok += 1,
                Outcome::Fail => sample.fail += 1,
                Outcome::Unknown => sample.unknown += 1,
            }
            if let (true, Some(end)) = (row.outcome != Outcome::Unknown, op.complete_ts) {
                sample.latencies.push(end.saturating_sub(wanted));
            }
        }
        sample.latencies.sort_unstable();
        sample
    }

    pub fn len(&self) -> usize {
        self.ok + self.fail + self.unknown
    }

    /// A quantile by nearest rank: if every unknown operation had been quicker than all others,
    /// and if it had been slower (`None`: it never ended).
    pub fn quantile(&self, permille: usize) -> (i64, Option<i64>) {
        let rank = (self.len() * permille).div_ceil(1000).max(1);
        let at = |rank: usize| self.latencies.get(rank.wrapping_sub(1)).copied();
        let quick = rank.checked_sub(self.unknown).and_then(at).unwrap_or(0);
        (quick, at(rank))
    }

    /// The share of failed operations, at least and at most.
    pub fn error_rate(&self) -> (f64, f64) {
        let all = self.len().max(1) as f64;
        (self.fail as f64 / all, (self.fail + self.unknown) as f64 / all)
    }

    /// Successful operations per second of a span, at least and at most.
    pub fn throughput(&self, span_ns: i64) -> (f64, f64) {
        let seconds = span_ns.max(1) as f64 / 1e9;
        (self.ok as f64 / seconds, (self.ok + self.unknown) as f64 / seconds)
    }
}

/// How a measured range compares with a limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Against {
    Within,
    Beyond,
    Open,
}

/// A range against an upper limit; no upper end is infinite.
pub(crate) fn at_most(low: f64, high: Option<f64>, limit: f64) -> Against {
    match high {
        _ if low > limit => Against::Beyond,
        Some(high) if high <= limit => Against::Within,
        _ => Against::Open,
    }
}

/// A range against a lower limit.
pub(crate) fn at_least(low: f64, high: f64, limit: f64) -> Against {
    match (high < limit, low >= limit) {
        (true, _) => Against::Beyond,
        (_, true) => Against::Within,
        _ => Against::Open,
    }
}
