//! Victims with disks and control groups of their own, and who may have those.

use super::support::wait_until;
use assay_kernel::cgroup::Group;
use assay_kernel::volume::{VOLUME_BYTES_MIN, Volume};
use assay_nemesis::{Action, ByMeans, Fault, Injector, Means, Process, Victim, clear_below};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The number of CAP_SYS_ADMIN, without which nothing is mounted.
const SYS_ADMIN: u32 = 21;

/// How long a worker that says something every few milliseconds may be silent on a busy machine.
const HEARTBEAT_MAX: Duration = Duration::from_secs(1);

/// Whether this is a root that may mount; says that a test is skipped if not.
pub fn may_mount() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let bits = effective.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok()).unwrap_or(0);
    let may = bits & (1 << SYS_ADMIN) != 0;
    if !may {
        eprintln!("SKIPPED: not root: neither mounts nor control groups can be made");
    }
    may
}

/// The directory of a run, which takes its groups and volumes with it.
pub struct RunDirectory(TempDir);

impl RunDirectory {
    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for RunDirectory {
    fn drop(&mut self) {
        for line in clear_below(self.path()) {
            // A panic while another is on would hide the first.
            if let (Err(trouble), false) = (line, std::thread::panicking()) {
                panic!("{trouble}");
            }
        }
    }
}

/// A run with an injector, for whoever may do more than usual. Keep it longer than all else.
pub fn run() -> Option<(RunDirectory, Injector)> {
    may_mount().then(|| {
        let (directory, _, injector) = super::support::injector(None);
        (RunDirectory(directory), injector)
    })
}

pub fn volume(run: &Path, node: &str) -> Arc<Volume> {
    let image = run.join(format!("{node}.img"));
    Arc::new(Volume::make(&image, &run.join(node), VOLUME_BYTES_MIN * 4).expect("a volume"))
}

pub fn group(run: &Path, node: &str) -> Arc<Group> {
    Arc::new(Group::make(run, node).expect("a group"))
}

pub fn by(id: &str, means: impl Means + 'static) -> Fault {
    super::support::fault(id, Action::By(ByMeans(Arc::new(means))))
}

/// Does one thing again and again, and says how often it went wrong.
const WORK: &str = "
import os, sys, time
mode, path = sys.argv[1:]
troubles = 0
def tell():
    global troubles
    troubles += 1
    print(troubles, flush=True)
    time.sleep(0.002)
file = os.open(path, os.O_CREAT | os.O_RDWR)
print(0, flush=True)
last = time.monotonic()
while True:
    try:
        if mode in ('sync', 'slow'):
            os.pwrite(file, os.urandom(16384), 0)
            os.fdatasync(file)
        if mode == 'calm':
            time.sleep(0.5)
            os.pwrite(file, os.urandom(4096), 0)
            os.fdatasync(file)
            tell()
        if mode == 'open':
            os.close(os.open('/dev/null', os.O_RDONLY))
        if mode == 'beat':
            tell()
    except OSError:
        tell()
    now = time.monotonic()
    if mode in ('spin', 'slow') and now - last > 0.05:
        tell()
    last = time.monotonic()
";

/// A program that works, and counts its troubles: writes or opens that fail (`sync`, `open`), and
/// rounds that take long (`slow` with a sync in each, `spin` with nothing). Of `beat` and
/// `calm`, which syncs a little twice a second, each round is one.
pub struct Worker {
    child: Child,
    troubles: Arc<AtomicU64>,
}

impl Worker {
    pub fn start(mode: &str, file: &Path, group: Option<&Group>) -> Worker {
        let mut command = Command::new("python3");
        command.args(["-c", WORK, mode]).arg(file).stdout(Stdio::piped());
        if let Some(group) = group {
            group.join_on_exec(&mut command).expect("it can be joined");
        }
        let mut child = command.spawn().expect("python3 can be started");
        let out = BufReader::new(child.stdout.take().expect("stdout is piped"));
        let troubles = Arc::new(AtomicU64::new(u64::MAX));
        let counter = Arc::clone(&troubles);
        std::thread::spawn(move || {
            for number in out.lines().map_while(Result::ok).flat_map(|line| line.parse()) {
                counter.store(number, Ordering::SeqCst);
            }
        });
        let worker = Worker { child, troubles };
        wait_until("it works", || worker.troubles() != u64::MAX);
        worker
    }

    pub fn troubles(&self) -> u64 {
        self.troubles.load(Ordering::SeqCst)
    }

    pub fn victim(&self) -> Victim {
        let troubles = Arc::clone(&self.troubles);
        Victim::new("troubles", move || Some(troubles.load(Ordering::SeqCst)))
    }

    /// Whether it says nothing new for [`HEARTBEAT_MAX`].
    pub fn silence(&self) -> Victim {
        let troubles = Arc::clone(&self.troubles);
        Victim::new("silence", move || {
            let (before, until) = (troubles.load(Ordering::SeqCst), Instant::now() + HEARTBEAT_MAX);
            while Instant::now() < until {
                if troubles.load(Ordering::SeqCst) != before {
                    return Some(0);
                }
                std::thread::park_timeout(Duration::from_millis(1));
            }
            Some(1)
        })
    }

    pub fn process(&self) -> Process {
        Process::of(self.child.id()).expect("it has been started")
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _gone_already = self.child.kill();
        let _reaped = self.child.wait();
    }
}
