//! Limits on writes to a disk, and what was written.

use super::Controller;
use super::error::CgroupError;
use super::group::Group;
use super::hierarchy::Version;
use crate::device::Device;

/// How fast a group may write to a device; what is not given is not limited.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct WriteLimit {
    /// Bytes in a second.
    pub bytes_per_s: Option<u64>,
    /// Writes in a second.
    pub ios_per_s: Option<u64>,
}

/// What a group has written to a device.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct DiskCounts {
    /// Bytes.
    pub bytes: u64,
    /// Writes.
    pub ios: u64,
}

impl Group {
    /// Lets it write to a device only so fast. Version 1 sees only what is written at the wish of
    /// the group itself, by syncing or past the cache; what the kernel writes later on its own is
    /// nobody's.
    pub fn limit_writes(&self, device: Device, limit: WriteLimit) -> Result<(), CgroupError> {
        let place = self.place(Controller::Disk)?;
        match place.version {
            // Zero lifts a limit.
            Version::V1 => {
                let line = |limit: Option<u64>| format!("{device} {}", limit.unwrap_or(0));
                place.write("blkio.throttle.write_bps_device", &line(limit.bytes_per_s))?;
                place.write("blkio.throttle.write_iops_device", &line(limit.ios_per_s))
            }
            Version::V2 => {
                let word = |limit: Option<u64>| limit.map_or("max".to_string(), |n| n.to_string());
                let (bytes, ios) = (word(limit.bytes_per_s), word(limit.ios_per_s));
                place.write("io.max", &format!("{device} wbps={bytes} wiops={ios}"))
            }
        }
    }

    /// Lifts that limit.
    pub fn unlimit_writes(&self, device: Device) -> Result<(), CgroupError> {
        self.limit_writes(device, WriteLimit::default())
    }

    /// The limit on writes to a device as the kernel has it.
    pub fn write_limit(&self, device: Device) -> Result<WriteLimit, CgroupError> {
        let place = self.place(Controller::Disk)?;
        Ok(match place.version {
            Version::V1 => {
                let of = |file| Ok(number(line(&place.read(file)?, device, "")));
                WriteLimit {
                    bytes_per_s: of("blkio.throttle.write_bps_device")?,
                    ios_per_s: of("blkio.throttle.write_iops_device")?,
                }
            }
            Version::V2 => {
                let text = place.read("io.max")?;
                let line = line(&text, device, "");
                WriteLimit { bytes_per_s: pair(line, "wbps"), ios_per_s: pair(line, "wiops") }
            }
        })
    }

    /// What it has written to a device so far; nothing if the kernel knows of nothing.
    pub fn disk_counts(&self, device: Device) -> Result<DiskCounts, CgroupError> {
        let place = self.place(Controller::Disk)?;
        Ok(match place.version {
            Version::V1 => {
                let of = |file| Ok(number(line(&place.read(file)?, device, "Write")).unwrap_or(0));
                DiskCounts {
                    bytes: of("blkio.throttle.io_service_bytes")?,
                    ios: of("blkio.throttle.io_serviced")?,
                }
            }
            Version::V2 => {
                let text = place.read("io.stat")?;
                let of = |name| pair(line(&text, device, ""), name).unwrap_or(0);
                DiskCounts { bytes: of("wbytes"), ios: of("wios") }
            }
        })
    }
}

/// What follows a device and a word in the line that begins with them: `7:0 Write 4096`.
fn line<'a>(text: &'a str, device: Device, word: &str) -> Option<&'a str> {
    let device = device.to_string();
    text.lines().find_map(|line| {
        let rest = line.strip_prefix(&device)?.strip_prefix(' ')?;
        rest.strip_prefix(word).map(str::trim)
    })
}

fn number(line: Option<&str>) -> Option<u64> {
    line?.parse().ok()
}

/// `wbps=1048576`; a limit of `max` is none.
fn pair(line: Option<&str>, name: &str) -> Option<u64> {
    let value = |pair: &str| pair.strip_prefix(name)?.strip_prefix('=')?.parse().ok();
    line?.split_whitespace().find_map(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_devices_are_told_apart() {
        let device = Device { major: 7, minor: 1 };
        let text = "7:10 Read 5\n7:10 Write 6\n7:1 Read 7\n7:1 Write 8\n7:1 Sync 9\nTotal 35\n";
        assert_eq!(number(line(text, device, "Write")), Some(8));
        assert_eq!(number(line("7:10 300\n", device, "")), None);
        assert_eq!(number(line("7:1 300\n", device, "")), Some(300));
        let text = "7:1 rbps=max wbps=300 riops=max wiops=max\n";
        assert_eq!(pair(line(text, device, ""), "wbps"), Some(300));
        assert_eq!(pair(line(text, device, ""), "wiops"), None);
        assert_eq!(pair(line(text, device, ""), "bps"), None);
    }
}
