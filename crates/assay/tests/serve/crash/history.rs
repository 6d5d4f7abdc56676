//! The same once more as histories, in Assay's own format, for Assay's own checkers.

use super::clients::{Client, World, text_of};
use crate::server::{Server, assay};
use serde_json::{Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// One request on the wire. Without a status, nobody knows what became of it.
pub struct Attempt {
    pub key: String,
    pub began: Instant,
    pub ended: Instant,
    pub status: Option<u16>,
}

struct History<'a> {
    world: &'a World,
    lines: Vec<Value>,
}

impl History<'_> {
    fn op(&mut self, process: String, op_type: &str, client: &Client, input: Value) -> &mut Value {
        let op_id = self.lines.len();
        self.lines.push(json!({
            "event": "op", "op_id": op_id, "process_id": process, "op_type": op_type,
            "key": format!("s{}", client.number), "input": input, "output": null,
            "error": null, "timeout_marker": false, "node_seen": null, "fault_epoch": null,
        }));
        &mut self.lines[op_id]
    }

    fn at(&self, moment: Instant) -> u128 {
        moment.duration_since(self.world.began).as_nanos()
    }

    /// A reading that shows these messages.
    fn reading(
        &mut self,
        (process, op_type): (String, &str),
        client: &Client,
        (from, to): (Instant, Instant),
        texts: &[String],
    ) {
        let (from, to) = (self.at(from), self.at(to));
        let op = self.op(process, op_type, client, Value::Null);
        op["output"] = texts.iter().map(|text| element(text)).collect();
        (op["invoke_ts"], op["complete_ts"]) = (json!(from), json!(to));
    }

    fn write(&self, path: &Path) {
        let mut file = std::fs::File::create(path).expect("a file");
        for line in &self.lines {
            writeln!(file, "{line}").expect("room");
        }
    }
}

/// A message with its business key inside.
fn element(text: &str) -> Value {
    json!({"id": text})
}

/// Writes both histories and has them judged, by checkers that prove that they can see.
pub fn judge(name: &str, server: &Server, world: &World, clients: &[Client]) {
    let kept = std::env::var_os("ASSAY_SERVE_HISTORIES").map(PathBuf::from);
    let made = tempfile::tempdir().expect("a directory");
    let directory = kept.unwrap_or_else(|| made.path().to_path_buf());
    std::fs::create_dir_all(&directory).expect("a directory");
    let log = directory.join(format!("{name}-log.jsonl"));
    log_of(server, world, clients).write(&log);
    check(&log, &["--checker", "log", "--checker", "no-lost-ack"]);
    let once = directory.join(format!("{name}-once.jsonl"));
    attempts_of(server, world, clients).write(&once);
    check(&once, &["--checker", "exactly-once", "--set", "business-key=id"]);
}

/// A session is a log of messages, a request with all its tries one operation. Lists in between,
/// the stream as a whole and the list at the end are readings of it.
fn log_of<'a>(server: &Server, world: &'a World, clients: &[Client]) -> History<'a> {
    let mut history = History { world, lines: Vec::new() };
    for client in clients {
        let number = client.number;
        for sent in &client.messages {
            let (from, to) = (history.at(sent.from), history.at(sent.to));
            let op = history.op(format!("c{number}"), "append", client, element(&sent.key));
            (op["invoke_ts"], op["complete_ts"]) = (json!(from), json!(to));
        }
        for (from, to, texts) in &client.listed {
            history.reading((format!("c{number}-list"), "read"), client, (*from, *to), texts);
        }
        let is_message = |event: &&Value| event["type"] == "user.message";
        let streamed: Vec<String> =
            client.streamed.iter().filter(is_message).map(text_of).collect();
        let now = (Instant::now(), Instant::now());
        history.reading((format!("c{number}-stream"), "read"), client, now, &streamed);
        last_reading(&mut history, server, client);
    }
    history
}

/// Every try is an operation of its own, and they share the key inside the message.
fn attempts_of<'a>(server: &Server, world: &'a World, clients: &[Client]) -> History<'a> {
    let mut history = History { world, lines: Vec::new() };
    for client in clients {
        let is_message = |attempt: &&Attempt| !attempt.key.starts_with("interrupt");
        for (n, attempt) in client.attempts.iter().filter(is_message).enumerate() {
            let (from, to) = (history.at(attempt.began), history.at(attempt.ended));
            // Who does not know what became of a request goes on as somebody else.
            let process = format!("c{}-{n}", client.number);
            let op = history.op(process, "send", client, element(&attempt.key));
            op["invoke_ts"] = json!(from);
            match attempt.status {
                Some(200) => op["complete_ts"] = json!(to),
                Some(status @ 400..500) => {
                    (op["complete_ts"], op["error"]) = (json!(to), json!(status));
                }
                _ => {
                    let nobody_knows = (Value::Null, json!(true));
                    (op["complete_ts"], op["timeout_marker"]) = nobody_knows;
                }
            }
        }
        last_reading(&mut history, server, client);
    }
    history
}

fn last_reading(history: &mut History, server: &Server, client: &Client) {
    let from = Instant::now();
    let events = server.listed(&client.session);
    let is_message = |event: &&Value| event["type"] == "user.message";
    let texts: Vec<String> = events.iter().filter(is_message).map(text_of).collect();
    let process = format!("c{}-end", client.number);
    history.reading((process, "final"), client, (from, Instant::now()), &texts);
}

fn check(path: &Path, arguments: &[&str]) {
    let mut command = assay();
    command.arg("check").arg(path).args(arguments).args(["--calibrate", "20"]);
    let judged = command.output().expect("the binary");
    let said = String::from_utf8_lossy(&judged.stdout).into_owned();
    println!("{}", said.lines().take(3).collect::<Vec<_>>().join("\n"));
    let trouble = String::from_utf8_lossy(&judged.stderr).into_owned();
    assert_eq!(judged.status.code(), Some(0), "{}: {said}{trouble}", path.display());
}
