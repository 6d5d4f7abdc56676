//! The order in which the events of a turn stand in the log.

use super::endpoint::{Endpoint, call, calls, says, text};
use super::model::kinds;
use super::server::{Server, events_path};
use serde_json::{Value, json};

const CUSTOM: &str = "get_weather";

/// A session of an agent that has to ask before it uses `bash`, and has a custom tool.
fn session(server: &Server) -> String {
    let ask = json!({"name": "bash", "permission_policy": {"type": "always_ask"}});
    let custom = json!({"type": "custom", "name": CUSTOM, "description": "d",
        "input_schema": {"type": "object"}});
    let set = json!({"type": "agent_toolset_20260401", "configs": [ask]});
    let agent = json!({"name": "a", "model": "m", "tools": [set, custom]});
    server.session_of(&agent, &json!({"name": "e"}))
}

fn send(server: &Server, session: &str, event: Value) -> String {
    let sent = server.ok("POST", &events_path(session), &json!({"events": [event]}));
    sent["data"][0]["id"].as_str().expect("an id").to_string()
}

#[test]
fn a_question_stands_within_the_request_that_asks_it() {
    let endpoint = Endpoint::start();
    let server = endpoint.server("");
    let bash = |id: &str| call(id, "bash", json!({"command": "echo ran"}));
    let glob = |id: &str| call(id, "glob", json!({"pattern": "*"}));
    let custom = |id: &str| call(id, CUSTOM, json!({}));
    let within = "model_request_start tool_use model_request_end status_idle";
    let cases = [
        (vec![bash("t1")], within.to_string()),
        (vec![text("I will."), bash("t1")], within.replace("tool_use", "message tool_use")),
        (vec![bash("t1"), bash("t2")], within.replace("tool_use", "tool_use tool_use")),
        (vec![custom("t1"), bash("t2")], within.replace("tool_use", "custom_tool_use tool_use")),
        // A tool that is not there is no question, and one that a client runs needs no leave.
        (
            vec![bash("t1"), call("t2", "none", json!({}))],
            within.replace("status_idle", "tool_use tool_result status_idle"),
        ),
        (
            vec![custom("t1")],
            "model_request_start model_request_end custom_tool_use status_idle".to_string(),
        ),
        // What needs no leave runs first; then somebody is asked.
        (
            vec![glob("t1"), bash("t2")],
            "model_request_start model_request_end tool_use tool_result tool_use status_idle"
                .to_string(),
        ),
    ];
    for (blocks, expected) in cases {
        let session = session(&server);
        endpoint.give([calls(blocks)]);
        let events = server.turn(&session, "go");
        assert_eq!(kinds(&events), format!("status_running {expected}"), "{events:?}");
        let stop = &events.last().expect("idle")["stop_reason"];
        assert_eq!(stop["type"], "requires_action", "{events:?}");
        send(&server, &session, json!({"type": "user.interrupt"}));
    }
}

#[test]
fn what_is_allowed_runs_after_the_answer_and_before_the_next_request() {
    let endpoint = Endpoint::start();
    let mut server = endpoint.server("");
    let session = session(&server);
    endpoint.give([
        calls(vec![call("t1", "bash", json!({"command": "echo ran"}))]),
        says("Done."),
        calls(vec![call("t2", "bash", json!({"command": "echo ran"}))]),
    ]);
    let asked = server.turn(&session, "go");
    let tool = &asked.last().expect("idle")["stop_reason"]["event_ids"][0];
    let used = asked.iter().find(|event| event["type"] == "agent.tool_use").expect("a call");
    assert_eq!((&used["id"], &used["evaluated_permission"]), (tool, &json!("ask")));
    let allow = json!({"type": "user.tool_confirmation", "tool_use_id": tool, "result": "allow"});
    let sent = send(&server, &session, allow);
    let request = "model_request_start model_request_end";
    let expected = format!("status_running tool_result {request} message status_idle");
    assert_eq!(kinds(&server.after(&session, &sent)), expected);
    // Usage is counted once, also of a request that asks; a restart finds nothing open.
    let seen = server.ok("GET", &format!("/v1/sessions/{session}"), &Value::Null);
    assert_eq!(seen["usage"]["output_tokens"], 14, "{seen}");
    server.turn(&session, "again");
    server.kill_and_restart();
    let all = server.listed(&session);
    let of = |kind: &str| all.iter().filter(|event| event["type"] == kind).count();
    assert_eq!((of("span.model_request_start"), of("span.model_request_end")), (3, 3));
}
