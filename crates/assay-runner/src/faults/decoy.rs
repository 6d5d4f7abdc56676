//! Somebody to hit who is not the system: for an injector that is broken on purpose.
//!
//! The worst injector is not one that fails, but one that works and misses: a rule on a link nobody
//! uses, a shim in the wrong process, a limit on an empty group. A [`Decoy`] has all a node has and
//! does nothing; faults land on it as on a node, and the system notices none of it.

use assay_kernel::cgroup::Group;
use assay_kernel::notify::{Tap, Tapped, Watch};
use assay_kernel::volume::Volume;
use assay_nemesis::{Clock, LinkInfo, Mesh, Process, Transport};
use assay_sut::{Cluster, Gear};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// How long the process of a decoy is there if nobody ends it.
const SLEEP_S: &str = "900";

/// A process with a directory and the same gear as the nodes.
pub struct Decoy {
    child: Child,
    data: PathBuf,
    tap: Option<Arc<Tap>>,
    volume: Option<Arc<Volume>>,
    group: Option<Arc<Group>>,
    clock: Option<Clock>,
    /// Those of the system, as they were before any was laid beside them.
    real: OnceLock<Vec<LinkInfo>>,
    /// By window: the proof that one fault is healed must not be counted by the next.
    links: Mutex<BTreeMap<String, Vec<LinkInfo>>>,
}

impl Decoy {
    /// Starts one below the directory of a trial. Its process gets the mark of the cluster: a decoy
    /// that outlives a killed run would hold its disk, and healing could not remove it.
    pub fn start(trial: &Path, gear: Gear, cluster: &Cluster) -> Result<Decoy, String> {
        let said = |error: &dyn std::fmt::Display| format!("cannot make a decoy: {error}");
        let data = trial.join("decoy");
        fs::create_dir_all(&data).map_err(|error| said(&error))?;
        let volume = match gear.disk {
            None => None,
            Some(disk) => {
                let made = disk.make(trial, "decoy", &data);
                Some(Arc::new(made.map_err(|error| said(&error))?))
            }
        };
        let group = match gear.groups {
            false => None,
            true => Some(Arc::new(Group::make(trial, "decoy").map_err(|error| said(&error))?)),
        };
        let clock = match gear.clock {
            false => None,
            true => Some(Clock::prepare(trial, "decoy").map_err(|error| said(&error))?),
        };
        let mut command = Command::new("sleep");
        command.envs(clock.iter().flat_map(Clock::environment));
        command.arg(SLEEP_S).current_dir(&data);
        cluster.mark(&mut command);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        if let Some(group) = &group {
            group.join_on_exec(&mut command).map_err(|error| said(&error))?;
        }
        let (child, tap) = match gear.calls == Watch::default() {
            true => (command.spawn().map_err(|error| said(&error))?, None),
            false => {
                let started = Tapped::spawn(&mut command, gear.calls);
                let (child, tap) = started.map_err(|error| said(&error))?;
                (child, Some(tap))
            }
        };
        Ok(Decoy {
            child,
            data,
            tap,
            volume,
            group,
            clock,
            real: OnceLock::new(),
            links: Mutex::default(),
        })
    }

    /// Its process.
    pub fn processes(&self) -> Vec<Process> {
        Process::of(self.child.id()).into_iter().collect()
    }

    /// Its directory, with a copy of a file of a node that may be damaged there.
    pub fn data(&self, node: &Path, file: Option<&str>) -> PathBuf {
        if let Some(file) = file {
            let copy = self.data.join(file);
            let _missing = copy.parent().map(fs::create_dir_all);
            let _missing = fs::copy(node.join(file), copy);
        }
        self.data.clone()
    }

    /// Another link beside every link, from and to the same, that nobody uses; others for each
    /// window.
    pub fn links(&self, window: &str, real: &[LinkInfo], mesh: &Mesh) -> Vec<LinkInfo> {
        let beside = |link: &LinkInfo| {
            let (from, to, upstream) = (&link.from, &link.to, link.upstream);
            let id = match link.transport {
                Transport::Stream => mesh.add(from, to, upstream),
                Transport::Datagrams => mesh.add_datagrams(from, to, upstream, Default::default()),
            };
            let id = id.ok()?;
            Some(LinkInfo { id, listen: mesh.listen(id), ..link.clone() })
        };
        let mut links = self.links.lock().unwrap_or_else(PoisonError::into_inner);
        let real = self.real.get_or_init(|| real.to_vec());
        let made = || real.iter().filter_map(beside).collect();
        links.entry(window.to_string()).or_insert_with(made).clone()
    }

    /// Where its system calls are answered, if nodes have that.
    pub fn tap(&self) -> Option<Arc<Tap>> {
        self.tap.clone()
    }

    /// Its disk, if nodes have one.
    pub fn volume(&self) -> Option<Arc<Volume>> {
        self.volume.clone()
    }

    /// Its control group, if nodes have one.
    pub fn group(&self) -> Option<Arc<Group>> {
        self.group.clone()
    }

    /// Its clock, if nodes have one that can be moved.
    pub fn clock(&self) -> Option<Clock> {
        self.clock.clone()
    }
}

impl Drop for Decoy {
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _gone = self.child.wait();
    }
}
