//! Each engine in its own language, as a process.

use crate::Test;
use crate::support::{PATIENCE, Place, SILENCE, agent, assert_exited, itself, run};
use assay_agent::{
    Agent, AgentEvent, Backoff, Decision, Engine, Leave, Limits, Outcome, ProcessAgent, Questions,
    RateLimit, Usage, run_patiently,
};
use std::time::Duration;

pub const TESTS: &[Test] = &[
    ("claude_is_understood", claude_works),
    ("codex_is_understood", codex_works),
    ("a_service_that_is_busy_is_asked_again_and_not_forever", patience),
    ("an_acp_agent_does_a_turn", acp_works),
    ("an_acp_agent_may_do_what_it_asks_for", acp_asks),
    ("an_acp_agent_waits_for_an_answer_if_somebody_is_asked", acp_waits),
    ("an_acp_agent_that_does_not_do_its_part_is_told_apart", acp_trouble),
];

fn claude(manner: &str) -> ProcessAgent {
    let model = Some(manner.to_string());
    agent(Engine::Claude { program: itself(), model, args: Vec::new() })
}

fn codex(manner: &str) -> ProcessAgent {
    let model = Some(manner.to_string());
    agent(Engine::Codex { program: itself(), model, args: Vec::new() })
}

fn acp(manner: &str) -> ProcessAgent {
    agent(Engine::Acp { command: vec![itself(), "role-acp".to_string(), manner.to_string()] })
}

fn text(text: &str) -> AgentEvent {
    AgentEvent::Text { text: text.to_string() }
}

fn claude_works() {
    let place = Place::new();
    let (ran, events) = run(&claude("good"), &place.task());
    assert_exited(&ran, 0);
    assert!(events.contains(&text("the prompt")), "{events:?}");
    let finished = AgentEvent::Finished { ok: true, message: "done".to_string() };
    assert_eq!(events.last(), Some(&finished));
    let cost_usd = Some(0.5);
    let usage = Usage { input_tokens: 7, output_tokens: 3, cost_usd, ..Usage::default() };
    assert_eq!(ran.usage, Some(usage));
    let limit = RateLimit { resets_at_unix: Some(1), ..RateLimit::default() };
    let (ran, _) = run(&claude("limited"), &place.task());
    assert_eq!(ran.outcome, Outcome::RateLimited { limit });
}

fn codex_works() {
    let place = Place::new();
    let (ran, events) = run(&codex("good"), &place.task());
    assert_exited(&ran, 0);
    assert!(events.contains(&text("the prompt")), "{events:?}");
    let usage = Usage { input_tokens: 9, cached_input_tokens: 1, output_tokens: 4, cost_usd: None };
    assert_eq!(ran.usage, Some(usage));
    let (ran, _) = run(&codex("limited"), &place.task());
    assert_eq!(ran.outcome, Outcome::RateLimited { limit: RateLimit::default() });
}

fn patience() {
    let quick = Duration::from_millis(5);
    let backoff = Backoff { attempts_max: 3, first: quick, wait_max: quick * 2 };
    let patiently = |manner: &str, place: &Place| {
        let mut waits = 0;
        let mut count = |event| waits += u32::from(matches!(event, AgentEvent::Waiting { .. }));
        let ran = run_patiently(&claude(manner), &place.task(), backoff, &mut count);
        let tokens = ran.usage.map_or(0, |usage| usage.input_tokens + usage.output_tokens);
        (ran.outcome, waits, tokens)
    };
    let place = Place::new();
    assert_eq!(patiently("good", &place), (Outcome::Exited { code: 0 }, 0, 10));
    // What was used before the wait is used.
    assert_eq!(patiently("limited-once", &place), (Outcome::Exited { code: 0 }, 1, 17));
    assert!(place.read("log/again-2/stdout.log").contains("done"));
    assert!(place.read("log/stdout.log").contains("rejected"));
    let (outcome, waits, tokens) = patiently("limited", &Place::new());
    assert!(matches!(outcome, Outcome::RateLimited { .. }), "{outcome}");
    assert_eq!((waits, tokens), (2, 21));
}

fn acp_works() {
    let place = Place::new();
    let (ran, events) = run(&acp("good"), &place.task());
    assert_exited(&ran, 0);
    let started = AgentEvent::Started { session: Some("session-1".to_string()), model: None };
    let finished = AgentEvent::Finished { ok: true, message: "end of turn".to_string() };
    assert_eq!(events, [started, text("the prompt"), finished]);
    let (ran, events) = run(&acp("refuses"), &place.task());
    assert_exited(&ran, 0);
    assert!(matches!(events.last(), Some(AgentEvent::Finished { ok: false, .. })), "{events:?}");
}

fn acp_asks() {
    let place = Place::new();
    let (ran, events) = run(&acp("asks"), &place.task());
    assert_exited(&ran, 0);
    assert!(events.contains(&text("allowed: once")), "{events:?}");
    assert_eq!(place.read("drop/made"), "by an agent");
}

fn acp_waits() {
    // Whoever waits may be silent, but not beyond the time it has in all.
    let short = Limits { wall: 2 * SILENCE, idle: SILENCE, output_bytes: 1 << 20 };
    for (decision, limits, expected) in [
        (Some(Decision::Allow), None, Ok("allowed: once")),
        (Some(Decision::Deny), None, Ok("allowed: no")),
        (None, None, Ok("it was cancelled")),
        (None, Some(short), Err(Outcome::WallTimeout)),
    ] {
        let place = Place::new();
        let (mut task, questions) = (place.task(), Questions::default());
        task.leave = Leave::Asked(questions.clone());
        task.limits = limits.unwrap_or(task.limits);
        let mut words = Vec::new();
        let ran = acp("asks").run(&task, &mut |event| match (event, decision) {
            (AgentEvent::LeaveAsked { question, id, .. }, Some(decision)) => {
                assert_eq!(id.as_deref(), Some("call-1"));
                questions.answer(question, decision);
            }
            (AgentEvent::LeaveAsked { .. }, None) if limits.is_none() => questions.close(),
            (AgentEvent::Text { text } | AgentEvent::Finished { message: text, .. }, _) => {
                words.push(text);
            }
            _ => {}
        });
        match expected {
            Ok(said) => assert!(words.iter().any(|word| word == said), "{said}: {words:?}"),
            Err(outcome) => assert_eq!(ran.outcome, outcome, "{words:?}"),
        }
    }
}

fn acp_trouble() {
    let place = Place::new();
    let with = |manner: &str, idle: Duration| {
        let limits = Limits { wall: PATIENCE, idle, output_bytes: 1 << 20 };
        run(&acp(manner), &place.task().limits(limits)).0.outcome
    };
    assert_eq!(with("crashes", PATIENCE), Outcome::Exited { code: 42 });
    assert_eq!(with("hangs", SILENCE), Outcome::IdleTimeout);
    assert_eq!(with("stays", PATIENCE), Outcome::Exited { code: 0 });
    let limit = RateLimit::default();
    assert_eq!(with("limited", PATIENCE), Outcome::RateLimited { limit });
    let outcome = with("fails", PATIENCE);
    assert!(matches!(outcome, Outcome::Unintelligible { .. }), "{outcome}");
    let limits = Limits { idle: SILENCE, ..place.task().limits };
    let (ran, events) = run(&acp("garbage"), &place.task().limits(limits));
    assert_eq!(ran.outcome, Outcome::IdleTimeout);
    let noise = AgentEvent::Noise { text: "this is not JSON-RPC at all".to_string() };
    assert_eq!(events, [noise]);
}
