//! What an adapter is told, and what its answers become.

use crate::support::{
    PATIENCE, SILENCE, ask, call, configured, failure, output, process, scripted, start, unknown,
    wait_until_gone,
};
use assay_sut::{AdapterClient, Client};
use assay_workload::{Call, Reply};
use serde_json::{Value, json};
use tempfile::tempdir;

#[test]
fn an_adapter_is_told_who_it_is_and_what_to_do() {
    let directory = tempdir().expect("a directory");
    let mut config = scripted(&directory);
    config.options.insert("colour".to_string(), json!("blue"));
    config.environment.insert("PYTHONHASHSEED".to_string(), "0".to_string());
    let mut client = start(config);
    let init = output(ask(&mut client, "init", Value::Null));
    let nodes = json!({"n1": "127.0.0.1:4001", "n2": "127.0.0.1:4002"});
    let expected = json!({"type": "init", "protocol": 1, "client": 3, "node": "n2",
        "nodes": nodes, "seed": 7, "options": {"colour": "blue"}});
    assert_eq!(init, expected);

    let mut invoke = |call: &Call| output(client.call(call, PATIENCE));
    let full = Call { id: Some("r-1".to_string()), node: Some(0), ..call("invoke", json!([1, 2])) };
    let mut told = invoke(&full);
    // Less the time that has gone by since: how much is nobody's promise.
    let timeout = told["timeout_ms"].take();
    assert!(timeout.as_u64().is_some_and(|ms| ms > 0 && ms <= 30_000), "{timeout}");
    assert_eq!(
        told,
        json!({"type": "invoke", "id": 2, "op": "invoke", "key": "x", "input": [1, 2],
            "request_id": "r-1", "node": "n1", "timeout_ms": null})
    );
    let told = invoke(&Call::new("invoke", None, Value::Null));
    let rest = (&told["id"], &told["key"], &told["request_id"], &told["node"]);
    assert_eq!(rest, (&json!(3), &json!(null), &json!(null), &json!(null)));
}

#[test]
fn answers_become_replies() {
    let directory = tempdir().expect("a directory");
    let mut client = start(scripted(&directory));
    let own = || Some("n2".to_string());
    let n1 = || Some("n1".to_string());
    let cases = [
        (
            json!({"type": "ok", "output": 5}),
            Reply::Ok { output: json!(5), node: None, revision: None },
        ),
        (
            json!({"type": "ok", "output": null, "node": "n1", "revision": -12}),
            Reply::Ok { output: json!(null), node: n1(), revision: Some(-12) },
        ),
        (
            json!({"type": "fail", "error": "no", "node": "n1"}),
            Reply::Fail { error: "no".to_string(), node: n1() },
        ),
        (json!({"type": "fail", "error": "no"}), Reply::Fail { error: "no".into(), node: None }),
        (
            json!({"type": "info", "error": "?", "node": "n1"}),
            Reply::Unknown { error: "?".to_string(), node: n1() },
        ),
        // Who was asked is known even if the adapter does not say.
        (json!({"type": "info", "error": "?"}), Reply::Unknown { error: "?".into(), node: own() }),
    ];
    for (answer, expected) in cases {
        assert_eq!(ask(&mut client, "say", answer.clone()), expected, "{answer}");
    }
    assert_eq!(client.watch().counts().calls, 6);
    assert_eq!(client.watch().given_up(), None);
}

#[test]
fn a_late_answer_is_dropped_and_never_taken_for_another() {
    let directory = tempdir().expect("a directory");
    let mut client = start(scripted(&directory));
    for round in 1..=3 {
        let error = unknown(client.call(&call("hold", Value::Null), SILENCE));
        assert!(error.contains("in time"), "{error}");
        // The late answer comes first, the right one after it.
        let reply = ask(&mut client, "say", json!({"type": "ok", "output": round}));
        assert_eq!(output(reply), json!(round));
        let counts = client.watch().counts();
        assert_eq!((counts.timed_out, counts.late, counts.restarts), (round, round, 0));
    }
}

#[test]
fn what_cannot_be_sent_has_failed() {
    let directory = tempdir().expect("a directory");
    let mut client = start(scripted(&directory));
    let nowhere = Call { node: Some(2), ..call("invoke", Value::Null) };
    assert!(failure(client.call(&nowhere, PATIENCE)).starts_with("not sent"));
    let huge = json!("x".repeat(17 << 20));
    assert!(failure(ask(&mut client, "invoke", huge)).starts_with("not sent"));
    assert_eq!(client.watch().counts().calls, 0);
    output(ask(&mut client, "invoke", Value::Null));
}

#[test]
fn what_an_adapter_says_to_its_user_goes_to_the_log() {
    let directory = tempdir().expect("a directory");
    let config = scripted(&directory);
    let log = config.log.clone();
    let mut client = start(config);
    unknown(ask(&mut client, "die", json!(1)));
    output(ask(&mut client, "init", Value::Null));
    let text = std::fs::read_to_string(log).expect("the log");
    assert_eq!(text, "adapter 3 is here\n".repeat(2), "a restart appends");
}

#[test]
fn dropping_a_client_kills_the_adapter_and_what_it_started() {
    let directory = tempdir().expect("a directory");
    let mut client = start(scripted(&directory));
    let adapter = process(&output(ask(&mut client, "pid", Value::Null)));
    let child = process(&output(ask(&mut client, "child", Value::Null)));
    drop(client);
    wait_until_gone(adapter);
    wait_until_gone(child);
}

#[test]
fn a_client_that_cannot_be_started_says_why() {
    let directory = tempdir().expect("a directory");
    let (mut no_log, mut no_node, mut one_address) =
        (scripted(&directory), scripted(&directory), scripted(&directory));
    no_log.log = directory.path().join("missing/client.log");
    no_node.own = 2;
    one_address.addresses.pop();
    let cases = [
        (configured(&directory, vec![]), "needs a command"),
        (configured(&directory, vec!["no-such-program".into()]), "cannot start `no-such-program`"),
        (no_log, "missing/client.log"),
        (no_node, "own node number 2"),
        (one_address, "1 addresses"),
    ];
    for (config, expected) in cases {
        let error = AdapterClient::start(config).expect_err(expected);
        assert!(error.message.contains(expected), "{error}");
    }
}
