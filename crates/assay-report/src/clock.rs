//! Times as people read them: `+1.204 ms`, `+2 min 3.5 s`.

use crate::TimeUnit;

const NS_PER_S: i128 = 1_000_000_000;
const DECIMALS: usize = 3;
/// Enough to tell any two times apart that differ by one nanosecond.
const DECIMALS_MAX: usize = 9;

/// Writes times relative to an origin, the earliest time in a picture.
pub(crate) struct Clock<'a> {
    origin: i64,
    unit: &'a TimeUnit,
}

impl<'a> Clock<'a> {
    pub(crate) fn new(origin: i64, unit: &'a TimeUnit) -> Self {
        Self { origin, unit }
    }

    /// The time since the origin.
    pub(crate) fn show(&self, time: i64) -> String {
        self.show_with(time, DECIMALS)
    }

    /// The time since the origin to the last digit.
    pub(crate) fn exact(&self, time: i64) -> String {
        self.show_with(time, DECIMALS_MAX)
    }

    /// The time since the origin, precise enough to differ from what is shown for `previous`.
    pub(crate) fn show_after(&self, time: i64, previous: Option<i64>) -> String {
        let distinct = |&decimals: &usize| {
            previous.is_none_or(|earlier| {
                earlier == time
                    || self.show_with(earlier, decimals) != self.show_with(time, decimals)
            })
        };
        let decimals = (DECIMALS..DECIMALS_MAX).find(distinct).unwrap_or(DECIMALS_MAX);
        self.show_with(time, decimals)
    }

    /// What the origin itself is called in the history.
    pub(crate) fn origin(&self) -> String {
        format!("{} {}", self.origin, self.unit_name()).trim_end().to_owned()
    }

    fn unit_name(&self) -> String {
        match self.unit {
            TimeUnit::Nanoseconds => "ns".into(),
            TimeUnit::Microseconds => "µs".into(),
            TimeUnit::Milliseconds => "ms".into(),
            TimeUnit::Seconds => "s".into(),
            TimeUnit::Steps(name) => crate::clean::line(name, 16),
        }
    }

    fn show_with(&self, time: i64, decimals: usize) -> String {
        let delta = i128::from(time) - i128::from(self.origin);
        let sign = if delta < 0 { '−' } else { '+' };
        let delta = delta.abs();
        let ns_per_unit = match self.unit {
            TimeUnit::Nanoseconds => 1,
            TimeUnit::Microseconds => 1_000,
            TimeUnit::Milliseconds => 1_000_000,
            TimeUnit::Seconds => NS_PER_S,
            TimeUnit::Steps(_) => return format!("{sign}{delta}"),
        };
        if delta == 0 {
            return "+0".into();
        }
        format!("{sign}{}", duration(delta * ns_per_unit, decimals))
    }
}

/// A positive duration in the largest unit that leaves at least one before the point.
fn duration(ns: i128, decimals: usize) -> String {
    match ns {
        ..1_000 => format!("{ns} ns"),
        1_000..1_000_000 => format!("{} µs", decimal(ns, 1_000, decimals)),
        1_000_000..NS_PER_S => format!("{} ms", decimal(ns, 1_000_000, decimals)),
        _ if ns < 120 * NS_PER_S => format!("{} s", decimal(ns, NS_PER_S, decimals)),
        _ => composite(ns, decimals),
    }
}

/// Days, hours, minutes and seconds, without the leading and trailing parts that are zero.
fn composite(ns: i128, decimals: usize) -> String {
    let minutes = ns / (60 * NS_PER_S);
    let seconds = decimal(ns % (60 * NS_PER_S), NS_PER_S, decimals);
    let parts = [(minutes / 1_440, "d"), (minutes / 60 % 24, "h"), (minutes % 60, "min")];
    let mut shown: Vec<String> =
        parts.iter().filter(|(n, _)| *n > 0).map(|(n, unit)| format!("{n} {unit}")).collect();
    if seconds != "0" {
        shown.push(format!("{seconds} s"));
    }
    shown.join(" ")
}

/// `value / scale`, cut (never rounded up, so that order is kept) and without trailing zeros.
fn decimal(value: i128, scale: i128, decimals: usize) -> String {
    let digits = scale.ilog10() as usize;
    let fraction = format!("{:0digits$}", value % scale);
    let fraction = fraction[..decimals.min(digits)].trim_end_matches('0');
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{}{point}{fraction}", value / scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_use_the_unit_people_would_say() {
        let cases = [
            (0, "+0"),
            (999, "+999 ns"),
            (1_204_000, "+1.204 ms"),
            (1_204_999, "+1.204 ms"),
            (2_000, "+2 µs"),
            (90_500_000_000, "+90.5 s"),
            (123_500_000_000, "+2 min 3.5 s"),
            (3_600_000_000_000, "+1 h"),
            (90_060_000_000_000, "+1 d 1 h 1 min"),
            (-5, "−5 ns"),
        ];
        for (ns, expected) in cases {
            assert_eq!(Clock::new(0, &TimeUnit::Nanoseconds).show(ns), expected);
        }
    }

    #[test]
    fn neighbours_are_shown_precisely_enough_to_differ() {
        let clock = Clock::new(0, &TimeUnit::Nanoseconds);
        let hour = 3_600_000_000_000;
        assert_eq!(clock.show_after(hour + 1, Some(hour)), "+1 h 0.000000001 s");
        assert_eq!(clock.show_after(1_204_999, Some(1_204_000)), "+1.2049 ms");
    }

    #[test]
    fn the_longest_span_does_not_overflow() {
        for unit in [TimeUnit::Seconds, TimeUnit::Nanoseconds, TimeUnit::Steps("line".into())] {
            let clock = Clock::new(i64::MIN, &unit);
            assert!(clock.show(i64::MAX).starts_with('+'));
            assert!(Clock::new(i64::MAX, &unit).show(i64::MIN).starts_with('−'));
        }
    }
}
