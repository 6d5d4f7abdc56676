//! Options by name, as a command line gives them: `reorder-window=2`, `slo.p99=20ms`.

use crate::options::{Group, Options, Origin};

/// A setting: its name, what it is for, an example.
pub struct Setting {
    /// Its name.
    pub name: &'static str,
    /// What it is for.
    pub about: &'static str,
    /// A value it can have.
    pub example: &'static str,
    set: fn(&mut Options, &str) -> Result<(), String>,
}

macro_rules! settings {
    ($($name:literal, $example:literal, $about:literal, $set:expr;)*) => {
        /// All settings.
        pub static SETTINGS: &[Setting] =
            &[$(Setting { name: $name, about: $about, example: $example, set: $set },)*];
    };
}

settings! {
    "business-key", "request.id", "where the idempotency key stands inside an input",
        |o, v| put(&mut o.business_key, Ok(v.to_string()));
    "delivery-key", "handed", "where the number of a delivery stands inside an effect",
        |o, v| put(&mut o.delivery_key, Ok(v.to_string()));
    "reorder-window", "2", "how many places a consumer may see an element late",
        |o, v| number(v).map(|n| o.reorder_window = n);
    "redelivery-allowed", "true", "whether a consumer may see an element again",
        |o, v| number(v).map(|b| o.redelivery_allowed = b);
    "stale-reads-allowed", "true", "whether a set may miss an element for a while",
        |o, v| number(v).map(|b| o.stale_reads_allowed = b);
    "ignore-fields", "updated_at,host", "fields that may differ between two states",
        |o, v| { o.ignore_fields = words(v); Ok(()) };
    "settle", "5s", "so long after the last operation a state is final",
        |o, v| put(&mut o.settle_ns, nanoseconds(v));
    "invariant", "sum(accounts.*.balance) == 100", "what must hold at rest",
        |o, v| put(&mut o.invariant, Ok(v.to_string()));
    "background-idle", "true", "shown apart: nothing was at work in the background at the dump",
        |o, v| number(v).map(|b| o.background_idle = b);
    "replicas-converged", "true", "shown apart: replicas had converged at the dump",
        |o, v| number(v).map(|b| o.replicas_converged = b);
    "total", "100", "what all accounts hold together",
        |o, v| put(&mut o.total, number(v));
    "negative-allowed", "true", "whether accounts may be overdrawn",
        |o, v| number(v).map(|b| o.negative_allowed = b);
    "opening-balance", "0", "what each account of a ledger holds at first",
        |o, v| number(v).map(|n| o.opening_balance = n);
    "lease-ttl", "10s", "how long a lease lasts",
        |o, v| put(&mut o.lease_ttl_ns, nanoseconds(v));
    "clock-skew", "5ms", "how far clocks of different processes may differ",
        |o, v| put(&mut o.clock_skew_ns, nanoseconds(v));
    "members-at-start", "n1,n2", "members that were there before the first join",
        |o, v| { o.members_at_start = words(v); Ok(()) };
    "group", "key", "what fairness is between: key, process, node, or a path in the input",
        |o, v| { o.group = group(v); Ok(()) };
    "groups-expected", "a,b", "groups that must show up",
        |o, v| { o.groups_expected = words(v); Ok(()) };
    "fairness.p99-ratio", "3", "the worst group's p99 over that of all operations, at most",
        |o, v| fixed(&mut o.fairness.origin, put(&mut o.fairness.p99_ratio_max, number(v)));
    "fairness.throughput", "10", "operations per second that every group must reach",
        |o, v| fixed(&mut o.fairness.origin, put(&mut o.fairness.throughput_min, number(v)));
    "fairness.error-rate", "0", "the share of failed operations no group may exceed",
        |o, v| fixed(&mut o.fairness.origin, put(&mut o.fairness.error_rate_max, number(v)));
    "fairness.repeat-spread", "2", "largest over smallest p99 among repeats, at most",
        |o, v| fixed(&mut o.fairness.origin, put(&mut o.fairness.repeat_spread_max, number(v)));
    "fairness.repeats", "3", "into how many spans of time the run is cut for the repeat spread",
        |o, v| number(v).map(|n| o.fairness.repeats = n);
    "slo.p50", "5ms", "median latency, at most",
        |o, v| fixed(&mut o.slo.origin, put(&mut o.slo.p50_ns_max, nanoseconds(v)));
    "slo.p99", "50ms", "99th percentile, at most",
        |o, v| fixed(&mut o.slo.origin, put(&mut o.slo.p99_ns_max, nanoseconds(v)));
    "slo.p999", "200ms", "99.9th percentile, at most",
        |o, v| fixed(&mut o.slo.origin, put(&mut o.slo.p999_ns_max, nanoseconds(v)));
    "slo.error-rate", "0.01", "share of operations that may fail",
        |o, v| fixed(&mut o.slo.origin, put(&mut o.slo.error_rate_max, number(v)));
    "slo.throughput", "100", "successful operations per second, at least",
        |o, v| fixed(&mut o.slo.origin, put(&mut o.slo.throughput_min, number(v)));
    "slo.availability", "0.999", "share of operations that must succeed",
        |o, v| fixed(&mut o.slo.origin, put(&mut o.slo.availability_min, number(v)));
    "slo.window", "10s", "the length of the windows each judged apart",
        |o, v| put(&mut o.slo.window_ns, nanoseconds(v));
    "baseline.tolerance", "0.05", "how much larger the candidate's mean may be",
        |o, v| number(v).map(|n| o.baseline.tolerance = n);
    "baseline.confidence", "0.95", "the confidence of the interval",
        |o, v| number(v).map(|n| o.baseline.confidence = n);
    "baseline.resamples", "2000", "how often the runs are drawn again",
        |o, v| number(v).map(|n| o.baseline.resamples = n);
    "baseline.seed", "1", "what the draws start from",
        |o, v| number(v).map(|n| o.baseline.seed = n);
    "assertions-expected", "no-orphans", "assertions that must fire",
        |o, v| { o.assertions_expected = words(v); Ok(()) };
}

impl Options {
    /// Sets an option by name. Limits set this way count as fixed beforehand.
    ///
    /// # Errors
    /// If there is no such option, or it cannot have this value.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        let Some(setting) = SETTINGS.iter().find(|setting| setting.name == name) else {
            let names: Vec<&str> = SETTINGS.iter().map(|setting| setting.name).collect();
            return Err(format!("there is no option {name}; there are {}", names.join(", ")));
        };
        (setting.set)(self, value)
            .map_err(|why| format!("{name}={value}: {why}, such as {name}={}", setting.example))
    }
}

fn put<T>(place: &mut Option<T>, value: Result<T, String>) -> Result<(), String> {
    *place = Some(value?);
    Ok(())
}

fn fixed(origin: &mut Origin, set: Result<(), String>) -> Result<(), String> {
    *origin = Origin::FixedBefore;
    set
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.trim().parse().map_err(|_| "expected another kind of value".to_string())
}

fn words(text: &str) -> Vec<String> {
    let words = text.split(',').map(|word| word.trim().to_string());
    words.filter(|word| !word.is_empty()).collect()
}

fn group(text: &str) -> Group {
    match text {
        "key" => Group::Key,
        "process" => Group::Process,
        "node" => Group::Node,
        path => Group::Input(path.to_string()),
    }
}

/// A time with its unit, in nanoseconds.
fn nanoseconds(text: &str) -> Result<i64, String> {
    let wrong = || "expected a time with its unit".to_string();
    let at = text.find(|c: char| c.is_ascii_alphabetic()).ok_or_else(wrong)?;
    let (value, unit) = text.split_at(at);
    let factor = match unit {
        "ns" => 1.0,
        "us" | "µs" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        "m" | "min" => 60e9,
        "h" => 3600e9,
        _ => return Err(wrong()),
    };
    let value: f64 = value.trim().parse().map_err(|_| wrong())?;
    let ns = value * factor;
    ((0.0..9e18).contains(&ns)).then_some(ns as i64).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_takes_its_example_and_refuses_nonsense() {
        for setting in SETTINGS {
            let mut options = Options::default();
            assert_eq!(options.set(setting.name, setting.example), Ok(()), "{}", setting.name);
        }
        let mut options = Options::default();
        for (name, value) in [("slo.p99", "5"), ("total", "x"), ("settle", "-1s"), ("no", "1")] {
            assert!(options.set(name, value).is_err(), "{name}={value}");
        }
        assert_eq!(options.set("slo.p99", "1.5ms"), Ok(()));
        assert_eq!(options.slo.p99_ns_max, Some(1_500_000));
        assert_eq!(options.slo.origin, Origin::FixedBefore);
    }
}
