//! Control groups: less of the machine for a group of processes, or none of it for a while.
//!
//! A [`Group`] holds a node and all its children. It can be limited in processor time, memory and
//! writes to a disk, and it can be frozen as a whole; the kernel counts what each limit did, and
//! those numbers are what can be read here. Both versions of control groups are spoken, each
//! controller in the one that has it; which work on a machine is found by trying ([`probe`]).
//!
//! ```no_run
//! use assay_kernel::cgroup::{CoreShare, Group};
//! use std::path::Path;
//! use std::process::Command;
//!
//! let group = Group::make(Path::new("run"), "n1")?;
//! let mut command = Command::new("redis-server");
//! group.join_on_exec(&mut command)?;
//! let node = command.spawn().expect("it can be started");
//! group.limit_cpu(CoreShare::percent(10).expect("more than nothing"))?;
//! // ... some load ...
//! println!("held back {} times", group.cpu_counts()?.throttled);
//! group.unlimit_cpu()?;
//! # Ok::<(), assay_kernel::cgroup::CgroupError>(())
//! ```
//!
//! Groups are called after the directory of their run, so what a killed process left is found
//! without a record of it: [`leftovers`] and [`clear`].
//!
//! In version 2 all controllers of a node are steered in one group, because a process is in one
//! only. A controller is switched on for the groups beside ours as well, and stays on: that limits
//! nobody by itself.

mod choice;
mod disk;
mod error;
mod freezer;
mod group;
mod hierarchy;
mod join;
mod leftovers;
mod limits;
mod place;
mod probe;

pub use disk::{DiskCounts, WriteLimit};
pub use error::CgroupError;
pub use group::Group;
pub use hierarchy::Version;
pub use leftovers::{clear, clear_probes, free, leftovers};
pub use limits::{CoreShare, CpuCounts, MemoryCounts};
pub use probe::{Probed, probe};

use std::fmt;
use std::time::Duration;

/// How long a group may take to freeze or thaw: a process in a system call that cannot be
/// interrupted takes as long as that call.
pub const FREEZE_TIME_MAX: Duration = Duration::from_secs(10);
/// How long a group may take to be let go after its last process is gone.
pub const REMOVE_TIME_MAX: Duration = Duration::from_secs(2);

/// What a group can be limited in.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Controller {
    /// Processor time.
    Cpu,
    /// Memory.
    Memory,
    /// Writes to block devices.
    Disk,
    /// Everything: it can be frozen.
    Freezer,
}

impl Controller {
    /// All of them.
    pub const ALL: [Controller; 4] =
        [Controller::Cpu, Controller::Memory, Controller::Disk, Controller::Freezer];

    /// What version 1 and version 2 call it; the freezer of version 2 has no name, it is always on.
    fn names(self) -> (&'static str, Option<&'static str>) {
        match self {
            Controller::Cpu => ("cpu", Some("cpu")),
            Controller::Memory => ("memory", Some("memory")),
            Controller::Disk => ("blkio", Some("io")),
            Controller::Freezer => ("freezer", None),
        }
    }
}

impl fmt::Display for Controller {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(match self {
            Controller::Cpu => "processor time",
            Controller::Memory => "memory",
            Controller::Disk => "writes to a disk",
            Controller::Freezer => "running at all (freezer)",
        })
    }
}
