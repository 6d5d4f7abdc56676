//! The clock of a trial: nanoseconds since its start, from a source that never jumps, and a second
//! source that would tell if it did.

use rustix::time::{ClockId, clock_gettime};
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Instant;

/// Two clocks that run apart by more than this in one look have jumped, in milliseconds. Reading
/// them takes microseconds; a thread that is not scheduled between the two reads reads again.
const JUMP_MS_MIN: i64 = 100;
/// How often a look is repeated before a difference counts.
const LOOKS: usize = 3;

/// Time since the start of a trial.
#[derive(Debug)]
pub struct TrialClock {
    start: Instant,
    /// The second source at the start, and by how much the two were apart at the last look.
    boot_start_ms: i64,
    apart_ms: AtomicI64,
    jumps: AtomicU64,
    /// Added to what the recorder reads: zero, but where a test of the harness makes it jump.
    skew_ns: AtomicI64,
}

impl TrialClock {
    /// A clock that starts now.
    pub fn start() -> TrialClock {
        let boot_start_ms = boot_ms();
        TrialClock {
            start: Instant::now(),
            boot_start_ms,
            apart_ms: AtomicI64::new(0),
            jumps: AtomicU64::new(0),
            skew_ns: AtomicI64::new(0),
        }
    }

    /// Nanoseconds since the start.
    pub fn now_ns(&self) -> i64 {
        i64::try_from(self.start.elapsed().as_nanos()).unwrap_or(i64::MAX)
    }

    /// The same, as it is written down; this is what is watched for jumps.
    pub fn recorded_ns(&self) -> i64 {
        self.now_ns().saturating_add(self.skew_ns.load(Ordering::Relaxed))
    }

    /// Milliseconds since the start.
    pub fn now_ms(&self) -> u64 {
        u64::try_from(self.now_ns() / 1_000_000).unwrap_or(0)
    }

    /// Compares with the second source; a difference that has changed is a jump.
    pub fn watch(&self) {
        let apart = (0..LOOKS)
            .map(|_| self.apart())
            .min_by_key(|apart| (apart - self.apart_ms.load(Ordering::Relaxed)).abs());
        let apart = apart.unwrap_or_default();
        let before = self.apart_ms.swap(apart, Ordering::Relaxed);
        if (apart - before).abs() >= JUMP_MS_MIN {
            self.jumps.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// How often it has jumped.
    pub fn jumps(&self) -> u64 {
        self.jumps.load(Ordering::Relaxed)
    }

    /// Makes the recorder's clock jump, to see whether that is noticed.
    pub(crate) fn skew(&self, ns: i64) {
        self.skew_ns.store(ns, Ordering::Relaxed);
    }

    fn apart(&self) -> i64 {
        self.recorded_ns() / 1_000_000 - (boot_ms() - self.boot_start_ms)
    }
}

/// The second source: it goes on while the machine sleeps, and nobody sets it.
fn boot_ms() -> i64 {
    let time = clock_gettime(ClockId::Boottime);
    time.tv_sec * 1_000 + time.tv_nsec / 1_000_000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_jump_is_counted_once_each_way_and_nothing_else_is() {
        let clock = TrialClock::start();
        clock.watch();
        assert_eq!(clock.jumps(), 0);
        clock.skew(5_000_000_000);
        clock.watch();
        clock.watch();
        assert_eq!(clock.jumps(), 1);
        clock.skew(0);
        clock.watch();
        assert_eq!(clock.jumps(), 2);
    }
}
