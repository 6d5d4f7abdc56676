//! Calls of a model and what came of them: remembered when they are shown, and never half.

use super::endpoint::{Endpoint, Gives, call, calls, says, text};
use super::model::kinds;
use super::server::{Server, events_path};
use serde_json::{Value, json};

const CUSTOM: &str = "get_weather";

/// A session of an agent that has to ask before it uses `bash`, and has a custom tool.
fn session(server: &Server) -> String {
    let ask = json!({"name": "bash", "permission_policy": {"type": "always_ask"}});
    let agent = json!({
        "name": "a", "model": "m",
        "tools": [
            {"type": "agent_toolset_20260401", "configs": [ask]},
            {"type": "custom", "name": CUSTOM, "description": "d",
             "input_schema": {"type": "object"}},
        ],
    });
    server.session_of(&agent, &json!({"name": "e"}))
}

fn send(server: &Server, session: &str, event: Value) -> String {
    let sent = server.ok("POST", &events_path(session), &json!({"events": [event]}));
    sent["data"][0]["id"].as_str().expect("an id").to_string()
}

/// The calls that wait for an answer.
fn waiting(events: &[Value]) -> Vec<String> {
    let ids = &events.last().expect("idle")["stop_reason"]["event_ids"];
    let ids = ids.as_array().unwrap_or_else(|| panic!("nobody is asked: {events:?}"));
    ids.iter().map(|id| id.as_str().expect("an id").to_string()).collect()
}

/// The results that the model was told in its latest request, by the names of its calls.
fn told(endpoint: &Endpoint) -> Vec<(String, String)> {
    let asked = endpoint.asked();
    let messages = asked.last().expect("a request")["messages"].clone();
    let blocks = messages.as_array().expect("messages").iter();
    let blocks = blocks.flat_map(|message| message["content"].as_array().expect("blocks"));
    let results = blocks.filter(|block| block["type"] == "tool_result");
    let word = |value: &Value| value.as_str().expect("text").to_string();
    results.map(|one| (word(&one["tool_use_id"]), word(&one["content"][0]["text"]))).collect()
}

#[test]
fn what_was_shown_is_remembered_whatever_ends_the_turn() {
    for restarts in [false, true] {
        let endpoint = Endpoint::start();
        let mut server = endpoint.server("");
        let session = session(&server);
        endpoint.give([calls(vec![
            call("t1", "glob", json!({"pattern": "*"})),
            call("t2", CUSTOM, json!({"city": "Oslo"})),
            call("t3", "bash", json!({"command": "echo ran"})),
            call("t4", "bash", json!({"command": "echo never"})),
            call("t5", CUSTOM, json!({"city": "Rome"})),
        ])]);
        let ids = waiting(&server.turn(&session, "go"));
        let result = json!({"type": "user.custom_tool_result", "custom_tool_use_id": ids[0],
            "content": [text("rain")]});
        send(&server, &session, result);
        let decision = |id: &str, result: &str| {
            let kind = "user.tool_confirmation";
            json!({"type": kind, "tool_use_id": id, "result": result})
        };
        send(&server, &session, decision(&ids[2], "deny"));
        send(&server, &session, decision(&ids[1], "allow"));
        let is_there = |event: &str, id: &str| {
            let mut frames = server.stream(&session, &[]);
            let found = frames.until(|f| f.event == event && f.data["tool_use_id"] == id);
            found.last().expect("it came").data.clone()
        };
        is_there("agent.tool_result", &ids[1]);
        let denied = is_there("agent.tool_result", &ids[2]);
        if restarts {
            server.kill_and_restart();
        }
        send(&server, &session, json!({"type": "user.interrupt"}));
        endpoint.give([says("Well.")]);
        server.turn(&session, "and now?");
        let told = told(&endpoint);
        let of = |id: &str| &told.iter().find(|(call, _)| call == id).expect(id).1;
        assert_eq!(told.len(), 5, "{told:?}");
        assert!(!of("t1").contains("no result"), "{told:?}");
        assert_eq!((of("t2").as_str(), of("t3").as_str()), ("rain", "ran\n"));
        assert_eq!(of("t4"), &denied["content"][0]["text"], "the same words");
        assert!(of("t5").contains("there is no result"), "{told:?}");
    }
}

#[test]
fn a_call_that_is_none_reaches_nobody() {
    let endpoint = Endpoint::start();
    let server = endpoint.server("");
    let session = session(&server);
    let half = "{\"command\": \"ec";
    let halves =
        || vec![call("t1", CUSTOM, json!(half)), call("t2", "bash", json!(half)), text("So.")];
    endpoint.give([calls(halves()), says("Fine.")]);
    let events = server.turn(&session, "go");
    assert!(kinds(&events).ends_with("message status_idle"), "{events:?}");
    let denied = events.iter().filter(|event| event["evaluated_permission"] == "deny").count();
    assert_eq!(denied, 2, "{events:?}");
    let told = told(&endpoint);
    assert!(told.len() == 2 && told.iter().all(|(_, text)| text.contains("no JSON")), "{told:?}");
    // What was not said to the end was perhaps not meant, however whole a call looks.
    let whole = || vec![text("So."), call("t3", CUSTOM, json!({"city": "Oslo"}))];
    for reason in ["max_tokens", "refusal", "model_context_window_exceeded"] {
        endpoint.give([Gives::Message(whole(), reason)]);
        let events = server.turn(&session, "go");
        let expected = "status_running model_request_start model_request_end message error \
            status_idle";
        assert_eq!(kinds(&events), expected, "{reason}");
    }
}

#[test]
fn more_calls_than_can_wait_are_refused_and_the_others_wait() {
    let endpoint = Endpoint::start();
    let server = endpoint.server("");
    let session = session(&server);
    let many = (0..103).map(|index| call(&format!("t{index}"), CUSTOM, json!({})));
    endpoint.give([calls(many.collect())]);
    let events = server.turn(&session, "go");
    assert_eq!(waiting(&events).len(), 100);
    let refused: Vec<&Value> =
        events.iter().filter(|event| event["evaluated_permission"] == "deny").collect();
    assert_eq!(refused.len(), 3, "{refused:?}");
    send(&server, &session, json!({"type": "user.interrupt"}));
    endpoint.give([says("Well.")]);
    server.turn(&session, "and now?");
    let told = told(&endpoint);
    assert!(told.len() == 103 && told[102].1.contains("at most 100"), "{told:?}");
}

#[test]
fn what_a_model_would_not_take_is_not_told_it() {
    let endpoint = Endpoint::start();
    let server = endpoint.server("");
    let session = session(&server);
    for content in [json!([text("")]), json!([text(" \n\t")]), json!([text("a"), text(" ")])] {
        let event = json!({"type": "user.message", "content": content});
        let answer = server.call("POST", &events_path(&session), &json!({"events": [event]}));
        assert_eq!(answer.status, 400, "{}", answer.body);
        assert!(answer.message().contains("not empty"), "{}", answer.body);
    }
    endpoint.give([calls(vec![call("t1", CUSTOM, json!({}))]), says("Fine.")]);
    let ids = waiting(&server.turn(&session, "go"));
    let result = json!({"type": "user.custom_tool_result", "custom_tool_use_id": ids[0]});
    let sent = send(&server, &session, result);
    server.after(&session, &sent);
    assert_eq!(told(&endpoint), [("t1".to_string(), "(no output)".to_string())]);
}

#[test]
fn what_an_endpoint_refuses_does_not_end_a_session() {
    let endpoint = Endpoint::start();
    let server = endpoint.server("");
    let session = session(&server);
    let refusal = || Gives::Refusal(400, vec![], "not that");
    let image = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png",
        "data": "bm9uZQ=="}});
    endpoint.give([refusal()]);
    let event = json!({"type": "user.message", "content": [text("look"), image]});
    let sent = send(&server, &session, event);
    let events = server.after(&session, &sent);
    assert!(kinds(&events).ends_with("model_request_end error status_idle"), "{events:?}");
    for word in ["one", "two", "three"] {
        endpoint.give([says(word)]);
        let events = server.turn(&session, word);
        assert!(kinds(&events).ends_with("message status_idle"), "{events:?}");
    }
    let messages = |index: usize| endpoint.asked()[index]["messages"].to_string();
    assert!(messages(0).contains("base64") && !messages(1).contains("base64"), "{}", messages(1));
    assert!(messages(1).contains("look"), "{}", messages(1));
    // Four turns came before: the older half is left out, then everything.
    let again = "model_request_start model_request_end error";
    endpoint.give([refusal(), Gives::Refusal(413, vec![], "too much"), says("At last.")]);
    let events = server.turn(&session, "now");
    let expected = format!(
        "status_running {again} {again} model_request_start model_request_end message status_idle"
    );
    assert_eq!(kinds(&events), expected, "{events:?}");
    assert_eq!(events[3]["error"]["retry_status"]["type"], "retrying");
    assert!(messages(4).contains("look") && messages(4).contains("two"), "{}", messages(4));
    assert!(!messages(5).contains("look") && messages(5).contains("two"), "{}", messages(5));
    assert!(!messages(6).contains("two") && messages(6).contains("now"), "{}", messages(6));
    assert!(messages(6).contains("left out"), "{}", messages(6));
    endpoint.give([refusal(), refusal(), refusal(), says("Still here.")]);
    let events = server.turn(&session, "once more");
    let expected = format!("status_running {again} {again} {again} status_idle");
    assert_eq!(kinds(&events), expected, "{events:?}");
    assert!(kinds(&server.turn(&session, "and?")).ends_with("message status_idle"));
}

#[test]
fn what_was_asked_is_remembered_before_anybody_is_asked() {
    // A server that takes connections and says nothing.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = silent.local_addr().expect("an address").port();
    let endpoint = Endpoint::start();
    let origin = format!("--local-origin=mcp.example.test=127.0.0.1:{port}");
    let setup = super::server::Setup { args: vec![origin], ..endpoint.setup("") };
    let mut server = Server::with(setup);
    let url = "http://mcp.example.test/mcp";
    let networking = json!({"type": "limited", "allow_mcp_servers": true});
    let environment = json!({"name": "e", "config": {"type": "cloud", "networking": networking}});
    let agent = json!({
        "name": "a", "model": "m", "mcp_servers": [{"type": "url", "name": "s", "url": url}],
        "tools": [{"type": "mcp_toolset", "mcp_server_name": "s"}],
    });
    let session = server.session_of(&agent, &environment);
    let sent = server.say(&session, "the word is plum");
    let _held = silent.accept().expect("it is asked for its tools");
    server.kill_and_restart();
    server.after(&session, &sent);
    drop(silent);
    endpoint.give([says("Plum.")]);
    server.turn(&session, "which word?");
    let messages = endpoint.asked()[0]["messages"].to_string();
    assert!(messages.contains("plum") && messages.contains("cut off"), "{messages}");
}
