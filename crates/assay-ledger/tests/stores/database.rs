//! A PostgreSQL of one's own: a real server in a directory that is gone after the test. It can be
//! killed at any moment, and comes back at the same address.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How long anything may take that must happen.
const WAIT_MAX: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(5);
/// As whom tests connect.
pub const USER: &str = "assay";
pub const PASSWORD: &str = "s3cret";

/// A server, and everything it has started.
pub struct Database {
    pub address: SocketAddr,
    pub directory: TempDir,
    settings: Vec<String>,
    child: Child,
}

impl Database {
    /// A new one. Its commits are durable, as a store wants them.
    pub fn start() -> Database {
        Database::start_with(&[])
    }

    pub fn start_with(settings: &[&str]) -> Database {
        let (directory, address) = (tempfile::tempdir().expect("a directory"), free_address());
        if is_root() {
            run(Command::new("chown").arg("postgres").arg(directory.path()));
        }
        let password = directory.path().join("password");
        std::fs::write(&password, PASSWORD).expect("ours");
        let mut initdb = command("initdb");
        initdb.args(["--no-sync", "--auth=scram-sha-256", "--encoding=UTF8", "--username", USER]);
        // An order of words that is not the order of bytes, if the machine has one.
        initdb.args(["--locale-provider=icu", "--icu-locale=en-US", "--locale=C"]);
        initdb.arg("--pwfile").arg(&password).arg("-D").arg(directory.path().join("data"));
        run(initdb.current_dir("/"));
        let settings: Vec<String> = settings.iter().map(|text| text.to_string()).collect();
        let child = spawn(directory.path(), address, &settings);
        let mut database = Database { address, directory, settings, child };
        database.until_it_answers();
        database
    }

    /// `kill -9` to all of it.
    pub fn kill(&mut self) {
        // Stopped, it starts no others while they are looked for.
        signal("-STOP", self.child.id());
        let all = descendants(self.child.id());
        all.iter().for_each(|pid| signal("-9", *pid));
        self.child.wait().expect("our child");
        // What was killed may take a moment to go, and until then nobody may use its data.
        let began = Instant::now();
        while all.iter().any(|pid| is_alive(*pid)) && began.elapsed() < WAIT_MAX {
            std::thread::park_timeout(PAUSE);
        }
    }

    pub fn restart(&mut self) {
        self.child = spawn(self.directory.path(), self.address, &self.settings);
        self.until_it_answers();
    }

    /// The address, with the password.
    pub fn url(&self) -> String {
        format!("postgres://{USER}:{PASSWORD}@{}/postgres", self.address)
    }

    /// Runs a statement, as an administrator would.
    pub fn sql(&self, statement: &str) -> Output {
        let mut psql = command("psql");
        let (host, port) = (self.address.ip().to_string(), self.address.port().to_string());
        psql.args(["-h", &host, "-p", &port, "-U", USER, "-At", "-c", statement, "postgres"]);
        psql.env("PGPASSWORD", PASSWORD).current_dir("/").output().expect("it runs")
    }

    fn until_it_answers(&mut self) {
        let began = Instant::now();
        while !self.sql("SELECT 1").status.success() {
            let ended = self.child.try_wait().is_ok_and(|end| end.is_some());
            if ended || began.elapsed() > WAIT_MAX {
                let log = std::fs::read_to_string(self.directory.path().join("log"));
                panic!("the database never answers; it says:\n{}", log.unwrap_or_default());
            }
            std::thread::park_timeout(PAUSE);
        }
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        self.kill();
    }
}

/// One that has ended by itself needs no signal.
fn signal(which: &str, pid: u32) {
    let _gone = Command::new("kill").args([which, &pid.to_string()]).output();
}

/// Whether a process is there, and more than an entry that nobody has taken away yet.
fn is_alive(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

fn spawn(directory: &Path, address: SocketAddr, settings: &[String]) -> Child {
    let mut postgres = command("postgres");
    postgres.arg("-D").arg(directory.join("data"));
    let (host, port) = (address.ip(), address.port());
    let own = [format!("listen_addresses={host}"), format!("port={port}")];
    let sockets = "unix_socket_directories=".to_string();
    for setting in own.iter().chain([&sockets]).chain(settings) {
        postgres.args(["-c", setting]);
    }
    let log = directory.join("log");
    let log = std::fs::OpenOptions::new().create(true).append(true).open(log).expect("a log");
    postgres.stdin(Stdio::null()).stdout(log.try_clone().expect("a log")).stderr(log);
    postgres.current_dir("/").spawn().unwrap_or_else(|error| panic!("{postgres:?}: {error}"))
}

/// A command of PostgreSQL, as a user it agrees to serve: it refuses to run as root.
fn command(name: &str) -> Command {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut places: Vec<PathBuf> = versions.map(|version| version.path().join("bin")).collect();
    let path = std::env::var_os("PATH").unwrap_or_default();
    places.extend(std::env::split_paths(&path));
    let program = places.iter().map(|place| place.join(name)).find(|file| file.is_file());
    let program = program.unwrap_or_else(|| {
        panic!("{name} is missing: install postgresql-15, or run scripts/install-deps.sh")
    });
    if !is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups", "--"]).arg(program);
    command
}

fn is_root() -> bool {
    std::os::unix::fs::MetadataExt::uid(&std::fs::metadata("/proc/self").expect("/proc")) == 0
}

fn run(command: &mut Command) {
    let said = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let text = String::from_utf8_lossy(&said.stderr);
    assert!(said.status.success(), "{command:?}: {text}");
}

/// A process and all that descend from it.
fn descendants(root: u32) -> Vec<u32> {
    let parent = |pid: u32| -> Option<(u32, u32)> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let parent = stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()?;
        Some((pid, parent))
    };
    let entries = std::fs::read_dir("/proc").expect("/proc").flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let parents: Vec<(u32, u32)> = pids.filter_map(parent).collect();
    let mut all = vec![root];
    let mut at = 0;
    while at < all.len() {
        let of = all[at];
        all.extend(parents.iter().filter(|(_, parent)| *parent == of).map(|(pid, _)| pid));
        at += 1;
    }
    all
}

/// A port that is free, on a loopback address no other server of these tests has. While a server is
/// down, its clients go on trying from another address, so that none of them takes the port for its
/// own end: on 127.0.0.1 one of thousands of attempts even connects to itself.
pub fn free_address() -> SocketAddr {
    static NEXT: AtomicU8 = AtomicU8::new(1);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let [.., high, low] = std::process::id().to_be_bytes();
    let host = Ipv4Addr::new(127, high | 1, low, number);
    let listener = TcpListener::bind((host, 0)).expect("a port");
    listener.local_addr().expect("it has an address")
}
