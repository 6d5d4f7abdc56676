//! Watches over a trial while it runs: when it is over, how it goes, whether the clock is right.

use super::Surroundings;
use super::record::HealthRecord;
use crate::event::{Phase, RunEvent};
use crate::facts::RECOVERED_PERCENT_MIN;
use crate::faults::window::{Stage, WindowRecord};
use crate::sabotage::Sabotage;
use crate::spec::WindowSpec;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// How often to look.
const LOOK_STEP: Duration = Duration::from_millis(20);
/// How often progress is told, in looks.
const LOOKS_PER_PROGRESS: u32 = 10;
/// Clients go on for at least so long after the last fault, to see whether the system is well.
const RECOVERY_MS: u64 = 2_000;
/// And for so long if it is not: a system that has not come back by then has not come back.
const RECOVERY_MS_MAX: u64 = 15_000;
/// The last part of the work, in which the system has to be as well as it was before.
const RECOVERED_SPAN_MS: u64 = 1_000;
/// A trial that is this much longer than planned is ended, whatever its faults are doing.
const OVERTIME_MS_MAX: u64 = 60_000;
/// A span that is shorter says nothing about a rate.
const SPAN_MS_MIN: u64 = 400;

/// What was seen of the work.
pub struct Worked {
    /// How long clients worked.
    pub workload_ms: u64,
    /// Operations sent in the planned time.
    pub sent_in_time: u64,
    /// The longest silence of a client when the planned time was over, in milliseconds.
    pub silent_ms: u64,
    /// When it began.
    pub start_ns: i64,
    /// Milliseconds since the start, and operations that took effect.
    samples: Vec<(u64, u64)>,
}

impl Worked {
    /// Answers a second before the first fault and after the last.
    pub fn health(&self, windows: &[WindowRecord]) -> Option<HealthRecord> {
        let ms = |ns: i64| since_ms(ns, self.start_ns);
        let first = windows.iter().filter_map(|window| window.start_ns).min().map(ms)?;
        // One that was never healed is over for nobody: what matters is how the work ended.
        let last = windows.iter().filter_map(|window| window.end_ns.or(window.start_ns));
        let last = last.max().map(ms)?;
        let baseline = rate(&self.samples, 0, first)?;
        // Not from the very moment of healing: a leader may have to be elected first.
        let from = last.max(self.workload_ms.saturating_sub(RECOVERED_SPAN_MS));
        let after = rate(&self.samples, from, self.workload_ms)?;
        Some(HealthRecord { baseline, after })
    }
}

fn since_ms(ns: i64, start_ns: i64) -> u64 {
    u64::try_from((ns - start_ns) / 1_000_000).unwrap_or(0)
}

/// Answers a second in a span; `None` if it is too short to tell.
fn rate(samples: &[(u64, u64)], from_ms: u64, to_ms: u64) -> Option<u64> {
    let inside = |(at, _): &&(u64, u64)| *at >= from_ms && *at <= to_ms;
    let first = samples.iter().find(inside)?;
    let last = samples.iter().rfind(inside)?;
    let span = last.0 - first.0;
    (span >= SPAN_MS_MIN).then(|| (last.1 - first.1) * 1_000 / span)
}

/// What it watches.
pub struct Supervisor<'s> {
    pub stage: &'s Stage<'s>,
    pub duration_ms: u64,
    pub around: &'s Surroundings<'s>,
    pub windows: &'s [WindowSpec],
}

impl Supervisor<'_> {
    /// Watches until the work is done, and then tells everybody to stop.
    pub fn watch(&self, faults_done: impl Fn() -> bool) -> Worked {
        let (stage, crew) = (self.stage, self.stage.crew);
        self.around.events.begin(Phase::Working, None);
        let start_ms = stage.clock.now_ms();
        let mut samples = vec![(0, stage.recorder.counts().ok)];
        let (mut in_time, mut looks) = (None, 0_u32);
        let so_far = || (crew.sent.load(Ordering::Relaxed), crew.silent_ms());
        let mut healed_at = None;
        if self.around.sabotage == Some(Sabotage::GeneratorStopsEarly) {
            crew.until_ms.store(start_ms + self.duration_ms / 3, Ordering::Relaxed);
        }
        loop {
            std::thread::sleep(LOOK_STEP);
            let elapsed = stage.clock.now_ms().saturating_sub(start_ms);
            self.break_the_clock(elapsed);
            stage.clock.watch();
            let counts = stage.recorder.counts();
            samples.push((elapsed, counts.ok));
            looks += 1;
            if looks.is_multiple_of(LOOKS_PER_PROGRESS) {
                self.tell(elapsed, &samples);
            }
            let done = faults_done();
            if done && healed_at.is_none() {
                healed_at = Some(elapsed);
            }
            if elapsed >= self.duration_ms && in_time.is_none() {
                in_time = Some(so_far());
            }
            let recovered = self.windows.is_empty()
                || healed_at.is_some_and(|at| self.is_well(elapsed, at, &samples));
            let over = elapsed >= self.duration_ms && recovered;
            let overtime = elapsed >= self.duration_ms.saturating_add(OVERTIME_MS_MAX);
            if over || overtime || self.around.interrupted.load(Ordering::Relaxed) {
                crew.until_ms.store(0, Ordering::Relaxed);
                if overtime || self.around.interrupted.load(Ordering::Relaxed) {
                    crew.stop.store(true, Ordering::Relaxed);
                }
                let (sent_in_time, silent_ms) = in_time.unwrap_or_else(so_far);
                let (workload_ms, start_ns) = (elapsed, stage.start_ns);
                return Worked { workload_ms, sent_in_time, silent_ms, start_ns, samples };
            }
        }
    }

    /// Whether there is no more to wait for after the last fault: the system is as well as it was
    /// before the first, will hear of no more operations, or had time enough.
    fn is_well(&self, elapsed: u64, healed_at: u64, samples: &[(u64, u64)]) -> bool {
        let since = elapsed - healed_at;
        if since < RECOVERY_MS {
            return false;
        }
        let first =
            self.stage.recorder.first_epoch_ns().map(|ns| since_ms(ns, self.stage.start_ns));
        let before = first.and_then(|first| rate(samples, 0, first));
        let now = rate(samples, elapsed.saturating_sub(RECOVERED_SPAN_MS), elapsed);
        let (Some(before), Some(now)) = (before, now) else { return true };
        now * 100 >= before * RECOVERED_PERCENT_MIN
            || since >= RECOVERY_MS_MAX
            || self.stage.crew.is_over()
    }

    /// Ahead for the second quarter of the time, if the harness is broken on purpose.
    fn break_the_clock(&self, elapsed_ms: u64) {
        if self.around.sabotage == Some(Sabotage::ClockJumps) {
            let quarter = self.duration_ms / 4;
            let ahead = (quarter..2 * quarter).contains(&(elapsed_ms % self.duration_ms.max(1)));
            self.stage.clock.skew(if ahead { 3_000_000_000 } else { 0 });
        }
    }

    fn tell(&self, elapsed_ms: u64, samples: &[(u64, u64)]) {
        let counts = self.stage.recorder.counts();
        let recent = samples.len().saturating_sub(50);
        let rate = match (samples.get(recent), samples.last()) {
            (Some(from), Some(to)) if to.0 > from.0 => (to.1 - from.1) * 1_000 / (to.0 - from.0),
            _ => 0,
        };
        self.around.events.emit(&RunEvent::Progress {
            elapsed_ms,
            total_ms: self.duration_ms,
            rate,
            ok: counts.ok,
            fail: counts.fail,
            unknown: counts.unknown,
            faults: self.stage.recorder.open_epochs(),
        });
    }
}
