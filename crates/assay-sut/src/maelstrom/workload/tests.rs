//! The table of operations and outcomes, row by row.

use super::*;

const PAGE: &str = include_str!("../../../../../docs/formats/maelstrom.md");

fn call(op: &str, input: Value) -> Call {
    Call::new(op, Some(json!("x")), input)
}

/// What becomes of an operation that is answered like this: ok with an output, fail, or unknown.
fn outcome(workload: Workload, op: &str, input: Value, answer: Value) -> Value {
    let call = call(op, input);
    let asked = workload.request(&call).expect("the operation is known");
    match workload.reply(&call, &asked, &body(answer), "n2") {
        Reply::Ok { output, node, revision: None } if node.as_deref() == Some("n2") => output,
        Reply::Fail { node, .. } if node.as_deref() == Some("n2") => json!("FAIL"),
        Reply::Unknown { node, .. } if node.as_deref() == Some("n2") => json!("UNKNOWN"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn operations_become_the_messages_of_their_workload() {
    let cases = [
        (LinKv, "read", json!(null), json!({"type": "read", "key": "x"})),
        (LinKv, "put", json!(5), json!({"type": "write", "key": "x", "value": 5})),
        (LinKv, "cas", json!([1, 2]), json!({"type": "cas", "key": "x", "from": 1, "to": 2})),
        (GSet, "add", json!(7), json!({"type": "add", "element": 7})),
        (GSet, "read", json!(null), json!({"type": "read"})),
        (GCounter, "add", json!(3), json!({"type": "add", "delta": 3})),
        (GCounter, "inc", json!(null), json!({"type": "add", "delta": 1})),
        (PnCounter, "dec", json!(3), json!({"type": "add", "delta": -3})),
        (PnCounter, "add", json!(-3), json!({"type": "add", "delta": -3})),
        (Broadcast, "broadcast", json!(1), json!({"type": "broadcast", "message": 1})),
        (Broadcast, "add", json!(1), json!({"type": "broadcast", "message": 1})),
        (UniqueIds, "generate", json!(null), json!({"type": "generate"})),
        (Echo, "echo", json!("hi"), json!({"type": "echo", "echo": "hi"})),
        (Txn, "txn", json!([["r", 1, null]]), json!({"type": "txn", "txn": [["r", 1, null]]})),
    ];
    for (workload, op, input, expected) in cases {
        let request = workload.request(&call(op, input)).map(Value::from);
        assert_eq!(request, Ok(expected), "{workload:?} {op}");
    }
}

#[test]
fn what_a_workload_does_not_know_is_not_sent() {
    let cases = [
        (LinKv, "add", json!(1)),
        (LinKv, "cas", json!([1])),
        (LinKv, "cas", json!(1)),
        (GSet, "remove", json!(1)),
        (GCounter, "add", json!(-1)),
        (GCounter, "dec", json!(1)),
        (GCounter, "add", json!(0.5)),
        (PnCounter, "dec", json!(i64::MIN)),
        (Txn, "txn", json!(null)),
        (Echo, "read", json!(null)),
    ];
    for (workload, op, input) in cases {
        let request = workload.request(&call(op, input.clone()));
        assert!(request.is_err(), "{workload:?} {op} {input}: {request:?}");
    }
}

#[test]
fn answers_become_outcomes() {
    let none = json!(null);
    let error = |code: u64| json!({"type": "error", "code": code, "text": "why"});
    let cases = [
        (LinKv, "read", none.clone(), json!({"type": "read_ok", "value": 3}), json!(3)),
        (LinKv, "write", json!(1), json!({"type": "write_ok"}), json!(null)),
        (LinKv, "cas", json!([1, 2]), json!({"type": "cas_ok"}), json!(true)),
        (GSet, "read", none.clone(), json!({"type": "read_ok", "value": [1]}), json!([1])),
        (GSet, "add", json!(1), json!({"type": "add_ok"}), json!(null)),
        (PnCounter, "read", none.clone(), json!({"type": "read_ok", "value": -1}), json!(-1)),
        (Broadcast, "add", json!(1), json!({"type": "broadcast_ok"}), json!(null)),
        (Broadcast, "read", none.clone(), json!({"type": "read_ok", "messages": [1]}), json!([1])),
        (UniqueIds, "generate", none.clone(), json!({"type": "generate_ok", "id": 9}), json!(9)),
        (Echo, "echo", json!(1), json!({"type": "echo_ok", "echo": 1}), json!(1)),
        (
            Txn,
            "txn",
            json!([]),
            json!({"type": "txn_ok", "txn": [["r", 1, 2]]}),
            json!([["r", 1, 2]]),
        ),
        // A register that was never written is read as such; for a write the code is a fail.
        (LinKv, "read", none.clone(), error(20), json!(null)),
        (LinKv, "cas", json!([1, 2]), error(20), json!("FAIL")),
        (LinKv, "cas", json!([1, 2]), error(22), json!("FAIL")),
        (GSet, "read", none.clone(), error(20), json!("FAIL")),
        (Txn, "txn", json!([]), error(30), json!("FAIL")),
        (LinKv, "write", json!(1), error(11), json!("FAIL")),
        (LinKv, "write", json!(1), error(0), json!("UNKNOWN")),
        (LinKv, "write", json!(1), error(13), json!("UNKNOWN")),
        (LinKv, "write", json!(1), error(1000), json!("UNKNOWN")),
        (LinKv, "write", json!(1), json!({"type": "error"}), json!("UNKNOWN")),
        // An answer of another kind says nothing.
        (LinKv, "write", json!(1), json!({"type": "read_ok", "value": 1}), json!("UNKNOWN")),
        (LinKv, "read", none.clone(), json!({"type": "read_ok"}), json!("UNKNOWN")),
        (Broadcast, "read", none, json!({"type": "read_ok", "value": [1]}), json!("UNKNOWN")),
    ];
    for (workload, op, input, answer, expected) in cases {
        let got = outcome(workload, op, input, answer.clone());
        assert_eq!(got, expected, "{workload:?} {op} answered {answer}");
    }
}

#[test]
fn only_broadcast_nodes_are_told_their_neighbours() {
    let names = ["n1", "n2", "n3"].map(String::from);
    let setup: Vec<Value> = Broadcast.setup(&names).into_iter().map(Value::from).collect();
    let neighbours = json!({"n1": ["n2", "n3"], "n2": ["n1", "n3"], "n3": ["n1", "n2"]});
    assert_eq!(setup, [json!({"type": "topology", "topology": neighbours})]);
    assert!(LinKv.setup(&names).is_empty());
}

#[test]
fn the_page_names_every_workload() {
    for (name, workload) in Workload::NAMES {
        assert!(PAGE.contains(&format!("`{name}`")), "docs/formats/maelstrom.md lacks {name}");
        assert_eq!(Workload::named(name), Some(workload));
    }
    assert_eq!(Workload::named("kafka"), None);
}
