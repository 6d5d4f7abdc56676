//! What keeps a node of PostgreSQL, as it is described: the real script with real servers.

use super::root;
use std::fs::File;
use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Where Debian's package has the programs.
const PROGRAMS: &str = "/usr/lib/postgresql/15/bin";
/// A machine that is very busy.
const WAIT_MAX: Duration = Duration::from_secs(120);
/// More than a node waits if there is nobody to wait for.
const PATIENCE: usize = 10;

/// Three nodes, each a process group in a directory of its own.
struct Nodes {
    directory: tempfile::TempDir,
    addresses: Vec<String>,
    running: Vec<Child>,
}

impl Nodes {
    fn start() -> Nodes {
        let held: Vec<TcpListener> =
            (0..3).map(|_| TcpListener::bind("127.0.0.1:0").expect("a port")).collect();
        let address = |port: &TcpListener| port.local_addr().expect("an address").to_string();
        let addresses = held.iter().map(address).collect();
        let directory = tempfile::tempdir().expect("a directory");
        let mut nodes = Nodes { directory, addresses, running: Vec::new() };
        drop(held);
        for index in 0..3 {
            std::fs::create_dir(nodes.path(index)).expect("made");
            let node = nodes.spawn(index);
            nodes.running.push(node);
        }
        for index in 0..3 {
            nodes.wait_for_log(index, "ready to accept");
        }
        nodes
    }

    fn path(&self, index: usize) -> PathBuf {
        self.directory.path().join(format!("n{}", index + 1))
    }

    fn log(&self, index: usize) -> String {
        std::fs::read_to_string(self.path(index).join("log")).unwrap_or_default()
    }

    /// The command of a node as the description has it, with braces as a shell wants them.
    fn spawn(&self, index: usize) -> Child {
        let text = std::fs::read_to_string(root().join("systems/postgres.toml")).expect("there");
        let described: toml::Table = text.parse().expect("TOML");
        let script = described["node"]["command"][2].as_str().expect("a script");
        let script = script.replace("{{", "{").replace("}}", "}");
        let address = &self.addresses[index];
        let log = File::create(self.path(index).join("log")).expect("a log");
        let path = format!("{PROGRAMS}:{}", std::env::var("PATH").unwrap_or_default());
        let mut node = Command::new("bash");
        node.args(["-c", &script, "postgres-node", &(index + 1).to_string(), address, address])
            .args([self.addresses.join(","), "1".to_string()])
            .env("PATH", path)
            .current_dir(self.path(index))
            .stdin(Stdio::null())
            .stderr(log.try_clone().expect("the log again"))
            .stdout(log)
            .process_group(0);
        node.spawn().expect("bash")
    }

    fn kill(&mut self, index: usize) {
        signal("-KILL", &format!("-{}", self.running[index].id()));
        self.running[index].wait().expect("it ended");
    }

    fn wait_for_log(&self, index: usize, words: &str) {
        wait_until(words, || self.log(index).contains(words), || self.log(index));
    }

    /// The process of a standby that replays what it gets, and that a promotion waits for.
    fn replaying(&self, index: usize) -> String {
        let file = self.path(index).join("pg/postmaster.pid");
        let pids = std::fs::read_to_string(file).unwrap_or_default();
        let inside = pids.lines().next().expect("a server").to_string();
        let started = |pid: &str| {
            let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
            let line = status.lines().find(|line| line.starts_with("PPid:"))?.to_string();
            line.split_whitespace().nth(1).map(str::to_string)
        };
        let is_it = |pid: &String| {
            let said = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            let said = String::from_utf8_lossy(&said).into_owned();
            said.starts_with("postgres: startup") && started(pid).as_deref() == Some(&*inside)
        };
        let all = std::fs::read_dir("/proc").expect("processes").flatten();
        let mut pids = all.map(|entry| entry.file_name().to_string_lossy().into_owned());
        pids.find(is_it).expect("a standby replays")
    }

    /// How many say that they are no standby.
    fn primaries(&self) -> usize {
        let is_primary = |address: &&String| {
            let (host, port) = address.split_once(':').expect("an address");
            let mut psql = Command::new(Path::new(PROGRAMS).join("psql"));
            psql.args(["-h", host, "-p", port, "-U", "postgres", "-Atqc"]);
            let asked = psql.args(["select pg_is_in_recovery()", "postgres"]).output();
            asked.expect("psql").stdout.starts_with(b"f")
        };
        self.addresses.iter().filter(is_primary).count()
    }
}

impl Drop for Nodes {
    fn drop(&mut self) {
        for node in &mut self.running {
            signal("-KILL", &format!("-{}", node.id()));
            node.wait().ok();
        }
    }
}

fn signal(name: &str, whom: &str) {
    let script = "kill \"$1\" -- \"$2\"";
    Command::new("bash").args(["-c", script, "kill", name, whom]).status().expect("bash");
}

fn wait_until(what: &str, holds: impl Fn() -> bool, told: impl Fn() -> String) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < WAIT_MAX, "{what} did not come: {}", told());
        std::thread::park_timeout(Duration::from_millis(20));
    }
}

#[test]
fn a_primary_that_comes_back_waits_for_a_late_promotion() {
    let mut nodes = Nodes::start();
    nodes.kill(0);
    let standbys = [nodes.replaying(1), nodes.replaying(2)];
    for standby in &standbys {
        signal("-STOP", standby);
    }
    let promoted = |nodes: &Nodes| (1..3).any(|index| nodes.log(index).contains("promoting n"));
    wait_until("a promotion", || promoted(&nodes), || nodes.log(1) + &nodes.log(2));
    nodes.running[0] = nodes.spawn(0);
    let waited = || nodes.log(0).matches("waits for the others").count();
    let leads = || nodes.log(0).contains("ready to accept");
    wait_until("patience", || leads() || waited() >= PATIENCE, || nodes.log(0));
    assert!(!leads(), "it leads while another one is about to: {}", nodes.log(0));
    for standby in &standbys {
        signal("-CONT", standby);
    }
    nodes.wait_for_log(0, "ready to accept");
    assert_eq!(nodes.primaries(), 1);
}
