//! Times as people write them: `500ms`, `30s`, `5m`, `24h`, and ranges of them.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::time::Duration;

/// A length of time of at most a year, written with its unit.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Time(pub Duration);

/// Anything longer is a mistake.
const DAYS_MAX: u64 = 366;

impl Time {
    /// So many milliseconds.
    pub const fn ms(count: u64) -> Time {
        Time(Duration::from_millis(count))
    }

    /// So many seconds.
    pub const fn secs(count: u64) -> Time {
        Time(Duration::from_secs(count))
    }

    /// Reads `30s`; a space before the unit is fine.
    ///
    /// # Errors
    /// What was expected.
    pub fn parse(text: &str) -> Result<Time, String> {
        let wrong =
            || format!("`{}` is no time with its unit, such as 500ms, 30s or 5m", show(text));
        let text = text.trim();
        let split = text.find(|c: char| !c.is_ascii_digit() && c != '.').ok_or_else(wrong)?;
        let number: f64 = text[..split].parse().map_err(|_| wrong())?;
        let seconds = number * unit_seconds(text[split..].trim()).ok_or_else(wrong)?;
        if !(0.0..=(DAYS_MAX * 86_400) as f64).contains(&seconds) {
            return Err(format!("`{}` is longer than a year", show(text)));
        }
        Ok(Time(Duration::from_nanos((seconds * 1e9).round() as u64)))
    }
}

/// Seconds in a unit of time.
pub(crate) fn unit_seconds(unit: &str) -> Option<f64> {
    Some(match unit {
        "us" | "µs" => 1e-6,
        "ms" => 1e-3,
        "s" | "sec" | "second" | "seconds" => 1.0,
        "m" | "min" | "minute" | "minutes" => 60.0,
        "h" | "hour" | "hours" => 3_600.0,
        "d" | "day" | "days" => 86_400.0,
        _ => return None,
    })
}

/// A word of the input, short enough for a message.
pub(crate) fn show(text: &str) -> String {
    const CHARS_MAX: usize = 40;
    let mut shown: String = text.trim().chars().take(CHARS_MAX).collect();
    if text.trim().chars().count() > CHARS_MAX {
        shown.push('…');
    }
    shown
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nanos = self.0.as_nanos() as u64;
        let units = [(3_600_000_000_000, "h"), (60_000_000_000, "m"), (1_000_000_000, "s")];
        let small = [(1_000_000, "ms"), (1_000, "us")];
        for (unit, name) in units.into_iter().chain(small) {
            if nanos > 0 && nanos.is_multiple_of(unit) {
                return write!(f, "{}{name}", nanos / unit);
            }
        }
        write!(f, "{}s", self.0.as_secs_f64())
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Time, D::Error> {
        let text = String::deserialize(deserializer)?;
        Time::parse(&text).map_err(serde::de::Error::custom)
    }
}

/// A time, or a range the seed draws from: `5s` or `5s..20s`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TimeRange {
    /// The least.
    pub min: Time,
    /// The most; equal to `min` when nothing is drawn.
    pub max: Time,
}

impl TimeRange {
    /// Reads `5s` or `5s..20s`.
    ///
    /// # Errors
    /// What was expected.
    pub fn parse(text: &str) -> Result<TimeRange, String> {
        let (min, max) = match text.split_once("..") {
            Some((min, max)) => (Time::parse(min)?, Time::parse(max)?),
            None => (Time::parse(text)?, Time::parse(text)?),
        };
        if min > max {
            return Err(format!("the range `{}` ends before it begins", show(text)));
        }
        Ok(TimeRange { min, max })
    }

    /// Whether the seed has a say.
    pub fn is_drawn(self) -> bool {
        self.min != self.max
    }
}

impl fmt::Display for TimeRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.is_drawn() {
            true => write!(f, "{}..{}", self.min, self.max),
            false => self.min.fmt(f),
        }
    }
}

impl Serialize for TimeRange {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for TimeRange {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<TimeRange, D::Error> {
        let text = String::deserialize(deserializer)?;
        TimeRange::parse(&text).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::{Time, TimeRange};

    #[test]
    fn times_are_written_with_their_unit() {
        for (text, expected) in [
            ("500ms", "500ms"),
            ("1.5s", "1500ms"),
            ("90 s", "90s"),
            ("120s", "2m"),
            ("24h", "24h"),
            ("0s", "0s"),
        ] {
            assert_eq!(Time::parse(text).map(|t| t.to_string()), Ok(expected.into()), "{text}");
        }
        for text in ["", "30", "s", "-1s", "1e9s", "500h..", "9999999999h", "1.2.3s"] {
            assert!(Time::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn ranges_are_drawn_from_and_do_not_run_backwards() {
        let range = TimeRange::parse("5s..20s").expect("a range");
        assert!(range.is_drawn() && range.to_string() == "5s..20s");
        assert!(!TimeRange::parse("5s").expect("a time").is_drawn());
        assert!(TimeRange::parse("20s..5s").is_err());
    }
}
