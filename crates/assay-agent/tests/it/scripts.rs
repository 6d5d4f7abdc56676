//! Scripts do what they say, in the situation they are for.

use crate::Test;
use crate::support::{Place, assert_exited, git, run};
use assay_agent::{AgentEvent, Outcome, Usage};

pub const TESTS: &[Test] = &[
    ("a_script_works_commits_and_hands_over", works),
    ("a_script_plays_the_step_for_its_situation", situations),
    ("a_script_ends_at_the_first_action_that_fails_unless_it_may", failures),
];

fn works() {
    let place = Place::new();
    git(&place.path("work"), &["init", "--quiet"]);
    let agent = place.script(
        r#"
        [[step.do]]
        action = "write"
        path = "src/lib.rs"
        text = "fn answer() -> u32 { 41 }\n"
        [[step.do]]
        action = "append"
        path = "src/lib.rs"
        text = "// ${story}\n"
        [[step.do]]
        action = "replace"
        path = "src/lib.rs"
        old = "41"
        new = "42"
        [[step.do]]
        action = "write"
        path = "gone"
        text = ""
        [[step.do]]
        action = "delete"
        path = "gone"
        [[step.do]]
        action = "run"
        command = ["sh", "-c", "echo seen; grep -q 42 src/lib.rs"]
        [[step.do]]
        action = "commit"
        message = "${story}: the answer"
        [[step.do]]
        action = "drop"
        name = "signal.json"
        text = '{"nonce": "${nonce}", "commit": "${commit}", "tree": "${tree}"}'
        [[step.do]]
        action = "say"
        text = "done, $${honestly}"
        [[step.do]]
        action = "usage"
        input_tokens = 10
        output_tokens = 2
        "#,
    );
    let task = place.task().variable("story", "US-001").variable("nonce", "4711");
    let (ran, events) = run(&agent, &task);
    assert_exited(&ran, 0);
    assert_eq!(place.read("work/src/lib.rs"), "fn answer() -> u32 { 42 }\n// US-001\n");
    let head = git(&place.path("work"), &["rev-parse", "HEAD"]);
    let tree = git(&place.path("work"), &["rev-parse", "HEAD^{tree}"]);
    let signal = format!(r#"{{"nonce": "4711", "commit": "{head}", "tree": "{tree}"}}"#);
    assert_eq!(place.read("drop/signal.json"), signal);
    assert_eq!(git(&place.path("work"), &["log", "-1", "--format=%s"]), "US-001: the answer");
    assert_eq!(git(&place.path("work"), &["status", "--porcelain"]), "");
    let text = AgentEvent::Text { text: "done, ${honestly}".to_string() };
    assert!(events.contains(&text), "{events:?}");
    assert!(events.contains(&AgentEvent::Stderr { text: "seen".to_string() }), "{events:?}");
    let tools = events.iter().filter(|event| matches!(event, AgentEvent::ToolUse { .. }));
    assert_eq!(tools.count(), 8);
    let usage = Usage { input_tokens: 10, output_tokens: 2, ..Usage::default() };
    assert_eq!((ran.usage, ran.stragglers), (Some(usage), 0));
}

fn situations() {
    let place = Place::new();
    let agent = place.steps(
        r#"
        [[step]]
        when = { role = "worker", iteration = 2 }
        do = [{ action = "exit", code = 2 }]
        [[step]]
        when = { role = "worker" }
        do = [{ action = "exit", code = 1 }]
        "#,
    );
    let task = |role: &str, iteration: &str| {
        place.task().variable("role", role).variable("iteration", iteration)
    };
    assert_exited(&run(&agent, &task("worker", "1")).0, 1);
    assert_exited(&run(&agent, &task("worker", "2")).0, 2);
    let (ran, _) = run(&agent, &task("verifier", "2"));
    assert_exited(&ran, 65);
    assert!(ran.stderr_tail.contains("role = verifier"), "{}", ran.stderr_tail);
}

fn failures() {
    let place = Place::new();
    let script = |may_fail: bool| {
        place.script(&format!(
            "[[step.do]]\naction = 'run'\ncommand = ['false']\nmay_fail = {may_fail}\n\
             [[step.do]]\naction = 'write'\npath = 'after'\ntext = ''"
        ))
    };
    assert_exited(&run(&script(false), &place.task()).0, 1);
    assert!(!place.path("work/after").exists());
    assert_exited(&run(&script(true), &place.task()).0, 0);
    assert!(place.path("work/after").exists());
    // A bad script is the same as an agent that does not know what to do.
    let (ran, _) = run(&place.script("[[step.do]]\naction = 'fly'"), &place.task());
    assert_eq!(ran.outcome, Outcome::Exited { code: 65 });
    assert!(ran.stderr_tail.contains("unknown variant"), "{}", ran.stderr_tail);
}
