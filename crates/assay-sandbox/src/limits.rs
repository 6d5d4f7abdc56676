//! How much a call may use.

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// What one call in a sandbox may use. Everything has a limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// How long it may take, by the clock on the wall.
    pub wall: Duration,
    /// How much processor time each of its processes may use.
    pub cpu: Duration,
    /// How much memory it may have: all processes together where the machine can count that,
    /// otherwise each of them.
    pub memory_bytes: u64,
    /// How many processes and threads there may be at a time.
    pub processes: u64,
    /// How large a file may become.
    pub file_bytes: u64,
    /// How many files a process may have open.
    pub open_files: u64,
    /// How much it may write to its standard streams, both together; more ends it.
    pub output_bytes: u64,
    /// How much `/tmp` may hold, and `/dev/shm` as much again.
    pub scratch_bytes: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            wall: Duration::from_secs(120),
            cpu: Duration::from_secs(600),
            memory_bytes: 2 << 30,
            processes: 256,
            file_bytes: 256 << 20,
            open_files: 1024,
            output_bytes: 8 << 20,
            scratch_bytes: 512 << 20,
        }
    }
}
