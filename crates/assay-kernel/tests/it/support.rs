//! Who may do what, children that go with their test, and waiting with a bound.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Long enough for a machine that does ten other things; nobody waits it out on a good day.
pub const PATIENCE: Duration = Duration::from_secs(20);
/// The number of CAP_SYS_ADMIN, without which nothing is mounted.
const SYS_ADMIN: u32 = 21;

/// Waits until `done`; looks again and again, never for longer than [`PATIENCE`].
#[track_caller]
pub fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !done() {
        assert!(Instant::now() < until, "waited {PATIENCE:?} for: {what}");
        std::thread::park_timeout(Duration::from_millis(1));
    }
}

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

/// A child that is gone when this is dropped.
pub struct Kept(pub Child);

impl Kept {
    pub fn start(command: &mut Command) -> Kept {
        Kept(command.stdin(Stdio::null()).spawn().expect("it can be started"))
    }

    pub fn end(mut self) {
        self.0.kill().expect("it runs");
        self.0.wait().expect("it is gone");
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        let _gone_already = self.0.kill();
        let _reaped = self.0.wait();
    }
}
