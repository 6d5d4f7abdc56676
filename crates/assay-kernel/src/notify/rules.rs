//! What is watched, and what is done about it.

use std::path::PathBuf;
use std::time::Duration;

/// No call waits longer than a minute.
pub const DELAY_MAX: Duration = Duration::from_secs(60);
/// A year: no clock is wrong by more.
pub const OFFSET_MS_MAX: i64 = 366 * 24 * 3600 * 1000;
/// A clock may stand still, but never run backwards.
pub const RATE_PPM_MIN: i32 = -1_000_000;
/// A clock may run eleven times as fast as it should.
pub const RATE_PPM_MAX: i32 = 10_000_000;
/// How many rules of a kind may be on at once for one process.
pub const RULES_MAX: usize = 16;

/// Which calls of a process are stopped for an answer. What is not watched costs nothing, and
/// cannot be changed while the process runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Watch {
    /// `fsync`, `fdatasync`, `sync_file_range`, `syncfs`, `msync`, and `sync`, which can be kept
    /// waiting and cannot fail. What a write brings to disk by itself (`O_SYNC`, `O_DSYNC`,
    /// `RWF_DSYNC`) is a write.
    pub syncs: bool,
    /// `write` and its relatives, `sendfile`, `splice` and `copy_file_range` by what they write to,
    /// `fallocate`, `ftruncate`, and opening a file to write or make it.
    /// Writing to a socket is a `write`, too, so this is the dear one.
    pub writes: bool,
    /// Looks at the time of day.
    pub clock: bool,
}

/// Which calls a rule is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Calls {
    /// Those of [`Watch::syncs`].
    Syncs,
    /// Those of [`Watch::writes`].
    Writes,
}

/// How a call fails.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Errno {
    /// `EIO`: the disk is broken. Opening a file does not fail.
    Io,
    /// `ENOSPC`: the disk is full. Of the calls that open a file, those that would make one fail.
    NoSpace,
    /// `EROFS`: nothing may be written.
    ReadOnly,
}

impl Errno {
    pub(super) fn code(self) -> i32 {
        match self {
            Errno::Io => libc::EIO,
            Errno::NoSpace => libc::ENOSPC,
            Errno::ReadOnly => libc::EROFS,
        }
    }

    /// As programs log it.
    pub fn name(self) -> &'static str {
        match self {
            Errno::Io => "EIO",
            Errno::NoSpace => "ENOSPC",
            Errno::ReadOnly => "EROFS",
        }
    }
}

/// What happens to a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Deed {
    /// It is not done, and fails.
    Fail(Errno),
    /// It waits, and is done then; opening a file does not wait.
    Delay(Duration),
}

/// Which of the calls a rule is about it hits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Share {
    /// All.
    All,
    /// So many of a thousand, drawn from the seed: the same calls are hit each time.
    PerMille {
        /// How many.
        share: u16,
        /// What they are drawn from.
        seed: u64,
    },
}

impl Share {
    /// Whether the call with this number is hit.
    pub(super) fn hits(self, number: u64) -> bool {
        match self {
            Share::All => true,
            Share::PerMille { share, seed } => mixed(seed, number) % 1000 < u64::from(share),
        }
    }
}

/// A number that looks drawn, always the same for the same seed and number (splitmix64).
fn mixed(seed: u64, number: u64) -> u64 {
    let mut z = seed.wrapping_add(number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A rule for calls about files.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CallRule {
    /// Which calls.
    pub calls: Calls,
    /// Only files below this directory count.
    pub below: PathBuf,
    /// What happens.
    pub deed: Deed,
    /// The first call that it happens to, counted from 1 when the rule is imposed.
    pub from_nth: u64,
    /// Which of the calls from then on.
    pub share: Share,
}

impl CallRule {
    /// A rule that hits every such call below a directory, from the first.
    pub fn new(calls: Calls, below: impl Into<PathBuf>, deed: Deed) -> CallRule {
        CallRule { calls, below: below.into(), deed, from_nth: 1, share: Share::All }
    }
}

/// A rule for the time of day. Timers and the monotonic clock are not moved, as they are not when
/// somebody sets a clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ClockRule {
    /// How far it is off at once, in milliseconds; negative is behind.
    pub offset_ms: i64,
    /// By how many millionths it is too fast, counted from the moment the rule is imposed, so that
    /// the clock does not jump; negative is too slow, -1 000 000 stands still.
    pub rate_ppm: i32,
}

impl ClockRule {
    /// How far the clock is off, in nanoseconds, so long after the rule was imposed.
    pub(super) fn off_ns(self, elapsed_ns: i128) -> i128 {
        i128::from(self.offset_ms) * 1_000_000 + elapsed_ns * i128::from(self.rate_ppm) / 1_000_000
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_begins_where_the_clock_was() {
        let slow = ClockRule { offset_ms: 0, rate_ppm: -100_000 };
        let cases = [
            (slow, 0, 0),
            (slow, 10, -1_000_000_000),
            (ClockRule { offset_ms: 5, rate_ppm: 0 }, 10, 5_000_000),
            (ClockRule { offset_ms: -5, rate_ppm: 1_000_000 }, 1, 995_000_000),
            (ClockRule { offset_ms: 0, rate_ppm: RATE_PPM_MIN }, 3, -3_000_000_000),
        ];
        for (rule, seconds, expected) in cases {
            assert_eq!(rule.off_ns(seconds * 1_000_000_000), expected, "{rule:?}");
        }
    }

    #[test]
    fn a_share_is_about_as_large_as_it_says_and_the_same_each_time() {
        for share in [0, 1, 250, 999, 1000] {
            let drawn = Share::PerMille { share, seed: 7 };
            let hits: Vec<bool> = (1..=20_000).map(|number| drawn.hits(number)).collect();
            let count = hits.iter().filter(|hit| **hit).count();
            assert!(count.abs_diff(usize::from(share) * 20) < 400, "{share}: {count}");
            assert_eq!(hits, (1..=20_000).map(|number| drawn.hits(number)).collect::<Vec<_>>());
        }
        assert!(Share::All.hits(1));
    }
}
