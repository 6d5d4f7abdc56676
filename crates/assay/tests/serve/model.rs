//! The engine that asks a model: what it sends, what it says, what it remembers.

use super::endpoint::{Endpoint, Gives, KEY, call, calls, says, text};
use super::server::{Server, events_path};
use serde_json::{Value, json};

const CUSTOM: &str = "get_weather";

fn agent(configs: Value) -> Value {
    json!({
        "name": "a", "model": "m", "system": "You are terse.",
        "tools": [
            {"type": "agent_toolset_20260401", "configs": configs},
            {"type": "custom", "name": CUSTOM, "description": "d",
             "input_schema": {"type": "object"}},
        ],
    })
}

fn session(server: &Server, configs: Value) -> String {
    server.session_of(&agent(configs), &json!({"name": "e"}))
}

pub fn kinds(events: &[Value]) -> String {
    let short = |event: &Value| {
        let kind = event["type"].as_str().expect("a type");
        kind.rsplit('.').next().expect("a name").to_string()
    };
    events.iter().map(short).collect::<Vec<_>>().join(" ")
}

/// What the model was told in its last message.
fn last_content(asked: &[Value]) -> Value {
    let messages = asked.last().expect("a request")["messages"].as_array().expect("messages");
    messages.last().expect("a message")["content"].clone()
}

#[test]
fn a_turn_asks_the_model_and_says_what_it_answers() {
    let endpoint = Endpoint::start();
    endpoint.give([says("Hello, you.")]);
    let server = endpoint.server("display_name = \"M\"\nmax_tokens = 321\n");
    let models = server.ok("GET", "/v1/models", &Value::Null);
    let (id, shown) = (&models["data"][0]["id"], &models["data"][0]["display_name"]);
    assert_eq!(
        (id, shown, models["data"].as_array().map(Vec::len)),
        (&json!("m"), &json!("M"), Some(1))
    );
    let session = session(&server, json!([{"name": "write", "enabled": false}]));
    let events = server.turn(&session, "hi");
    let expected = "status_running model_request_start model_request_end message status_idle";
    assert_eq!(kinds(&events), expected);
    assert_eq!(events[3]["content"], json!([text("Hello, you.")]));
    let usage = json!({"input_tokens": 10, "output_tokens": 7, "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 3});
    assert_eq!(events[2]["model_usage"], usage);
    let seen = server.ok("GET", &format!("/v1/sessions/{session}"), &Value::Null);
    assert_eq!((&seen["usage"]["output_tokens"], &seen["status"]), (&json!(7), &json!("idle")));
    let asked = &endpoint.asked()[0];
    assert_eq!((&asked["model"], &asked["stream"]), (&json!("real-name"), &json!(true)));
    assert_eq!((&asked["max_tokens"], &asked["system"]), (&json!(321), &json!("You are terse.")));
    assert_eq!(asked["messages"], json!([{"role": "user", "content": [text("hi")]}]));
    let names: Vec<&str> = asked["tools"]
        .as_array()
        .expect("tools")
        .iter()
        .map(|tool| tool["name"].as_str().expect("a name"))
        .collect();
    // What is disabled is not offered, nor what nothing here could do.
    assert_eq!(names, ["bash", "read", "edit", "glob", "grep", CUSTOM]);
    let head = &endpoint.heads()[0];
    assert!(head.starts_with("POST /api/v1/messages HTTP/1.1"), "{head}");
    assert!(head.contains(&format!("x-api-key: {KEY}")) && head.contains("anthropic-version"));
    let unknown = server.call("POST", "/v1/agents", &json!({"name": "a", "model": "scripted"}));
    assert_eq!((unknown.status, unknown.message().contains("it has `m`")), (400, true));
}

#[test]
fn a_session_costs_what_its_tokens_cost_if_there_are_prices() {
    let endpoint = Endpoint::start();
    let costs = |more: &str, turns: usize| {
        let mut server = endpoint.server(more);
        let session = session(&server, json!([]));
        let seen = |server: &Server| {
            let seen = server.ok("GET", &format!("/v1/sessions/{session}"), &Value::Null);
            seen["usage"]["list_cost"].clone()
        };
        assert_eq!(seen(&server), Value::Null, "nothing was asked");
        for _ in 0..turns {
            endpoint.give([Gives::Refusal(529, vec![("retry-after-ms", "1")], "busy"), says("hi")]);
            server.turn(&session, "hi");
        }
        let before = seen(&server);
        server.kill_and_restart();
        assert_eq!(seen(&server), before, "it is kept");
        let listed = server.ok("GET", "/v1/sessions", &Value::Null);
        assert_eq!(listed["data"][0]["usage"]["list_cost"], before);
        before
    };
    let cents = |amount: &str| json!({"amount": amount, "currency": "USD"});
    // Ten tokens read, seven written, three from a cache; what failed costs nothing.
    let prices = "prices = { input = 1000, output = 2000, cache_read = 500.5, cache_write = 1 }";
    assert_eq!(costs(prices, 1), cents("3"), "2.55 cents");
    assert_eq!(costs(prices, 2), cents("5"), "5.1 cents");
    assert_eq!(costs("prices = { input = 0, output = 0, cache_read = 0 }", 1), cents("0"));
    assert_eq!(costs("prices = { input = 3, output = 15 }", 1), Value::Null, "no price of a cache");
    assert_eq!(costs("", 1), Value::Null);
}

#[test]
fn a_later_turn_depends_on_an_earlier_one_also_after_a_restart() {
    let endpoint = Endpoint::start();
    let mut server = endpoint.server("");
    let session = session(&server, json!([]));
    endpoint.give([says("Hello Ada."), says("Ada."), says("Still Ada.")]);
    server.turn(&session, "my name is Ada");
    server.turn(&session, "what is my name?");
    server.kill_and_restart();
    server.turn(&session, "and now?");
    let asked = endpoint.asked();
    let texts: Vec<Vec<String>> = asked
        .iter()
        .map(|body| {
            let messages = body["messages"].as_array().expect("messages").iter();
            messages.map(|m| m["content"][0]["text"].as_str().expect("text").to_string()).collect()
        })
        .collect();
    assert_eq!(texts[1], ["my name is Ada", "Hello Ada.", "what is my name?"]);
    assert_eq!(texts[2][2..], ["what is my name?", "Ada.", "and now?"]);
    // Another session knows nothing of it.
    let other = self::session(&server, json!([]));
    endpoint.give([says("No idea.")]);
    server.turn(&other, "who am I?");
    assert_eq!(endpoint.asked()[3]["messages"].as_array().map(Vec::len), Some(1));
}

#[test]
fn tools_run_in_the_sandbox_and_their_results_go_back() {
    let endpoint = Endpoint::start();
    let server = endpoint.server("");
    let session = session(&server, json!([]));
    endpoint.give([
        calls(vec![text("First."), call("t1", "write", json!({"path": "a.txt", "content": "x"}))]),
        calls(vec![
            call("t2", "bash", json!({"command": "cat a.txt; pwd; exit 3"})),
            call("t3", "grep", json!({"pattern": "x"})),
            call("t4", "rm_everything", json!({})),
            call("t5", "bash", json!("{\"command\": \"ec")),
        ]),
        says("Done."),
    ]);
    let events = server.turn(&session, "go");
    let request = "model_request_start model_request_end";
    let expected = format!(
        "status_running {request} message tool_use tool_result {request} tool_use tool_use \
         tool_use tool_result tool_use tool_result tool_result tool_result {request} message \
         status_idle"
    );
    assert_eq!(kinds(&events), expected, "{events:?}");
    let denied: Vec<&Value> =
        events.iter().filter(|event| event["evaluated_permission"] == "deny").collect();
    assert_eq!(denied[0]["name"], "rm_everything");
    let results = last_content(&endpoint.asked());
    let result = |index: usize| {
        let block = &results[index];
        let text = block["content"][0]["text"].as_str().expect("text").to_string();
        (block["tool_use_id"].as_str().expect("an id"), block["is_error"] == true, text)
    };
    let (id, is_error, text) = result(0);
    assert_eq!((id, is_error), ("t2", true));
    assert!(text.starts_with('x') && text.contains("exit code 3"), "{text}");
    assert_eq!(result(1).0, "t3");
    assert!(result(1).2.contains("a.txt"), "{results}");
    assert!(result(2).1 && result(2).2.contains("no tool `rm_everything`"), "{results}");
    assert!(result(3).1 && result(3).2.contains("no JSON"), "{results}");
}

#[test]
fn custom_tools_and_confirmations_wait_and_what_is_denied_does_not_happen() {
    let endpoint = Endpoint::start();
    let server = endpoint.server("");
    let ask = json!([{"name": "bash", "permission_policy": {"type": "always_ask"}}]);
    let session = session(&server, ask);
    endpoint.give([
        calls(vec![
            call("t1", CUSTOM, json!({"city": "Oslo"})),
            call("t2", "bash", json!({"command": "echo yes > allowed; echo ran"})),
            call("t3", "bash", json!({"command": "echo no > denied"})),
        ]),
        calls(vec![call("t4", "glob", json!({"pattern": "*"}))]),
        says("Fine."),
    ]);
    let events = server.turn(&session, "go");
    let waiting = events.last().expect("idle")["stop_reason"].clone();
    assert_eq!(waiting["type"], "requires_action");
    let ids: Vec<&str> = waiting["event_ids"]
        .as_array()
        .expect("ids")
        .iter()
        .map(|id| id.as_str().expect("id"))
        .collect();
    let answer =
        |event: Value| server.ok("POST", &events_path(&session), &json!({"events": [event]}));
    answer(json!({"type": "user.custom_tool_result", "custom_tool_use_id": ids[0],
        "content": [text("rain")], "is_error": true}));
    answer(json!({"type": "user.tool_confirmation", "tool_use_id": ids[1], "result": "allow"}));
    let last = answer(json!({"type": "user.tool_confirmation", "tool_use_id": ids[2],
        "result": "deny", "deny_message": "not that"}));
    let last = last["data"][0]["id"].as_str().expect("an id").to_string();
    server.after(&session, &last);
    let asked = endpoint.asked();
    let results =
        asked[1]["messages"].as_array().expect("messages").last().expect("one")["content"].clone();
    let shown =
        |index: usize| (results[index]["is_error"].clone(), results[index]["content"].clone());
    assert_eq!(shown(0), (json!(true), json!([text("rain")])));
    assert_eq!(shown(1), (json!(false), json!([text("ran\n")])));
    assert_eq!(shown(2), (json!(true), json!([text("not that")])));
    let files = last_content(&asked).to_string();
    assert!(files.contains("allowed") && !files.contains("denied"), "{files}");
}

#[test]
fn a_conversation_that_does_not_fit_loses_its_oldest_turns_and_says_so() {
    let endpoint = Endpoint::start();
    let server = endpoint.server("max_tokens = 100\ncontext_tokens = 4000\n");
    let tools_off = json!({"name": "a", "model": "m"});
    let session = server.session_of(&tools_off, &json!({"name": "e"}));
    for name in ["first", "second", "third"] {
        endpoint.give([says(name)]);
        server.turn(&session, &format!("{name} {}", "x".repeat(5000)));
    }
    let asked = endpoint.asked()[2]["messages"].to_string();
    assert!(asked.contains("left out") && asked.contains("second") && asked.contains("third"));
    assert!(!asked.contains("first"), "the oldest is gone");
    let events = server.turn(&session, &"y".repeat(20_000));
    assert!(kinds(&events).ends_with("error status_idle"), "{events:?}");
    assert_eq!(endpoint.asked().len(), 3, "nobody was asked what could not be read");
    endpoint.give([says("small")]);
    let events = server.turn(&session, "small");
    assert!(kinds(&events).ends_with("message status_idle"), "{events:?}");
}

#[test]
fn an_answer_that_is_cut_off_runs_no_tool_and_is_said_to_be() {
    let endpoint = Endpoint::start();
    let server = endpoint.server("max_tokens = 5\n");
    let session = session(&server, json!([]));
    let half = vec![text("I will"), call("t1", "bash", json!("{\"command\": \"to"))];
    endpoint.give([Gives::Message(half, "max_tokens"), says("Again.")]);
    let events = server.turn(&session, "go");
    let expected = "status_running model_request_start model_request_end message error status_idle";
    assert_eq!(kinds(&events), expected);
    let message = events[4]["error"]["message"].as_str().expect("a message");
    assert!(message.contains("max_tokens = 5"), "{message}");
    server.turn(&session, "go on");
    let messages = endpoint.asked()[1]["messages"].clone();
    assert!(!messages.to_string().contains("tool_use"), "{messages}");
    assert!(messages[2]["content"][0]["text"].as_str().expect("a note").contains("ended with"));
}
