//! Faults that prove they landed, and always heal.
//!
//! A fault whose injector says "ok" has proven nothing, and a fault that outlives its test ruins
//! the next one. Here a fault is announced in a journal before it is done, measured on both sides
//! while it is on, undone by a guard, and, should this process be killed in the middle, undone from
//! the journal by the next.
//!
//! ```
//! use assay_nemesis::{Action, Fault, FaultId, Injector, Process, Victim, Window};
//! use assay_verdict::LandingState;
//!
//! # let directory = tempfile::tempdir()?;
//! # let path = directory.path().join("nemesis.jsonl");
//! let mut victim = std::process::Command::new("sleep").arg("60").spawn()?;
//! let process = Process::of(victim.id())?;
//! let injector = Injector::new(&path, None)?;
//! let fault = Fault {
//!     id: FaultId::named("pause").expect("it is in the catalogue"),
//!     target: "n1".into(),
//!     window: Window::default(),
//!     action: Action::Pause(vec![process]),
//! };
//! // Nobody is asked how it feels, so nobody can say that it landed.
//! let mut guard = injector.inject(fault, Victim::unasked())?;
//! let healed = guard.heal()?;
//! assert_eq!(healed.landing.injector.state(), LandingState::Landed);
//! assert_eq!(healed.landing.state(), LandingState::Unknown);
//! # victim.kill()?;
//! # victim.wait()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! - [`Mesh`]: proxies, one for each link, with rules for each direction that can be changed at any
//!   time; for TCP connections and for UDP datagrams.
//! - [`PacketFault`], [`DnsFault`]: the same and more for packets, in a network of namespaces.
//! - [`Process`]: stop, resume and kill, never the wrong one.
//! - [`Clock`]: the time of day of a process, moved while it runs.
//! - [`CallFault`], [`ClockFault`]: disks and clocks, by answering the system calls of a node.
//! - [`PowerLoss`], [`ReadOnlyDisk`], [`SlowDisk`], [`CpuQuota`], [`MemoryLimit`], [`Freeze`]: what
//!   root can take from a node; [`FewDescriptors`], what anybody can.
//! - [`shapes`]: partitions as pure functions from nodes to cuts.
//! - [`schedule`]: which fault when, from a seed.
//! - [`Injector`], [`Guard`], [`heal_journal`]: announce, act, measure, undo, prove.
//! - [`clear_below`]: removes the volumes and groups that a killed run left.
//! - [`CATALOG`]: every fault by name; docs/faults.md is made from it.
//!
//! This crate does not know plans, models and rules of verdicts: it gives numbers. Nor does it
//! start systems: whoever owns a node starts it again.

mod catalog;
mod clock;
mod cost;
mod descriptors;
mod fault;
mod files;
mod guard;
mod heal;
mod injector;
mod journal;
mod means;
mod meter;
mod packets;
mod power;
mod process;
mod proxy;
mod resources;
pub mod schedule;
pub mod shapes;
mod slow_disk;
mod system_calls;

pub use assay_kernel::volume::is_probe;
pub use catalog::{CATALOG, Carried, CatalogRow};
pub use clock::{Clock, ClockError, Measured, OFFSET_MS_MAX, libfaketime};
pub use cost::{Cost, cost_of_a_disk, cost_of_a_network, cost_of_a_proxy, cost_of_a_watched_call};
pub use descriptors::FewDescriptors;
pub use fault::{Action, Fault, FaultId, Skew, Window};
pub use files::{Corruption, Damage, FILE_BYTES_MAX, FLIPS_MAX, FileError, Fill, JUNK_BYTES_MAX};
pub use guard::{Guard, HealError, Healed, Restart, Victim};
pub use heal::{HealReport, HealedFault, clear_below, clear_probes, heal_journal};
pub use injector::{InjectError, Injector};
pub use journal::{
    BadLine, Contents, Entry, JOURNAL_BYTES_MAX, JOURNAL_NAME, JOURNAL_VERSION, Journal,
    JournalError, Undo, lock_file,
};
pub use means::{ByMeans, Means, Reading};
pub use packets::{DnsFault, PacketFault};
pub use power::{DiskNode, PowerLoss, ReadOnlyDisk};
pub use process::{ListedProcess, Process, ProcessError, ProcessState, SIGNAL_TIME_MAX};
pub use proxy::{
    Admission, ConnectionCounts, DELAY_MAX, DatagramLimits, Delay, DialPort, DialPorts, Direction,
    Flow, FlowCounts, LINKS_MAX, Layer, LinkCounts, LinkId, LinkInfo, LinkRule, Mesh, Odds, Probe,
    Rules, Share, Transport,
};
pub use system_calls::{CallFault, ClockFault, WatchedNode};

pub use resources::{CpuQuota, Freeze, MemoryLimit};
pub use slow_disk::SlowDisk;
