//! What nodes and clients are equipped with before they start.
//!
//! Some faults cannot be brought in from outside: a disk that can lose its power has to be there
//! when a node writes its first byte, and system calls can be answered only of a process that was
//! started for it. So a cluster is told beforehand what its nodes will need, and a machine that
//! cannot give it says so before anything runs.

use crate::error::SutError;
use assay_kernel::cgroup::Group;
use assay_kernel::notify::{NotifyError, Tap, Tapped, Watch};
use assay_kernel::volume::{Volume, VolumeError, VolumeKind};
use assay_nemesis::Clock;
use std::io;
use std::path::Path;
use std::process::{Child, Command};
use std::sync::{Arc, Mutex};

/// Where the images of volumes are, in a run directory.
const IMAGES: &str = "volumes";

/// How the one is called who says nothing.
pub const BYSTANDER: &str = "bystander";

/// What every node of a cluster gets, and every client. The default is nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Gear {
    /// System calls that can be answered in the kernel's place.
    pub calls: Watch,
    /// A disk of its own, in which its data directory lies.
    pub disk: Option<Disk>,
    /// A control group of its own.
    pub groups: bool,
    /// A clock that libfaketime can move.
    pub clock: bool,
    /// Clients that are processes of their own, also if their driver is built in.
    pub clients_apart: bool,
    /// Somebody in the network of namespaces who says nothing, [`BYSTANDER`]: whom an injector hits
    /// that is broken on purpose.
    pub bystander: bool,
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
            disk: match (self.disk, other.disk) {
                (Some(one), Some(two)) => Some(one.and(two)),
                (one, two) => one.or(two),
            },
            groups: self.groups || other.groups,
            clock: self.clock || other.clock,
            clients_apart: self.clients_apart || other.clients_apart,
            bystander: self.bystander || other.bystander,
        }
    }
}

/// A disk that a node is to have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Disk {
    /// How large, if it is a block device.
    pub bytes: u64,
    /// Of what.
    pub kind: VolumeKind,
}

impl Disk {
    /// What serves both.
    fn and(self, other: Disk) -> Disk {
        Disk { bytes: self.bytes.max(other.bytes), kind: self.kind.max(other.kind) }
    }

    /// Makes it, mounted at `point`; what it holds lies in `place` under a name.
    pub fn make(self, place: &Path, name: &str, point: &Path) -> Result<Volume, VolumeError> {
        match self.kind {
            VolumeKind::Block => {
                Volume::make(&place.join(format!("{name}.img")), point, self.bytes)
            }
            VolumeKind::Forgetful => Volume::forgetful(&place.join(format!("{name}.store")), point),
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
        let volume = match gear.disk {
            None => None,
            Some(disk) => {
                let images = run.join(IMAGES);
                std::fs::create_dir_all(&images)
                    .map_err(SutError::io(format!("make {}", images.display())))?;
                let made = disk.make(&images, node, data);
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
