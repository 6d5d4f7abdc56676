//! Block devices by number.

use std::fmt;

/// A block device, as control groups name it: `7:0`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Device {
    /// Which driver.
    pub major: u32,
    /// Which of its devices.
    pub minor: u32,
}

impl fmt::Display for Device {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}", self.major, self.minor)
    }
}
