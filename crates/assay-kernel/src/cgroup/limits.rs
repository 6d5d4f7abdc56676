//! Limits of a group, and what the kernel counts about them.

use super::Controller;
use super::error::CgroupError;
use super::group::Group;
use super::hierarchy::Version;

/// Processor time is dealt out in periods of this length.
const PERIOD_US: u64 = 100_000;
/// How much more memory and swap together may be than memory: the kernel does not count how often
/// the sum is met, so memory has to be met first.
const SWAP_BYTES: u64 = 1 << 20;
/// Version 1 says no limit as the largest number of whole pages.
const NO_LIMIT_BYTES: u64 = 1 << 62;

/// A share of one processor core, in percent; more than 100 is more than one core.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct CoreShare(u32);

impl CoreShare {
    /// So many percent; nothing at all is what freezing is for.
    pub fn percent(percent: u32) -> Option<CoreShare> {
        (1..=100_000).contains(&percent).then_some(CoreShare(percent))
    }

    fn quota_us(self) -> u64 {
        u64::from(self.0) * PERIOD_US / 100
    }
}

/// What the limit on processor time did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CpuCounts {
    /// Periods in which the group wanted to run.
    pub periods: u64,
    /// Periods in which it was held back.
    pub throttled: u64,
    /// For how long in all, in microseconds.
    pub throttled_us: u64,
}

/// What the limit on memory did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MemoryCounts {
    /// How often the group wanted more than it may have.
    pub hits: u64,
    /// How many of its processes were killed for it.
    pub oom_kills: u64,
}

impl Group {
    /// Allows it no more than a share of one core.
    pub fn limit_cpu(&self, share: CoreShare) -> Result<(), CgroupError> {
        let place = self.place(Controller::Cpu)?;
        match place.version {
            Version::V1 => {
                place.write("cpu.cfs_period_us", &PERIOD_US.to_string())?;
                place.write("cpu.cfs_quota_us", &share.quota_us().to_string())
            }
            Version::V2 => place.write("cpu.max", &format!("{} {PERIOD_US}", share.quota_us())),
        }
    }

    /// Lifts that limit.
    pub fn unlimit_cpu(&self) -> Result<(), CgroupError> {
        let place = self.place(Controller::Cpu)?;
        match place.version {
            Version::V1 => place.write("cpu.cfs_quota_us", "-1"),
            Version::V2 => place.write("cpu.max", "max"),
        }
    }

    /// The limit on processor time as the kernel has it, in microseconds of each period.
    pub fn cpu_limit(&self) -> Result<Option<u64>, CgroupError> {
        let place = self.place(Controller::Cpu)?;
        let text = match place.version {
            Version::V1 => place.read("cpu.cfs_quota_us")?,
            Version::V2 => place.read("cpu.max")?,
        };
        // Without a limit they say -1 or max.
        Ok(text.split_whitespace().next().and_then(|quota| quota.parse().ok()))
    }

    /// What the limit on processor time did so far.
    pub fn cpu_counts(&self) -> Result<CpuCounts, CgroupError> {
        let place = self.place(Controller::Cpu)?;
        let number = |name| place.number("cpu.stat", name);
        let throttled_us = match place.version {
            Version::V1 => number("throttled_time")? / 1_000,
            Version::V2 => number("throttled_usec")?,
        };
        let (periods, throttled) = (number("nr_periods")?, number("nr_throttled")?);
        Ok(CpuCounts { periods, throttled, throttled_us })
    }

    /// Allows it so much memory, without the way out of swapping (but for a megabyte). Refused if
    /// it has more already and cannot give it back.
    pub fn limit_memory(&self, bytes: u64) -> Result<(), CgroupError> {
        let place = self.place(Controller::Memory)?;
        match place.version {
            Version::V1 => {
                let with_swap = bytes.saturating_add(SWAP_BYTES).to_string();
                place.write("memory.limit_in_bytes", &bytes.to_string())?;
                place.write_if_there("memory.memsw.limit_in_bytes", &with_swap)
            }
            Version::V2 => {
                place.write_if_there("memory.swap.max", &SWAP_BYTES.to_string())?;
                place.write("memory.max", &bytes.to_string())
            }
        }
    }

    /// Lifts that limit.
    pub fn unlimit_memory(&self) -> Result<(), CgroupError> {
        let place = self.place(Controller::Memory)?;
        match place.version {
            // The limit with swap may never be below the one without.
            Version::V1 => {
                place.write_if_there("memory.memsw.limit_in_bytes", "-1")?;
                place.write("memory.limit_in_bytes", "-1")
            }
            Version::V2 => {
                place.write("memory.max", "max")?;
                place.write_if_there("memory.swap.max", "max")
            }
        }
    }

    /// The limit on memory as the kernel has it, in bytes.
    pub fn memory_limit(&self) -> Result<Option<u64>, CgroupError> {
        let place = self.place(Controller::Memory)?;
        let text = match place.version {
            Version::V1 => place.read("memory.limit_in_bytes")?,
            Version::V2 => place.read("memory.max")?,
        };
        let bytes = text.trim().parse().ok();
        Ok(bytes.filter(|bytes| *bytes < NO_LIMIT_BYTES))
    }

    /// What the limit on memory did so far.
    pub fn memory_counts(&self) -> Result<MemoryCounts, CgroupError> {
        let place = self.place(Controller::Memory)?;
        let of = |file, name| place.number(file, name);
        Ok(match place.version {
            Version::V1 => MemoryCounts {
                hits: of("memory.failcnt", "")?,
                oom_kills: of("memory.oom_control", "oom_kill")?,
            },
            Version::V2 => MemoryCounts {
                hits: of("memory.events", "max")?,
                oom_kills: of("memory.events", "oom_kill")?,
            },
        })
    }
}
