//! What one client saw, event by event.

use super::clients::{Client, Sent, World, id_of, text_of};
use crate::server::{Server, events_path};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// No acknowledged event lost, none twice, one order, every turn at most once, every tool once.
pub fn judge(server: &Server, world: &World, client: &Client) {
    let events = server.listed(&client.session);
    let number = client.number;
    let ids: Vec<String> = events.iter().map(id_of).collect();
    let streamed: Vec<String> = client.streamed.iter().map(id_of).collect();
    assert_eq!(ids, streamed, "client {number}: the stream is the list");
    assert_eq!(events, client.streamed, "client {number}: in every word");
    let acknowledged =
        |sent: &[Sent]| -> Vec<String> { sent.iter().map(|sent| sent.event.clone()).collect() };
    let of = |kind: &str| -> Vec<&Value> {
        events.iter().filter(|event| event["type"] == kind).collect()
    };
    let listed = |kind: &str| -> Vec<String> { of(kind).into_iter().map(id_of).collect() };
    let (messages, interrupts) = (listed("user.message"), listed("user.interrupt"));
    assert_eq!(messages, acknowledged(&client.messages), "client {number}: once, in order");
    assert_eq!(interrupts, acknowledged(&client.interrupts), "client {number}: once, in order");
    let texts: Vec<String> = of("user.message").into_iter().map(text_of).collect();
    let sent: Vec<&String> = client.messages.iter().map(|sent| &sent.key).collect();
    assert_eq!(texts.iter().collect::<Vec<_>>(), sent, "client {number}: what was sent");
    // An answer that comes again has the event of the first; none that was taken is missing.
    for kind in ["user.custom_tool_result", "user.tool_confirmation"] {
        for id in listed(kind) {
            let taken = client.answers.iter().filter(|sent| sent.event == id).count();
            assert_eq!(taken, 1, "client {number}: {kind} {id} was sent once");
        }
    }
    let kept = client.answers.iter().filter(|sent| ids.contains(&sent.event)).count();
    assert_eq!(kept, client.answers.len(), "client {number}: no answer that was taken is lost");
    turns(client, &events);
    tools(client, &events);
    runs(server, client, &events);
    // No key has a second effect, long after.
    for sent in client.messages.iter().chain(&client.interrupts).chain(&client.answers) {
        let again = world.post(&events_path(&client.session), &sent.key, &sent.body, |_, _| {});
        assert_eq!(id_of(&again.json()["data"][0]), sent.event, "client {number}: {}", sent.key);
    }
    assert_eq!(server.listed(&client.session).len(), ids.len(), "client {number}: no new effect");
    let state = server.ok("GET", &format!("/v1/sessions/{}", client.session), &Value::Null);
    assert_eq!(state["status"], "terminated", "client {number}");
}

/// Each message runs at most once, in order; one that is not answered was interrupted or ended
/// with an error that says so; none is forgotten.
fn turns(client: &Client, events: &[Value]) {
    let number = client.number;
    let mut waiting: VecDeque<String> = VecDeque::new();
    let (mut answered, mut failed, mut stopped) = (0, 0, 0);
    for event in events {
        match event["type"].as_str().expect("a type") {
            "user.message" => waiting.push_back(text_of(event)),
            "user.interrupt" => {
                stopped += waiting.len();
                waiting.clear();
            }
            "agent.message" => {
                let said = text_of(event);
                let of = said.split(':').next().expect("a word").to_string();
                assert_eq!(waiting.pop_front(), Some(of), "client {number}: {event}");
                answered += 1;
            }
            "session.error" => {
                let gone = waiting.pop_front();
                assert!(gone.is_some(), "client {number}: an error of no turn: {event}");
                failed += 1;
            }
            "agent.custom_tool_use" | "agent.tool_use" => {
                let first = waiting.front().map(String::as_str).unwrap_or_default();
                let is_asked = ["weather", "ask", "look"].iter().any(|w| first.starts_with(w));
                assert!(is_asked, "client {number}: nobody asked for {event}");
            }
            "session.status_idle" if event["stop_reason"]["type"] == "end_turn" => {
                assert_eq!(waiting, [""; 0], "client {number}: forgotten at {event}");
            }
            _ => {}
        }
    }
    assert_eq!(waiting, [""; 0], "client {number}: forgotten");
    println!(
        "client {number}: {answered} answered, {failed} cut off by restarts, {stopped} interrupted"
    );
}

/// A tool runs once for a message, and has one end.
fn tools(client: &Client, events: &[Value]) {
    let number = client.number;
    let mut results: BTreeMap<String, usize> = BTreeMap::new();
    let mut spans: BTreeMap<String, usize> = BTreeMap::new();
    let mut answers: BTreeMap<String, usize> = BTreeMap::new();
    let mut calls: Vec<String> = Vec::new();
    let mut this_turn = 0;
    for event in events {
        let field = |name: &str| event[name].as_str().expect("an id").to_string();
        match event["type"].as_str().expect("a type") {
            "agent.tool_use" => {
                this_turn += 1;
                results.insert(id_of(event), 0);
            }
            "agent.custom_tool_use" => {
                this_turn += 1;
                calls.push(id_of(event));
                answers.insert(id_of(event), 0);
            }
            "agent.tool_result" => *results.get_mut(&field("tool_use_id")).expect("a call") += 1,
            "user.custom_tool_result" => {
                *answers.get_mut(&field("custom_tool_use_id")).expect("a call") += 1;
            }
            "span.model_request_start" => drop(spans.insert(id_of(event), 0)),
            "span.model_request_end" => {
                *spans.get_mut(&field("model_request_start_id")).expect("a start") += 1;
            }
            "agent.message" | "session.error" | "user.interrupt" => this_turn = 0,
            _ => {}
        }
        assert!(this_turn <= 1, "client {number}: a tool ran twice for one message: {event}");
    }
    let once = |counts: &BTreeMap<String, usize>| counts.values().all(|count| *count == 1);
    assert!(once(&results), "client {number}: each tool ends once: {results:?}");
    assert!(once(&spans), "client {number}: each request to a model ends once: {spans:?}");
    let at_most_once = answers.values().all(|count| *count <= 1);
    assert!(at_most_once, "client {number}: each call is answered once: {answers:?}");
    assert_eq!(client.tools_run, calls, "client {number}: the client ran each call once");
}

/// What the tool of the server did, by the lines it left: a call whose result says that it ran has
/// run, one that was cut off may have, and none has run twice.
fn runs(server: &Server, client: &Client, events: &[Value]) {
    let number = client.number;
    let is_call = |event: &&Value| event["type"] == "agent.tool_use" && event["name"] == "bash";
    let calls: Vec<String> = events.iter().filter(is_call).map(id_of).collect();
    let is_success = |event: &&Value| {
        let of = event["tool_use_id"].as_str().unwrap_or_default();
        event["type"] == "agent.tool_result"
            && event["is_error"] != true
            && calls.iter().any(|call| call == of)
    };
    let done = events.iter().filter(is_success).count();
    let place = server.data.join("workspaces/default").join(&client.session);
    let left = std::fs::read_to_string(place.join("workspace/ran")).unwrap_or_default();
    let turns: BTreeSet<&str> = left.lines().collect();
    let ran = left.lines().count();
    assert_eq!(turns.len(), ran, "client {number}: a tool ran twice in a turn: {left}");
    let is_number = |line: &&str| line.parse::<u64>().is_ok();
    assert!(turns.iter().all(is_number), "client {number}: {left}");
    assert!(done <= ran, "client {number}: {done} calls are said to have run, {ran} did");
    assert!(ran <= calls.len(), "client {number}: {ran} runs of {} calls", calls.len());
    println!("client {number}: {} calls of a tool, {ran} ran, {done} told", calls.len());
}
