//! What is larger or deeper than a record can be is refused, and nobody else hears of it.

use super::client::request;
use super::endpoint::{Endpoint, call, calls, says};
use super::model::kinds;
use super::server::Server;
use serde_json::{Value, json};

/// A message of this size, said so often, is more than the 16 MiB of a record.
const TEXT_BYTES: usize = 60 * 1024;
const REPEATS: usize = 300;
/// Turns of a neighbour, at most.
const TURNS_MAX: usize = 500;

/// Arrays in arrays.
fn nested(levels: usize) -> String {
    format!("{}{}", "[".repeat(levels), "]".repeat(levels))
}

fn error(events: &[Value]) -> String {
    let errors = events.iter().filter(|event| event["type"] == "session.error");
    errors.map(|event| event["error"]["message"].to_string()).collect()
}

#[test]
fn a_turn_that_says_too_much_ends_with_an_error_and_takes_nobody_with_it() {
    let flood = "{text}".repeat(REPEATS);
    let script = format!(
        "[[turn]]\nwhen = \"flood\"\nsteps = [{{ say = \"{flood}\" }}]\n\n\
         [[turn]]\nsteps = [{{ say = \"ok\" }}]\n"
    );
    let server = Server::scripted(&script);
    let agent = json!({"name": "a", "model": "scripted"});
    let session = || server.session_of(&agent, &json!({"name": "e"}));
    let (loud, quiet) = (session(), session());
    let is_done = std::sync::atomic::AtomicBool::new(false);
    let order = std::sync::atomic::Ordering::SeqCst;
    let events = std::thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..TURNS_MAX {
                if is_done.load(order) {
                    return;
                }
                let events = server.turn(&quiet, "hello");
                assert_eq!(error(&events), "", "a neighbour of what was too large");
            }
        });
        let sent = server.say(&loud, &format!("flood{}", "x".repeat(TEXT_BYTES)));
        let events = server.after(&loud, &sent);
        is_done.store(true, order);
        events
    });
    assert!(error(&events).contains("more to say"), "{events:?}");
    assert_eq!(events.iter().filter(|event| event["type"] == "agent.message").count(), 0);
    let log = server.log();
    assert_eq!(log.matches("more than 16777216").count(), 1, "it is not tried again: {log}");
    assert_eq!(error(&server.turn(&loud, "hello")), "", "the session is still of use");
}

#[test]
fn what_is_nested_so_deep_that_it_could_not_be_read_again_is_refused() {
    let server = Server::start();
    let create = |levels: usize| {
        // The body, its tools, the tool and its schema are levels, too.
        let schema = format!("{{\"type\": \"object\", \"x\": {}}}", nested(levels - 4));
        let body = format!(
            "{{\"name\": \"a\", \"model\": \"scripted\", \"tools\": [{{\"type\": \"custom\", \
             \"name\": \"t\", \"description\": \"d\", \"input_schema\": {schema}}}]}}"
        );
        let headers = server.headers();
        let answer = request(server.address, "POST", "/v1/agents", &headers, &body);
        answer.expect("an answer")
    };
    for levels in [65, 123, 127, 128, 1000] {
        let answer = create(levels);
        let is_told = answer.message().contains("nested deeper than 64 levels");
        assert_eq!((answer.status, is_told), (400, true), "{levels}: {}", answer.body);
    }
    let made = create(64);
    assert_eq!(made.status, 200, "{}", made.body);
    let made = made.json();
    let path = format!("/v1/agents/{}", made["id"].as_str().expect("an id"));
    assert_eq!(server.ok("GET", &path, &Value::Null)["tools"], made["tools"]);
    let listed = server.ok("GET", "/v1/agents", &Value::Null);
    assert_eq!(listed["data"].as_array().map(Vec::len), Some(1));
}

#[test]
fn a_tool_input_that_could_not_be_recalled_runs_nothing_and_the_session_goes_on() {
    let endpoint = Endpoint::start();
    let server = endpoint.server("");
    let agent = json!({"name": "a", "model": "m", "tools": [{"type": "agent_toolset_20260401"}]});
    let session = server.session_of(&agent, &json!({"name": "e"}));
    let deep = |levels: usize| {
        let input = format!("{{\"command\": \"echo ran\", \"x\": {}}}", nested(levels - 1));
        call("t1", "bash", json!(input))
    };
    for levels in [65, 124, 127] {
        endpoint.give([calls(vec![deep(levels)]), says("So be it.")]);
        let events = server.turn(&session, "go");
        assert!(kinds(&events).ends_with("message status_idle"), "{levels}: {events:?}");
        let asked = endpoint.asked().pop().expect("a request")["messages"].to_string();
        assert!(asked.contains("nested too deep") && !asked.contains("ran\\n"), "{asked}");
    }
    endpoint.give([says("Still here.")]);
    let events = server.turn(&session, "and now?");
    assert!(kinds(&events).ends_with("message status_idle"), "{events:?}");
}
