//! A running system: real processes, every link through a proxy, watched all the time.

mod asks;
mod node;
mod start;
pub(crate) mod tcp_counters;
mod watch;
mod wires;

pub use asks::{Quiescence, Shown};
pub(crate) use start::programs;
pub use start::{Launch, Revived};
pub use wires::{Peer, Wiring};

use crate::adapter::ClientProcesses;
use crate::bypass::Bypasses;
use crate::clients::{ClientKind, Reach};
use crate::command::Scope;
use crate::error::SutError;
use crate::housed::Housed;
use crate::logs::lines_with;
use crate::maelstrom::Services;
use crate::processes::Processes;
use crate::sockets::{Families, pids};
use crate::spec::{Description, SystemSpec};
use asks::Counted;
use assay_drivers::{Client, ClientError};
use assay_kernel::cgroup::Group;
use assay_kernel::net::Network;
use assay_kernel::notify::Tap;
use assay_kernel::volume::Volume;
use assay_nemesis::{Clock, LinkId, Mesh, Process};
use node::{Node, lock};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use wires::Wires;

/// How long a child of a node must have been there to be one of its processes.
const LASTING: Duration = Duration::from_millis(50);

/// A cluster of nodes. Dropping it kills them.
#[derive(Debug)]
pub struct Cluster {
    inner: Arc<Inner>,
    watchers: Mutex<Vec<JoinHandle<()>>>,
}

/// What the watchers share with the cluster.
#[derive(Debug)]
struct Inner {
    spec: SystemSpec,
    names: Vec<String>,
    mesh: Arc<Mesh>,
    /// Where nodes are in namespaces of their own.
    network: Option<Arc<Network>>,
    wires: Wires,
    nodes: Vec<Node>,
    /// What commands that are for no single node are put together from.
    scope: Scope,
    processes: Mutex<Processes>,
    /// What clients do.
    generator: String,
    directory: PathBuf,
    /// What Maelstrom offers to nodes; shared by all of them.
    services: Services,
    /// Clients that were made so far.
    sessions: AtomicUsize,
    /// Whether they are processes of their own, and which those are.
    clients_apart: bool,
    clients: ClientProcesses,
    started: Instant,
    stopping: (Mutex<bool>, Condvar),
    bypasses: Mutex<Bypasses>,
    counted: Mutex<BTreeMap<(String, usize), Counted>>,
}

impl Inner {
    fn described(&self) -> &Description {
        &self.spec.described
    }

    fn is_stopping(&self) -> bool {
        *lock(&self.stopping.0)
    }

    /// Waits, but not longer than until the cluster is stopped; whether it still runs.
    fn wait(&self, time: Duration) -> bool {
        let stopping = lock(&self.stopping.0);
        let waited = self.stopping.1.wait_timeout_while(stopping, time, |stopping| !*stopping);
        let (stopping, _) = waited.expect("nothing panics while it holds this");
        !*stopping
    }

    fn selected(&self, node: Option<usize>) -> &[Node] {
        match node {
            None => &self.nodes,
            Some(index) => self.nodes.get(index..=index).unwrap_or_default(),
        }
    }
}

impl Cluster {
    /// Starts all nodes and waits until they are ready and have found each other.
    ///
    /// # Errors
    /// If something is missing, options do not fit, or a node does not become ready in time.
    pub fn start(launch: &Launch<'_>) -> Result<Cluster, SutError> {
        let inner = Arc::new(start::start(launch)?);
        let watchers = Mutex::new(watch::start(&inner));
        Ok(Cluster { inner, watchers })
    }

    /// The nodes' names: n1, n2, ...
    pub fn names(&self) -> &[String] {
        &self.inner.names
    }

    /// The proxies.
    pub fn mesh(&self) -> &Arc<Mesh> {
        &self.inner.mesh
    }

    /// The network that nodes are in, where they were put into namespaces.
    pub fn network(&self) -> Option<Arc<Network>> {
        self.inner.network.clone()
    }

    /// Frames that the switch between the nodes has lost by itself, because somebody did not read
    /// fast enough; zero where there is none.
    pub fn frames_lost(&self) -> u64 {
        let counts = self.inner.network.as_ref().and_then(|network| network.counts().ok());
        counts.iter().flatten().map(|link| link.packets.overrun).sum()
    }

    /// The links from one side to a node, one for each named port.
    pub fn links(&self, from: Peer, to: usize) -> Vec<LinkId> {
        self.inner.wires.links(from, to)
    }

    /// A node's process; `None` while it does not run.
    pub fn process(&self, node: usize) -> Option<Process> {
        self.inner.nodes.get(node)?.process()
    }

    /// All processes of a node, the one that was started first: its group and whoever descends from
    /// it. One that comes and goes in a moment is not among them.
    pub fn processes(&self, node: usize) -> Vec<Process> {
        let Some(first) = self.process(node) else { return Vec::new() };
        let look = || -> Vec<Process> {
            let mut families = Families::default();
            let pids = pids().into_iter().filter(|pid| *pid != first.pid);
            let own = pids.filter(|pid| families.of(*pid).contains(&first.pid));
            own.filter_map(|pid| Process::of(pid).ok()).collect()
        };
        let before = look();
        if before.is_empty() {
            return vec![first];
        }
        std::thread::sleep(LASTING);
        let now = look();
        let lasting = before.into_iter().filter(|process| now.contains(process));
        std::iter::once(first).chain(lasting).collect()
    }

    /// The nodes that have a role now.
    ///
    /// # Errors
    /// If the role is not described, or nobody can be asked.
    pub fn role(&self, role: &str) -> Result<Vec<usize>, SutError> {
        self.inner.role(role)
    }

    /// A number of one node or of all: a signal of the description, `restarts`, or `heartbeat-gap`
    /// (the longest silence since the start, in milliseconds). `None`: it cannot be read.
    pub fn signal(&self, name: &str, node: Option<usize>) -> Option<u64> {
        self.inner.signal(name, node)
    }

    /// Whether the description says who has such a role.
    pub fn has_role(&self, name: &str) -> bool {
        self.inner.spec.roles().contains(&name)
    }

    /// Whether there is such a signal.
    pub fn has_signal(&self, name: &str) -> bool {
        self.inner.spec.has_signal(name)
    }

    /// Lines of the log that contain a text, so far.
    pub fn log_lines(&self, node: Option<usize>, text: &str) -> u64 {
        self.inner.selected(node).iter().map(|node| lines_with(&node.log, text)).sum()
    }

    /// The longest time since a moment in which a node, or any node, did not answer its heartbeat
    /// probe; zero if the description has none.
    pub fn heartbeat_gap(&self, node: Option<usize>, since: Instant) -> Duration {
        self.inner.heartbeat_gap(node, since)
    }

    /// Starts a node again that has ended, with the same data, and waits until it is ready.
    ///
    /// # Errors
    /// If it still runs, or does not become ready in time.
    pub fn restart(&self, node: usize) -> Result<Process, SutError> {
        if self.inner.is_stopping() {
            return Err(SutError::Stopped);
        }
        start::restart(&self.inner, node)
    }

    /// Sees to it that a node runs which may have ended by itself, or be about to: starts it again
    /// if it has, and waits until it is ready. Right before, it is asked whether it may be.
    ///
    /// # Errors
    /// If it does not become ready in time.
    pub fn revive(&self, node: usize, may_start: &dyn Fn() -> bool) -> Result<Revived, SutError> {
        if self.inner.is_stopping() {
            return Err(SutError::Stopped);
        }
        start::revive(&self.inner, node, may_start)
    }

    /// Gives a program that is to be started the mark of this cluster: whoever is killed before it
    /// has ended it leaves a process that can be found and ended, like those of the nodes.
    pub fn mark(&self, command: &mut std::process::Command) {
        command.envs([lock(&self.inner.processes).mark().variable()]);
    }

    /// Where the system calls of a node's process are answered, if it was started for it.
    pub fn tap(&self, node: usize) -> Option<Arc<Tap>> {
        self.inner.nodes.get(node)?.fittings.tap()
    }

    /// The disk of a node, if it has one of its own.
    pub fn volume(&self, node: usize) -> Option<Arc<Volume>> {
        self.inner.nodes.get(node)?.fittings.volume.clone()
    }

    /// The control group of a node, if it has one of its own.
    pub fn group(&self, node: usize) -> Option<Arc<Group>> {
        self.inner.nodes.get(node)?.fittings.group.clone()
    }

    /// The clock of a node, if libfaketime can move it.
    pub fn clock(&self, node: usize) -> Option<Clock> {
        self.inner.nodes.get(node)?.fittings.clock.clone()
    }

    /// Where a node keeps its data.
    ///
    /// # Panics
    /// If there is no such node.
    pub fn data_directory(&self, node: usize) -> &Path {
        &self.inner.nodes[node].data
    }

    /// Where a node's output goes.
    ///
    /// # Panics
    /// If there is no such node.
    pub fn log_path(&self, node: usize) -> &Path {
        &self.inner.nodes[node].log
    }

    /// The names of nodes that do not run now.
    pub fn down(&self) -> Vec<String> {
        let down = self.inner.nodes.iter().filter(|node| node.process().is_none());
        down.map(|node| node.name.clone()).collect()
    }

    /// Whether anything is still going on.
    pub fn quiescence(&self) -> Quiescence {
        self.inner.quiescence()
    }

    /// Connections that went around the proxies, so far and now; a sentence for each culprit.
    pub fn bypasses(&self) -> Vec<String> {
        watch::look_for_bypasses(&self.inner);
        lock(&self.inner.bypasses).sentences()
    }

    /// Clients that were given up, and nodes whose words could not be carried, so far: whoever is
    /// not heard does not count, so that a run with them shows less than it seems to.
    pub fn lost(&self) -> Vec<String> {
        let mut lost = self.inner.clients.given_up();
        lost.extend(self.inner.nodes.iter().filter_map(|node| {
            let what = node.nonsense()?;
            Some(format!("{} said what is no message: {what}", node.name))
        }));
        lost
    }

    /// Why nobody knows whether connections went around the proxies, if nobody does.
    pub fn unwatched(&self) -> Option<String> {
        lock(&self.inner.bypasses).unseen()
    }

    /// A client. The client with this index has the node `index % nodes` for its own. There may be
    /// several with one index, which work at the same time.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn client(&self, index: usize) -> Result<Box<dyn Client>, ClientError> {
        let inner = &self.inner;
        let kind = ClientKind::of(&inner.described().client, &inner.scope, inner.clients_apart);
        let reach = Reach {
            addresses: self.client_addresses(),
            names: inner.names.clone(),
            own: index % inner.names.len(),
            seed: inner.scope.seed.wrapping_add(index as u64),
            client: index,
            session: inner.sessions.fetch_add(1, Ordering::Relaxed),
            generator: inner.generator.clone(),
            options: inner.scope.options.clone(),
            log: inner.directory.join("logs").join(format!("client-{index}.log")),
            among: inner.clients.clone(),
        };
        match &inner.network {
            None => kind.open(reach),
            Some(network) => Ok(Box::new(Housed::open(network, move || kind.open(reach))?)),
        }
    }

    /// The processes of each client that is one, or several, now.
    pub fn client_processes(&self) -> Vec<Vec<Process>> {
        self.inner.clients.groups()
    }

    /// Whether a client costs no more than a connection: then there may be many of them.
    pub fn has_light_clients(&self) -> bool {
        self.inner.described().client.command.is_none() && !self.inner.clients_apart
    }

    /// Where clients reach each node: the proxies.
    pub fn client_addresses(&self) -> Vec<SocketAddr> {
        self.inner.wires.clients.clone()
    }

    /// Ends all nodes: asks them to, waits as long as the description says, and kills those that
    /// are left. Stopping twice is no mistake.
    pub fn stop(&self) {
        let stop = &self.inner.described().node.stop;
        self.stop_watchers();
        self.inner.nodes.iter().for_each(|node| node.ask_to_end(stop.signal));
        let until = Instant::now() + stop.grace();
        for node in &self.inner.nodes {
            node.wait_gone(until.saturating_duration_since(Instant::now()));
            node.end(&self.inner.processes);
        }
    }

    fn stop_watchers(&self) {
        *lock(&self.inner.stopping.0) = true;
        self.inner.stopping.1.notify_all();
        for watcher in lock(&self.watchers).drain(..) {
            // A watcher that has panicked has said so, and there is nothing to be saved.
            let _panicked = watcher.join();
        }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.stop_watchers();
        self.inner.nodes.iter().for_each(|node| {
            node.end(&self.inner.processes);
        });
    }
}
