//! A node from start to stop.

use crate::counters::Counters;
use crate::defect::{Defect, Defects};
use crate::network::Peers;
use crate::propose::Proposer;
use crate::raft::{NodeId, Raft, config};
use crate::reads::ReadGate;
use crate::server::{self, Node};
use crate::storage::directory::Directory;
use crate::storage::log_file::LogFile;
use crate::storage::{Durability, LogStore, Machine, StorageTrouble};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

/// Threads of a node. Two may be busy with the disk while two serve.
const THREADS: usize = 4;
/// How long a stopping node waits for requests under way.
const STOP_MS_MAX: u64 = 3_000;

/// How a node is started.
#[derive(Clone, Debug)]
pub struct NodeOptions {
    /// Its number.
    pub id: NodeId,
    /// Where it listens.
    pub listen: String,
    /// Where it says it can be reached; where it listens if not given.
    pub advertise: Option<String>,
    /// Its data directory.
    pub data: PathBuf,
    /// Where it reaches each of its peers. Its own id may be among them.
    pub peers: BTreeMap<NodeId, String>,
    /// What it does wrong.
    pub defects: Defects,
    /// Entries between snapshots, if not the usual number.
    pub snapshot_every: Option<u64>,
}

/// Why a node did not start, or did not go on.
#[derive(Debug, thiserror::Error)]
pub enum NodeError {
    /// Something about its directory or files.
    #[error(transparent)]
    Storage(#[from] StorageTrouble),
    /// It cannot listen there.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// Where.
        address: String,
        /// Why.
        source: std::io::Error,
    },
    /// The machine gives no threads, signals or the like.
    #[error("cannot start: {0}")]
    Start(#[source] std::io::Error),
    /// Raft stopped by itself, for example because the disk is full.
    #[error("stopped, because it cannot go on safely: {0}")]
    Stopped(String),
}

/// Runs a node until it gets SIGTERM or SIGINT.
///
/// Prints one line, `ready …`, to standard output once it serves, and what happens to it to
/// standard error.
pub fn run(options: NodeOptions) -> Result<(), NodeError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(THREADS)
        .enable_all()
        .build()
        .map_err(NodeError::Start)?;
    // The runtime's own task, not the main thread: what blocks must be able to hand its work over.
    let node = runtime.spawn(run_until_stopped(options));
    let ended = runtime.block_on(node);
    runtime.shutdown_timeout(Duration::from_millis(STOP_MS_MAX));
    ended.map_err(|error| NodeError::Stopped(error.to_string()))?
}

async fn run_until_stopped(options: NodeOptions) -> Result<(), NodeError> {
    let id = options.id;
    let members: BTreeSet<NodeId> = options.peers.keys().copied().chain([id]).collect();
    let directory = Directory::open(&options.data, id, &members)?;
    let listener = TcpListener::bind(&options.listen)
        .await
        .map_err(|source| NodeError::Listen { address: options.listen.clone(), source })?;
    let mut terminated = signal(SignalKind::terminate()).map_err(NodeError::Start)?;
    let mut interrupted = signal(SignalKind::interrupt()).map_err(NodeError::Start)?;
    let (node, log) = open(&options, &directory).await?;
    bootstrap(&node.raft, id, &members).await?;
    let bound = listener.local_addr().map_err(NodeError::Start)?;
    announce(id, &bound.to_string());
    let (stop, stopped) = tokio::sync::watch::channel(());
    let mut stop_seen = stopped.clone();
    let listener = server::Listener::new(listener, id);
    let serve = axum::serve(listener, server::routes(node.clone()));
    let serve = serve.with_graceful_shutdown(async move { drop(stop_seen.changed().await) });
    let server = tokio::spawn(serve.into_future());
    let ended = tokio::select! {
        _ = terminated.recv() => Ok(()),
        _ = interrupted.recv() => Ok(()),
        why = watch(&node.raft, id) => Err(NodeError::Stopped(why)),
    };
    drop(stop);
    let patience = Duration::from_millis(STOP_MS_MAX);
    // Kept connections of peers end the grace period; that is no error.
    let _late = tokio::time::timeout(patience / 10, server).await;
    let _ended_anyway = tokio::time::timeout(patience, node.raft.shutdown()).await;
    log.close()?;
    note(id, "stopped");
    ended
}

/// Reads what is on disk and starts Raft on it.
async fn open(
    options: &NodeOptions,
    directory: &Directory,
) -> Result<(Arc<Node>, LogStore), NodeError> {
    let id = options.id;
    let durability = if options.defects.has(Defect::ForgetOnRestart) {
        Durability::Forgetful
    } else {
        Durability::Synced
    };
    let (log, torn_bytes) = LogFile::open(directory.path(), durability)?;
    if torn_bytes > 0 {
        note(id, &format!("cut {torn_bytes} bytes of a torn record off the log"));
    }
    let machine = Machine::open(directory.path())?;
    let addresses: BTreeMap<NodeId, String> =
        options.peers.clone().into_iter().filter(|(peer, _)| *peer != id).collect();
    let counters = Arc::new(Counters::new(addresses.keys().copied()));
    let log = LogStore::new(log, counters.clone());
    let peers = Peers::new(addresses, counters.clone());
    let config = config(options.snapshot_every).validate().map_err(stopped)?;
    let raft = Raft::new(id, Arc::new(config), peers.clone(), log.clone(), machine.clone());
    let raft = raft.await.map_err(stopped)?;
    let node = Node {
        id,
        address: options.advertise.clone().unwrap_or_else(|| options.listen.clone()),
        defects: options.defects.clone(),
        proposer: Proposer::start(raft.clone(), options.defects.clone(), counters.clone()),
        reads: ReadGate::start(raft.clone()),
        counters,
        raft,
        machine,
        peers,
    };
    Ok((Arc::new(node), log))
}

fn stopped(error: impl std::fmt::Display) -> NodeError {
    NodeError::Stopped(error.to_string())
}

/// Forms the cluster at the first start of its lowest id: the members are those on the command
/// line, which the label of every directory repeats. A node that has anything stored is left alone.
/// If the lowest id comes back with an empty directory it does this again, with the same members;
/// Raft allows that, and the others, being further, bring it up to date.
async fn bootstrap(raft: &Raft, id: NodeId, members: &BTreeSet<NodeId>) -> Result<(), NodeError> {
    if members.first() != Some(&id) || raft.is_initialized().await.map_err(stopped)? {
        return Ok(());
    }
    use openraft::error::{InitializeError, RaftError};
    match raft.initialize(members.clone()).await {
        // A peer was faster: what it sent counts.
        Ok(()) | Err(RaftError::APIError(InitializeError::NotAllowed(_))) => Ok(()),
        Err(error) => Err(stopped(error)),
    }
}

/// Notes changes of role and leader until Raft stops by itself; then says why.
async fn watch(raft: &Raft, id: NodeId) -> String {
    let mut metrics = raft.metrics();
    let mut shown = None;
    loop {
        let now = metrics.borrow_and_update().clone();
        if let Err(fatal) = &now.running_state {
            return fatal.to_string();
        }
        let state = (now.state, now.current_leader, now.current_term);
        if shown != Some(state) {
            shown = Some(state);
            let leader = now.current_leader.map_or("none".to_string(), |id| id.to_string());
            let role = server::role(now.state);
            note(id, &format!("{role} in term {}, leader {leader}", now.current_term));
        }
        if metrics.changed().await.is_err() {
            return "Raft is gone".to_string();
        }
    }
}

fn announce(id: NodeId, address: &str) {
    let mut out = std::io::stdout().lock();
    // Whoever started the node may not want to read this; the node runs all the same.
    let _unread = writeln!(out, "ready node={id} address={address}").and_then(|()| out.flush());
}

/// Says what happens to a node.
pub(crate) fn note(id: NodeId, what: &str) {
    let _unread = writeln!(std::io::stderr().lock(), "node {id}: {what}");
}
