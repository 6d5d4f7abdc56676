//! Schedules: which fault when, decided before the run.
//!
//! A schedule is written as a few [`Entry`]s and expanded into a list of [`Planned`] windows. The
//! expansion is a pure function of entries, length of the run and seed, so a run that found
//! something can be repeated, and a schedule can be reduced by leaving windows out.
//!
//! ```
//! use assay_nemesis::schedule::{Entry, Trigger, When, expand};
//!
//! let every = When::Every { from_ms: 1_000, period_ms: 2_000 };
//! let planned = expand(&[Entry { when: every, hold_ms: 500, fault: "pause" }], 6_000, 1)?;
//! let starts: Vec<&Trigger> = planned.iter().map(|window| &window.trigger).collect();
//! assert_eq!(starts, [&Trigger::At(1_000), &Trigger::At(3_000), &Trigger::At(5_000)]);
//! # Ok::<(), assay_nemesis::schedule::ScheduleError>(())
//! ```

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;

/// Windows of one schedule.
pub const WINDOWS_MAX: usize = 100_000;

/// When a fault of an entry begins.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum When {
    /// At these times after the start.
    At(Vec<u64>),
    /// At `from_ms`, and again every `period_ms` as long as the run lasts.
    Every {
        /// The first time.
        from_ms: u64,
        /// From one start to the next.
        period_ms: u64,
    },
    /// When something has happened so often: 1,000 × "ack", 1 × "leader elected".
    On {
        /// What, by the name the runner gives it.
        event: String,
        /// The how-manieth time.
        count: u64,
    },
    /// At random times, drawn from the seed; the windows of one entry do not overlap.
    Random {
        /// How often.
        count: usize,
        /// Not before.
        from_ms: u64,
    },
}

/// One line of a schedule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry<F> {
    /// When it begins.
    pub when: When,
    /// How long it stays on.
    pub hold_ms: u64,
    /// What it is.
    pub fault: F,
}

/// What a window waits for.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Trigger {
    /// A time after the start, in milliseconds.
    At(u64),
    /// The event that has happened so often.
    On {
        /// What.
        event: String,
        /// How often.
        count: u64,
    },
}

/// A fault with its window.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Planned<F> {
    /// When it opens.
    pub trigger: Trigger,
    /// How long it stays open.
    pub hold_ms: u64,
    /// The fault.
    pub fault: F,
}

/// Why a schedule cannot be carried out.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ScheduleError {
    /// A window does not open, or does not close, while the run lasts.
    #[error("a window from {from_ms} ms for {hold_ms} ms does not fit into {run_ms} ms")]
    Outside {
        /// Where it would open.
        from_ms: u64,
        /// How long it would stay open.
        hold_ms: u64,
        /// How long the run is.
        run_ms: u64,
    },
    /// A period of nothing.
    #[error("a period must be longer than the time the fault stays on ({hold_ms} ms)")]
    Period {
        /// How long it stays on.
        hold_ms: u64,
    },
    /// An event that has to happen zero times has happened before the start.
    #[error("an event has to happen at least once")]
    Count,
    /// Too many windows.
    #[error("a schedule has at most {WINDOWS_MAX} windows")]
    TooMany,
}

/// The windows of a schedule: those with a time in the order of time, then those that wait for
/// events, each in the order of the entries.
pub fn expand<F: Clone>(
    entries: &[Entry<F>],
    run_ms: u64,
    seed: u64,
) -> Result<Vec<Planned<F>>, ScheduleError> {
    let mut planned = Vec::new();
    for (number, entry) in entries.iter().enumerate() {
        // Each entry draws from a stream of its own: a new line does not move the others.
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        rng.set_stream(number as u64);
        for trigger in triggers(entry, run_ms, &mut rng)? {
            if planned.len() >= WINDOWS_MAX {
                return Err(ScheduleError::TooMany);
            }
            let (hold_ms, fault) = (entry.hold_ms, entry.fault.clone());
            planned.push(Planned { trigger, hold_ms, fault });
        }
    }
    planned.sort_by_key(|window| match window.trigger {
        Trigger::At(ms) => (0, ms),
        Trigger::On { .. } => (1, 0),
    });
    Ok(planned)
}

fn triggers<F>(
    entry: &Entry<F>,
    run_ms: u64,
    rng: &mut ChaCha20Rng,
) -> Result<Vec<Trigger>, ScheduleError> {
    let hold_ms = entry.hold_ms;
    let outside = |from_ms| ScheduleError::Outside { from_ms, hold_ms, run_ms };
    let times: Vec<u64> = match &entry.when {
        When::On { count: 0, .. } => return Err(ScheduleError::Count),
        When::On { event, count } => {
            return Ok(vec![Trigger::On { event: event.clone(), count: *count }]);
        }
        When::At(times) => times.clone(),
        When::Every { period_ms, .. } if *period_ms <= hold_ms => {
            return Err(ScheduleError::Period { hold_ms });
        }
        When::Every { from_ms, period_ms } => {
            let last = run_ms.checked_sub(hold_ms).and_then(|last| last.checked_sub(*from_ms));
            let count = last.ok_or(outside(*from_ms))? / period_ms;
            if count >= WINDOWS_MAX as u64 {
                return Err(ScheduleError::TooMany);
            }
            (0..=count).map(|n| from_ms + n * period_ms).collect()
        }
        When::Random { count, .. } if *count > WINDOWS_MAX => return Err(ScheduleError::TooMany),
        When::Random { count, from_ms } => {
            // Drawn from the time that is left when the windows are laid end to end, and then
            // spread out again: so no two of them overlap, and every choice is possible.
            let taken =
                (*count as u64).checked_mul(hold_ms).and_then(|ms| ms.checked_add(*from_ms));
            let free = taken.and_then(|taken| run_ms.checked_sub(taken));
            let free = free.ok_or(outside(*from_ms))?;
            let mut starts: Vec<u64> = (0..*count).map(|_| rng.random_range(0..=free)).collect();
            starts.sort_unstable();
            let spread = starts.iter().zip(0..);
            spread.map(|(start, before): (&u64, u64)| from_ms + start + before * hold_ms).collect()
        }
    };
    if let Some(late) = times.iter().find(|at| at.saturating_add(hold_ms) > run_ms) {
        return Err(outside(*late));
    }
    Ok(times.into_iter().map(Trigger::At).collect())
}
