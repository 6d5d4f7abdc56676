//! Faults land with numbers, or are said to have missed, and heal in every way a guard can end.

use super::support::{Echo, Sleeper, ask, connect, fault, injector, on, one_link, wait_until};
use assay_nemesis::shapes::{full, isolate, rules_around, rules_for};
use assay_nemesis::{
    Action, Direction, Flow, InjectError, Mesh, Process, ProcessState, Rules, Victim, heal_journal,
};
use assay_verdict::LandingState;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A counter that a test moves, and a victim that reads it.
fn felt() -> (Arc<AtomicU64>, Victim) {
    let counter = Arc::new(AtomicU64::new(0));
    let read = Arc::clone(&counter);
    let victim = Victim::new("client timeouts", move || Some(read.load(Ordering::SeqCst)));
    (counter, victim)
}

#[test]
fn a_cut_on_the_path_of_traffic_lands_and_heals_with_numbers() {
    let (mesh, link, _echo) = one_link();
    let mesh = Arc::new(mesh);
    let (_directory, journal, injector) = injector(Some(Arc::clone(&mesh)));
    let cuts = full(&["a"], &["b"]).expect("a shape");
    let rules = rules_for(&cuts, &mesh.links(), Rules::flow(Flow::Drop));
    assert_eq!(rules.len(), 2, "both ways");
    let mut socket = connect(&mesh, link);
    ask(&mut socket, b"before");
    let (timeouts, victim) = felt();
    let mut guard = injector.inject(fault("part-full", Action::Links(rules)), victim).expect("on");
    assert_eq!(guard.sample().state(), LandingState::Missed, "no traffic yet");
    socket.write_all(b"lost").expect("the hole swallows it");
    wait_until("it is dropped", || mesh.counts(link).request.bytes_dropped == 4);
    timeouts.store(3, Ordering::SeqCst);
    assert_eq!(guard.wait_landed(Duration::from_secs(20)), LandingState::Landed);
    // A signal that comes back has moved all the same.
    timeouts.store(0, Ordering::SeqCst);
    let healed = guard.heal().expect("healed");
    assert_eq!(healed.landing.state(), LandingState::Landed, "{}", healed.landing.evidence());
    assert_eq!(healed.landing.victim.during, Some(3));
    let parts: Vec<String> = healed.parts.iter().map(|part| part.numbers()).collect();
    assert_eq!(parts, ["a->b request 0 → 1 → 1", "a->b response 0 → 0 → 0"]);
    assert_eq!(healed.proof, ["a->b: a new connection passes"]);
    assert_eq!(guard.heal().expect("again"), healed, "healing twice is healing once");
    ask(&mut connect(&mesh, link), b"after");
    drop((guard, injector));
    assert!(heal_journal(&journal).expect("readable").faults.is_empty(), "nothing is left to heal");
}

#[test]
fn a_cut_that_nobody_feels_or_nobody_passes_has_missed() {
    let (mesh, link, echo) = one_link();
    let bypass = mesh.add("a", "c", echo.address).expect("a link");
    let mesh = Arc::new(mesh);
    let (_directory, _, injector) = injector(Some(Arc::clone(&mesh)));
    let cut = |link| Action::Links(vec![on(link, Direction::Request, Rules::flow(Flow::Drop))]);
    // Traffic takes another way: the injector's counter stands still, whatever the victim says.
    let (timeouts, victim) = felt();
    let mut guard = injector.inject(fault("part-full", cut(link)), victim).expect("on");
    ask(&mut connect(&mesh, bypass), b"another way");
    timeouts.store(9, Ordering::SeqCst);
    let landing = guard.heal().expect("healed").landing;
    assert_eq!(landing.state(), LandingState::Missed, "{}", landing.evidence());
    assert_eq!(landing.victim.state(), LandingState::Landed);
    // Bytes are dropped, and the victim does not care.
    let (_, victim) = felt();
    let mut guard = injector.inject(fault("part-full", cut(link)), victim).expect("on");
    connect(&mesh, link).write_all(b"lost").expect("the hole swallows it");
    wait_until("it is dropped", || mesh.counts(link).request.bytes_dropped == 4);
    let landing = guard.heal().expect("healed").landing;
    assert_eq!(landing.injector.state(), LandingState::Landed, "{}", landing.evidence());
    assert_eq!(landing.state(), LandingState::Missed);
}

#[test]
fn a_slow_node_is_slow_in_all_directions() {
    let mesh = Arc::new(Mesh::new(5).expect("a mesh"));
    let (one, two) = (Echo::start(), Echo::start());
    let there = mesh.add("n1", "n2", two.address).expect("a link");
    let back = mesh.add("n2", "n1", one.address).expect("a link");
    let delay = Rules::delay(Duration::from_millis(1), Duration::from_millis(1));
    let rules = rules_around("n2", &mesh.links(), delay);
    let (_directory, _, injector) = injector(Some(Arc::clone(&mesh)));
    let action = Action::Links(rules);
    let mut guard = injector.inject(fault("slow-follower", action), Victim::unasked()).expect("on");
    ask(&mut connect(&mesh, there), b"hello");
    ask(&mut connect(&mesh, back), b"hello");
    let healed = guard.heal().expect("healed");
    assert_eq!(healed.parts.len(), 4);
    for part in &healed.parts {
        assert_eq!(part.state(), LandingState::Landed, "{}", part.numbers());
    }
    assert_eq!(healed.landing.state(), LandingState::Unknown, "nobody was asked");
}

#[test]
fn dropping_a_guard_heals_also_in_a_panic() {
    let (mesh, link, _echo) = one_link();
    let mesh = Arc::new(mesh);
    let (_directory, journal, injector) = injector(Some(Arc::clone(&mesh)));
    let sleeper = Sleeper::start();
    let process = sleeper.process();
    let cuts = isolate("a", &["a", "b"]).expect("a shape");
    let panics = std::panic::AssertUnwindSafe(|| {
        let rules = rules_for(&cuts, &mesh.links(), Rules::flow(Flow::Hold));
        let cut = injector.inject(fault("leader-iso", Action::Links(rules)), Victim::unasked());
        let _cut = cut.expect("on");
        let pause = fault("pause", Action::Pause(vec![process]));
        let _pause = injector.inject(pause, Victim::unasked()).expect("on");
        assert_eq!(process.state().expect("readable"), ProcessState::Stopped);
        panic!("in the middle of it");
    });
    assert!(std::panic::catch_unwind(panics).is_err());
    assert_eq!(process.state().expect("readable"), ProcessState::Alive);
    ask(&mut connect(&mesh, link), b"after");
    drop(injector);
    assert!(heal_journal(&journal).expect("readable").faults.is_empty(), "the journal knows");
}

#[test]
fn every_process_of_a_fault_has_to_show_it() {
    let (_directory, _, injector) = injector(None);
    let (first, second) = (Sleeper::start(), Sleeper::start());
    let all = vec![first.process(), second.process()];
    let (timeouts, victim) = felt();
    let pause = fault("pause", Action::Pause(all));
    let mut guard = injector.inject(pause, victim).expect("on");
    timeouts.store(1, Ordering::SeqCst);
    let healed = guard.heal().expect("healed");
    assert_eq!(healed.landing.state(), LandingState::Landed);
    assert_eq!(healed.landing.injector.numbers(), "processes stopped 0 → 2 → 0");
    assert_eq!(healed.landing.injector.moves_by_min, 2);
    let still = healed.proof.iter().filter(|line| line.contains("stood still at"));
    assert_eq!(still.count(), 2, "{:?}", healed.proof);
}

/// A process that works all the time: its processor time stands still only while it is stopped.
#[test]
fn a_pause_shows_that_its_victims_use_no_processor_time() {
    let (_directory, _, injector) = injector(None);
    let mut shell = std::process::Command::new("sh");
    let busy = Sleeper(shell.args(["-c", "while :; do :; done"]).spawn().expect("a shell"));
    let process = busy.process();
    let works = |than: u64| {
        let until = std::time::Instant::now() + Duration::from_secs(20);
        while process.cpu_ticks().expect("readable").is_some_and(|ticks| ticks <= than) {
            assert!(std::time::Instant::now() < until, "it does no work");
            std::thread::yield_now();
        }
    };
    works(0);
    let pause = fault("pause", Action::Pause(vec![process]));
    let mut guard = injector.inject(pause, Victim::unasked()).expect("on");
    assert_eq!(guard.sample().injector.during, Some(1));
    let at = process.cpu_ticks().expect("readable").expect("it is there");
    let healed = guard.heal().expect("healed");
    let line = format!("process {}: stood still at {at} ticks of processor time", process.pid);
    assert!(healed.proof.contains(&line), "{:?}", healed.proof);
    works(at);
    // Somebody who lets it work meanwhile is found out.
    let pause = fault("pause", Action::Pause(vec![process]));
    let mut guard = injector.inject(pause, Victim::unasked()).expect("on");
    guard.sample();
    let at = process.cpu_ticks().expect("readable").expect("it is there");
    process.resume().expect("resumed");
    works(at + 2);
    process.pause().expect("paused");
    let healed = guard.heal().expect("healed");
    assert!(healed.proof.iter().any(|line| line.contains("used")), "{:?}", healed.proof);
    assert_eq!(healed.landing.injector.numbers(), "processes stopped 0 → 0 → 0");
    assert_eq!(healed.landing.injector.state(), LandingState::Missed, "it was at work");
}

#[test]
fn a_child_that_had_ended_by_itself_does_not_make_a_kill_miss() {
    let (_directory, _, injector) = injector(None);
    let (node, child) = (Sleeper::start(), Sleeper::start());
    let all = vec![node.process(), child.process()];
    all[1].kill().expect("it ends before anything is injected");
    let (restarts, victim) = felt();
    let kill = fault("kill9", Action::Kill(all));
    let mut guard = injector.inject(kill, victim).expect("on");
    restarts.store(1, Ordering::SeqCst);
    let healed = guard.heal().expect("healed");
    assert_eq!(healed.landing.state(), LandingState::Landed, "{:?}", healed.landing);
}

#[test]
fn a_child_that_had_ended_by_itself_does_not_keep_a_node_from_being_stopped() {
    let (_directory, _, injector) = injector(None);
    let (node, child, other) = (Sleeper::start(), Sleeper::start(), Sleeper::start());
    let all = vec![node.process(), child.process(), other.process()];
    all[1].kill().expect("it ends before anything is injected");
    let (timeouts, victim) = felt();
    let pause = fault("pause", Action::Pause(all.clone()));
    let mut guard = injector.inject(pause, victim).expect("on");
    timeouts.store(1, Ordering::SeqCst);
    let healed = guard.heal().expect("healed");
    assert_eq!(healed.landing.injector.numbers(), "processes stopped 0 → 2 → 0");
    assert_eq!(healed.landing.state(), LandingState::Landed, "{:?}", healed.landing);
    // The node itself is another matter.
    all[0].kill().expect("ours");
    let refused = injector.inject(fault("pause", Action::Pause(all)), Victim::unasked());
    assert!(matches!(refused, Err(InjectError::Process(_))));
}

#[test]
fn a_killed_process_is_started_again_by_its_owner() {
    let (_directory, _, injector) = injector(None);
    let victim = Sleeper::start();
    let kill = fault("kill9", Action::Kill(vec![victim.process()]));
    let mut guard = injector.inject(kill, Victim::unasked()).expect("on");
    let next: Arc<std::sync::Mutex<Vec<Sleeper>>> = Arc::default();
    let started = Arc::clone(&next);
    guard.restart_with(move || {
        let sleeper = Sleeper::start();
        let process = Process::of(sleeper.0.id()).map_err(|error| error.to_string())?;
        started.lock().expect("nobody panics").push(sleeper);
        Ok(vec![process])
    });
    let healed = guard.heal().expect("healed");
    assert_eq!(healed.landing.injector.numbers(), "processes gone 0 → 1 → 1");
    assert_eq!(healed.proof.len(), 1, "{:?}", healed.proof);
    guard.heal().expect("again");
    assert_eq!(next.lock().expect("nobody panics").len(), 1, "started once");
}

#[test]
fn a_restart_that_fails_is_a_failure_to_heal_and_can_be_repeated() {
    let (_directory, _, injector) = injector(None);
    let victim = Sleeper::start();
    let kill = fault("kill9", Action::Kill(vec![victim.process()]));
    let mut guard = injector.inject(kill, Victim::unasked()).expect("on");
    let mut failures = vec!["the port is taken".to_string()];
    guard.restart_with(move || failures.pop().map_or(Ok(Vec::new()), Err));
    let error = guard.heal().expect_err("the restart failed");
    assert!(error.to_string().contains("the port is taken"), "{error}");
    guard.heal().expect("the second time it works");
}

#[test]
fn a_reset_lands_on_open_connections() {
    let (mesh, link, _echo) = one_link();
    let mesh = Arc::new(mesh);
    let (_directory, _, injector) = injector(Some(Arc::clone(&mesh)));
    let mut socket = connect(&mesh, link);
    ask(&mut socket, b"before");
    let read = Arc::clone(&mesh);
    let victim = Victim::new("resets", move || Some(read.counts(link).connections.reset));
    let mut guard =
        injector.inject(fault("reset", Action::Reset(vec![link])), victim).expect("done");
    super::support::reset(&mut socket);
    assert_eq!(guard.wait_landed(Duration::from_secs(20)), LandingState::Landed);
    guard.heal().expect("nothing to undo");
}

#[test]
fn faults_that_hit_nobody_are_refused() {
    let (mesh, link, _echo) = one_link();
    let (_directory, _, without) = injector(None);
    let (_directory, _, with) = injector(Some(Arc::new(mesh)));
    let nothing = on(link, Direction::Request, Rules::default());
    for action in [Action::Links(vec![]), Action::Links(vec![nothing]), Action::Pause(vec![])] {
        let refused = with.inject(fault("pause", action), Victim::unasked());
        assert!(matches!(refused, Err(InjectError::Nobody { .. })));
    }
    let action = Action::Reset(vec![link]);
    let refused = without.inject(fault("reset", action), Victim::unasked());
    assert!(matches!(refused, Err(InjectError::NoMesh { .. })));
    let gone = { Sleeper::start().process() };
    let refused = with.inject(fault("kill9", Action::Kill(vec![gone])), Victim::unasked());
    assert!(matches!(refused, Err(InjectError::Process(_))));
}
