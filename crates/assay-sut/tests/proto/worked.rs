//! The worked adapters of examples/clients, against a server that behaves like kv.

use crate::support::{PATIENCE, SILENCE, configured, repository, start};
use assay_sut::{AdapterClient, Client};
use assay_workload::{Call, Reply};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::Command;
use tempfile::{TempDir, tempdir};

/// Lines a worked adapter may have.
const LINES_MAX: usize = 60;

/// Answers as docs/systems/kv.md says; some keys make it misbehave.
fn serve() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("it is bound");
    std::thread::spawn(move || {
        let (mut registers, mut kept) = (BTreeMap::new(), Vec::new());
        for stream in listener.incoming().flatten() {
            let request = read_request(&stream);
            match answer(&request, &mut registers) {
                Some((status, body)) => respond(stream, status, &body),
                None if request["key"] == "hang" => kept.push(stream),
                None => drop(stream),
            }
        }
    });
    address
}

fn read_request(stream: &TcpStream) -> Value {
    let mut reader = BufReader::new(stream);
    let (mut line, mut length) = (String::new(), 0);
    while reader.read_line(&mut line).is_ok_and(|count| count > 2) {
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().expect("a length");
        }
        line.clear();
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).expect("a body");
    serde_json::from_slice(&body).expect("JSON")
}

fn answer(request: &Value, registers: &mut BTreeMap<String, Value>) -> Option<(u16, String)> {
    let (key, input) = (request["key"].to_string(), &request["input"]);
    match request["key"].as_str() {
        Some("hang" | "drop") => return None,
        Some("conflict") => return Some((409, r#"{"fail":"no","node":2}"#.to_string())),
        Some("unknown") => return Some((503, r#"{"unknown":"who knows","node":2}"#.to_string())),
        Some("garbage") => return Some((200, "<html>".to_string())),
        Some("empty") => return Some((200, r#"{"node":2,"index":7}"#.to_string())),
        _ => {}
    }
    let value = registers.entry(key).or_default();
    let ok = match request["op"].as_str().expect("an operation") {
        "register.read" => value.clone(),
        "register.write" => {
            *value = input.clone();
            Value::Null
        }
        "register.cas" if *value == input[0] => {
            *value = input[1].clone();
            json!(true)
        }
        "register.cas" => json!(false),
        "set.echo" => request.clone(),
        other => return Some((400, json!({"error": format!("no {other}")}).to_string())),
    };
    Some((200, json!({"ok": ok, "node": 2, "index": 7}).to_string()))
}

fn respond(mut stream: TcpStream, status: u16, body: &str) {
    let head = format!("HTTP/1.1 {status} so\r\nContent-Length: {}\r\n\r\n", body.len());
    // A client that is gone does not matter here.
    let _gone = stream.write_all(format!("{head}{body}").as_bytes());
}

fn client(directory: &TempDir, command: Vec<String>, options: Value) -> AdapterClient {
    let mut config = configured(directory, command);
    let closed = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    config.addresses = vec![closed.expect("a port"), serve()];
    config.options = options.as_object().expect("an object").clone();
    start(config)
}

/// Everything an adapter for kv has to get right.
fn check(command: &[String]) {
    let directory = tempdir().expect("a directory");
    let mut client = client(&directory, command.to_vec(), json!({}));
    let big = 9_007_199_254_740_993_u64;
    let ok = [
        ("read", "x", json!(null), json!(null)),
        ("write", "x", json!(5), json!(null)),
        ("read", "x", json!(null), json!(5)),
        ("cas", "x", json!([5, 6]), json!(true)),
        ("cas", "x", json!([5, 7]), json!(false)),
        ("read", "x", json!(null), json!(6)),
        ("write", "y", json!([big, "ü<&>", {"a": null}]), json!(null)),
        ("read", "y", json!(null), json!([big, "ü<&>", {"a": null}])),
    ];
    for (op, key, input, output) in ok {
        let reply = client.call(&Call::new(op, Some(json!(key)), input), PATIENCE);
        let expected = Reply::Ok { output, node: Some("n2".to_string()), revision: Some(7) };
        assert_eq!(reply, expected, "{op} {key}");
    }
    let mut outcome = |op: &str, key: &str, node: Option<usize>| {
        let call = Call { node, ..Call::new(op, Some(json!(key)), json!(1)) };
        let time_max = if key == "hang" { SILENCE } else { PATIENCE };
        match client.call(&call, time_max) {
            Reply::Ok { .. } => "ok",
            Reply::Fail { .. } => "fail",
            Reply::Unknown { .. } => "unknown",
        }
    };
    let cases = [
        ("write", "x", Some(1), "ok"),
        ("write", "x", Some(0), "fail"),
        ("write", "conflict", None, "fail"),
        ("fly", "x", None, "fail"),
        ("write", "unknown", None, "unknown"),
        ("write", "drop", None, "unknown"),
        ("write", "garbage", None, "unknown"),
        ("read", "empty", None, "unknown"),
        ("write", "hang", None, "unknown"),
        ("write", "x", None, "ok"),
    ];
    for (op, key, node, expected) in cases {
        assert_eq!(outcome(op, key, node), expected, "{op} {key} at {node:?}");
    }
    assert_eq!((client.watch().given_up(), client.watch().counts().restarts), (None, 0));
}

/// Another kind of object is an option away, and ids reach the system.
fn check_prefix(command: &[String]) {
    let directory = tempdir().expect("a directory");
    let mut client = client(&directory, command.to_vec(), json!({"prefix": "set."}));
    let echo = Call { id: Some("r-1".to_string()), ..Call::new("echo", Some(json!(1)), json!(2)) };
    let expected = json!({"op": "set.echo", "key": 1, "input": 2, "id": "r-1"});
    match client.call(&echo, PATIENCE) {
        Reply::Ok { output, .. } => assert_eq!(output, expected),
        other => panic!("{other:?}"),
    }
}

fn check_length(path: &str) {
    let text = std::fs::read_to_string(repository(path)).expect("the adapter");
    let lines = text.lines().count();
    assert!(lines <= LINES_MAX, "{path} has {lines} lines, at most {LINES_MAX} are promised");
}

#[test]
fn the_python_adapter_tells_fail_from_unknown() {
    let path = "examples/clients/kv.py";
    let command = ["python3".to_string(), repository(path).display().to_string()];
    check(&command);
    check_prefix(&command);
    check_length(path);
}

#[test]
fn the_go_adapter_tells_fail_from_unknown() {
    let path = "examples/clients/kv.go";
    check_length(path);
    if Command::new("go").arg("version").output().is_err() {
        eprintln!("SKIPPED: go is not installed, so the adapter in Go was not run (1 test)");
        return;
    }
    let directory = tempdir().expect("a directory");
    let program = directory.path().join("kv");
    let mut build = Command::new("go");
    build.args(["build", "-o"]).arg(&program).arg(repository(path));
    let built = build.output().expect("go runs");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let command = [program.display().to_string()];
    check(&command);
    check_prefix(&command);
}
