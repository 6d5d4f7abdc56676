//! Every way a run can end.

use crate::Test;
use crate::support::{
    PATIENCE, Place, SILENCE, agent, assert_exited, is_gone, pid_in, run, shell, wait_until,
};
use assay_agent::{Agent, AgentConfig, AgentEvent, Engine, Limits, Outcome, ProcessAgent, Sandbox};
use std::time::Duration;

pub const TESTS: &[Test] = &[
    ("codes_and_signals_are_told", told),
    ("silence_ends_a_run", silence),
    ("talking_does_not_make_a_run_endless", talking),
    ("too_much_output_ends_a_run", flood),
    ("a_run_that_is_called_off_ends_with_all_it_started", called_off),
    ("a_hundred_megabytes_are_counted_and_not_kept", hundred_megabytes),
    ("what_cannot_be_started_says_why", not_started),
    ("an_agent_sees_its_prompt_and_the_environment_it_may_see", prompt_and_environment),
];

fn told() {
    let place = Place::new();
    let exit = place.script("do = [{ action = 'exit', code = 7 }]");
    assert_exited(&run(&exit, &place.task()).0, 7);
    let crash = place.script("do = [{ action = 'signal', number = 9 }]");
    assert_eq!(run(&crash, &place.task()).0.outcome, Outcome::Signalled { signal: 9 });
    assert_exited(&run(&shell("exit 3"), &place.task()).0, 3);
    let crash = shell("kill -SEGV $$");
    assert_eq!(run(&crash, &place.task()).0.outcome, Outcome::Signalled { signal: 11 });
}

fn limits(wall: Duration, idle: Duration) -> Limits {
    Limits { wall, idle, output_bytes: 1 << 20 }
}

fn silence() {
    let place = Place::new();
    let agent = place.script("do = [{ action = 'say', text = 'hi' }, { action = 'hang' }]");
    let task = place.task().limits(limits(PATIENCE, SILENCE));
    let (ran, events) = run(&agent, &task);
    assert_eq!(ran.outcome, Outcome::IdleTimeout);
    assert_eq!(events, [AgentEvent::Text { text: "hi".to_string() }]);
    assert_eq!(place.read("log/stdout.log"), ran.stdout_tail);
}

fn talking() {
    let place = Place::new();
    let agent = shell("while :; do echo still here; sleep 0.02; done");
    let (ran, events) = run(&agent, &place.task().limits(limits(SILENCE, PATIENCE)));
    assert_eq!(ran.outcome, Outcome::WallTimeout);
    assert!(!events.is_empty(), "it was heard");
}

fn called_off() {
    let place = Place::new();
    let agent = shell("sleep 1000 & echo $! > child; echo ready; sleep 1000");
    let task = place.task();
    let cancel = task.cancel.clone();
    // As soon as it is at work, from where its events are heard.
    let ran = agent.run(&task, &mut |_| cancel.cancel());
    assert_eq!(ran.outcome, Outcome::Cancelled);
    let child = pid_in(&place.path("work/child")).expect("its child");
    wait_until("its child to be gone", || is_gone(child));
}

fn flood() {
    let place = Place::new();
    let agent = place.script("do = [{ action = 'flood', bytes = 1000000000000 }]");
    let (ran, events) = run(&agent, &place.task().limits(limits(PATIENCE, PATIENCE)));
    assert_eq!(ran.outcome, Outcome::OutputLimit);
    assert!(ran.output_bytes > 1 << 20 && ran.output_bytes < 2 << 20, "{}", ran.output_bytes);
    assert!(events.len() <= 1000, "noise is not shown forever: {}", events.len());
}

fn hundred_megabytes() {
    const BYTES: u64 = 100_000_000;
    let place = Place::new();
    let agent = place.script(&format!(
        "do = [{{ action = 'flood', bytes = {BYTES} }}, {{ action = 'say', text = 'the end' }}]"
    ));
    let limits = Limits { output_bytes: 2 * BYTES, ..limits(PATIENCE, PATIENCE) };
    let (ran, events) = run(&agent, &place.task().limits(limits));
    assert_exited(&ran, 0);
    assert!(ran.output_bytes > BYTES, "{}", ran.output_bytes);
    assert!(ran.stdout_tail.len() <= 64 << 10 && ran.stdout_tail.contains("the end"));
    let log = place.read("log/stdout.log");
    assert!(log.len() < 9 << 20 && log.contains("bytes are left out here"), "{}", log.len());
    assert_eq!(events.last(), Some(&AgentEvent::Text { text: "the end".to_string() }));
}

fn not_started() {
    let place = Place::new();
    let missing = agent(Engine::Command { command: vec!["no-such-agent-anywhere".to_string()] });
    let no_place = shell("true");
    let mut nowhere = place.task();
    nowhere.work = place.path("nowhere");
    let no_script = agent(Engine::Scripted { script: place.path("none.toml") });
    let cases = [
        (&missing, place.task(), "install it"),
        (&no_place, nowhere, "nowhere: No such file"),
        (&no_script, place.task(), "none.toml: No such file"),
    ];
    for (agent, task, expected) in cases {
        let (ran, _) = run(agent, &task);
        let Outcome::SpawnFailed { why } = &ran.outcome else { panic!("{}", ran.outcome) };
        assert!(why.contains(expected), "{why}");
    }
}

fn prompt_and_environment() {
    let place = Place::new();
    let (ran, _) = run(&shell("cat"), &place.task());
    assert_eq!(
        (ran.stdout_tail.as_str(), ran.outcome),
        ("the prompt", Outcome::Exited { code: 0 })
    );
    // A prompt that nobody reads is no reason to wait.
    let mut long = place.task();
    long.prompt = "x".repeat(10 << 20);
    assert_exited(&run(&shell("true"), &long).0, 0);

    // Set by cargo for tests: nobody told it to the agent.
    let secret = "CARGO_MANIFEST_DIR";
    assert!(std::env::var_os(secret).is_some(), "cargo sets it");
    let mut task = place.task().variable("nonce", "4711");
    task.sandbox = Sandbox::Off;
    let (ran, _) = run(&shell("env"), &task);
    let seen = |name: &str| ran.stdout_tail.lines().any(|line| line.starts_with(name));
    assert!(seen("ASSAY_NONCE=4711") && seen("ASSAY_DROP_BOX=/") && seen("PATH="));
    assert!(seen("TMPDIR=") && !seen(secret), "{}", ran.stdout_tail);
    let engine = Engine::Command { command: vec!["env".to_string()] };
    let config = AgentConfig { env: vec![secret.to_string()], ..AgentConfig::of(engine) };
    let (ran, _) = run(&ProcessAgent::new(config, crate::support::helper()), &task);
    assert!(ran.stdout_tail.contains(secret));
}
