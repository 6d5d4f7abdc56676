//! From a description to running nodes.

use super::node::{Mark, Node};
use super::wires::{Wires, Wiring};
use super::{Bypasses, Inner};
use crate::adapter::ClientProcesses;
use crate::clients::maelstrom_workload;
use crate::command::Scope;
use crate::error::SutError;
use crate::gear::{BYSTANDER, Fittings, Gear};
use crate::maelstrom::Services;
use crate::processes::{PROCESSES_NAME, Processes};
use crate::releases::{Programs, fetched, installed, on_path};
use crate::spec::{RELEASE_OPTION, ReadySpec, SystemSpec, checked_options};
use assay_kernel::net::{HubKind, Network, NetworkSpec};
use assay_nemesis::{Mesh, Process};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

/// How often ports are looked for before it is given up.
const ATTEMPTS_MAX: usize = 5;

/// How long a node that may be about to end is given to show that it lives on or not.
const LIVING_TIME_MAX: Duration = Duration::from_secs(5);
/// How often a node that ends by itself again and again is started.
const REVIVALS_MAX: usize = 3;

/// How a node runs that may have ended by itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Revived {
    /// It had not ended.
    Lives(Process),
    /// It had, and was started again.
    Anew(Process),
    /// It had, and whoever was asked whether it may be started said no.
    NotOurs,
}

/// How a cluster is started.
#[derive(Clone, Copy, Debug)]
pub struct Launch<'a> {
    /// The system.
    pub spec: &'a SystemSpec,
    /// How many nodes.
    pub nodes: usize,
    /// What they are told.
    pub options: &'a BTreeMap<String, Value>,
    /// The run directory; `logs/`, `data/` and `processes.jsonl` are made below it.
    pub directory: &'a Path,
    /// The seed of the run.
    pub seed: u64,
    /// What clients will do, by the name of its generator: a client speaks its language.
    pub generator: &'a str,
    /// What `{assay}` stands for.
    pub executable: &'a Path,
    /// How nodes reach each other.
    pub wiring: Wiring,
    /// What every node is equipped with.
    pub gear: Gear,
}

/// Starts everything; tries again with other ports if somebody took one in between.
pub(super) fn start(launch: &Launch<'_>) -> Result<Inner, SutError> {
    let described = &launch.spec.described;
    if !launch.spec.allows_nodes(launch.nodes) {
        let allowed = match described.nodes.allowed.as_slice() {
            [] => "1 to 32".to_string(),
            some => some.iter().map(ToString::to_string).collect::<Vec<String>>().join(", "),
        };
        let (system, nodes) = (launch.spec.name.clone(), launch.nodes);
        return Err(SutError::NodeCount { system, nodes, allowed });
    }
    let options = checked_options(&described.options, launch.options)
        .map_err(|problems| SutError::BadOption { system: launch.spec.name.clone(), problems })?;
    let programs = programs(launch.spec, &options)?;
    let directory = std::path::absolute(launch.directory)
        .map_err(SutError::io(format!("find {}", launch.directory.display())))?;
    let logs = directory.join("logs");
    std::fs::create_dir_all(&logs).map_err(SutError::io(format!("make {}", logs.display())))?;
    let path = directory.join(PROCESSES_NAME);
    let processes =
        Processes::open(&path).map_err(SutError::io(format!("write {}", path.display())))?;
    let mut attempt = Attempt { launch, options, programs, directory, processes: Some(processes) };
    let mut attempts = 1;
    loop {
        match attempt.run() {
            Ok(inner) => return Ok(inner),
            Err(Failed::LostRace) if attempts < ATTEMPTS_MAX => attempts += 1,
            Err(Failed::LostRace) => {
                let why = format!("somebody else took its port, {ATTEMPTS_MAX} times");
                return Err(SutError::NoAnswer { what: "a free port".to_string(), why });
            }
            Err(Failed::For(error)) => return Err(*error),
        }
    }
}

/// Why an attempt failed.
enum Failed {
    /// A port that was free was not when the node wanted it.
    LostRace,
    /// For good.
    For(Box<SutError>),
}

impl From<SutError> for Failed {
    fn from(error: SutError) -> Failed {
        Failed::For(Box::new(error))
    }
}

struct Attempt<'a> {
    launch: &'a Launch<'a>,
    options: BTreeMap<String, Value>,
    programs: Option<Programs>,
    directory: PathBuf,
    /// Lent to the cluster that is being made; back here if it is not.
    processes: Option<Processes>,
}

impl Attempt<'_> {
    fn run(&mut self) -> Result<Inner, Failed> {
        let names: Vec<String> = (1..=self.launch.nodes).map(|id| format!("n{id}")).collect();
        let mesh = Mesh::new(self.launch.seed).map_err(SutError::io("start the proxies"))?;
        let described = &self.launch.spec.described;
        let network = match self.launch.wiring {
            Wiring::Namespaces(hub) => Some(self.network(&names, hub)?),
            Wiring::Proxied | Wiring::Direct => None,
        };
        let wires = match &network {
            Some(network) => Wires::within(described, &names, network).map_err(SutError::from)?,
            None => Wires::lay(described, &names, &mesh, self.launch.wiring)
                .map_err(SutError::io("find free ports"))?,
        };
        let scope = self.scope(&names, &wires);
        let mut made = Vec::new();
        let mut nodes = Vec::new();
        for (index, name) in names.iter().enumerate() {
            let data = self.directory.join("data").join(name);
            if !data.exists() {
                made.push(data.clone());
            }
            let doing = format!("make {}", data.display());
            std::fs::create_dir_all(&data).map_err(SutError::io(doing))?;
            let fittings = Fittings::new(self.launch.gear, &self.directory, name, &data)?;
            let log = self.directory.join("logs").join(format!("{name}.log"));
            let scope = Scope {
                node: Some(index),
                data: data.display().to_string(),
                links: wires.peers[index].clone(),
                ..scope.clone()
            };
            let place = wires.roster.place(index);
            let network = network.clone();
            nodes.push(Node::new(name, data, log, scope, place, fittings, network));
        }
        let processes = self.processes.take().expect("it comes back after a failure");
        let clients = ClientProcesses::marked(processes.mark());
        let processes = Mutex::new(processes);
        let inner = Inner {
            spec: self.launch.spec.clone(),
            names,
            mesh: Arc::new(mesh),
            network,
            wires,
            nodes,
            scope,
            processes,
            generator: self.launch.generator.to_string(),
            directory: self.directory.clone(),
            services: Services::default(),
            sessions: AtomicUsize::new(0),
            clients_apart: self.launch.gear.clients_apart,
            clients,
            started: Instant::now(),
            stopping: (Mutex::new(false), Condvar::new()),
            bypasses: Mutex::new(Bypasses::default()),
            counted: Mutex::new(BTreeMap::new()),
        };
        match bring_up(&inner) {
            Ok(()) => Ok(Inner { started: Instant::now(), ..inner }),
            Err(failed) => Err(self.give_up(inner, failed, &made)),
        }
    }

    /// Ends what has begun. What nodes have written before a lost race names addresses that nobody
    /// has any more.
    fn give_up(&mut self, inner: Inner, failed: Failed, made: &[PathBuf]) -> Failed {
        inner.nodes.iter().for_each(|node| {
            node.end(&inner.processes);
        });
        let Inner { processes, nodes, .. } = inner;
        let processes = processes.into_inner();
        self.processes = Some(processes.expect("nothing panics while it holds this"));
        // With their disks: a directory that is one cannot be removed.
        drop(nodes);
        if matches!(failed, Failed::LostRace) {
            let removed = made.iter().try_for_each(std::fs::remove_dir_all);
            if let Err(source) = removed {
                let doing = "clean up after a lost race for a port".to_string();
                return SutError::Io { doing, source }.into();
            }
        }
        failed
    }

    fn network(&self, names: &[String], hub: HubKind) -> Result<Arc<Network>, SutError> {
        if self.launch.spec.described.client.maelstrom {
            let why = "its nodes speak through our standard input and output, not over a network";
            return Err(SutError::NoNamespaces { system: self.launch.spec.name.clone(), why });
        }
        let bystander = self.launch.gear.bystander.then(|| BYSTANDER.to_string());
        let nodes = names.iter().cloned().chain(bystander).collect();
        let spec = NetworkSpec { nodes, hub, seed: self.launch.seed };
        Ok(Arc::new(Network::build(spec)?))
    }

    fn scope(&self, names: &[String], wires: &Wires) -> Scope {
        let text = |path: &Path| {
            let path = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
            path.display().to_string()
        };
        let here = self.launch.spec.file.as_deref().and_then(Path::parent);
        Scope {
            names: names.to_vec(),
            assay: text(self.launch.executable),
            here: here.map(text).unwrap_or_default(),
            seed: self.launch.seed,
            mark: self.processes.as_ref().map(Processes::mark),
            programs: self.programs.clone(),
            options: self.options.clone(),
            listen: wires.listen.clone(),
            publics: wires.publics.clone(),
            probes: wires.probes.clone(),
            ..Scope::default()
        }
    }
}

/// Starts all nodes, then waits for all: they may need each other to become ready.
fn bring_up(inner: &Inner) -> Result<(), Failed> {
    let described = inner.described();
    let mut marks = Vec::new();
    for node in &inner.nodes {
        let spawned = node.spawn(described, &inner.processes);
        let (_, mark) = spawned.map_err(|error| match error {
            SutError::PortTaken { .. } => Failed::LostRace,
            error => error.into(),
        })?;
        marks.push(mark);
    }
    for node in &inner.nodes {
        attach(inner, node)?;
    }
    let probes = [Some(&described.node.ready), described.formed.as_ref()];
    for ready in probes.into_iter().flatten() {
        for (index, mark) in marks.iter().enumerate() {
            if let Err(error) = wait_ready(inner, index, ready, mark) {
                return Err(match lost_race(inner, index, &error) {
                    true => Failed::LostRace,
                    false => error.into(),
                });
            }
        }
    }
    Ok(())
}

/// Connects a node that speaks Maelstrom with the others, and tells it who it is.
fn attach(inner: &Inner, node: &Node) -> Result<(), SutError> {
    if !inner.described().client.maelstrom {
        return Ok(());
    }
    let described = inner.described().client.workload.as_deref();
    let workload = maelstrom_workload(described, &inner.generator)
        .map_err(|error| SutError::Missing { capabilities: vec![error.message] })?;
    let setup = workload.setup(&inner.names);
    node.attach(inner.names.clone(), inner.services.clone(), setup)
}

fn wait_ready(inner: &Inner, index: usize, ready: &ReadySpec, mark: &Mark) -> Result<(), SutError> {
    inner.nodes[index].wait_ready(ready, mark, inner.mesh.dial_ports(), &inner.processes)
}

/// Whether a node ended because somebody else sits on its port: the node is gone, so if the port is
/// not free it is not the node's doing.
fn lost_race(inner: &Inner, index: usize, error: &SutError) -> bool {
    matches!(error, SutError::DidNotStart { .. })
        && inner.nodes[index].is_gone()
        // The socket of one that speaks Maelstrom is ours, and may be closing just now.
        && !inner.described().client.maelstrom
        && inner.wires.taken_port(index).is_some()
}

/// Starts a node again. One that was asked to end may still be doing so.
pub(super) fn restart(inner: &Inner, index: usize) -> Result<Process, SutError> {
    let Some(node) = inner.nodes.get(index) else {
        let what = format!("which node is number {index}");
        return Err(SutError::NoAnswer { what, why: format!("there are {}", inner.nodes.len()) });
    };
    let described = inner.described();
    node.wait_gone(described.node.stop.grace());
    let (process, mark) = node.spawn(described, &inner.processes)?;
    attach(inner, node)?;
    wait_ready(inner, index, &described.node.ready, &mark)?;
    node.count_restart();
    Ok(process)
}

/// Starts a node again if it has ended, or is just about to; it may live as well. Whether it may be
/// started is asked right before, each time: while it is looked at somebody may have ended it who
/// is going to start it again.
pub(super) fn revive(
    inner: &Inner,
    index: usize,
    may_start: &dyn Fn() -> bool,
) -> Result<Revived, SutError> {
    let Some(node) = inner.nodes.get(index) else {
        return restart(inner, index).map(Revived::Anew);
    };
    let ready = &inner.described().node.ready;
    for _ in 0..REVIVALS_MAX {
        if node.lives(ready, inner.mesh.dial_ports(), LIVING_TIME_MAX)
            && let Some(process) = node.process()
        {
            return Ok(Revived::Lives(process));
        }
        if !may_start() {
            return Ok(Revived::NotOurs);
        }
        match restart(inner, index) {
            // Somebody else was faster.
            Err(SutError::StillRunning { .. }) => {}
            started => return started.map(Revived::Anew),
        }
    }
    Err(node.did_not_start("it ends as often as it is started".to_string()))
}

/// The programs of the release that was asked for. One that comes from Debian may be installed
/// instead; of one that was pinned, to a version or a file, nothing else will do. What the release
/// itself has to bring is never taken from `PATH`, where another version may lie.
pub(crate) fn programs(
    spec: &SystemSpec,
    options: &BTreeMap<String, Value>,
) -> Result<Option<Programs>, SutError> {
    let release = options.get(RELEASE_OPTION).and_then(Value::as_str);
    let described = release.and_then(|name| Some((name, spec.described.releases.get(name)?)));
    let fetched = described.and_then(|(name, _)| fetched(&spec.name, name));
    let found = fetched.or_else(|| installed(described.map(|(_, release)| release)?));
    let is_pinned = described.is_some_and(|(_, release)| release.is_pinned());
    let here = |command: &String| {
        let in_bin = found.as_ref().is_some_and(|found| found.bin.join(command).exists());
        in_bin || (is_on_path(command) && (found.is_some() || !is_pinned))
    };
    let brought =
        |command: &String| found.as_ref().is_some_and(|found| found.bin.join(command).exists());
    let provides = described.map(|(_, release)| release.provides.as_slice()).unwrap_or_default();
    let requires = &spec.described.requires;
    let lacks =
        |command: &&String| !here(command) || (provides.contains(command) && !brought(command));
    let missing: Vec<String> = { requires.iter() }
        .chain(provides.iter().filter(|command| !requires.contains(command)))
        .filter(lacks)
        .map(|command| with_remedy(command))
        .collect();
    match (missing.is_empty(), described) {
        (true, _) => Ok(found),
        (false, Some((release, _))) if found.is_none() => Err(SutError::NotFetched {
            system: spec.name.clone(),
            release: release.to_string(),
            missing,
        }),
        (false, _) => Err(SutError::Missing { capabilities: missing }),
    }
}

/// A command that no release brings, with what installs it.
fn with_remedy(command: &str) -> String {
    match command {
        "java" => format!("{command} (Debian: apt-get install default-jre-headless)"),
        "python3" => format!("{command} (Debian: apt-get install python3)"),
        _ => command.to_string(),
    }
}

/// Whether a command can be run: a path that is there, or a name on PATH.
fn is_on_path(command: &str) -> bool {
    match command.contains('/') {
        true => Path::new(command).exists(),
        false => on_path(command).is_some(),
    }
}
