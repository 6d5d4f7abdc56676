//! Two at once: whatever comes first, the other finds it done.

use super::server::{Server, events_path, message};
use super::tools::{agent, results};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// How many at once.
const RACERS: usize = 8;
const KEY: (&str, &str) = ("idempotency-key", "k-1");

/// Does something in many threads at once.
fn race<T: Send>(count: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    std::thread::scope(|scope| {
        let racers: Vec<_> = (0..count)
            .map(|number| {
                scope.spawn({
                    let work = &work;
                    move || work(number)
                })
            })
            .collect();
        racers.into_iter().map(|racer| racer.join().expect("no panic")).collect()
    })
}

fn sessions(server: &Server) -> usize {
    let listed = server.ok("GET", "/v1/sessions?limit=100", &Value::Null);
    listed["data"].as_array().expect("a list").len()
}

#[test]
fn many_who_make_a_session_with_one_key_make_one_and_its_files_once() {
    let server = Server::start();
    let mut wish = server.place(&Value::Null);
    wish["resources"] = json!([{"type": "file", "file_id": server.file("x"), "mount_path": "x"}]);
    let bodies = race(RACERS, |_| {
        let made = server.try_call("POST", "/v1/sessions", &wish, &[KEY]).expect("an answer");
        assert_eq!(made.status, 200, "{}", made.body);
        made.body
    });
    assert!(bodies.iter().all(|body| *body == bodies[0]), "the same answer, byte by byte");
    assert_eq!(sessions(&server), 1);
    let place = server.data.join("workspaces/default");
    let left = || {
        let entries = std::fs::read_dir(&place).expect("a directory");
        entries.map(|entry| entry.expect("readable").path()).collect::<Vec<_>>()
    };
    let left = left();
    assert_eq!(left.len(), 1, "copies of those that came later are gone: {left:?}");
    assert!(left[0].join("uploads/x").exists());
}

#[test]
fn one_key_stands_for_one_request_whoever_comes_first() {
    let server = Server::start();
    let wish = server.place(&Value::Null);
    let titled = |number: usize| {
        let mut wish = wish.clone();
        wish["title"] = json!(format!("number {}", number % 2));
        wish
    };
    let answers = race(RACERS, |number| {
        let made = server.try_call("POST", "/v1/sessions", &titled(number), &[KEY]);
        let made = made.expect("an answer");
        let title = if made.status == 200 { made.json()["title"].clone() } else { Value::Null };
        if made.status != 200 {
            let words = "already used for a different request";
            assert!(made.status == 400 && made.message().contains(words), "{}", made.body);
        }
        title
    });
    let titles: BTreeSet<&str> = answers.iter().filter_map(Value::as_str).collect();
    assert_eq!(titles.len(), 1, "{answers:?}");
    assert_eq!(answers.iter().filter(|title| title.is_null()).count(), RACERS / 2);
    assert_eq!(sessions(&server), 1);
}

#[test]
fn a_message_and_an_archive_are_one_after_the_other() {
    const ROUNDS: usize = 20;
    let server = Server::start();
    let wish = server.place(&Value::Null);
    let mut seen = BTreeSet::new();
    for round in 0..ROUNDS {
        let session = server.ok("POST", "/v1/sessions", &wish);
        let session = session["id"].as_str().expect("an id");
        let archive = format!("/v1/sessions/{session}/archive");
        let statuses = race(2, |number| {
            let answer = match (number + round) % 2 {
                0 => server.call("POST", &events_path(session), &message("hello")),
                _ => server.call("POST", &archive, &Value::Null),
            };
            (number + round) % 2 * 1000 + usize::from(answer.status)
        });
        let of = |which: usize| {
            let is_its = |status: &&usize| **status / 1000 == which;
            statuses.iter().find(is_its).expect("both") % 1000
        };
        let (sent, archived) = (of(0), of(1));
        let kinds: Vec<String> = server
            .listed(session)
            .iter()
            .map(|event| event["type"].as_str().expect("a type").to_string())
            .collect();
        let has = |kind: &str| kinds.iter().any(|other| other == kind);
        assert_eq!(sent == 200, has("user.message"), "{sent} {kinds:?}");
        assert_eq!(archived == 200, has("session.status_terminated"), "{archived} {kinds:?}");
        assert!(matches!((sent, archived), (200, 200 | 400) | (404, 200)), "{sent} {archived}");
        let end = kinds.iter().position(|kind| kind == "session.status_terminated");
        assert!(end.is_none_or(|end| end == kinds.len() - 1), "nothing comes after it: {kinds:?}");
        seen.insert((sent, archived));
    }
    assert!(!seen.is_empty());
}

#[test]
fn a_tool_that_is_allowed_and_denied_at_once_is_decided_once_and_runs_once_at_most() {
    const ROUNDS: usize = 4;
    let script = "[[turn]]\nwhen = \"go\"\n\
        steps = [{ call = \"bash\", input = { command = \"echo ran >> ran; cat ran\" } }]\n\
        [[turn]]\nwhen = \"count\"\n\
        steps = [{ call = \"read\", input = { path = \"ran\" } }]\n";
    let server = Server::scripted(script);
    let ask = json!({"name": "bash", "permission_policy": {"type": "always_ask"}});
    let session = server.session_of(&agent(json!([ask])), &json!({"name": "e"}));
    let mut allowed = 0;
    for _ in 0..ROUNDS {
        let events = server.turn(&session, "go");
        let call = events.iter().find(|event| event["type"] == "agent.tool_use").expect("a call");
        let last = events.last().expect("idle")["id"].as_str().expect("an id");
        let decided = race(RACERS, |number| {
            let result = ["allow", "deny"][number % 2];
            let event = json!({"type": "user.tool_confirmation", "tool_use_id": call["id"],
                "result": result});
            let answer = server.call("POST", &events_path(&session), &json!({"events": [event]}));
            assert!(matches!(answer.status, 200 | 400 | 404), "{}", answer.body);
            let taken = answer.status == 200;
            taken.then(|| (result, answer.json()["data"][0]["id"].to_string()))
        });
        let decided: BTreeSet<_> = decided.into_iter().flatten().collect();
        assert_eq!(decided.len(), 1, "one decision, and one event of it: {decided:?}");
        allowed += usize::from(decided.iter().any(|(result, _)| *result == "allow"));
        let after = server.after(&session, last);
        assert_eq!(results(&after).len(), 1, "{after:?}");
    }
    let (ran, is_error) = results(&server.turn(&session, "count"))[0].clone();
    let times = if is_error { 0 } else { ran.matches("ran").count() };
    assert_eq!(times, allowed, "{ran}");
}

#[test]
fn of_two_changes_of_one_version_one_is_made_and_notes_of_both_stay() {
    let server = Server::start();
    let made = server.ok("POST", "/v1/agents", &json!({"name": "a", "model": "scripted"}));
    let path = format!("/v1/agents/{}", made["id"].as_str().expect("an id"));
    let statuses = race(RACERS, |number| {
        let change = json!({"version": 1, "name": format!("name {number}")});
        let answer = server.call("POST", &path, &change);
        if answer.status == 409 {
            assert_eq!(answer.header("x-should-retry"), Some("false"));
        }
        answer.status
    });
    let count = |status| statuses.iter().filter(|found| **found == status).count();
    assert_eq!((count(200), count(409)), (1, RACERS - 1), "{statuses:?}");
    assert_eq!(server.ok("GET", &path, &Value::Null)["version"], 2);
    let session = format!("/v1/sessions/{}", server.session());
    race(RACERS, |number| {
        let change = json!({"metadata": {format!("k{number}"): "v"}});
        server.ok("POST", &session, &change);
    });
    let notes = server.ok("GET", &session, &Value::Null)["metadata"].clone();
    assert_eq!(notes.as_object().expect("notes").len(), RACERS, "{notes}");
}
