//! A clock is moved while its process runs, seen by it, and set right by whoever comes after.
//!
//! These need libfaketime, and fail by name where it is not installed: scripts/install-deps.sh.

use super::support::{Sleeper, fault, injector, wait_until};
use assay_nemesis::{
    Action, Clock, ClockError, InjectError, OFFSET_MS_MAX, Process, Skew, Victim, heal_journal,
};
use assay_verdict::LandingState;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

fn clock(directory: &Path) -> Clock {
    Clock::prepare(directory, "n1").expect("libfaketime is installed (scripts/install-deps.sh)")
}

/// A node that says again and again what time it is, in seconds.
struct Node {
    child: Child,
    seconds: Arc<AtomicU64>,
}

impl Node {
    fn start(clock: &Clock) -> Node {
        // One process that looks again and again: Perl is part of every Debian.
        let script = "$| = 1; while (1) { print time, \"\\n\"; select(undef, undef, undef, 0.01) }";
        let mut child = Command::new("perl")
            .args(["-e", script])
            .envs(clock.environment())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("perl can be started");
        let seconds = Arc::new(AtomicU64::new(0));
        let (said, out) = (Arc::clone(&seconds), child.stdout.take().expect("it is piped"));
        std::thread::spawn(move || {
            for line in BufReader::new(out).lines().map_while(Result::ok) {
                said.store(line.parse().unwrap_or(0), Ordering::SeqCst);
            }
        });
        wait_until("the node says the time", || seconds.load(Ordering::SeqCst) > 0);
        Node { child, seconds }
    }

    fn process(&self) -> Process {
        Process::of(self.child.id()).expect("it runs")
    }

    /// By how many whole minutes its clock is off.
    fn minutes_off(seconds: &AtomicU64) -> u64 {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs();
        seconds.load(Ordering::SeqCst).abs_diff(now) / 60
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        let _gone_already = self.child.kill();
        let _reaped = self.child.wait();
    }
}

fn skew(clock: &Clock, offset_ms: i64, processes: Vec<Process>) -> Action {
    Action::Skew(Skew { clock: clock.clone(), offset_ms, processes })
}

#[test]
fn a_running_node_sees_its_clock_move_and_come_back() {
    let (directory, journal, injector) = injector(None);
    let clock = clock(directory.path());
    let node = Node::start(&clock);
    for offset_ms in [3_600_000, -7_200_500] {
        let seconds = Arc::clone(&node.seconds);
        let victim = Victim::new("minutes", move || Some(Node::minutes_off(&seconds)));
        let action = skew(&clock, offset_ms, vec![node.process()]);
        let mut guard = injector.inject(fault("skew", action), victim).expect("on");
        wait_until("the node is in another hour", || Node::minutes_off(&node.seconds) >= 59);
        let healed = guard.heal().expect("healed");
        let landing = &healed.landing;
        assert_eq!(landing.state(), LandingState::Landed, "{}", landing.evidence());
        let off = landing.injector.during.expect("it was measured");
        assert!(off.abs_diff(offset_ms.unsigned_abs()) < 60_000, "{off} of {offset_ms}");
        assert_eq!(landing.injector.after, Some(0), "{}", landing.evidence());
        assert!(healed.proof[0].ends_with("the clock is right"), "{:?}", healed.proof);
        wait_until("the node is back", || Node::minutes_off(&node.seconds) == 0);
    }
    drop(injector);
    assert!(heal_journal(&journal).expect("readable").faults.is_empty(), "nothing is left to heal");
}

#[test]
fn a_clock_that_a_killed_run_has_left_wrong_is_set_right_from_the_journal() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let clock = clock(directory.path());
    clock.set(90_000).expect("it can be set");
    let path = clock.file().display();
    let journal = directory.path().join("nemesis.jsonl");
    let text = format!(
        "{{\"event\":\"open\",\"version\":1,\"boot\":null}}\n{{\"event\":\"inject\",\"fault\":1,\
         \"id\":\"skew\",\"target\":\"n1\",\"at_unix_ms\":1,\
         \"undo\":[{{\"do\":\"set-clock\",\"path\":\"{path}\"}}]}}\n"
    );
    std::fs::write(&journal, &text).expect("a file");
    assert!(clock.measure().expect("it can be asked").certain_ms() > 60_000);
    let report = heal_journal(&journal).expect("readable");
    assert!(report.is_whole(), "{report:?}");
    assert_eq!(report.faults[0].undone, [format!("{path}: the clock was set right")]);
    assert_eq!(clock.measure().expect("it can be asked").certain_ms(), 0);
    // A journal somebody has tampered with writes to no other file.
    let other = directory.path().join("data");
    std::fs::write(&other, "precious").expect("a file");
    let text = text.replace(&path.to_string(), &other.display().to_string());
    std::fs::write(&journal, text).expect("a file");
    assert!(!heal_journal(&journal).expect("readable").is_whole());
    assert_eq!(std::fs::read(&other).expect("a file"), b"precious");
}

#[test]
fn a_process_that_would_not_notice_is_refused() {
    let (directory, _, injector) = injector(None);
    let clock = clock(directory.path());
    let inject = |offset_ms, processes| {
        let action = skew(&clock, offset_ms, processes);
        injector.inject(fault("skew", action), Victim::unasked()).err().expect("refused")
    };
    let plain = Sleeper::start();
    let error = inject(5_000, vec![plain.process()]);
    assert!(matches!(error, InjectError::Clock(ClockError::NotLoaded { .. })), "{error}");
    let other = Clock::prepare(directory.path(), "n2").expect("libfaketime is installed");
    let node = Node::start(&other);
    let error = inject(5_000, vec![node.process()]);
    assert!(matches!(error, InjectError::Clock(ClockError::OtherClock { .. })), "{error}");
    assert!(matches!(inject(0, vec![node.process()]), InjectError::Nobody { .. }));
    assert!(matches!(inject(5_000, Vec::new()), InjectError::Nobody { .. }));
    assert!(matches!(clock.set(OFFSET_MS_MAX + 1), Err(ClockError::TooFar(_))));
    for name in ["", "a/b"] {
        assert!(matches!(Clock::prepare(directory.path(), name), Err(ClockError::Name(_))));
    }
}
