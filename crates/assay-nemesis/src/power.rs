//! Faults of a node's own disk: it loses power, or turns read-only.
//!
//! Both need a node whose data lies on a [`Volume`], and root. A node that has nothing open there
//! would not feel anything of it, and is refused. Both end the node: a machine without power does
//! not run, and a file system that has turned read-only comes back only by mounting it again. The
//! guard's restart starts it, on a disk that has been proven to work.

use crate::journal::Undo;
use crate::means::{Means, Reading};
use crate::process::{Process, ProcessError, ProcessState};
use assay_kernel::volume::{Answer, Volume, VolumeKind};
use std::sync::Arc;

/// A node with a disk of its own.
#[derive(Clone, Debug)]
pub struct DiskNode {
    /// What it is called.
    pub node: String,
    /// All its processes: one that is left out keeps the disk busy.
    pub processes: Vec<Process>,
    /// Where its data lies.
    pub volume: Arc<Volume>,
}

impl DiskNode {
    fn preflight(&self) -> Result<(), String> {
        let DiskNode { node, processes, volume } = self;
        let point = volume.mount_point().display();
        let uses = |process: &Process| {
            let lives = process.state().is_ok_and(|state| state != ProcessState::Gone);
            lives && volume.is_used_by(process.pid)
        };
        if !processes.iter().any(uses) {
            return Err(format!(
                "{node} has nothing open on {point}: start it with its data there"
            ));
        }
        match volume.answer().map_err(|error| error.to_string())? {
            Answer::Writable | Answer::Full => Ok(()),
            answer => Err(format!("{point} is {answer:?} already: heal that first")),
        }
    }

    fn end(&self) -> Result<(), String> {
        Process::kill_all(&self.processes).map_err(|error| format!("{}: {error}", self.node))
    }

    fn reading(&self, wanted: Answer) -> Reading {
        let answer = self.volume.answer().ok();
        let point = self.volume.mount_point().display();
        (format!("{} {point}", self.node), answer.map(|answer| u64::from(answer == wanted)))
    }

    /// Ends what is left of the node, if its disk does not work, and mounts it again.
    fn revive(&self) -> Result<String, String> {
        let DiskNode { node, volume, .. } = self;
        let point = volume.mount_point().display();
        if matches!(volume.answer(), Ok(Answer::Writable | Answer::Full)) {
            // The fault stopped before it came to this disk.
            self.processes.iter().try_for_each(|process| {
                process.resume().map_err(|error| format!("{node}: {error}"))
            })?;
            return Ok(format!("{node}: {point} works"));
        }
        self.end()?;
        volume.power_up().map_err(|error| format!("{node}: {error}"))?;
        Ok(format!("{node}: {point} is mounted again"))
    }

    fn proof(&self) -> Result<String, String> {
        let point = self.volume.mount_point().display();
        match self.volume.answer().map_err(|error| error.to_string())? {
            Answer::Writable | Answer::Full => {
                let of = self.volume.kind().words();
                Ok(format!("{}: {point} can be written: {of}", self.node))
            }
            answer => Err(format!("{}: {point} is still {answer:?}", self.node)),
        }
    }
}

fn restarts(nodes: &[DiskNode]) -> Vec<Undo> {
    nodes.iter().flat_map(|node| node.processes.iter().map(Undo::restart)).collect()
}

/// Nodes lose power together: what they have not synced is gone.
///
/// Everything of all of them is stopped first, so that none sees the disk of another fail and no
/// client is told anything by a machine that is off.
#[derive(Debug)]
pub struct PowerLoss {
    nodes: Vec<DiskNode>,
}

impl PowerLoss {
    /// All of these at once.
    pub fn of(nodes: Vec<DiskNode>) -> PowerLoss {
        PowerLoss { nodes }
    }
}

impl Means for PowerLoss {
    fn preflight(&self) -> Result<(), String> {
        somebody(&self.nodes)
    }

    fn undo_steps(&self) -> Vec<Undo> {
        restarts(&self.nodes)
    }

    fn begin(&self) -> Result<(), String> {
        for process in self.nodes.iter().flat_map(|node| &node.processes) {
            match process.pause() {
                // Children end with their parents at times.
                Ok(()) | Err(ProcessError::NoSuchProcess { .. }) => {}
                Err(error) => return Err(error.to_string()),
            }
        }
        for node in &self.nodes {
            node.volume.cut_power().map_err(|error| format!("{}: {error}", node.node))?;
        }
        self.nodes.iter().try_for_each(DiskNode::end)
    }

    fn undo(&self) -> Vec<Result<String, String>> {
        self.nodes.iter().map(DiskNode::revive).collect()
    }

    fn counted(&self) -> &'static str {
        told(&self.nodes, ["volumes cut", "volumes cut, by FUSE"])
    }

    fn moves_by_min(&self) -> u64 {
        self.nodes.len() as u64
    }

    fn read(&self) -> Vec<Reading> {
        self.nodes.iter().map(|node| node.reading(Answer::Cut)).collect()
    }

    fn proof(&self) -> Vec<Result<String, String>> {
        self.nodes.iter().map(DiskNode::proof).collect()
    }
}

/// The disks of nodes turn read-only under them, as ext4 does by itself when it finds an error.
/// Undoing it ends the nodes: only a mount without users can be mounted again.
#[derive(Debug)]
pub struct ReadOnlyDisk {
    nodes: Vec<DiskNode>,
}

impl ReadOnlyDisk {
    /// The disks of all of these.
    pub fn of(nodes: Vec<DiskNode>) -> ReadOnlyDisk {
        ReadOnlyDisk { nodes }
    }
}

impl Means for ReadOnlyDisk {
    fn preflight(&self) -> Result<(), String> {
        somebody(&self.nodes)
    }

    fn undo_steps(&self) -> Vec<Undo> {
        restarts(&self.nodes)
    }

    fn begin(&self) -> Result<(), String> {
        self.nodes.iter().try_for_each(|node| {
            node.volume.turn_read_only().map_err(|error| format!("{}: {error}", node.node))
        })
    }

    fn undo(&self) -> Vec<Result<String, String>> {
        self.nodes.iter().map(DiskNode::revive).collect()
    }

    fn counted(&self) -> &'static str {
        told(&self.nodes, ["volumes read-only", "volumes read-only, by FUSE"])
    }

    fn moves_by_min(&self) -> u64 {
        self.nodes.len() as u64
    }

    fn read(&self) -> Vec<Reading> {
        self.nodes.iter().map(|node| node.reading(Answer::ReadOnly)).collect()
    }

    fn proof(&self) -> Vec<Result<String, String>> {
        self.nodes.iter().map(DiskNode::proof).collect()
    }
}

/// A count of volumes, said in one way of an ext4 and in the other of a directory that forgets.
fn told(nodes: &[DiskNode], [ext4, by_fuse]: [&'static str; 2]) -> &'static str {
    let is_block = |node: &DiskNode| node.volume.kind() == VolumeKind::Block;
    if nodes.iter().all(is_block) { ext4 } else { by_fuse }
}

fn somebody(nodes: &[DiskNode]) -> Result<(), String> {
    if nodes.is_empty() {
        return Err("no node with a disk of its own was given".to_string());
    }
    nodes.iter().try_for_each(DiskNode::preflight)
}
