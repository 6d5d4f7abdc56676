//! Streams: frames, replay, going on after a break, and the end.

use super::client::Frame;
use super::server::{Server, events_path};
use serde_json::{Value, json};

fn ids(frames: &[Frame]) -> Vec<&str> {
    frames.iter().map(|frame| frame.id.as_str()).collect()
}

#[test]
fn every_frame_has_an_id_and_an_event_line_and_is_the_event_of_the_list() {
    let server = Server::start();
    let session = server.session();
    let mut live = server.stream(&session, &[]);
    let header = |name: &str| live.headers.iter().find(|(n, _)| n == name).map(|(_, v)| v.clone());
    assert_eq!(header("content-type").as_deref(), Some("text/event-stream"));
    assert_eq!(header("cache-control").as_deref(), Some("no-cache"));
    assert!(header("request-id").is_some());
    server.say(&session, "hello\nwith a line break");
    let heard = live.until(|frame| frame.event == "session.status_idle");
    for frame in &heard {
        assert_eq!(
            (frame.data["type"].as_str(), frame.data["id"].as_str()),
            (Some(frame.event.as_str()), Some(frame.id.as_str()))
        );
    }
    let listed = server.listed(&session);
    let data: Vec<Value> = heard.iter().map(|frame| frame.data.clone()).collect();
    assert_eq!(data, listed, "live and list are the same");
    let replayed = server.rest(&session, "");
    assert_eq!(replayed, heard, "and so is a replay");
}

#[test]
fn last_event_id_goes_on_behind_its_event_if_it_is_the_sessions_own() {
    let server = Server::start();
    let (session, other) = (server.session(), server.session());
    server.say(&session, "one");
    let all = server.rest(&session, "");
    server.say(&other, "later, and elsewhere");
    let foreign = server.rest(&other, "").pop().expect("events").id;
    let last = all[all.len() - 2].id.clone();
    let behind = server.stream(&session, &[("last-event-id", &last)]).next();
    assert_eq!(behind.expect("open").expect("a frame"), all[all.len() - 1]);
    for useless in [foreign.as_str(), "sevt_none", "nonsense", "", "sevt_/../x"] {
        let from = server.stream(&session, &[("last-event-id", useless)]).next();
        let from = from.expect("open").expect("a frame");
        assert_eq!(from, all[0], "{useless:?} counts as none");
    }
}

#[test]
fn a_thousand_events_are_replayed_and_followed_without_gap_or_double() {
    let server = Server::start();
    let session = server.session();
    let text = |n: u32| json!([{"type": "text", "text": n.to_string()}]);
    let message = |n| json!({"type": "user.message", "content": text(n)});
    let texts: Vec<Value> = (0..90).map(message).collect();
    let mut behind = server.stream(&session, &[]);
    let mut last = String::new();
    for _ in 0..3 {
        let sent = server.ok("POST", &events_path(&session), &json!({"events": texts}));
        last = sent["data"][89]["id"].as_str().expect("an id").to_string();
        server.rest(&session, &last);
    }
    // This one has not read anything yet: its channel overflowed long ago.
    let is_last = |frame: &Frame| frame.event == "session.status_idle" && frame.id > last;
    let heard = behind.until(is_last);
    let listed = server.listed(&session);
    let listed: Vec<&str> = listed.iter().map(|event| event["id"].as_str().expect("id")).collect();
    assert_eq!(ids(&heard), listed);
    assert!(listed.len() > 1000, "{}", listed.len());
}

#[test]
fn archive_leaves_a_stream_open_and_delete_closes_it_after_saying_so() {
    let server = Server::start();
    let session = server.session();
    let mut stream = server.stream(&session, &[]);
    server.ok("POST", &format!("/v1/sessions/{session}/archive"), &Value::Null);
    assert_eq!(stream.next().expect("open").expect("a frame").event, "session.status_terminated");
    server.ok("DELETE", &format!("/v1/sessions/{session}"), &Value::Null);
    assert_eq!(stream.next().expect("open").expect("a frame").event, "session.deleted");
    assert_eq!(stream.next().expect("closed in good order"), None);
    let path = format!("{}/stream", events_path(&session));
    assert_eq!(server.call("GET", &path, &Value::Null).status, 404);
    let refused = server.call("GET", &format!("{path}?event_deltas[]=agent.message"), &Value::Null);
    assert_eq!(refused.status, 400);
}
