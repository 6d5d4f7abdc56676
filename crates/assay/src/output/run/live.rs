//! What a run is doing now, in one line: which trial, which part of it, how it goes, and how long
//! it may still take.
//!
//! A pure function of the events so far and the time, so that the line can be drawn again when
//! nothing happens: what stands still on a screen looks like a run that does.

use assay_runner::event::{Phase, Purpose, RunEvent};
use std::time::{Duration, Instant};

/// What is known from the events so far.
pub(super) struct Live {
    begun: Instant,
    trial: Option<Trial>,
    phase: Option<(Phase, Option<u64>, Instant)>,
    /// How the workload goes, in words.
    work: Option<String>,
    /// Planned trials that were really run, and what they took beyond the work of their clients.
    beyond: (u32, Duration),
}

struct Trial {
    purpose: Purpose,
    number: Option<u64>,
    of: u64,
    /// Planned ones that come after it.
    later: u64,
    later_ms: u64,
    expected_ms: u64,
    begun: Instant,
}

impl Live {
    pub(super) fn new(now: Instant) -> Live {
        Live { begun: now, trial: None, phase: None, work: None, beyond: (0, Duration::ZERO) }
    }

    /// Something happened.
    pub(super) fn hear(&mut self, event: &RunEvent, now: Instant) {
        match event {
            RunEvent::RunStarted { .. } => *self = Live::new(now),
            RunEvent::PhaseBegan { phase, time_max_ms } => {
                (self.phase, self.work) = (Some((*phase, *time_max_ms, now)), None);
            }
            RunEvent::Progress { .. } => self.work = Some(work(event)),
            RunEvent::TrialStarted { purpose, expected_ms, number, of, later_ms, .. } => {
                // One that looks into a violation comes after the planned ones that have begun.
                let behind = number.or(self.trial.as_ref().map(|trial| trial.of - trial.later));
                let behind = behind.unwrap_or(0).min(*of);
                self.trial = Some(Trial {
                    purpose: *purpose,
                    number: *number,
                    of: *of,
                    later: of - behind,
                    later_ms: *later_ms,
                    expected_ms: *expected_ms,
                    begun: now,
                });
                (self.phase, self.work) = (None, None);
            }
            RunEvent::TrialEnded { reused: false, .. } => {
                if let Some(trial) = self.trial.as_ref().filter(|trial| trial.number.is_some()) {
                    let took = now.saturating_duration_since(trial.begun);
                    let beyond = took.saturating_sub(Duration::from_millis(trial.expected_ms));
                    self.beyond = (self.beyond.0 + 1, self.beyond.1 + beyond);
                }
                (self.phase, self.work) = (None, None);
            }
            RunEvent::RunEnded { .. } => (self.phase, self.work) = (None, None),
            _ => {}
        }
    }

    /// The line; `None` if there is nothing to say.
    pub(super) fn line(&self, now: Instant) -> Option<String> {
        let mut parts = Vec::new();
        parts.extend(self.trial.as_ref().map(|trial| match trial.number {
            Some(number) => format!("trial {number} of {}", trial.of),
            None => trial.purpose.name().to_string(),
        }));
        let (phase, time_max_ms, since) = self.phase?;
        parts.push(match (&self.work, time_max_ms) {
            (Some(work), _) => work.clone(),
            (None, limit) => {
                let limit = limit.map_or(String::new(), |ms| format!(" of at most {}", clock(ms)));
                format!("{}: {}{limit}", phase.words(), clock(since_ms(since, now)))
            }
        });
        let all = format!("{} in all", clock(since_ms(self.begun, now)));
        parts.push(match self.left(now) {
            Some(left) => format!("{all}, {left}"),
            None => all,
        });
        Some(parts.join(" | "))
    }

    /// How much longer the run takes, as far as that is known: not before a trial has shown what
    /// comes beside the work of clients, and never more than a bound while a violation is looked
    /// into.
    fn left(&self, now: Instant) -> Option<String> {
        let trial = self.trial.as_ref()?;
        let (trials, beyond) = self.beyond;
        let beyond_ms = u64::try_from(beyond.checked_div(trials)?.as_millis()).ok()?;
        let this = (trial.expected_ms + beyond_ms).saturating_sub(since_ms(trial.begun, now));
        let left = this + trial.later_ms + trial.later * beyond_ms;
        let how = if trial.number.is_some() { "about" } else { "at least" };
        (left > 0).then(|| format!("{how} {} left", clock(left)))
    }
}

fn since_ms(since: Instant, now: Instant) -> u64 {
    u64::try_from(now.saturating_duration_since(since).as_millis()).unwrap_or(u64::MAX)
}

/// Minutes and seconds.
fn clock(ms: u64) -> String {
    let seconds = ms / 1_000;
    match seconds / 60 {
        0 => format!("{seconds}s"),
        minutes => format!("{minutes}m{:02}s", seconds % 60),
    }
}

fn work(event: &RunEvent) -> String {
    let RunEvent::Progress { elapsed_ms, total_ms, rate, ok, fail, unknown, faults } = event else {
        return String::new();
    };
    let faults = if faults.is_empty() { "no fault".to_string() } else { faults.join(", ") };
    // What recovers slowly is watched for longer than was planned.
    let left = match total_ms.saturating_sub(*elapsed_ms) {
        0 => "until the system is well".to_string(),
        left => format!("{} left", clock(left)),
    };
    format!(
        "working: {}, {left} | {rate}/s | ok {ok}, fail {fail}, unknown {unknown} | {faults}",
        clock(*elapsed_ms)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn started(purpose: Purpose, number: Option<u64>, of: u64, later_ms: u64) -> RunEvent {
        let scenario = "S1".to_string();
        RunEvent::TrialStarted {
            scenario,
            purpose,
            seed: 1,
            expected_ms: 10_000,
            number,
            of,
            later_ms,
        }
    }

    fn began(phase: Phase, time_max_ms: Option<u64>) -> RunEvent {
        RunEvent::PhaseBegan { phase, time_max_ms }
    }

    fn ended() -> RunEvent {
        let (scenario, result) = ("S1".to_string(), "upheld".to_string());
        let purpose = Purpose::Smoke;
        RunEvent::TrialEnded { scenario, purpose, seed: 1, result, reused: false }
    }

    fn progress(elapsed_ms: u64) -> RunEvent {
        let (rate, ok, fail, unknown) = (99, 500, 1, 2);
        let faults = vec!["pause-1".to_string()];
        RunEvent::Progress { elapsed_ms, total_ms: 10_000, rate, ok, fail, unknown, faults }
    }

    /// Events and looks at the line, each at its second since the start.
    #[test]
    fn each_part_of_a_run_says_what_it_is_and_for_how_long() {
        enum Step {
            Hear(RunEvent),
            Look(&'static str),
        }
        use Step::{Hear, Look};
        let steps = [
            (0, Look("")),
            (0, Hear(began(Phase::Surveying, None))),
            (3, Look("looking at this machine: 3s | 3s in all")),
            (4, Hear(started(Purpose::Smoke, Some(1), 3, 20_000))),
            (4, Hear(began(Phase::Starting, None))),
            (6, Look("trial 1 of 3 | starting the system: 2s | 6s in all")),
            (6, Hear(began(Phase::Working, None))),
            (11, Hear(progress(5_000))),
            (
                11,
                Look(
                    "trial 1 of 3 | working: 5s, 5s left | 99/s | ok 500, fail 1, unknown 2 | \
                       pause-1 | 11s in all",
                ),
            ),
            (16, Hear(began(Phase::Resting, Some(20_000)))),
            (
                19,
                Look(
                    "trial 1 of 3 | waiting for the system to come to rest: 3s of at most 20s \
                       | 19s in all",
                ),
            ),
            (20, Hear(ended())),
            (20, Hear(started(Purpose::Hardening, Some(2), 3, 10_000))),
            (20, Hear(began(Phase::Starting, None))),
            // 6 s beside the 10 s of work: 16 s of this trial, of which 1 s is over, and 16 s.
            (21, Look("trial 2 of 3 | starting the system: 1s | 21s in all, about 31s left")),
            (60, Hear(ended())),
            (60, Hear(started(Purpose::Reproduce, None, 2, 0))),
            (60, Hear(began(Phase::Judging, Some(60_000)))),
            (125, Look("reproduce | judging the history: 1m05s of at most 1m00s | 2m05s in all")),
            (125, Hear(started(Purpose::Blame, None, 2, 0))),
            (125, Hear(began(Phase::Starting, None))),
            (126, Look("blame | starting the system: 1s | 2m06s in all, at least 27s left")),
        ];
        let start = Instant::now();
        let mut live = Live::new(start);
        for (second, step) in steps {
            let now = start + Duration::from_secs(second);
            match step {
                Hear(event) => live.hear(&event, now),
                Look(wanted) => assert_eq!(live.line(now).unwrap_or_default(), wanted),
            }
        }
    }
}
