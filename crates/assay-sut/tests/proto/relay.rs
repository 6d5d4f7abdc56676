//! Maelstrom nodes over links: what passes, what a cut keeps away, what survives.

use crate::nodes::{Nodes, script};
use crate::support::{
    PATIENCE, SILENCE, ask, call, failure, output, repository, unknown, wait_until,
};
use assay_sut::{Client, Workload};
use assay_workload::{Call, Reply};
use serde_json::{Value, json};

fn worked(count: usize) -> Nodes {
    let path = repository("examples/maelstrom/lin_kv.py").display().to_string();
    Nodes::start(count, vec!["python3".to_string(), path], Workload::LinKv)
}

#[test]
fn operations_are_handed_on_over_links_and_counted_there() {
    let nodes = worked(3);
    let (mut at_n2, mut at_n3) = (nodes.client(1, 1), nodes.client(2, 2));
    assert_eq!(output(ask(&mut at_n2, "read", json!(null))), json!(null), "never written");
    let reply = ask(&mut at_n2, "write", json!({"big": 9_007_199_254_740_993_u64}));
    assert_eq!(reply, Reply::Ok { output: json!(null), node: Some("n2".into()), revision: None });
    let read = output(ask(&mut at_n3, "read", json!(null)));
    assert_eq!(read, json!({"big": 9_007_199_254_740_993_u64}));
    assert_eq!(output(ask(&mut at_n3, "cas", json!([read, 6]))), json!(true));
    assert!(failure(ask(&mut at_n2, "cas", json!([5, 7]))).contains("22"));
    // The owner itself, named by the call.
    let own = Call { node: Some(0), ..call("read", json!(null)) };
    let reply = at_n2.call(&own, PATIENCE);
    assert_eq!(reply, Reply::Ok { output: json!(6), node: Some("n1".into()), revision: None });

    let passed = |from, to| nodes.mesh.counts(nodes.link(from, to)).request.bytes_passed;
    assert!(passed(1, 0) > 0 && passed(0, 1) > 0 && passed(2, 0) > 0 && passed(0, 2) > 0);
    assert_eq!((passed(1, 2), passed(2, 1)), (0, 0), "n2 and n3 have nothing to say to each other");
    let counts = nodes.relay(0).counts();
    assert_eq!(counts.from_peer, [("n2".to_string(), 3), ("n3".to_string(), 2)].into());
    assert_eq!((counts.dropped, counts.lost, counts.malformed, counts.unroutable), (0, 0, 0, 0));
    assert_eq!(nodes.relay(0).trouble(), None);
}

#[test]
fn a_cut_link_makes_operations_unknown_until_it_heals() {
    let nodes = worked(3);
    let (mut at_n2, mut at_n3) = (nodes.client(1, 1), nodes.client(2, 2));
    output(ask(&mut at_n2, "write", json!(1)));
    let layer = nodes.cut(1, 0);
    let error = unknown(at_n2.call(&call("write", json!(2)), SILENCE));
    assert!(error.contains("no answer"), "{error}");
    let dropped = || nodes.mesh.counts(nodes.link(1, 0)).request.bytes_dropped;
    wait_until("the link has thrown the message away", || dropped() > 0);
    assert_eq!(output(ask(&mut at_n3, "read", json!(null))), json!(1), "other links work");
    nodes.mesh.lift(layer);
    // The connection that lost bytes is reset; what was on it is lost, what comes later is not.
    wait_until("the link carries messages again", || {
        matches!(at_n2.call(&call("write", json!(3)), SILENCE), Reply::Ok { .. })
    });
    assert_eq!(output(ask(&mut at_n3, "read", json!(null))), json!(3));

    // The way back is a link of its own: the write arrives, its answer does not.
    let layer = nodes.cut(0, 1);
    unknown(at_n2.call(&call("write", json!(4)), SILENCE));
    assert_eq!(output(ask(&mut at_n3, "read", json!(null))), json!(4));
    nodes.mesh.lift(layer);
}

#[test]
fn a_killed_node_is_gone_to_all_and_can_come_back() {
    let mut nodes = worked(2);
    let mut at_n2 = nodes.client(1, 1);
    let mut at_n1 = nodes.client(2, 0);
    output(ask(&mut at_n2, "write", json!(1)));
    output(ask(&mut at_n1, "read", json!(null)));
    nodes.nodes[0].child.kill().expect("it can be killed");
    // The client's connection ends with the node, long before its patience does.
    let reply = ask(&mut at_n1, "write", json!(2));
    assert!(matches!(reply, Reply::Unknown { .. } | Reply::Fail { .. }), "{reply:?}");
    unknown(at_n2.call(&call("write", json!(3)), SILENCE));
    nodes.restart(0);
    wait_until("the node answers again", || {
        matches!(at_n2.call(&call("read", json!(null)), SILENCE), Reply::Ok { .. })
    });
    assert_eq!(output(ask(&mut at_n1, "read", json!(null))), json!(null), "the data went with it");
}

#[test]
fn nodes_share_the_service_lin_kv() {
    let nodes = Nodes::start(
        2,
        script(
            r#"
waiting, number = {}, 0
for src, body in messages():
    if "in_reply_to" in body:
        client, id = waiting.pop(body["in_reply_to"])
        send(client, **{**body, "in_reply_to": id})
    else:
        number += 1
        waiting[number] = (src, body["msg_id"])
        send("lin-kv", **{**body, "msg_id": number})
"#,
        ),
        Workload::LinKv,
    );
    let (mut at_n1, mut at_n2) = (nodes.client(1, 0), nodes.client(2, 1));
    // No link is needed to reach it.
    let (_, _) = (nodes.cut(0, 1), nodes.cut(1, 0));
    assert_eq!(output(ask(&mut at_n1, "read", json!(null))), json!(null));
    assert!(failure(ask(&mut at_n1, "cas", json!([1, 2]))).contains("error 20"));
    output(ask(&mut at_n1, "write", json!(1)));
    assert_eq!(output(ask(&mut at_n2, "cas", json!([1, 2]))), json!(true));
    assert!(failure(ask(&mut at_n1, "cas", json!([1, 3]))).contains("error 22"));
    assert_eq!(output(ask(&mut at_n1, "read", json!(null))), json!(2));
}

#[test]
fn broadcast_nodes_know_their_neighbours_before_the_first_operation() {
    let gossip = r#"
neighbours, seen = None, set()
for src, body in messages():
    if body["type"] == "topology":
        neighbours = body["topology"][me]
        send(src, type="topology_ok", in_reply_to=body["msg_id"])
    elif body["type"] == "broadcast":
        new = body["message"] not in seen
        seen.add(body["message"])
        for node in neighbours if new else []: send(node, type="broadcast", message=body["message"])
        if "msg_id" in body: send(src, type="broadcast_ok", in_reply_to=body["msg_id"])
    elif body["type"] == "read":
        send(src, type="read_ok", messages=sorted(seen), in_reply_to=body["msg_id"])
"#;
    let nodes = Nodes::start(3, script(gossip), Workload::Broadcast);
    let (mut at_n1, mut at_n3) = (nodes.client(1, 0), nodes.client(2, 2));
    let mut ask = |client: usize, op: &str, input: Value| {
        let client = if client == 1 { &mut at_n1 } else { &mut at_n3 };
        client.call(&Call::new(op, None, input), PATIENCE)
    };
    output(ask(1, "broadcast", json!(7)));
    output(ask(1, "add", json!(8)));
    wait_until("the last node has heard", || output(ask(3, "read", json!(null))) == json!([7, 8]));
    // A second object would be mixed up with the first.
    let other = nodes.client(3, 0).call(&call("add", json!(9)), PATIENCE);
    assert!(failure(other).contains("single object"));
}

#[test]
fn a_late_answer_of_a_node_is_dropped_and_counted() {
    let late = r#"
held = None
for src, body in messages():
    if body["echo"] == "hold":
        held = body
        continue
    if held: send(src, type="echo_ok", echo=held["echo"], in_reply_to=held["msg_id"])
    held = None
    send(src, type="echo_ok", echo=body["echo"], in_reply_to=body["msg_id"])
"#;
    let nodes = Nodes::start(1, script(late), Workload::Echo);
    let mut client = nodes.client(1, 0);
    let mut echo = |input: Value, time_max| {
        let reply = client.call(&Call::new("echo", None, input), time_max);
        (reply, client.late())
    };
    let (reply, _) = echo(json!("hold"), SILENCE);
    unknown(reply);
    let (reply, late) = echo(json!("now"), PATIENCE);
    assert_eq!((output(reply), late), (json!("now"), 1));
}
