//! Clusters that never outlive their test.

use crate::http::{Answer, Client};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How long anything may take before a test calls it broken. Far above what is seen (an election
/// takes about a second), because the machine may be busy.
pub const PATIENCE: Duration = Duration::from_secs(40);

/// Waits until `what` gives something, and says what was waited for if it never does.
#[track_caller]
pub fn wait_for<T>(wish: &str, mut what: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = what() {
            return found;
        }
        assert!(start.elapsed() < PATIENCE, "waited {PATIENCE:?} in vain for: {wish}");
        std::thread::park_timeout(Duration::from_millis(10));
    }
}

/// A port nobody listens on, below those the kernel hands out to connections.
fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    loop {
        let start = 10_000 + (std::process::id() % 200) as u16 * 100;
        let port = start + NEXT.fetch_add(1, Ordering::Relaxed) % 2_000;
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

/// A cluster of processes; ids count from 1. All of them are killed when it goes out of scope.
pub struct Cluster {
    directory: TempDir,
    ports: Vec<u16>,
    nodes: Vec<Option<Child>>,
    extra: Vec<String>,
}

impl Cluster {
    /// Starts `size` nodes with `extra` arguments and waits until they have a leader.
    pub fn start(size: usize, extra: &[&str]) -> Cluster {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let ports = (0..size).map(|_| free_port()).collect();
        let extra = extra.iter().map(ToString::to_string).collect();
        let nodes = (0..size).map(|_| None).collect();
        let mut cluster = Cluster { directory, ports, nodes, extra };
        for id in cluster.ids() {
            cluster.start_node(id);
        }
        cluster.leader();
        cluster
    }

    pub fn ids(&self) -> std::ops::RangeInclusive<usize> {
        1..=self.ports.len()
    }

    pub fn port(&self, id: usize) -> u16 {
        self.ports[id - 1]
    }

    /// A node's data directory.
    pub fn data(&self, id: usize) -> std::path::PathBuf {
        self.directory.path().join(id.to_string())
    }

    /// The command that runs a node.
    pub fn command(&self, id: usize) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
        command.args(["kv", "node", "--id", &id.to_string()]);
        command.args(["--listen", &format!("127.0.0.1:{}", self.port(id))]);
        command.arg("--data").arg(self.data(id));
        for peer in self.ids() {
            command.arg("--peer").arg(format!("{peer}=127.0.0.1:{}", self.port(peer)));
        }
        command.args(&self.extra).stdin(Stdio::null());
        command
    }

    /// Starts a node and waits until it says that it is ready.
    pub fn start_node(&mut self, id: usize) {
        let log = File::options().create(true).append(true).open(self.log(id));
        let child = self
            .command(id)
            .stdout(Stdio::piped())
            .stderr(log.expect("a log can be made"))
            .spawn()
            .expect("assay runs");
        let child = self.nodes[id - 1].insert(child);
        let stdout = child.stdout.take().expect("stdout is piped");
        let mut ready = String::new();
        BufReader::new(stdout).read_line(&mut ready).expect("stdout can be read");
        assert!(ready.starts_with("ready "), "node {id} said {ready:?}");
    }

    fn log(&self, id: usize) -> std::path::PathBuf {
        self.directory.path().join(format!("node-{id}.log"))
    }

    /// `kill -9`.
    pub fn kill(&mut self, id: usize) {
        let mut child = self.nodes[id - 1].take().expect("the node runs");
        child.kill().expect("our own child can be killed");
        child.wait().expect("it is dead");
    }

    /// Sends a signal by name.
    pub fn signal(&self, id: usize, signal: &str) {
        let pid = self.nodes[id - 1].as_ref().expect("the node runs").id().to_string();
        let sent = Command::new("kill").args([&format!("-{signal}"), &pid]).status();
        assert!(sent.expect("kill runs").success());
    }

    /// SIGTERM; gives the exit code.
    pub fn stop(&mut self, id: usize) -> Option<i32> {
        self.signal(id, "TERM");
        let mut child = self.nodes[id - 1].take().expect("the node runs");
        wait_for("the end of a node that was told to stop", || child.try_wait().expect("a child"))
            .code()
    }

    pub fn running(&self) -> Vec<usize> {
        self.ids().filter(|id| self.nodes[id - 1].is_some()).collect()
    }

    pub fn status(&self, id: usize) -> Option<Value> {
        Client::new(self.port(id)).get("/status").ok()
    }

    pub fn dump(&self, id: usize) -> Option<Value> {
        Client::new(self.port(id)).get("/dump").ok()
    }

    /// The node that leads by its own account and can prove it to a majority.
    pub fn leader(&self) -> usize {
        self.leader_among(&self.running())
    }

    pub fn leader_among(&self, ids: &[usize]) -> usize {
        wait_for("a leader that can read", || {
            let leads = |id: &&usize| self.status(**id).is_some_and(|s| s["role"] == "leader");
            let reads = |id: &&usize| matches!(self.op(**id, "members", ""), Answer::Ok(_));
            ids.iter().filter(leads).find(reads).copied()
        })
    }

    /// One request: `more` are the fields after `op`.
    pub fn op(&self, id: usize, op: &str, more: &str) -> Answer {
        let body = format!(r#"{{"op": "{op}"{more}}}"#);
        Client::new(self.port(id)).op(&serde_json::from_str(&body).expect("a test sends JSON"))
    }

    /// One request that must succeed, tried again while the cluster is not ready for it.
    #[track_caller]
    pub fn must(&self, id: usize, op: &str, more: &str) -> Value {
        wait_for(&format!("{op} {more} at node {id}"), || match self.op(id, op, more) {
            Answer::Ok(value) => Some(value),
            _ => None,
        })
    }

    /// Waits until all running nodes have applied the same state, and gives it.
    pub fn converged(&self) -> Value {
        wait_for("replicas with equal state", || {
            let dumps: Option<Vec<Value>> =
                self.running().iter().map(|id| self.dump(*id)).collect();
            let states: Vec<Value> = dumps?.into_iter().map(|dump| dump["state"].clone()).collect();
            states.windows(2).all(|pair| pair[0] == pair[1]).then(|| json!(states[0]))
        })
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for child in self.nodes.iter_mut().flatten() {
            // SIGKILL ends stopped processes as well.
            let _dead_already = child.kill().and_then(|()| child.wait());
        }
        if std::thread::panicking() {
            for id in self.ids() {
                let log = std::fs::read_to_string(self.log(id)).unwrap_or_default();
                let tail: Vec<&str> = log.lines().rev().take(15).collect();
                eprintln!("--- the last lines of node {id}, newest first\n{}", tail.join("\n"));
            }
        }
    }
}
