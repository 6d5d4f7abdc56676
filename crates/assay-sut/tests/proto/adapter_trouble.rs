//! Adapters that are wrong, stuck or gone: the operation is unknown, and nothing waits for long.

use crate::support::{
    SILENCE, ask, call, failure, output, process, scripted, start, unknown, wait_until_gone,
};
use assay_sut::{AdapterClient, Client};
use serde_json::{Value, json};
use std::time::Duration;
use tempfile::tempdir;

#[test]
fn a_line_that_is_no_answer_gives_the_client_up() {
    let cases = [
        ("raw", json!("hello"), "`hello`"),
        ("raw", json!(""), "line 3"),
        ("raw", json!(r#"{"id":2,"type":"ok"}"#), "missing field `output`"),
        ("raw", json!(r#"{"id":2,"type":"ok","output":1}{}"#), "trailing characters"),
        ("raw", json!(r#"{"id":9,"type":"ok","output":1}"#), "call 9, which nobody waits for"),
        ("raw", json!(r#"{"id":1,"type":"ok","output":1}"#), "call 1, which nobody waits for"),
        ("raw", json!(r#"{"type":"ready"}"#), "ready twice"),
        ("long", json!(17 << 20), "longer than 16777216 bytes"),
    ];
    for (op, input, expected) in cases {
        let directory = tempdir().expect("a directory");
        let mut client = start(scripted(&directory));
        let adapter = process(&output(ask(&mut client, "pid", Value::Null)));
        let error = unknown(ask(&mut client, op, input.clone()));
        assert!(error.contains(expected), "{op} {input}: {error}");
        assert!(error.contains("client 3 is given up"), "{error}");
        assert!(error.contains("client.log"), "{error}");
        assert_eq!(client.watch().given_up(), Some(error.clone()));
        // From now on nothing is sent, and the adapter is gone.
        assert_eq!(failure(ask(&mut client, "pid", Value::Null)), error);
        assert_eq!(client.watch().counts().calls, 2);
        wait_until_gone(adapter);
    }
}

#[test]
fn garbage_between_calls_is_found_before_the_next_is_sent() {
    let directory = tempdir().expect("a directory");
    let mut client = start(scripted(&directory));
    let twice = "ok\",\"output\":1}\n{\"id\":1,\"type\":\"ok\",\"output\":2}";
    let raw = format!("{{\"id\":1,\"type\":\"{twice}");
    output(ask(&mut client, "raw", json!(raw)));
    // The second answer to the same call may be heard before or after the next one is sent.
    let reply = ask(&mut client, "pid", Value::Null);
    assert!(!matches!(reply, assay_workload::Reply::Ok { .. }), "{reply:?}");
    let why = client.watch().given_up().expect("it was given up");
    assert!(why.contains("call 1, which nobody waits for"), "{why}");
}

#[test]
fn an_adapter_that_ends_is_started_again_but_not_forever() {
    let directory = tempdir().expect("a directory");
    let mut config = scripted(&directory);
    config.restarts_max = 2;
    let mut client = start(config);
    for (round, op) in [(0, "die"), (1, "half"), (2, "die")] {
        assert_eq!(client.watch().counts().restarts, round);
        let error = unknown(ask(&mut client, op, json!(4)));
        let status = if op == "die" { "exit status 4" } else { "exit status 0" };
        assert!(error.contains("ended") && error.contains(status), "{error}");
        if round < 2 {
            output(ask(&mut client, "pid", Value::Null));
        }
    }
    let error = failure(ask(&mut client, "pid", Value::Null));
    assert!(error.contains("ended 3 times"), "{error}");
    assert_eq!(client.watch().given_up(), Some(error));
}

#[test]
fn an_adapter_that_was_killed_between_calls_costs_no_call() {
    let directory = tempdir().expect("a directory");
    let mut client = start(scripted(&directory));
    let adapter = process(&output(ask(&mut client, "pid", Value::Null)));
    adapter.kill().expect("it can be killed");
    // Its end may be noticed only after the call was handed over; then the call is unknown.
    let first = ask(&mut client, "pid", Value::Null);
    let second = output(ask(&mut client, "pid", Value::Null));
    assert_ne!(u64::from(adapter.pid), second.as_u64().expect("a process id"));
    assert!(!matches!(first, assay_workload::Reply::Fail { .. }), "{first:?}");
    assert_eq!(client.watch().counts().restarts, 1);
}

#[test]
fn a_call_that_finds_the_adapter_starting_has_failed_and_the_next_one_waits_for_the_same() {
    let directory = tempdir().expect("a directory");
    let mut client = start(scripted(&directory));
    unknown(ask(&mut client, "die", json!(0)));
    for _ in 0..3 {
        let error = failure(client.call(&call("pid", Value::Null), Duration::ZERO));
        assert!(error.starts_with("not sent: the adapter is being started"), "{error}");
    }
    output(ask(&mut client, "pid", Value::Null));
    assert_eq!(client.watch().counts().restarts, 1);
}

#[test]
fn an_adapter_that_does_not_read_blocks_nobody_and_is_replaced() {
    let directory = tempdir().expect("a directory");
    let mut config = scripted(&directory);
    config.unanswered_max = 3;
    let mut client = start(config);
    let deaf = process(&output(ask(&mut client, "pid", Value::Null)));
    // More than any pipe holds.
    let large = json!("x".repeat(1 << 20));
    for op in ["deaf", "say", "say"] {
        unknown(client.call(&call(op, large.clone()), SILENCE));
    }
    let reply = ask(&mut client, "say", json!({"type": "ok", "output": "well"}));
    assert_eq!(output(reply), json!("well"));
    let counts = client.watch().counts();
    assert_eq!((counts.timed_out, counts.late, counts.restarts), (3, 0, 1));
    wait_until_gone(deaf);
}

#[test]
fn an_adapter_that_is_stopped_is_waited_for_and_not_replaced() {
    let directory = tempdir().expect("a directory");
    let mut config = scripted(&directory);
    config.unanswered_max = 3;
    let mut client = start(config);
    let frozen = process(&output(ask(&mut client, "pid", Value::Null)));
    frozen.pause().expect("it runs");
    for _ in 0..3 {
        unknown(client.call(&call("pid", Value::Null), SILENCE));
    }
    let error = failure(client.call(&call("pid", Value::Null), SILENCE));
    assert!(error.contains("was stopped"), "{error}");
    frozen.resume().expect("it is there");
    // The same one, which has answered all it was asked meanwhile.
    assert_eq!(process(&output(ask(&mut client, "pid", Value::Null))), frozen);
    let counts = client.watch().counts();
    assert_eq!((counts.timed_out, counts.late, counts.restarts), (3, 3, 0));
}

#[test]
fn an_adapter_that_is_not_ready_is_not_waited_for_forever() {
    let cases = [
        ("never", "was not ready within 200ms"),
        ("die", "(exit status 3) before it was ready"),
        ("hello", "line 1 of the adapter's output is no answer"),
        (r#"{"id":1,"type":"fail","error":"?"}"#, "must say ready first"),
    ];
    for (how, expected) in cases {
        let directory = tempdir().expect("a directory");
        let mut config = scripted(&directory);
        config.options.insert("start".to_string(), json!(how));
        if how == "never" {
            config.ready_time_max = Duration::from_millis(200);
        }
        let error = AdapterClient::start(config).expect_err(how);
        assert!(error.message.contains(expected), "{how}: {error}");
        assert!(error.message.contains("client.log"), "{error}");
    }
}
