//! Latency as the signal of a victim: unlike a counter it has to be compared with what it was.
//!
//! Before the fault is what calm operations took, those that no fault has touched, for as long back
//! as the fault lasts and at least a while. Only growth counts: calls that fail at once do
//! not prove that something is slow. Too few operations prove nothing either way.

use super::watch::Watch;
use crate::recorder::Recorder;
use assay_plan::landing::Term;
use std::time::Duration;

/// The name of the signal.
pub const LATENCY: &str = "latency-p99";
/// So much of the past is looked at, at least.
const PAST_MIN: Duration = Duration::from_secs(5);

/// Watches latency since a window opened that is to be so long.
pub fn watch<'w>(recorder: &'w Recorder, term: &Term, start_ns: i64, hold: Duration) -> Watch<'w> {
    let past = i64::try_from(hold.max(PAST_MIN).as_nanos()).unwrap_or(i64::MAX);
    let ms = |ns: u64| ns / 1_000_000;
    let before = recorder.calm_p99_ns(start_ns.saturating_sub(past), start_ns).map(ms);
    let read = move || {
        let now = recorder.latency_p99_ns(start_ns).map(ms);
        now.map(|now| now.max(before.unwrap_or(0)))
    };
    Watch::since(term, before, Box::new(read))
}

#[cfg(test)]
mod tests {
    use super::super::watch::terms;
    use super::*;
    use crate::clock::TrialClock;
    use crate::recorder::Honesty;
    use assay_verdict::LandingState::{self, Landed, Missed, Unknown};
    use assay_workload::{Call, Reply};
    use serde_json::json;
    use std::sync::Arc;

    /// What becomes of `latency-p99 >= 50ms` where so many operations took so long before the fault
    /// and so many in it, in milliseconds.
    fn state(before: (usize, i64), inside: (usize, i64)) -> LandingState {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("history.jsonl");
        let clock = Arc::new(TrialClock::start());
        let recorder = Recorder::create(&path, Arc::clone(&clock), Honesty::Complete);
        let recorder = recorder.expect("a file");
        let call = Call::new("read", Some(json!("x")), json!(null));
        let mut ahead_ns = 0;
        let mut work = |(count, ms): (usize, i64)| {
            for _ in 0..count {
                let op = recorder.invoke(0, &call, "n1").expect("written");
                ahead_ns += ms * 1_000_000;
                clock.skew(ahead_ns);
                recorder.complete(op, &Reply::Ok { output: json!(1), node: None, revision: None });
            }
        };
        // An earlier fault, which made everything slow: it says nothing about calm times.
        recorder.open_epoch("delay-1");
        work((20, 300));
        recorder.close_epoch("delay-1");
        work(before);
        let start_ns = recorder.open_epoch("delay-2");
        let term = terms("latency-p99 >= 50ms").expect("a predicate").remove(0);
        let mut watch = watch(&recorder, &term, start_ns, Duration::from_secs(60));
        watch.open(None);
        work(inside);
        recorder.close_epoch("delay-2");
        // So many and so quick that nobody would see what was inside.
        work((20_000, 0));
        watch.sample();
        watch.end().state()
    }

    #[test]
    fn only_a_latency_that_grows_proves_a_fault() {
        let rows = [
            ((200, 60), (200, 60), Missed),
            ((200, 60), (200, 112), Landed),
            ((200, 5), (200, 60), Landed),
            ((200, 60), (200, 1), Missed),
            ((200, 5), (9, 500), Unknown),
            ((9, 5), (200, 500), Unknown),
        ];
        for (before, inside, expected) in rows {
            assert_eq!(state(before, inside), expected, "{before:?}, then {inside:?}");
        }
    }
}
