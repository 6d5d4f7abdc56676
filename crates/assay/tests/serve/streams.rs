//! Streams: frames, replay, going on after a break, and the end.

use super::client::{Connection, Frame};
use super::server::{Server, events_path};
use super::tools::wait_for;
use assay_ledger::keyed::{KeyRange, Order, SqliteStore, Store};
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
fn a_stream_that_has_nothing_to_say_says_so() {
    let server = Server::start();
    let session = server.session();
    let mut connection = Connection::open(server.address).expect("a connection");
    let path = format!("{}/stream", events_path(&session));
    connection.head("GET", &path, &server.headers(), 0).expect("sent");
    assert_eq!(connection.answer_head().expect("an answer").0, 200);
    let first = connection.piece().expect("open").expect("a frame");
    assert_eq!(first, ": still here\n\n", "a comment, which no client takes for an event");
    server.say(&session, "hello");
    let next = connection.piece().expect("open").expect("a frame");
    assert!(next.starts_with("id: sevt_") && next.contains("\nevent: user.message\n"), "{next}");
}

#[test]
fn a_message_that_waits_has_the_time_at_which_it_came_and_keeps_it() {
    let server = Server::start();
    let session = server.session();
    server.say(&session, "forever");
    let sent = server.ok("POST", &events_path(&session), &super::server::message("behind it"));
    let waiting = sent["data"][0].clone();
    assert!(waiting["processed_at"].is_string(), "{waiting}");
    let interrupt = json!({"events": [{"type": "user.interrupt"}]});
    server.ok("POST", &events_path(&session), &interrupt);
    let listed = server.listed(&session);
    assert!(listed.contains(&waiting), "it is the same event: {waiting} {listed:?}");
}

#[test]
fn a_page_of_events_begins_behind_an_event_of_its_own_session() {
    let server = Server::start();
    let (session, other) = (server.session(), server.session());
    server.turn(&session, "one");
    let foreign = server.say(&other, "elsewhere");
    let own = server.listed(&session)[0]["id"].as_str().expect("an id").to_string();
    let page = |id: &str| {
        server.call("GET", &format!("{}?page={id}", events_path(&session)), &Value::Null)
    };
    let behind = page(&own).json()["data"].as_array().expect("a list").len();
    assert_eq!(behind, server.listed(&session).len() - 1);
    for id in [foreign.as_str(), "sevt_none"] {
        let refused = page(id);
        assert_eq!((refused.status, refused.message().contains("`page`")), (400, true), "{id}");
    }
}

#[test]
fn a_long_session_is_deleted_at_once_and_what_it_leaves_goes_also_after_a_crash() {
    let mut server = Server::start();
    let session = server.session();
    let many: Vec<Value> = (0..200).map(|_| json!({"type": "user.interrupt"})).collect();
    for _ in 0..15 {
        server.ok("POST", &events_path(&session), &json!({"events": many}));
    }
    let mut stream = server.stream(&session, &[]);
    let path = format!("/v1/sessions/{session}");
    std::thread::scope(|scope| {
        // Whether there is an answer is not ours to say: the server is killed meanwhile.
        scope.spawn(|| server.try_call("DELETE", &path, &Value::Null, &[]).map(drop));
        stream.until(|frame| frame.event == "session.deleted");
    });
    server.kill_and_restart();
    for path in [path.clone(), events_path(&session)] {
        assert_eq!(server.call("GET", &path, &Value::Null).status, 404, "{path}");
    }
    let mut store = SqliteStore::open(&server.data).expect("beside the server");
    let everything = KeyRange { from: String::new(), to: "~".into(), order: Order::Ascending };
    let mut left = || {
        let pairs = store.scan(&everything, 10_000).expect("readable");
        pairs.into_iter().filter(|(at, _)| at.contains(&session)).count()
    };
    wait_for("what it left is gone", || left() == 0);
    server.turn(&server.session(), "the server goes on");
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
