//! Servers that end with the test, however it ends.

use rustix::process::{Pid, Signal, kill_process};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How long anything may take that must happen.
pub const WAIT_MAX: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(5);

/// A running server, its directory, and everything it has started.
pub struct Server {
    child: Child,
    pub address: SocketAddr,
    pub directory: TempDir,
}

impl Server {
    /// Starts a command that shall listen at `address`. Its output goes to `log` in `directory`.
    pub fn start(mut command: Command, address: SocketAddr, directory: TempDir) -> Server {
        let log = std::fs::File::create(directory.path().join("log")).expect("a log");
        command.stdin(Stdio::null()).stdout(log.try_clone().expect("a log")).stderr(log);
        command.current_dir(directory.path());
        let child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let mut server = Server { child, address, directory };
        server.until("listens", |_| TcpStream::connect(address).is_ok());
        server
    }

    /// Waits until something holds, while the server runs.
    pub fn until(&mut self, what: &str, mut holds: impl FnMut(&Server) -> bool) {
        let began = Instant::now();
        while !holds(self) {
            if began.elapsed() > WAIT_MAX || self.child.try_wait().is_ok_and(|end| end.is_some()) {
                let log = std::fs::read_to_string(self.directory.path().join("log"));
                panic!("the server never {what}; it says:\n{}", log.unwrap_or_default());
            }
            std::thread::park_timeout(PAUSE);
        }
    }

    /// Stops all its processes where they are.
    pub fn stop(&mut self) {
        // Again and again: one that was just being born has not heard it the first time. One that
        // has ended cannot be waited for by a parent that is stopped.
        self.until("stops", |server| {
            server.signal(Signal::STOP);
            let stands = |pid: &i32| ["T", "Z"].contains(&state(*pid).as_str());
            server.processes().iter().all(stands)
        });
    }

    /// Lets them go on.
    pub fn resume(&mut self) {
        self.signal(Signal::CONT);
    }

    /// Ends them at once, and waits for the end.
    pub fn kill(&mut self) {
        self.signal(Signal::KILL);
        self.child.wait().expect("it ends");
    }

    /// Waits until more lies unread in the server's sockets than `before`.
    pub fn until_more_is_unread(&mut self, before: u64) {
        self.until("gets a request", |server| server.unread_bytes() > before);
    }

    /// What lies in the receive queues of its connections.
    pub fn unread_bytes(&self) -> u64 {
        let SocketAddr::V4(address) = self.address else { return 0 };
        let ip = u32::from_le_bytes(address.ip().octets());
        let local = format!("{ip:08X}:{:04X}", address.port());
        let table = std::fs::read_to_string("/proc/net/tcp").expect("the table of connections");
        let unread = |line: &str| {
            let fields: Vec<&str> = line.split_whitespace().collect();
            // 0A is a listener, whose queue counts connections.
            let counts = fields.get(1) == Some(&local.as_str()) && fields.get(3) != Some(&"0A");
            let (_, queue) = fields.get(4).filter(|_| counts)?.split_once(':')?;
            u64::from_str_radix(queue, 16).ok()
        };
        table.lines().filter_map(unread).sum()
    }

    fn signal(&self, signal: Signal) {
        for pid in self.processes() {
            let pid = Pid::from_raw(pid).expect("no pid is 0");
            // One that has ended by itself needs no signal.
            let _gone = kill_process(pid, signal);
        }
    }

    /// The process and all that descend from it.
    fn processes(&self) -> Vec<i32> {
        let mut all = vec![self.child.id() as i32];
        let parents: Vec<(i32, i32)> = std::fs::read_dir("/proc")
            .expect("/proc")
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
            .filter_map(|pid: i32| Some((pid, stat(pid)?.get(1)?.parse().ok()?)))
            .collect();
        let mut at = 0;
        while at < all.len() {
            let parent = all[at];
            all.extend(parents.iter().filter(|(_, of)| *of == parent).map(|(pid, _)| pid));
            at += 1;
        }
        all
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
        let _ended = self.child.wait();
    }
}

/// The fields of `/proc/PID/stat` after the name: the state, the parent, ...
fn stat(pid: i32) -> Option<Vec<String>> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, fields) = text.rsplit_once(") ")?;
    Some(fields.split(' ').map(str::to_string).collect())
}

fn state(pid: i32) -> String {
    // A process that is gone does nothing either.
    stat(pid).map_or_else(|| "T".to_string(), |fields| fields[0].clone())
}

/// A port that is free, on a loopback address no other server of these tests has.
pub fn free_address() -> SocketAddr {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    let number = NEXT.fetch_add(1, Ordering::Relaxed) as u8;
    let [.., high, low] = std::process::id().to_be_bytes();
    let host = Ipv4Addr::new(127, high | 1, low, number);
    let listener = TcpListener::bind((host, 0)).expect("a port");
    listener.local_addr().expect("it has an address")
}

/// A directory that is gone after the test.
pub fn directory() -> TempDir {
    tempfile::tempdir().expect("a directory")
}

/// The path of a program on `PATH` or in `places`; without it the test cannot say anything.
pub fn program(name: &str, places: &[&Path], package: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let places = places.iter().map(|place| place.to_path_buf());
    // Servers are often where only root looks.
    let sbin = ["/usr/sbin", "/usr/local/sbin"].map(PathBuf::from);
    let mut found =
        std::env::split_paths(&path).chain(sbin).chain(places).map(|place| place.join(name));
    found.find(|file| file.is_file()).unwrap_or_else(|| {
        panic!("{name} is missing: install the package {package}, or run scripts/install-deps.sh")
    })
}
