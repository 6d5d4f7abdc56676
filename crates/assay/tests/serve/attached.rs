//! Blocks that name a file of the server: refused where it cannot be shown, shown where it can.

use super::endpoint::{Endpoint, call, calls, says, text};
use super::model::kinds;
use super::server::{Server, events_path};
use serde_json::{Value, json};

fn block(kind: &str, file: &str) -> Value {
    json!({"type": kind, "source": {"type": "file", "file_id": file}})
}

fn message(content: &[Value]) -> Value {
    json!({"events": [{"type": "user.message", "content": content}]})
}

/// Sends events, and gives what came of them until the session rests.
fn send(server: &Server, session: &str, body: &Value) -> Vec<Value> {
    let sent = server.ok("POST", &events_path(session), body);
    server.after(session, sent["data"][0]["id"].as_str().expect("an id"))
}

fn delete(server: &Server, file: &str) {
    server.ok("DELETE", &format!("/v1/files/{file}"), &Value::Null);
}

#[test]
fn a_file_that_is_not_there_is_refused_by_its_place() {
    let server = Server::start();
    let session = server.session();
    let gone = server.file("x");
    delete(&server, &gone);
    let other = super::server::make_key(&server.data, "other");
    let there = server.file("x");
    let result = json!({"type": "user.custom_tool_result", "custom_tool_use_id": "sevt_x",
        "content": [text("a"), block("document", "file_none")]});
    let cases = [
        (message(&[block("image", "file_none")]), "events[0].content[0].source.file_id: "),
        (message(&[text("a"), block("document", &gone)]), "events[0].content[1].source.file_id: "),
        (message(&[block("document", "../other/x")]), "the file ../other/x is not there"),
        (json!({"events": [result]}), "events[0].content[1].source.file_id: "),
    ];
    for (body, words) in cases {
        let answer = server.call("POST", &events_path(&session), &body);
        assert_eq!(answer.status, 400, "{body}: {}", answer.body);
        assert!(answer.message().contains(words), "{}", answer.body);
        assert!(answer.message().contains("is not there"), "{}", answer.body);
    }
    assert_eq!(server.listed(&session).len(), 0, "nothing came of them");
    let mut wish = server.place(&Value::Null);
    wish["initial_events"] = message(&[block("document", &gone)])["events"].clone();
    let answer = server.call("POST", "/v1/sessions", &wish);
    assert_eq!(answer.status, 400, "{}", answer.body);
    assert!(answer.message().starts_with("initial_events[0].content[0].source.file_id: "));
    wish["initial_events"] = message(&[block("document", &there)])["events"].clone();
    server.ok("POST", "/v1/sessions", &wish);
    // That of another workspace looks missing.
    let ask = |path: &str, body: &Value| {
        let answer = super::server::call(server.address, &other, "POST", path, body, &[]);
        answer.expect("an answer")
    };
    let agent = json!({"name": "a", "model": "scripted"});
    let agent = ask("/v1/agents", &agent).json()["id"].clone();
    let environment = ask("/v1/environments", &json!({"name": "e"})).json()["id"].clone();
    let wish = json!({"agent": agent, "environment_id": environment,
        "initial_events": message(&[block("document", &there)])["events"]});
    let answer = ask("/v1/sessions", &wish);
    assert_eq!((answer.status, answer.message().contains("is not there")), (400, true));
}

#[test]
fn a_model_is_shown_what_is_in_a_file_now_and_in_later_turns() {
    let endpoint = Endpoint::start();
    let mut server = endpoint.server("");
    let session = server.session_of(&json!({"name": "a", "model": "m"}), &json!({"name": "e"}));
    let (image, paper, notes) =
        (server.file("GIF89a..."), server.file("%PDF-1.4 x"), server.file("gr\u{fc}n"));
    let mut titled = block("document", &notes);
    titled["title"] = json!("Notes");
    let content = [text("look"), block("image", &image), block("document", &paper), titled];
    endpoint.give([says("Seen."), says("Again."), says("Two of three.")]);
    send(&server, &session, &message(&content));
    let inlined = json!([
        text("look"),
        {"type": "image", "source": {"type": "base64", "media_type": "image/gif",
            "data": "R0lGODlhLi4u"}},
        {"type": "document", "source": {"type": "base64", "media_type": "application/pdf",
            "data": "JVBERi0xLjQgeA=="}},
        {"type": "document", "title": "Notes", "source": {"type": "text",
            "media_type": "text/plain", "data": "gr\u{fc}n"}},
    ]);
    assert_eq!(endpoint.asked()[0]["messages"][0]["content"], inlined);
    let listed = server.listed(&session);
    assert_eq!(listed[0]["content"], json!(content), "clients see what they sent");
    server.kill_and_restart();
    server.turn(&session, "and now?");
    assert_eq!(endpoint.asked()[1]["messages"][0]["content"], inlined, "it is remembered");
    delete(&server, &image);
    server.turn(&session, "and now?");
    let told = endpoint.asked()[2]["messages"][0]["content"].clone();
    let note = format!("[The file {image} is not there any more.]");
    assert_eq!((&told[1], &told[2]), (&text(&note), &inlined[2]), "{told}");
}

#[test]
fn a_file_that_cannot_be_shown_ends_the_turn_with_an_error_that_names_it() {
    let endpoint = Endpoint::start();
    let server = endpoint.server("context_tokens = 20000\nmax_tokens = 1000\n");
    let session = server.session_of(&json!({"name": "a", "model": "m"}), &json!({"name": "e"}));
    let (plain, long) = (server.file("no image"), server.file(&"long ".repeat(20_000)));
    let picture = server.file(&format!("GIF89a{}", "x".repeat(200_000)));
    let cases = [
        (block("image", &plain), format!("The file {plain} is no image")),
        (block("document", &long), "longer than the context".to_string()),
    ];
    for (block, words) in cases {
        let events = send(&server, &session, &message(&[block]));
        assert!(kinds(&events).ends_with("error status_idle"), "{events:?}");
        let error = &events[events.len() - 2]["error"]["message"];
        assert!(error.as_str().expect("a message").contains(&words), "{error}");
    }
    assert_eq!(endpoint.asked().len(), 0, "nobody was asked");
    // An image is seen and not read: it fits, however many bytes it has.
    endpoint.give([says("Large.")]);
    let events = send(&server, &session, &message(&[block("image", &picture)]));
    assert!(kinds(&events).ends_with("message status_idle"), "{events:?}");
}

#[test]
fn a_file_in_the_result_of_a_tool_is_shown_too() {
    let endpoint = Endpoint::start();
    let server = endpoint.server("");
    let custom = json!({"type": "custom", "name": "look_up", "description": "d",
        "input_schema": {"type": "object"}});
    let agent = json!({"name": "a", "model": "m", "tools": [custom]});
    let session = server.session_of(&agent, &json!({"name": "e"}));
    endpoint.give([calls(vec![call("t1", "look_up", json!({}))]), says("Found."), says("Still.")]);
    let events = server.turn(&session, "go");
    let asked = events.iter().find(|event| event["type"] == "agent.custom_tool_use");
    let result = json!({"type": "user.custom_tool_result",
        "custom_tool_use_id": asked.expect("a call")["id"],
        "content": [block("document", &server.file("found it"))]});
    send(&server, &session, &json!({"events": [result]}));
    server.turn(&session, "sure?");
    for index in [1, 2] {
        let told = endpoint.asked()[index]["messages"][2]["content"][0]["content"].to_string();
        assert!(told.contains("found it") && !told.contains("file_id"), "{index}: {told}");
    }
}
