//! Nodes that do not start, do not listen, or do not speak Maelstrom.

use crate::nodes::{Node, alone, attach, listener, script, spawn};
use crate::support::{PATIENCE, SILENCE, wait_until};
use assay_sut::{RelayConfig, RelayError};
use serde_json::json;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};

/// Starts a lone node with this script.
fn start(text: &str, config: RelayConfig, listener: TcpListener) -> Result<Node, RelayError> {
    let mut child = spawn(&script(text));
    let relay = attach(&mut child, config, listener);
    // Ends the process whatever came of it.
    let mut node = Node { child, relay: None };
    node.relay = Some(relay?);
    Ok(node)
}

#[test]
fn a_node_that_does_not_start_is_told_by_what_it_did() {
    let mut with_setup = alone(PATIENCE);
    let topology = json!({"type": "topology", "topology": {}});
    with_setup.setup = vec![topology.as_object().expect("an object").clone()];
    let refuse = r#"
for src, body in messages():
    send(src, type="error", code=10, text="no topology here", in_reply_to=body["msg_id"])
"#;
    let cases = [
        ("sys.stdin.read()", alone(SILENCE), "did not answer `init` within 200ms"),
        ("sys.exit(1)", alone(PATIENCE), "closed its output before it answered `init`"),
        ("print('x' * (17 << 20), flush=True); sys.stdin.read()", alone(PATIENCE), "closed its"),
        // The order of fields depends on how serde_json was built; what was said does not.
        (refuse, with_setup, "\"no topology here\""),
    ];
    for (text, config, expected) in cases {
        let error = start(text, config, listener()).err().expect(expected);
        assert!(error.to_string().contains(expected), "{error}");
        assert!(error.to_string().starts_with("n1 "), "{error}");
    }
}

#[test]
fn what_is_no_message_is_dropped_counted_and_kept_for_the_report() {
    let listener = listener();
    let address = listener.local_addr().expect("it is bound");
    let wrong = r#"
for src, body in messages():
    print("debugging", flush=True)
    print(json.dumps({"src": "n9", "dest": src, "body": {}}), flush=True)
    send("nobody", type="hello")
    if src == me: continue
    send(me, type="to_myself")
    send(src, type="done", of=body["type"])
"#;
    let node = start(wrong, alone(PATIENCE), listener).unwrap_or_else(|e| panic!("{e}"));
    let mut stream = TcpStream::connect(address).expect("the relay listens");
    stream
        .write_all(b"not a message\n{\"src\":\"c1\",\"dest\":\"n2\",\"body\":{}}\n")
        .expect("sent");
    stream
        .write_all(b"{\"src\":\"c1\",\"dest\":\"n1\",\"body\":{\"type\":\"go\"}}\n")
        .expect("sent");
    let mut line = String::new();
    BufReader::new(&stream).read_line(&mut line).expect("an answer");
    assert!(line.contains(r#""of": "go""#), "{line}");
    let relay = node.relay.as_ref().expect("it is attached");
    // Two lines from outside; then for `go`, and for what the node said to itself, two each.
    wait_until("the node has answered itself", || relay.counts().malformed == 6);
    wait_until("`nobody` got nothing twice", || relay.counts().unroutable == 2);
    assert!(relay.trouble().is_some_and(|what| what.contains("`not a message`")));
}

#[test]
fn a_node_that_does_not_read_loses_the_oldest_messages_and_blocks_nobody() {
    let listener = listener();
    let address = listener.local_addr().expect("it is bound");
    // Answers init, and reads nothing after the first message.
    let deaf = "next(messages(), None)\nimport signal\nsignal.pause()";
    let node = start(deaf, alone(PATIENCE), listener).unwrap_or_else(|e| panic!("{e}"));
    let mut stream = TcpStream::connect(address).expect("the relay listens");
    let filler = "x".repeat(1000);
    let line = format!("{{\"src\":\"c1\",\"dest\":\"n1\",\"body\":{{\"type\":\"{filler}\"}}}}\n");
    for _ in 0..6000 {
        stream.write_all(line.as_bytes()).expect("the relay reads on");
    }
    let relay = node.relay.as_ref().expect("it is attached");
    wait_until("messages were dropped", || relay.counts().dropped > 1000);
    // When the node ends, so does the connection.
    drop(node);
    stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    let ended = stream.read(&mut [0]);
    assert!(
        matches!(&ended, Ok(0))
            || ended.is_err_and(|e| e.kind() == std::io::ErrorKind::ConnectionReset)
    );
}

#[test]
fn dropping_a_relay_frees_its_port() {
    for _ in 0..20 {
        let listener = listener();
        let address = listener.local_addr().expect("it is bound");
        let node = start("for _ in messages(): pass", alone(PATIENCE), listener);
        let _connection = TcpStream::connect(address).expect("the relay listens");
        drop(node.unwrap_or_else(|error| panic!("{error}")));
        assert!(TcpStream::connect(address).is_err(), "somebody still listens");
        TcpListener::bind(address).expect("the port is free");
    }
}
