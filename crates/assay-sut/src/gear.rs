//! What nodes and clients are equipped with before they start.
//!
//! Some faults cannot be brought in from outside: a disk that can lose its power has to be there
//! when a node writes its first byte, and system calls can be answered only of a process that was
//! started for it. So a cluster is told beforehand what its nodes will need, and a machine that
//! cannot give it says so before anything runs.

use crate::error::SutError;
use assay_kernel::cgroup::Group;
use assay_kernel::notify::{NotifyError, Tap, Tapped, Watch};
use assay_kernel::volume::Volume;
use assay_nemesis::Clock;
use std::io;
use std::path::Path;
use std::process::{Child, Command};
use std::sync::{Arc, Mutex};

/// Where the images of volumes are, in a run directory.
const IMAGES: &str = "volumes";

/// What every node of a cluster gets, and every client. The default is nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Gear {
    /// System calls that can be answered in the kernel's place.
    pub calls: Watch,
    /// A disk of its own, so large, in which its data directory lies.
    pub volume_bytes: Option<u64>,
    /// A control group of its own.
    pub groups: bool,
    /// A clock that libfaketime can move.
    pub clock: bool,
    /// Clients that are processes of their own, also if their driver is built in.
    pub clients_apart: bool,
}

impl Gear {
    /// What serves both.
    #[must_use]
    pub fn and(self, other: Gear) -> Gear {
        Gear {
            calls: Watch {
                syncs: self.calls.syncs || other.calls.syncs,
                writes: self.calls.writes || other.calls.writes,
                clock: self.calls.clock || other.calls.clock,
            },
            volume_bytes: self.volume_bytes.max(other.volume_bytes),
            groups: self.groups || other.groups,
            clock: self.clock || other.clock,
            clients_apart: self.clients_apart || other.clients_apart,
        }
    }
}

/// What one node has got.
#[derive(Debug, Default)]
pub(crate) struct Fittings {
    calls: Watch,
    pub(crate) volume: Option<Arc<Volume>>,
    pub(crate) group: Option<Arc<Group>>,
    pub(crate) clock: Option<Clock>,
    tap: Mutex<Option<Arc<Tap>>>,
}

impl Fittings {
    /// Makes the disk and the group of a node; its data directory becomes the disk.
    pub(crate) fn new(
        gear: Gear,
        run: &Path,
        node: &str,
        data: &Path,
    ) -> Result<Fittings, SutError> {
        let missing =
            |why: String| SutError::Missing { capabilities: vec![format!("{node}: {why}")] };
        let volume = match gear.volume_bytes {
            None => None,
            Some(bytes) => {
                let images = run.join(IMAGES);
                std::fs::create_dir_all(&images)
                    .map_err(SutError::io(format!("make {}", images.display())))?;
                let made = Volume::make(&images.join(format!("{node}.img")), data, bytes);
                Some(Arc::new(made.map_err(|error| missing(error.to_string()))?))
            }
        };
        let group = match gear.groups {
            false => None,
            true => {
                let made = Group::make(run, node);
                Some(Arc::new(made.map_err(|error| missing(error.to_string()))?))
            }
        };
        let clock = match gear.clock {
            false => None,
            true => {
                let made = Clock::prepare(run, node);
                Some(made.map_err(|error| missing(error.to_string()))?)
            }
        };
        Ok(Fittings { calls: gear.calls, volume, group, clock, tap: Mutex::default() })
    }

    /// Starts the node with what it has.
    pub(crate) fn spawn(&self, command: &mut Command) -> io::Result<Child> {
        if let Some(group) = &self.group {
            group.join_on_exec(command).map_err(io::Error::other)?;
        }
        if let Some(clock) = &self.clock {
            command.envs(clock.environment());
        }
        if self.calls == Watch::default() {
            return command.spawn();
        }
        let (child, tap) = Tapped::spawn(command, self.calls).map_err(|error| match error {
            NotifyError::Start { source, .. } => source,
            other => io::Error::other(other),
        })?;
        *self.tap.lock().expect("nothing panics while it holds a tap") = Some(tap);
        Ok(child)
    }

    /// Where the calls of the running process are answered.
    pub(crate) fn tap(&self) -> Option<Arc<Tap>> {
        self.tap.lock().expect("nothing panics while it holds a tap").clone()
    }
}
