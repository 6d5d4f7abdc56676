//! Nodes whose disks lose power or turn read-only.

use super::machine::{Worker, by, run, volume};
use super::support::{PATIENCE, wait_until};
use assay_nemesis::{DiskNode, InjectError, PowerLoss, Process, ReadOnlyDisk, Victim};
use assay_verdict::LandingState;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

/// How many writes are acknowledged before the power goes.
const WRITES: u32 = 300;

/// A Redis that keeps a log of what it acknowledges.
#[derive(Clone)]
struct Redis {
    data: PathBuf,
    fsync: &'static str,
    port: u16,
    child: Arc<Mutex<Option<Child>>>,
}

impl Redis {
    fn start(data: &Path, fsync: &'static str) -> Redis {
        let free = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = free.local_addr().expect("it is bound").port();
        drop(free);
        std::fs::create_dir_all(data).expect("a directory");
        let redis = Redis { data: data.into(), fsync, port, child: Arc::default() };
        redis.start_again();
        redis
    }

    fn start_again(&self) -> Process {
        self.end();
        let child = Command::new("redis-server")
            .args(["--bind", "127.0.0.1", "--port", &self.port.to_string(), "--save", ""])
            .args(["--appendonly", "yes", "--appendfsync", self.fsync, "--dir"])
            .arg(&self.data)
            .stdout(Stdio::null())
            .spawn()
            .expect("redis-server can be started");
        let process = Process::of(child.id()).expect("it has just been started");
        *self.child.lock().expect("nobody panics") = Some(child);
        wait_until("redis answers", || self.ask("PING").is_some_and(|line| line == "+PONG"));
        process
    }

    fn process(&self) -> Process {
        let child = self.child.lock().expect("nobody panics");
        Process::of(child.as_ref().expect("it was started").id()).expect("it runs")
    }

    fn end(&self) {
        if let Some(mut child) = self.child.lock().expect("nobody panics").take() {
            let _gone_already = child.kill();
            let _reaped = child.wait();
        }
    }

    /// The first line of the answer; `None` if there is none.
    fn ask(&self, question: &str) -> Option<String> {
        let mut socket = TcpStream::connect(("127.0.0.1", self.port)).ok()?;
        socket.set_read_timeout(Some(PATIENCE)).ok()?;
        socket.write_all(format!("{question}\r\n").as_bytes()).ok()?;
        let mut line = String::new();
        BufReader::new(socket).read_line(&mut line).ok()?;
        Some(line.trim().to_string()).filter(|line| !line.is_empty())
    }

    fn write_all(&self) -> Vec<String> {
        let keys = (0..WRITES).map(|i| format!("key{i}"));
        let acked =
            |key: &String| self.ask(&format!("SET {key} value")).is_some_and(|l| l == "+OK");
        keys.filter(acked).collect()
    }

    fn lost(&self, acked: &[String]) -> usize {
        let is_there = |key: &&String| self.ask(&format!("GET {key}")).is_some_and(|l| l == "$5");
        acked.len() - acked.iter().filter(is_there).count()
    }
}

/// Cuts the power of a Redis; how many acknowledged writes it has lost, and how many there were.
fn cut(fsync: &'static str) -> Option<(usize, usize)> {
    let (directory, injector) = run()?;
    let volume = volume(directory.path(), "n1");
    let redis = Redis::start(&volume.mount_point().join("data"), fsync);
    let acked = redis.write_all();
    assert_eq!(redis.lost(&acked), 0);
    let node = DiskNode { node: "n1".into(), processes: vec![redis.process()], volume };
    let client = redis.clone();
    let refused = Victim::new("refused", move || Some(u64::from(client.ask("PING").is_none())));
    let mut guard =
        injector.inject(by("fsync-loss", PowerLoss::of(vec![node])), refused).expect("cut");
    let owner = redis.clone();
    guard.restart_with(move || Ok(vec![owner.start_again()]));
    assert_eq!(guard.wait_landed(PATIENCE), LandingState::Landed, "{}", guard.sample().evidence());
    let healed = guard.heal().expect("it has power again");
    assert_eq!(healed.landing.injector.after, Some(0), "{healed:?}");
    assert!(healed.proof.iter().any(|line| line.contains("can be written")), "{healed:?}");
    let lost = redis.lost(&acked);
    eprintln!("appendfsync {fsync}: acked {}, lost {lost}", acked.len());
    redis.end();
    Some((lost, acked.len()))
}

#[test]
fn a_power_cut_takes_nothing_that_was_synced_before_it_was_acknowledged() {
    let Some((lost, acked)) = cut("always") else { return };
    assert_eq!((lost, acked), (0, WRITES as usize));
}

#[test]
fn a_power_cut_takes_what_was_acknowledged_without_a_sync() {
    let Some((lost, acked)) = cut("no") else { return };
    assert!(lost > 0, "all {acked} writes survived without a sync");
}

#[test]
fn a_disk_turns_read_only_under_a_node_and_back_without_it() {
    let Some((directory, injector)) = run() else { return };
    let volume = volume(directory.path(), "n1");
    let worker = Worker::start("sync", &volume.mount_point().join("file"), None);
    let process = worker.process();
    let node = DiskNode { node: "n1".into(), processes: vec![process], volume };
    let fault = by("fs-readonly", ReadOnlyDisk::of(vec![node]));
    let mut guard = injector.inject(fault, worker.victim()).expect("on");
    assert_eq!(guard.wait_landed(PATIENCE), LandingState::Landed, "{}", guard.sample().evidence());
    let healed = guard.heal().expect("it can be written again");
    assert_eq!(healed.landing.injector.after, Some(0), "{healed:?}");
}

#[test]
fn a_disk_that_the_node_does_not_use_is_refused_without_a_trace() {
    let Some((directory, injector)) = run() else { return };
    let volume = volume(directory.path(), "n1");
    let worker = Worker::start("sync", &directory.path().join("elsewhere"), None);
    let (node, processes) = ("n1".to_string(), vec![worker.process()]);
    let node = DiskNode { node, processes, volume: Arc::clone(&volume) };
    let faults = [
        by("fsync-loss", PowerLoss::of(vec![node.clone()])),
        by("fs-readonly", ReadOnlyDisk::of(vec![node])),
        by("fsync-loss", PowerLoss::of(Vec::new())),
    ];
    for fault in faults {
        let title = fault.title();
        let refused = injector.inject(fault, worker.victim()).err();
        assert!(matches!(refused, Some(InjectError::Means { .. })), "{title}: {refused:?}");
    }
    let journal = std::fs::read_to_string(directory.path().join("nemesis.jsonl")).expect("a file");
    assert!(!journal.contains("inject"), "{journal}");
    let written = std::fs::write(volume.mount_point().join("file"), b"x");
    written.expect("nothing was done to the volume");
    assert_eq!(worker.troubles(), 0);
}
