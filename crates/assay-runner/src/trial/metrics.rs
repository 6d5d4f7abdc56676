//! A trial in figures, second by second: what somebody with a spreadsheet wants.
//!
//! One line for each second in which clients were at work, as comma-separated values. Seconds
//! before the first fault are the baseline, the last ones show whether the system came back.

use crate::faults::window::WindowRecord;
use assay_history::{History, Outcome};
use std::fmt::Write;

/// The name of the file in the directory of a trial, before it is put beside the others.
pub const METRICS_NAME: &str = "metrics.csv";
/// More seconds than this are left out: eleven days.
const SECONDS_MAX: usize = 1_000_000;
const NS_PER_S: i64 = 1_000_000_000;

const HEAD: &str = "second,sent,ok,fail,unknown,p50_us,p99_us,max_us,faults\n";

#[derive(Clone, Default)]
struct Second {
    sent: u64,
    ok: u64,
    fail: u64,
    unknown: u64,
    /// Latencies of what was sent in this second and answered, from when it was due, in
    /// microseconds.
    latency_us: Vec<u64>,
}

/// The lines. An operation counts in the second in which it was sent, whenever its answer came.
pub fn lines(history: &History, start_ns: i64, windows: &[WindowRecord]) -> String {
    let mut seconds: Vec<Second> = Vec::new();
    for op in history.ops().filter(|op| op.invoke_ts >= start_ns) {
        let at = usize::try_from((op.invoke_ts - start_ns) / NS_PER_S).unwrap_or(usize::MAX);
        if at >= SECONDS_MAX {
            continue;
        }
        if seconds.len() <= at {
            seconds.resize(at + 1, Second::default());
        }
        let second = &mut seconds[at];
        second.sent += 1;
        match op.outcome() {
            Outcome::Ok => second.ok += 1,
            Outcome::Fail => second.fail += 1,
            Outcome::Unknown => second.unknown += 1,
        }
        let took = op.complete_ts.filter(|_| op.outcome() != Outcome::Unknown);
        let took = took.and_then(|end| u64::try_from((end - history.wanted_ts(&op)) / 1_000).ok());
        second.latency_us.extend(took);
    }
    let mut text = HEAD.to_string();
    for (number, second) in seconds.iter_mut().enumerate() {
        second.latency_us.sort_unstable();
        let Second { sent, ok, fail, unknown, latency_us } = second;
        let quantile = |part: usize| match latency_us.len() {
            0 => String::new(),
            len => latency_us[(len * part / 100).min(len - 1)].to_string(),
        };
        let (p50, p99, max) = (quantile(50), quantile(99), quantile(100));
        let faults = open_in(number, start_ns, windows).join(" ");
        // Writing to a text cannot fail.
        let _written =
            writeln!(text, "{number},{sent},{ok},{fail},{unknown},{p50},{p99},{max},{faults}");
    }
    text
}

/// The faults that were on at some moment of a second.
fn open_in(second: usize, start_ns: i64, windows: &[WindowRecord]) -> Vec<&str> {
    let from = start_ns + i64::try_from(second).unwrap_or(i64::MAX / NS_PER_S) * NS_PER_S;
    let is_open = |window: &&WindowRecord| {
        let ends_after = window.end_ns.is_none_or(|end| end > from);
        window.start_ns.is_some_and(|start| start < from + NS_PER_S) && ends_after
    };
    windows.iter().filter(is_open).map(|window| window.id.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arm::Depth;
    use crate::samples::{clean, machine, spec};
    use assay_history::{Builder, Completion, Invocation};

    #[test]
    fn every_second_has_its_figures_and_its_faults() {
        let mut builder = Builder::new();
        // Sent after so many ms, ended after so many more (none: unknown). One was late.
        for (sent, took) in [(-5, Some(1)), (100, Some(2)), (200, Some(3)), (2_500, None)] {
            let who = builder.values().int(sent);
            let at = sent * 1_000_000;
            let op = builder.invoke(Invocation::new(who, "read", at));
            if sent == 200 {
                builder.due(op, at - 5_000_000);
            }
            if let Some(took) = took {
                builder.complete(op, Completion::at(at + took * 1_000_000));
            }
        }
        let trial = clean(&spec(&machine("linearizability:register"), Depth::Smoke, 1));
        // The sample's fault is on from the first to the second second.
        let text = lines(&builder.finish(), 0, &trial.windows);
        let expected = "0,2,2,0,0,8000,8000,8000,\n1,0,0,0,0,,,,part-asym-1\n\
                        2,1,0,0,1,,,,\n";
        assert_eq!(text, format!("{HEAD}{expected}"));
    }
}
