//! From the `[[nemesis]]` entries of a plan to windows with times: a pure function of the seed.

use crate::spec::{Opening, WindowSpec};
use assay_plan::machine::Nemesis;
use assay_plan::time::TimeRange;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;

/// Windows of one trial.
pub const WINDOWS_MAX: usize = 10_000;

/// Why a schedule cannot be carried out.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ScheduleError {
    /// Neither a time nor an event.
    #[error("{fault} on {target}: say when it begins, with `at` or `on`")]
    NoBeginning {
        /// The fault.
        fault: String,
        /// Its target.
        target: String,
    },
    /// An event nobody can count.
    #[error("{fault} on {target}: `on = \"{on}\"` is not like `acks >= 1000`")]
    BadEvent {
        /// The fault.
        fault: String,
        /// Its target.
        target: String,
        /// What was written.
        on: String,
    },
    /// The next window would begin before the last one ends.
    #[error("{fault} on {target}: `every` is not longer than `for`")]
    Overlapping {
        /// The fault.
        fault: String,
        /// Its target.
        target: String,
    },
    /// Too many.
    #[error("more than {WINDOWS_MAX} fault windows")]
    TooMany,
}

/// All windows that fit into a workload of this length.
pub fn windows(
    entries: &[Nemesis],
    duration_ms: u64,
    seed: u64,
) -> Result<Vec<WindowSpec>, ScheduleError> {
    let mut windows = Vec::new();
    for (entry, nemesis) in entries.iter().enumerate() {
        // Each entry draws from a stream of its own: a new entry does not move the others.
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        rng.set_stream(entry as u64);
        expand(entry, nemesis, duration_ms, &mut rng, &mut windows)?;
    }
    windows.sort_by_key(|window: &WindowSpec| match window.opens {
        Opening::AtMs(ms) => (0, ms),
        Opening::On { .. } => (1, 0),
    });
    number(&mut windows);
    Ok(windows)
}

fn expand(
    entry: usize,
    nemesis: &Nemesis,
    duration_ms: u64,
    rng: &mut ChaCha20Rng,
    windows: &mut Vec<WindowSpec>,
) -> Result<(), ScheduleError> {
    let (fault, target) = (nemesis.fault.clone(), nemesis.target.clone());
    if let Some(on) = &nemesis.on {
        let (event, count) =
            event(on).ok_or(ScheduleError::BadEvent { fault, target, on: on.clone() })?;
        let hold_ms = draw(nemesis.lasts, rng);
        windows.push(window(entry, nemesis, Opening::On { event, count }, hold_ms));
        return Ok(());
    }
    let at = nemesis.at.ok_or(ScheduleError::NoBeginning { fault, target })?;
    let mut from = draw(at, rng);
    loop {
        let hold_ms = draw(nemesis.lasts, rng);
        if from + hold_ms > duration_ms {
            return Ok(());
        }
        if windows.len() >= WINDOWS_MAX {
            return Err(ScheduleError::TooMany);
        }
        windows.push(window(entry, nemesis, Opening::AtMs(from), hold_ms));
        let Some(every) = nemesis.every else { return Ok(()) };
        let step = draw(every, rng);
        if step <= hold_ms {
            let (fault, target) = (nemesis.fault.clone(), nemesis.target.clone());
            return Err(ScheduleError::Overlapping { fault, target });
        }
        from += step;
    }
}

fn window(entry: usize, nemesis: &Nemesis, opens: Opening, hold_ms: u64) -> WindowSpec {
    let landing = nemesis.landing.as_ref();
    let settings = nemesis.strength.iter();
    let json = |setting| serde_json::to_value(setting).expect("a setting is made of JSON's types");
    WindowSpec {
        id: String::new(),
        entry,
        fault: nemesis.fault.clone(),
        target: nemesis.target.clone(),
        opens,
        hold_ms,
        strength: settings.map(|(name, setting)| (name.clone(), json(setting))).collect(),
        injector: landing.map_or("", |l| l.injector.as_str()).to_string(),
        victim: landing.map_or("", |l| l.victim.as_str()).to_string(),
    }
}

/// `leader-iso-1`, `leader-iso-2`, `pause-1`: by fault, in the order of their times.
fn number(windows: &mut [WindowSpec]) {
    let mut seen = std::collections::BTreeMap::<String, usize>::new();
    for window in windows {
        let count = seen.entry(window.fault.clone()).or_default();
        *count += 1;
        window.id = format!("{}-{count}", window.fault);
    }
}

fn draw(range: TimeRange, rng: &mut ChaCha20Rng) -> u64 {
    let ms = |time: assay_plan::time::Time| u64::try_from(time.0.as_millis()).unwrap_or(u64::MAX);
    let (min, max) = (ms(range.min), ms(range.max));
    if max > min { rng.random_range(min..=max) } else { min }
}

/// `acks >= 1000`, `elections > 1`.
pub fn event(text: &str) -> Option<(String, u64)> {
    let (name, bound) = text.split_once(">=").map_or_else(
        || text.split_once('>').map(|(name, bound)| (name, (bound, 1))),
        |(name, bound)| Some((name, (bound, 0))),
    )?;
    let count = bound.0.trim().parse::<u64>().ok()?.checked_add(bound.1)?;
    let name = name.trim();
    (!name.is_empty() && count > 0).then(|| (name.to_string(), count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_plan::time::TimeRange;

    fn nemesis(at: &str, lasts: &str, every: Option<&str>) -> Nemesis {
        let range = |text: &str| TimeRange::parse(text).expect("a range");
        Nemesis {
            fault: "leader-iso".into(),
            target: "leader".into(),
            at: Some(range(at)),
            on: None,
            lasts: range(lasts),
            every: every.map(range),
            strength: Default::default(),
            landing: None,
        }
    }

    fn starts(entry: Nemesis, duration_ms: u64, seed: u64) -> Vec<u64> {
        let all = windows(&[entry], duration_ms, seed).expect("a schedule");
        let at = |window: &WindowSpec| match window.opens {
            Opening::AtMs(ms) => ms,
            Opening::On { .. } => u64::MAX,
        };
        all.iter().map(at).collect()
    }

    #[test]
    fn windows_come_again_as_long_as_they_fit() {
        let cases = [
            (nemesis("3s", "4s", Some("9s")), 20_000, vec![3_000, 12_000]),
            (nemesis("3s", "4s", Some("9s")), 15_999, vec![3_000]),
            (nemesis("3s", "4s", None), 60_000, vec![3_000]),
            (nemesis("3s", "4s", None), 6_999, vec![]),
        ];
        for (entry, duration, expected) in cases {
            assert_eq!(starts(entry, duration, 1), expected, "{duration}");
        }
    }

    #[test]
    fn what_is_drawn_depends_on_the_seed_and_on_nothing_else() {
        let entry = || nemesis("3s..5s", "1s..2s", Some("4s..6s"));
        assert_eq!(starts(entry(), 60_000, 7), starts(entry(), 60_000, 7));
        assert_ne!(starts(entry(), 60_000, 7), starts(entry(), 60_000, 8));
        let alone = starts(entry(), 60_000, 7);
        let other = Nemesis { fault: "pause".into(), ..nemesis("1s", "1s", None) };
        let both = windows(&[entry(), other], 60_000, 7).expect("a schedule");
        let of_first = both.iter().filter(|window| window.entry == 0).count();
        assert_eq!(of_first, alone.len(), "an entry after it does not move it");
    }

    #[test]
    fn what_cannot_be_scheduled_is_said() {
        let overlapping = nemesis("3s", "4s", Some("4s"));
        assert!(matches!(
            windows(&[overlapping], 20_000, 1),
            Err(ScheduleError::Overlapping { .. })
        ));
        let never = Nemesis { at: None, ..nemesis("1s", "1s", None) };
        assert!(matches!(windows(&[never], 20_000, 1), Err(ScheduleError::NoBeginning { .. })));
        let on = |on: &str| Nemesis { on: Some(on.into()), ..nemesis("1s", "1s", None) };
        assert!(matches!(windows(&[on("acks")], 20_000, 1), Err(ScheduleError::BadEvent { .. })));
        let planned = windows(&[on("acks >= 1000")], 20_000, 1).expect("a schedule");
        assert_eq!(planned[0].opens, Opening::On { event: "acks".into(), count: 1_000 });
    }
}
