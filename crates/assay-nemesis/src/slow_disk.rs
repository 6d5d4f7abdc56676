//! A disk that takes only so much at a time.

use crate::journal::Undo;
use crate::means::{Means, Reading};
use crate::resources::{frees, said, somebody};
use assay_kernel::Device;
use assay_kernel::cgroup::{DiskCounts, Group, WriteLimit};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The shortest time over which a disk is watched: throttling deals out what is allowed in slices
/// that are shorter.
const WATCH_TIME_MIN: Duration = Duration::from_millis(200);
/// The longest: what is not used up within it was not waited for.
const WATCH_TIME_MAX: Duration = Duration::from_secs(1);
/// Who has used this part of what the limit allows has used it up: slices have edges.
const USED_UP_PERCENT: u128 = 90;

/// Nodes write to their disks only so fast. Felt by those who sync.
#[derive(Debug)]
pub struct SlowDisk {
    disks: Vec<(Arc<Group>, Device)>,
    limit: WriteLimit,
    /// What is known of each disk, in the same order; nothing before the limit is on.
    used: Mutex<Vec<Used>>,
}

/// How much of what it is allowed a disk has used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Used {
    since: Instant,
    /// What had been written then.
    at: u64,
    /// How often it was used up.
    times: u64,
    /// The limit is still on.
    on: bool,
}

impl Used {
    fn new(now: Instant, at: u64) -> Used {
        Used { since: now, at, times: 0, on: true }
    }

    /// So much has been written by now; so much a second is allowed.
    fn look(&mut self, now: Instant, written: u64, per_s: u64) {
        let time = now.saturating_duration_since(self.since);
        if !self.on || time < WATCH_TIME_MIN {
            return;
        }
        let since = u128::from(written.saturating_sub(self.at));
        let allowed_us = u128::from(per_s) * time.as_micros();
        let used_up = since > 0 && since * 1_000_000 * 100 >= allowed_us * USED_UP_PERCENT;
        if used_up || time >= WATCH_TIME_MAX {
            self.times += u64::from(used_up);
            (self.since, self.at) = (now, written);
        }
    }
}

impl SlowDisk {
    /// Each of these groups on the device of its volume.
    pub fn of(disks: Vec<(Arc<Group>, Device)>, limit: WriteLimit) -> SlowDisk {
        SlowDisk { disks, limit, used: Mutex::default() }
    }

    fn used(&self) -> MutexGuard<'_, Vec<Used>> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a group has written to its disk, in the unit of the limit.
    fn written(&self, (group, device): &(Arc<Group>, Device)) -> Option<u64> {
        let number = |counts: DiskCounts| match self.limit.bytes_per_s {
            Some(_) => counts.bytes,
            None => counts.ios,
        };
        group.disk_counts(*device).ok().map(number)
    }

    fn groups(&self) -> impl Iterator<Item = &Arc<Group>> {
        self.disks.iter().map(|(group, _)| group)
    }
}

impl Means for SlowDisk {
    fn preflight(&self) -> Result<(), String> {
        if self.limit == WriteLimit::default() {
            return Err("no limit was given: say how many bytes or writes a second".to_string());
        }
        somebody(self.groups())
    }

    fn undo_steps(&self) -> Vec<Undo> {
        frees(self.groups())
    }

    fn begin(&self) -> Result<(), String> {
        self.disks.iter().try_for_each(|(group, device)| {
            group.limit_writes(*device, self.limit).map_err(|error| said(group, &error))
        })?;
        let now = Instant::now();
        let start = |disk| {
            let uncounted = || format!("{}: nobody counts its writes", disk_name(disk));
            self.written(disk).map(|at| Used::new(now, at)).ok_or_else(uncounted)
        };
        *self.used() = self.disks.iter().map(start).collect::<Result<_, String>>()?;
        Ok(())
    }

    fn undo(&self) -> Vec<Result<String, String>> {
        self.used().iter_mut().for_each(|used| used.on = false);
        let one = |(group, device): &(Arc<Group>, Device)| {
            group.unlimit_writes(*device).map_err(|error| said(group, &error))?;
            Ok(format!("{}: writes to {device} are not limited", group.node()))
        };
        self.disks.iter().map(one).collect()
    }

    fn counted(&self) -> &'static str {
        "times a disk had used up its limit"
    }

    /// Each disk has to be held back.
    fn moves_by_min(&self) -> u64 {
        self.disks.len() as u64
    }

    fn read(&self) -> Vec<Reading> {
        let per_s = self.limit.bytes_per_s.or(self.limit.ios_per_s).unwrap_or(0);
        let (mut used, now) = (self.used(), Instant::now());
        let one = |(index, disk): (usize, &(Arc<Group>, Device))| {
            let times = match used.get_mut(index) {
                None => Some(0),
                Some(used) => self.written(disk).map(|written| {
                    used.look(now, written, per_s);
                    used.times
                }),
            };
            (disk_name(disk), times)
        };
        self.disks.iter().enumerate().map(one).collect()
    }

    fn proof(&self) -> Vec<Result<String, String>> {
        let one = |(group, device): &(Arc<Group>, Device)| match group
            .write_limit(*device)
            .map_err(|error| said(group, &error))?
        {
            limit if limit == WriteLimit::default() => {
                Ok(format!("{}: the kernel has no limit on writes to {device}", group.node()))
            }
            _ => Err(format!("{}: writes to {device} are still limited", group.node())),
        };
        self.disks.iter().map(one).collect()
    }
}

fn disk_name((group, device): &(Arc<Group>, Device)) -> String {
    format!("{} {device}", group.node())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_who_writes_as_much_as_is_allowed_is_held_back() {
        // Bytes that are written at a time, how often, and how often the limit was used up, if
        // 64 KiB a second are allowed for ten seconds.
        let cases: [(u64, u64, std::ops::RangeInclusive<u64>); 6] = [
            (0, 100, 0..=0),
            (4 << 10, 500, 0..=0),
            (1 << 10, 20, 0..=0),
            (16 << 10, 250, 20..=50),
            (1 << 20, 16_000, 1..=1),
            (64 << 10, 1_000, 5..=10),
        ];
        for (bytes, every_ms, times) in cases {
            let start = Instant::now();
            let mut used = Used::new(start, 0);
            for ms in (0..10_000).step_by(20) {
                let written = bytes * (1 + ms / every_ms);
                used.look(start + Duration::from_millis(ms), written, 64 << 10);
            }
            assert!(times.contains(&used.times), "{bytes} every {every_ms} ms: {}", used.times);
        }
    }

    #[test]
    fn what_is_written_after_the_limit_was_lifted_is_not_counted() {
        let start = Instant::now();
        let mut used = Used::new(start, 0);
        used.on = false;
        used.look(start + WATCH_TIME_MAX, 1 << 30, 1);
        assert_eq!(used.times, 0);
    }
}
