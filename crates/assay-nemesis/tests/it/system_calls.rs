//! A node's disk and clock, through the system calls that it makes: they go wrong, it notices, and
//! they come right again.

use super::support::{PATIENCE, Sleeper, fault, injector, wait_until};
use assay_kernel::notify::{CallRule, Calls, ClockRule, Deed, Errno, Tap, Tapped, Watch, probe};
use assay_nemesis::{
    Action, ByMeans, CallFault, ClockFault, InjectError, Means, Process, ProcessState, Victim,
    WatchedNode, heal_journal,
};
use assay_verdict::LandingState;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const ALL: Watch = Watch { syncs: true, writes: true, clock: true };

/// Writes and syncs again and again, and says how that went. One that is told to `give up` ends
/// when a sync fails.
const SCRIPT: &str = r#"
import os, sys, time
file = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
errors = syncs = slow = 0
while True:
    since = time.monotonic()
    try:
        os.pwrite(file, b"x", 0)
    except OSError:
        errors += 1
    try:
        os.fsync(file)
        syncs += 1
    except OSError:
        errors += 1
        if "give up" in sys.argv:
            sys.exit("I cannot go on")
    slow += time.monotonic() - since > 0.05
    print(errors, syncs, slow, int(time.time()), flush=True)
    time.sleep(0.002)
"#;

/// What a node has said last.
#[derive(Debug, Default)]
struct Said {
    errors: AtomicU64,
    syncs: AtomicU64,
    slow: AtomicU64,
    seconds: AtomicU64,
}

impl Said {
    fn hear(&self, line: &str) {
        let fields = [&self.errors, &self.syncs, &self.slow, &self.seconds];
        for (field, word) in fields.into_iter().zip(line.split(' ')) {
            field.store(word.parse().unwrap_or(0), Ordering::SeqCst);
        }
    }

    fn seconds_off(&self) -> u64 {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs();
        self.seconds.load(Ordering::SeqCst).abs_diff(now)
    }
}

struct Node {
    child: Child,
    tap: Arc<Tap>,
    said: Arc<Said>,
}

impl Node {
    fn start(directory: &Path, watch: Watch) -> Node {
        Node::told(directory, watch, "go on")
    }

    fn told(directory: &Path, watch: Watch, word: &str) -> Node {
        let mut command = Command::new("python3");
        command.args(["-c", SCRIPT]).arg(directory.join("data")).arg(word);
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let (mut child, tap) = Tapped::spawn(&mut command, watch).expect("python3 starts");
        let (said, out) = (Arc::<Said>::default(), child.stdout.take().expect("it is piped"));
        let hears = Arc::clone(&said);
        std::thread::spawn(move || {
            BufReader::new(out).lines().map_while(Result::ok).for_each(|line| hears.hear(&line));
        });
        let node = Node { child, tap, said };
        node.wait_for_syncs(1);
        node
    }

    /// Waits until it has synced so many times more.
    fn wait_for_syncs(&self, more: u64) {
        let syncs = || self.said.syncs.load(Ordering::SeqCst);
        let before = syncs();
        wait_until("the node syncs", || syncs() >= before + more);
    }

    fn watched(&self) -> WatchedNode {
        let process = Process::of(self.child.id()).expect("it runs");
        WatchedNode { node: "n1".to_string(), process, tap: Some(Arc::clone(&self.tap)) }
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        let _gone_already = self.child.kill();
        let _reaped = self.child.wait();
    }
}

fn can() -> bool {
    probe().map_err(|why| eprintln!("SKIPPED: {why}")).is_ok()
}

fn by(means: impl Means + 'static) -> Action {
    Action::By(ByMeans(Arc::new(means)))
}

fn rule(calls: Calls, below: &Path, deed: Deed) -> CallRule {
    CallRule::new(calls, below, deed)
}

#[test]
fn each_fault_lands_on_both_sides_and_is_gone_when_it_is_healed() {
    if !can() {
        return;
    }
    let (directory, journal, injector) = injector(None);
    let data = tempfile::tempdir().expect("a temporary directory");
    let node = Node::start(data.path(), ALL);
    let call = |calls, deed| by(CallFault::new([(node.watched(), rule(calls, data.path(), deed))]));
    let clock = |offset_ms, rate_ppm| {
        by(ClockFault::new([node.watched()], ClockRule { offset_ms, rate_ppm }))
    };
    type Feels = fn(&Said) -> u64;
    let errors: Feels = |said| said.errors.load(Ordering::SeqCst);
    let slow: Feels = |said| said.slow.load(Ordering::SeqCst);
    let off: Feels = Said::seconds_off;
    let cases = [
        ("fsync-fail", call(Calls::Syncs, Deed::Fail(Errno::Io)), errors, "syncs"),
        ("slow-fsync", call(Calls::Syncs, Deed::Delay(Duration::from_millis(100))), slow, "syncs"),
        ("disk-readonly", call(Calls::Writes, Deed::Fail(Errno::ReadOnly)), errors, "writes"),
        ("disk-enospc", call(Calls::Writes, Deed::Fail(Errno::NoSpace)), errors, "writes"),
        ("skew", clock(-3_600_000, 0), off, "looks at the clock"),
        ("slowclock", clock(0, -1_000_000), off, "looks at the clock"),
    ];
    for (id, action, feels, calls) in cases {
        let said = Arc::clone(&node.said);
        // A look at the clock takes a moment, so a second is nothing.
        let victim = Victim::new("it notices", move || Some(feels(&said))).moving_by(2);
        let mut guard = injector.inject(fault(id, action), victim).expect("injected");
        assert_eq!(guard.wait_landed(PATIENCE), LandingState::Landed, "{id}: {:?}", guard.sample());
        let healed = guard.heal().expect("healed");
        assert_eq!(healed.landing.state(), LandingState::Landed, "{}", healed.landing.evidence());
        assert_eq!(healed.landing.injector.before, Some(0), "{id}");
        assert!(healed.undone[0].ends_with(&format!("{calls} were hit")), "{:?}", healed.undone);
        assert!(healed.proof[0].starts_with("n1: no rule is on"), "{:?}", healed.proof);
        node.wait_for_syncs(3);
        let after = node.said.errors.load(Ordering::SeqCst);
        node.wait_for_syncs(3);
        assert_eq!(node.said.errors.load(Ordering::SeqCst), after, "{id} is over");
        wait_until("its clock is right", || node.said.seconds_off() <= 1);
    }
    assert!(node.tap.is_idle());
    drop(injector);
    assert!(heal_journal(&journal).expect("readable").faults.is_empty(), "nothing is left to heal");
    drop(directory);
}

#[test]
fn a_node_that_has_ended_of_its_fault_is_not_healed_before_it_runs_again() {
    if !can() {
        return;
    }
    let (_directory, journal, injector) = injector(None);
    let data = tempfile::tempdir().expect("a temporary directory");
    let node = Node::told(data.path(), ALL, "give up");
    let process = node.watched().process;
    let fails = rule(Calls::Syncs, data.path(), Deed::Fail(Errno::Io));
    let action = by(CallFault::new([(node.watched(), fails)]));
    let mut guard = injector.inject(fault("fsync-fail", action), Victim::unasked()).expect("on");
    let gone = || process.state().is_ok_and(|state| state == ProcessState::Gone);
    wait_until("it gives up", || {
        guard.sample();
        gone()
    });
    let error = guard.heal().expect_err("nobody has started it again");
    assert!(!error.may_pass, "trying again does not start it: {error}");
    let said = format!("process {} has ended, and nobody starts it again", process.pid);
    assert!(error.to_string().contains(&said), "{error}");
    // Whoever is to start it cannot, and that is as bad.
    guard.restart_with(|| Err("it does not come back".to_string()));
    let error = guard.heal().expect_err("it was not started");
    assert!(error.to_string().contains("it does not come back"), "{error}");
    assert_eq!(heal_journal_lines(&journal), 0, "it is not marked as healed");
    let again = Sleeper::start();
    let new = again.process();
    guard.restart_with(move || Ok(vec![new]));
    let healed = guard.heal().expect("it runs again");
    let runs = format!("process {}: runs", new.pid);
    assert!(healed.proof.contains(&runs), "{:?}", healed.proof);
    assert_eq!(heal_journal_lines(&journal), 1);
}

/// How many faults a journal that is still being written says are healed.
fn heal_journal_lines(journal: &Path) -> usize {
    let text = std::fs::read_to_string(journal).expect("a journal");
    text.lines().filter(|line| line.contains("\"event\":\"heal\"")).count()
}

#[test]
fn a_fault_where_nobody_syncs_has_not_landed() {
    if !can() {
        return;
    }
    let (_directory, _, injector) = injector(None);
    let [data, other] = [(); 2].map(|()| tempfile::tempdir().expect("a temporary directory"));
    let node = Node::start(data.path(), ALL);
    let rule = rule(Calls::Syncs, other.path(), Deed::Fail(Errno::Io));
    let action = by(CallFault::new([(node.watched(), rule)]));
    let said = Arc::clone(&node.said);
    let victim = Victim::new("errors", move || Some(said.errors.load(Ordering::SeqCst)));
    let mut guard = injector.inject(fault("fsync-fail", action), victim).expect("injected");
    guard.sample();
    node.wait_for_syncs(5);
    let landing = guard.sample();
    assert_eq!(landing.state(), LandingState::Missed, "{}", landing.evidence());
    assert_eq!(landing.injector.during, Some(0));
    guard.heal().expect("healed");
}

#[test]
fn one_node_that_syncs_does_not_stand_for_another_that_sleeps() {
    if !can() {
        return;
    }
    let (_directory, _, injector) = injector(None);
    let data = tempfile::tempdir().expect("a temporary directory");
    let node = Node::start(data.path(), ALL);
    let mut command = Command::new("sleep");
    let (child, tap) = Tapped::spawn(command.arg("600"), ALL).expect("sleep starts");
    let sleeper = Sleeper(child);
    let asleep = WatchedNode { node: "n2".to_string(), process: sleeper.process(), tap: Some(tap) };
    let rule = || rule(Calls::Syncs, data.path(), Deed::Fail(Errno::Io));
    let action = by(CallFault::new([(node.watched(), rule()), (asleep, rule())]));
    let said = Arc::clone(&node.said);
    let errors = move || Some(said.errors.load(Ordering::SeqCst));
    let before = errors().expect("a number");
    let victim = Victim::new("errors", errors.clone());
    let mut guard = injector.inject(fault("fsync-fail", action), victim).expect("injected");
    wait_until("one is hit again and again", || errors() >= Some(before + 5));
    let landing = guard.sample();
    assert_eq!(landing.state(), LandingState::Missed, "{}", landing.evidence());
    let healed = guard.heal().expect("healed");
    assert!(healed.parts[0].during >= Some(5), "{healed:?}");
    assert_eq!(healed.parts[1].during, Some(0), "{healed:?}");
}

#[test]
fn nodes_that_would_not_notice_are_refused() {
    if !can() {
        return;
    }
    let (_directory, _, injector) = injector(None);
    let data = tempfile::tempdir().expect("a temporary directory");
    let node = Node::start(data.path(), Watch { writes: true, ..Watch::default() });
    let sleeper = Sleeper::start();
    let io = |calls| rule(calls, data.path(), Deed::Fail(Errno::Io));
    let watched = || node.watched();
    let plain = WatchedNode { tap: None, process: sleeper.process(), ..watched() };
    let other = WatchedNode { process: sleeper.process(), ..watched() };
    let mut ended = Node::start(data.path(), ALL);
    let gone = ended.watched();
    ended.child.kill().and_then(|()| ended.child.wait()).expect("it ran");
    let absent = rule(Calls::Writes, &data.path().join("absent"), Deed::Fail(Errno::Io));
    let hour = ClockRule { offset_ms: 3_600_000, rate_ppm: 0 };
    let cases = [
        (by(CallFault::new([(plain, io(Calls::Writes))])), "was not started under watch"),
        (by(CallFault::new([(other, io(Calls::Writes))])), "its tap is one of"),
        (by(CallFault::new([(gone, io(Calls::Writes))])), "there is no process"),
        (by(CallFault::new([(watched(), io(Calls::Syncs))])), "are not watched"),
        (by(CallFault::new([(watched(), absent)])), "cannot be found"),
        (by(CallFault::new([])), "hits nobody"),
        (by(ClockFault::new([watched()], hour)), "are not watched"),
        (by(ClockFault::new([watched()], ClockRule::default())), "is right"),
    ];
    for (action, why) in cases {
        let refused = injector.inject(fault("fsync-fail", action), Victim::unasked()).err();
        let Some(InjectError::Means { why: said, .. }) = &refused else {
            panic!("{why}: {refused:?}");
        };
        assert!(said.contains(why), "{said}");
    }
    assert!(node.tap.is_idle(), "nothing is left on it");
}

#[test]
fn a_process_that_nobody_answers_any_more_is_ended_from_the_journal() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let (left, other) = (Sleeper::start(), Sleeper::start());
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").expect("Linux");
    let step = |process: Process, ticks: u64| {
        let (pid, start) = (process.pid, process.start_ticks + ticks);
        format!("{{\"do\":\"end-unanswered\",\"pid\":{pid},\"start_ticks\":{start}}}")
    };
    let text = format!(
        "{{\"event\":\"open\",\"version\":1,\"boot\":\"{}\"}}\n{{\"event\":\"inject\",\"fault\":1,\
         \"id\":\"fsync-fail\",\"target\":\"n1\",\"at_unix_ms\":1,\"undo\":[{},{}]}}\n",
        boot.trim(),
        step(left.process(), 0),
        step(other.process(), 1),
    );
    let journal = directory.path().join("nemesis.jsonl");
    std::fs::write(&journal, text).expect("a file");
    let process = left.process();
    let report = heal_journal(&journal).expect("readable");
    assert!(report.is_whole(), "{report:?}");
    let undone = &report.faults[0].undone;
    assert!(undone[1].contains("was killed: nobody was left to answer"), "{undone:?}");
    assert!(undone[0].ends_with("is gone"), "somebody else has its number: {undone:?}");
    let state = |process: Process| process.state().expect("it can be asked");
    assert_eq!(state(process), ProcessState::Gone);
    assert_eq!(state(other.process()), ProcessState::Alive);
}
