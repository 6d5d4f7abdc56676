//! What `with` may say about a fault: one table for the lint, the runner and the documents.
//!
//! A key that nobody reads would leave a fault at its usual strength while the plan says otherwise,
//! so it is refused, as is a value that means nothing.
//!
//! ```
//! use assay_plan::faults::Fault;
//! use assay_plan::machine::Setting;
//!
//! let delay = Fault::named("delay").expect("in the table");
//! let given = [("dleay".to_string(), Setting::Text("50ms".into()))].into();
//! assert_eq!(
//!     delay.problems(&given)[0].to_string(),
//!     "with.dleay: fault delay knows no such option: did you mean `delay`?"
//! );
//! ```

use super::Fault;
use crate::machine::{Setting, Settings};
use crate::time::Time;
use crate::words::nearest;
use serde::Serialize;
use std::time::Duration;

/// An option of a fault.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct FaultOption {
    /// Its key below `with`.
    pub name: &'static str,
    /// What it is a number of.
    pub worth: Worth,
    /// What it does.
    pub about: &'static str,
}

/// What values an option takes, and which one it has if nobody says.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Worth {
    /// A time such as `"200ms"`, up to a limit.
    Time {
        /// In milliseconds.
        default_ms: u64,
        /// The longest, in milliseconds.
        max_ms: u64,
    },
    /// A number of bytes, or a text such as `"64KiB"`.
    Size {
        /// `None`: it depends, as `about` says.
        default: Option<u64>,
        /// The smallest.
        min: u64,
        /// The largest.
        max: u64,
    },
    /// A whole number.
    Count {
        /// If nobody says.
        default: i64,
        /// The smallest.
        min: i64,
        /// The largest.
        max: i64,
    },
    /// True or false; false if nobody says.
    Flag,
    /// A file below the node's data directory; it has to be named.
    File,
}

/// Why an option does not do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OptionProblem {
    /// Its key.
    pub option: String,
    /// What is wrong, and what to do.
    pub why: String,
}

impl std::fmt::Display for OptionProblem {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "with.{}: {}", self.option, self.why)
    }
}

const fn option(name: &'static str, worth: Worth, about: &'static str) -> FaultOption {
    FaultOption { name, worth, about }
}

const fn time(default_ms: u64, max_ms: u64) -> Worth {
    Worth::Time { default_ms, max_ms }
}

const fn size(default: u64, max: u64) -> Worth {
    Worth::Size { default: Some(default), min: 1, max }
}

const fn count(default: i64, min: i64, max: i64) -> Worth {
    Worth::Count { default, min, max }
}

/// A minute: the longest that anything is kept waiting.
const WAIT_MS_MAX: u64 = 60_000;
/// A year and a day.
const OFFSET_MS_MAX: u64 = 366 * 24 * 3_600_000;
const TIB: u64 = 1 << 40;

const DELAY: &[FaultOption] = &[
    option("delay", time(200, WAIT_MS_MAX), "how long each message is kept back"),
    option("jitter", time(0, WAIT_MS_MAX), "up to so much more, drawn from the seed"),
];
const ROUND: &[FaultOption] =
    &[option("down", time(300, WAIT_MS_MAX), "how long a node stays away in its turn")];
const WRONG_ROUND: &[FaultOption] = &[option(
    "down",
    time(2_000, WAIT_MS_MAX),
    "how long a node stays away in its turn; longer than an election takes",
)];
const PACKETS: &[FaultOption] =
    &[option("percent", count(10, 1, 100), "the share of packets it happens to")];
const FILE: FaultOption = option("file", Worth::File, "which file of the node's data directory");
const BITS: FaultOption = option("bits", count(1, 1, 10_000), "how many bits are turned over");
const SHARE: FaultOption = option("percent", count(100, 1, 100), "the share of calls it meets");
const FROM: FaultOption =
    option("from", count(1, 1, 1_000_000_000), "the first call it meets, counted from 1");

/// What each fault understands; a fault that is not here understands nothing.
const OPTIONS: &[(&str, &[FaultOption])] = &[
    ("delay", DELAY),
    ("slow-follower", DELAY),
    ("rate", &[option("rate", size(64 << 10, TIB), "bytes a second")]),
    ("slice", &[option("bytes", size(1, 1 << 30), "of each piece")]),
    ("roll", ROUND),
    ("roll-wrong", WRONG_ROUND),
    ("loss", PACKETS),
    ("dup", PACKETS),
    ("reorder", PACKETS),
    (
        "disk-full",
        &[option(
            "bytes",
            Worth::Size { default: None, min: 1, max: TIB },
            "the most that is written; 1 GiB unless given",
        )],
    ),
    ("slow-disk", &[option("rate", size(200_000, TIB), "bytes a second")]),
    ("bitflip", &[FILE, BITS]),
    (
        "corrupt",
        &[
            FILE,
            BITS,
            option(
                "truncate",
                Worth::Size { default: None, min: 1, max: TIB },
                "cut so many bytes off the end instead of turning bits over",
            ),
        ],
    ),
    ("torn-tail", &[FILE, option("bytes", size(200, TIB), "how many bytes at the end are zeroed")]),
    ("fsync-fail", &[SHARE, FROM]),
    (
        "slow-fsync",
        &[option("delay", time(200, WAIT_MS_MAX), "how long each call waits"), SHARE, FROM],
    ),
    ("disk-enospc", &[SHARE, FROM]),
    ("disk-readonly", &[SHARE, FROM]),
    (
        "skew",
        &[
            option("offset", time(60_000, OFFSET_MS_MAX), "how far the clock is off"),
            option("behind", Worth::Flag, "whether it is behind instead of ahead"),
            option(
                "preload",
                Worth::Flag,
                "whether libfaketime moves it, of one node that is linked dynamically",
            ),
        ],
    ),
    (
        "slowclock",
        &[option(
            "ppm",
            count(-100_000, -1_000_000, 10_000_000),
            "parts of a million the clock is too fast; less than 0: too slow",
        )],
    ),
    ("cpu-quota", &[option("percent", count(10, 1, 100_000), "of one core")]),
    ("memory-limit", &[option("bytes", size(16 << 20, TIB), "what the node may have")]),
];

impl Fault {
    /// What `with` may say about it.
    pub fn options(&self) -> &'static [FaultOption] {
        OPTIONS.iter().find(|(id, _)| *id == self.id).map_or(&[], |(_, options)| options)
    }

    /// What is wrong with what a plan says in `with`; empty if nothing is. A value with a
    /// placeholder in braces is taken for whatever will stand there.
    pub fn problems(&self, given: &Settings) -> Vec<OptionProblem> {
        let mut problems = Vec::new();
        for (name, value) in given {
            let known = self.options().iter().find(|option| option.name == name);
            let why = match known {
                None => Some(self.unknown(name)),
                Some(option) => option.worth.trouble(value),
            };
            problems.extend(why.map(|why| OptionProblem { option: name.clone(), why }));
        }
        let needed = |option: &&FaultOption| option.worth == Worth::File;
        for option in self.options().iter().filter(needed) {
            if !given.contains_key(option.name) {
                let why = "name a file in the node's data directory, such as file = \"log\"";
                let (option, why) = (option.name.to_string(), why.to_string());
                problems.push(OptionProblem { option, why });
            }
        }
        problems
    }

    fn unknown(&self, name: &str) -> String {
        let names: Vec<&str> = self.options().iter().map(|option| option.name).collect();
        let start = format!("fault {} knows no such option", self.id);
        match (names.as_slice(), nearest(name, names.iter().copied())) {
            ([], _) => format!("{start}: it has none"),
            (_, Some(near)) => format!("{start}: did you mean `{near}`?"),
            (_, None) => format!("{start}; it has {}", names.join(", ")),
        }
    }
}

impl Worth {
    /// Why a value is none of these.
    fn trouble(self, value: &Setting) -> Option<String> {
        if matches!(value, Setting::Text(text) if text.contains('{')) {
            return None;
        }
        match (self, value) {
            (Worth::Time { max_ms, .. }, Setting::Text(text)) => match Time::parse(text) {
                Err(why) => Some(why),
                Ok(Time(time)) if time > Duration::from_millis(max_ms) => {
                    Some(format!("is longer than {}", Worth::ms(max_ms)))
                }
                Ok(_) => None,
            },
            (Worth::Time { .. }, _) => Some("is no time like \"200ms\"".to_string()),
            (Worth::Size { min, max, .. }, value) => match bytes(value) {
                None => Some("is no size like 4096 or \"64KiB\"".to_string()),
                Some(bytes) if !(min..=max).contains(&bytes) => {
                    Some(format!("is not between {min} and {max} bytes"))
                }
                Some(_) => None,
            },
            (Worth::Count { min, max, .. }, Setting::Integer(number)) => {
                let inside = (min..=max).contains(number);
                (!inside).then(|| format!("{number} is not between {min} and {max}"))
            }
            (Worth::Count { .. }, _) => Some("is no whole number".to_string()),
            (Worth::Flag, Setting::Flag(_)) => None,
            (Worth::Flag, _) => Some("is neither true nor false".to_string()),
            (Worth::File, Setting::Text(text)) if is_inside(text) => None,
            (Worth::File, _) => {
                Some("is no file in the node's data directory, such as \"log\"".to_string())
            }
        }
    }

    fn ms(ms: u64) -> String {
        match ms {
            0 => "0".to_string(),
            ms if ms % 86_400_000 == 0 => format!("{} days", ms / 86_400_000),
            ms if ms % 1_000 == 0 => format!("{} s", ms / 1_000),
            ms => format!("{ms} ms"),
        }
    }

    /// Unit, default and range, for a table.
    pub fn words(self) -> String {
        let size = |bytes: u64| match bytes {
            0 => "0".to_string(),
            b if b % (1 << 40) == 0 => format!("{} TiB", b >> 40),
            b if b % (1 << 30) == 0 => format!("{} GiB", b >> 30),
            b if b % (1 << 20) == 0 => format!("{} MiB", b >> 20),
            b if b % (1 << 10) == 0 => format!("{} KiB", b >> 10),
            b => format!("{b} B"),
        };
        match self {
            Worth::Time { default_ms, max_ms } => {
                format!("a time, at most {}; {}", Worth::ms(max_ms), Worth::ms(default_ms))
            }
            Worth::Size { default, min, max } => {
                let default = default.map_or("none".to_string(), size);
                format!("bytes, {} to {}; {default}", size(min), size(max))
            }
            Worth::Count { default, min, max } => format!("a number, {min} to {max}; {default}"),
            Worth::Flag => "true or false; false".to_string(),
            Worth::File => "a file; it must be named".to_string(),
        }
    }
}

/// A number of bytes, or a text such as `64KiB`.
pub fn bytes(value: &Setting) -> Option<u64> {
    let text = match value {
        Setting::Integer(number) => return u64::try_from(*number).ok(),
        Setting::Text(text) => text.trim(),
        _ => return None,
    };
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let factor: u64 = match unit.trim() {
        "" | "B" => 1,
        "KiB" | "K" | "k" => 1 << 10,
        "kB" | "KB" => 1_000,
        "MiB" | "M" => 1 << 20,
        "MB" => 1_000_000,
        "GiB" | "G" => 1 << 30,
        "GB" => 1_000_000_000,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(factor)
}

/// Whether it is a plain path that does not lead out of a directory.
fn is_inside(text: &str) -> bool {
    let path = std::path::Path::new(text);
    let plain = path.components().all(|part| matches!(part, std::path::Component::Normal(_)));
    !text.is_empty() && plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(fault: &str, option: &str, value: Setting) -> Vec<String> {
        let fault = Fault::named(fault).expect("in the table");
        let mut given = Settings::from([(option.to_string(), value)]);
        if fault.options().iter().any(|option| option.worth == Worth::File) {
            given.entry("file".to_string()).or_insert(Setting::Text("log".into()));
        }
        fault.problems(&given).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_nobody_reads_or_means_nothing_is_refused() {
        let text = |text: &str| Setting::Text(text.to_string());
        let (good, bad) = (None, Some);
        let cases = [
            ("delay", "delay", text("60ms"), good),
            ("delay", "delay", text("{delay}"), good),
            ("delay", "delays", text("60ms"), bad("did you mean `delay`")),
            ("delay", "delay", Setting::Integer(60), bad("no time")),
            ("delay", "jitter", text("2m"), bad("longer than 60 s")),
            ("kill9", "percent", Setting::Integer(3), bad("it has none")),
            ("loss", "percent", Setting::Integer(100), good),
            ("loss", "percent", Setting::Integer(0), bad("between 1 and 100")),
            ("loss", "percent", Setting::Integer(101), bad("between 1 and 100")),
            ("loss", "percent", text("10"), bad("no whole number")),
            ("rate", "rate", text("64KiB"), good),
            ("rate", "rate", Setting::Integer(0), bad("between 1")),
            ("rate", "rate", Setting::Integer(-1), bad("no size")),
            ("skew", "behind", Setting::Flag(true), good),
            ("skew", "behind", text("yes"), bad("neither true nor false")),
            ("slowclock", "ppm", Setting::Integer(-1_000_000), good),
            ("slowclock", "ppm", Setting::Integer(-1_000_001), bad("between")),
            ("bitflip", "bits", Setting::Integer(10_001), bad("between 1 and 10000")),
            ("bitflip", "file", text("../log"), bad("no file")),
            ("bitflip", "file", text("/log"), bad("no file")),
            ("corrupt", "truncate", text("1KiB"), good),
        ];
        for (fault, option, value, expected) in cases {
            let found = one(fault, option, value.clone());
            match expected {
                None => assert!(found.is_empty(), "{fault} {option} {value:?}: {found:?}"),
                Some(part) => {
                    let told = matches!(found.as_slice(), [only] if only.contains(part));
                    assert!(told, "{fault} {option} {value:?}: {found:?}");
                }
            }
        }
    }

    #[test]
    fn a_file_that_is_needed_has_to_be_named() {
        let torn = Fault::named("torn-tail").expect("in the table");
        let problems = torn.problems(&Settings::new());
        assert!(problems.iter().any(|problem| problem.option == "file"), "{problems:?}");
    }

    #[test]
    fn options_belong_to_faults_that_there_are() {
        for (id, options) in OPTIONS {
            assert!(Fault::named(id).is_some_and(|fault| fault.id == *id), "{id}");
            assert!(!options.is_empty(), "{id}");
        }
    }
}
