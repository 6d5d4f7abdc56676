//! `Idempotency-Key`: once, whatever is repeated, raced or restarted.

use super::server::{Server, call, events_path, message};
use serde_json::{Value, json};

const KEY: (&str, &str) = ("idempotency-key", "k-1");

fn messages(server: &Server, session: &str) -> usize {
    server.listed(session).iter().filter(|event| event["type"] == "user.message").count()
}

#[test]
fn requests_that_race_with_one_key_have_one_effect() {
    let server = Server::start();
    let session = server.session();
    let path = events_path(&session);
    let ids: Vec<String> = std::thread::scope(|scope| {
        let racer = || {
            let answer = server.try_call("POST", &path, &message("once"), &[KEY]);
            let answer = answer.expect("an answer");
            assert_eq!(answer.status, 200, "{}", answer.body);
            answer.json()["data"][0]["id"].as_str().expect("an id").to_string()
        };
        let racers: Vec<_> = (0..12).map(|_| scope.spawn(racer)).collect();
        racers.into_iter().map(|racer| racer.join().expect("no panic")).collect()
    });
    assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
    assert_eq!(messages(&server, &session), 1);
}

#[test]
fn an_answer_is_given_again_after_a_restart_also_if_it_was_no() {
    let mut server = Server::start();
    let session = server.session();
    let path = events_path(&session);
    let send = |server: &Server, body: &Value, key| {
        server.try_call("POST", &path, body, &[("idempotency-key", key)]).expect("an answer")
    };
    let first = send(&server, &message("once"), "good");
    let wrong = json!({"events": [{"type": "user.custom_tool_result", "custom_tool_use_id": "s"}]});
    let refused = send(&server, &wrong, "bad");
    assert_eq!((first.status, refused.status), (200, 404));
    server.kill_and_restart();
    let again = send(&server, &message("once"), "good");
    assert_eq!((again.status, &again.body), (200, &first.body));
    let again = send(&server, &wrong, "bad");
    assert_eq!((again.status, again.message()), (404, refused.message()));
    let other = send(&server, &message("something else"), "good");
    assert_eq!(other.status, 400);
    assert!(other.message().contains("already used for a different request"));
    // Raw bytes are compared: the same meaning in other bytes is another request.
    let spaced = message("once").to_string().replace(':', ": ");
    let mut headers = server.headers();
    headers.push(("idempotency-key", "good"));
    let spaced = super::client::request(server.address, "POST", &path, &headers, &spaced);
    assert_eq!(spaced.expect("an answer").status, 400);
    assert_eq!(messages(&server, &session), 1);
}

#[test]
fn keys_belong_to_their_workspace_and_path() {
    let server = Server::start();
    let other = super::server::make_key(&server.data, "other");
    let (one, two) = (server.session(), server.session());
    for session in [&one, &two] {
        let answer = server.try_call("POST", &events_path(session), &message("m"), &[KEY]);
        assert_eq!(answer.expect("an answer").status, 200);
    }
    assert_eq!((messages(&server, &one), messages(&server, &two)), (1, 1));
    let foreign = call(server.address, &other, "POST", &events_path(&one), &message("m"), &[KEY]);
    assert_eq!(foreign.expect("an answer").status, 404, "not even the answer is seen");
    let long = "k".repeat(256);
    for bad in ["", "with space", long.as_str()] {
        let headers = [("idempotency-key", bad)];
        let answer = server.try_call("POST", &events_path(&one), &message("m"), &headers);
        let answer = answer.expect("an answer");
        assert_eq!(answer.status, 400, "{bad:?}");
        assert!(answer.message().contains("`Idempotency-Key` must"), "{}", answer.body);
    }
}
