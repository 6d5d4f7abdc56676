//! What an endpoint can do to a turn, and what a turn does about it.

use super::endpoint::{Endpoint, Gives, KEY, call, calls, says};
use super::model::kinds;
use super::server::{Server, events_path};
use serde_json::{Value, json};

fn session(server: &Server) -> String {
    let agent = json!({"name": "a", "model": "m", "tools": [{"type": "agent_toolset_20260401"}]});
    server.session_of(&agent, &json!({"name": "e"}))
}

const AT_ONCE: (&str, &str) = ("retry-after", "0");

#[test]
fn troubles_that_pass_are_asked_again_and_told() {
    let endpoint = Endpoint::start();
    let server = endpoint.server("");
    let session = session(&server);
    let again = "model_request_end error status_rescheduled status_running model_request_start";
    type Case = (Gives, &'static str, &'static str);
    let cases: [Case; 6] = [
        (
            Gives::Refusal(429, vec![("retry-after", "1")], "slow"),
            "model_rate_limited_error",
            "429: slow",
        ),
        (Gives::Refusal(529, vec![AT_ONCE], "busy"), "model_overloaded_error", "529: busy"),
        (Gives::Refusal(500, vec![AT_ONCE], "oops"), "model_request_failed_error", "500: oops"),
        (Gives::Half("never"), "model_request_failed_error", "broke off"),
        (Gives::StreamError("overloaded_error"), "model_overloaded_error", "so it is"),
        (Gives::StreamError("api_error"), "model_request_failed_error", "so it is"),
    ];
    for (gives, kind, words) in cases {
        endpoint.give([gives, says("There.")]);
        let events = server.turn(&session, "hi");
        let expected = format!(
            "status_running model_request_start {again} model_request_end message status_idle"
        );
        assert_eq!(kinds(&events), expected, "{kind} {words}");
        let error = &events[3]["error"];
        assert_eq!(
            (error["type"].as_str(), error["retry_status"]["type"].as_str()),
            (Some(kind), Some("retrying"))
        );
        assert!(error["message"].as_str().expect("a message").contains(words), "{error}");
        assert_eq!((&events[2]["is_error"], &events[7]["is_error"]), (&json!(true), &json!(false)));
    }
    let all = json!(server.listed(&session)).to_string();
    assert!(!all.contains("never"), "half an answer is none");
}

#[test]
fn troubles_that_stay_end_the_turn_and_nothing_else() {
    let endpoint = Endpoint::start();
    let server = endpoint.server("");
    let session = session(&server);
    endpoint.give((0..5).map(|_| Gives::Refusal(529, vec![AT_ONCE], "busy")));
    let events = server.turn(&session, "hi");
    assert_eq!(events.last().expect("idle")["stop_reason"]["type"], "retries_exhausted");
    assert_eq!(endpoint.asked().len(), 5);
    endpoint.give([Gives::Refusal(429, vec![("retry-after", "86400")], "tomorrow")]);
    let events = server.turn(&session, "hi");
    assert_eq!(events.last().expect("idle")["stop_reason"]["type"], "retries_exhausted");
    endpoint.give([Gives::Refusal(401, vec![], "who are you")]);
    let events = server.turn(&session, "hi");
    let error = &events[events.len() - 2]["error"];
    assert_eq!(error["retry_status"]["type"], "terminal");
    assert_eq!(events.last().expect("idle")["stop_reason"]["type"], "end_turn");
    endpoint.give([Gives::Message(Vec::new(), "refusal"), says("Well.")]);
    let events = server.turn(&session, "hi");
    assert!(json!(events).to_string().contains("refused"), "{events:?}");
    assert!(kinds(&server.turn(&session, "hi")).ends_with("message status_idle"));
}

#[test]
fn who_does_not_pay_is_told_so_and_nobody_is_asked_again() {
    let endpoint = Endpoint::start();
    let server = endpoint.server("");
    let session = session(&server);
    let cases = [
        (Gives::Refusal(402, vec![AT_ONCE], "no credit"), "402: no credit"),
        (Gives::StreamError("billing_error"), "so it is"),
    ];
    for (gives, words) in cases {
        let before = endpoint.asked().len();
        endpoint.give([gives]);
        let events = server.turn(&session, "hi");
        let expected = "status_running model_request_start model_request_end error status_idle";
        assert_eq!(kinds(&events), expected, "{words}");
        let error = &events[3]["error"];
        let told = (&error["type"], &error["retry_status"]["type"]);
        assert_eq!(told, (&json!("billing_error"), &json!("terminal")));
        assert!(error["message"].as_str().expect("a message").contains(words), "{error}");
        assert_eq!(endpoint.asked().len(), before + 1);
    }
    endpoint.give([says("Thanks.")]);
    assert!(kinds(&server.turn(&session, "paid")).ends_with("message status_idle"));
}

#[test]
fn an_interrupt_ends_a_request_that_never_ends() {
    let endpoint = Endpoint::start();
    let server = endpoint.server("");
    let session = session(&server);
    endpoint.give([Gives::Endless, says("Back.")]);
    server.say(&session, "hi");
    endpoint.wait_asked(1);
    let interrupt = json!({"events": [{"type": "user.interrupt"}]});
    server.ok("POST", &events_path(&session), &interrupt);
    endpoint.wait_gone(1);
    let events = server.turn(&session, "are you there?");
    assert!(kinds(&events).ends_with("message status_idle"), "{events:?}");
    let asked = endpoint.asked();
    let told = asked[1]["messages"].to_string();
    assert!(told.contains("hi") && !told.contains("cut off"), "who interrupts knows it: {told}");
}

#[test]
fn a_turn_that_a_restart_cut_off_is_not_run_again_and_the_model_is_told() {
    let endpoint = Endpoint::start();
    let mut server = endpoint.server("");
    let session = session(&server);
    endpoint.give([
        calls(vec![call("t1", "bash", json!({"command": "echo ran >> ran"}))]),
        Gives::Endless,
    ]);
    let sent = server.say(&session, "remember the word plum");
    endpoint.wait_asked(2);
    server.kill_and_restart();
    let events = server.after(&session, &sent);
    assert!(kinds(&events).ends_with("model_request_end error status_idle"), "{events:?}");
    endpoint.give([calls(vec![call("t2", "bash", json!({"command": "cat ran"}))]), says("Plum.")]);
    server.turn(&session, "which word?");
    let asked = endpoint.asked();
    let told = asked[2]["messages"].to_string();
    assert!(told.contains("plum") && told.contains("cut off by a restart"), "{told}");
    let results = asked[3]["messages"].to_string();
    assert!(
        results.contains(r#""text":"ran\n""#),
        "once, and the workspace is still there: {results}"
    );
}

#[test]
fn an_interrupted_turn_is_none_that_was_cut_off_even_if_the_server_dies_then() {
    let endpoint = Endpoint::start();
    let mut server = endpoint.server("");
    let session = session(&server);
    // Outputs are taken before an interrupted turn is over, and so much takes a while.
    let make = "for i in 1 2 3 4; do head -c 25000000 /dev/zero > $ASSAY_OUTPUTS/$i; done";
    endpoint.give([calls(vec![call("t1", "bash", json!({"command": make}))]), Gives::Endless]);
    server.say(&session, "remember the word plum");
    endpoint.wait_asked(2);
    let interrupt = json!({"events": [{"type": "user.interrupt"}]});
    server.ok("POST", &events_path(&session), &interrupt);
    server.kill_and_restart();
    endpoint.give([says("Plum.")]);
    server.turn(&session, "which word?");
    let asked = endpoint.asked();
    let told = asked[2]["messages"].to_string();
    assert!(told.contains("plum") && !told.contains("cut off"), "{told}");
}

#[test]
fn the_key_of_an_endpoint_is_in_nothing_that_anybody_sees() {
    let endpoint = Endpoint::start();
    let server = endpoint.server("");
    let session = session(&server);
    endpoint.give([
        calls(vec![call("t1", "bash", json!({"command": "env; cat /proc/self/environ"}))]),
        Gives::Refusal(401, vec![], KEY),
    ]);
    server.turn(&session, "hi");
    let shown = json!(server.listed(&session)).to_string();
    // The endpoint itself may repeat it: that one is taken out.
    assert!(!shown.contains(KEY), "{shown}");
    let told = endpoint.asked()[1]["messages"].to_string();
    assert!(!told.contains(KEY) && !told.contains("TEST_MODEL_KEY"), "{told}");
    let mut places = vec![server.data.clone()];
    while let Some(place) = places.pop() {
        for entry in std::fs::read_dir(place).expect("ours").flatten() {
            match entry.path() {
                path if path.is_dir() => places.push(path),
                path => {
                    let bytes = std::fs::read(&path).unwrap_or_default();
                    let is_there = bytes.windows(KEY.len()).any(|part| part == KEY.as_bytes());
                    assert!(!is_there, "{}", path.display());
                }
            }
        }
    }
    assert!(!server.ok("GET", "/v1/models", &Value::Null).to_string().contains(KEY));
    assert!(!server.log().contains(KEY), "{}", server.log());
}
