//! Drives scripts against a cluster, one call at a time, and writes down what happened.

use crate::cluster::Cluster;
use assay_sut::{Client, KvClient};
use assay_workload::{Call, Config, Reply, Workload};
use serde_json::{Value, json};
use std::process::Command;
use std::time::{Duration, Instant};

const NODES: usize = 3;
/// Longer than any answer of a node takes.
const ANSWER_MAX: Duration = Duration::from_secs(10);

/// How often a call is sent that has an id.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sending {
    Once,
    /// Twice; the second is an operation of its own.
    AgainAsOwn,
    /// Again after many calls of other clients, as if the first answer had been lost: one
    /// operation. Only the first client does it, so that the others see what happens.
    AgainLater,
}

/// Turns a client waits for an answer that was lost.
const TURNS_WAITED: usize = 8;

/// An operation that has begun.
struct Open {
    process: usize,
    call: Call,
    invoke_ts: u64,
    reply: Reply,
}

/// The rows of a history.
pub struct Recorder {
    start: Instant,
    rows: Vec<Value>,
}

impl Recorder {
    /// A whole run: setup, calls of clients in turn, each at its own node, and the final reads.
    pub fn run(cluster: &Cluster, config: &Config, calls: usize, sending: Sending) -> Recorder {
        let workload = Workload::new(config).expect("a workload");
        let mut recorder = Recorder { start: Instant::now(), rows: Vec::new() };
        let mut clients: Vec<KvClient> =
            (0..config.clients).map(|i| client(cluster, &config.generator, i % NODES)).collect();
        for call in workload.setup() {
            let reply = clients[0].call(&call, ANSWER_MAX);
            assert!(matches!(reply, Reply::Ok { .. }), "{call:?}: {reply:?}");
        }
        let mut scripts: Vec<_> = (0..config.clients).map(|i| workload.script(i)).collect();
        let mut late: Option<(Open, usize)> = None;
        for turn in 0..calls {
            let who = turn % config.clients;
            if who == 0
                && let Some((open, turns_left)) = late.take()
            {
                if turns_left > 0 {
                    late = Some((open, turns_left - 1));
                    continue;
                }
                // The second answer counts as well as the first: they belong to one operation.
                clients[who].call(&open.call, ANSWER_MAX);
                scripts[who].observe(&open.call, &open.reply);
                recorder.end(open);
                continue;
            }
            let call = scripts[who].next().expect("endless");
            let open = recorder.begin(who, &call, &mut clients[who]);
            if call.id.is_some() && sending == Sending::AgainLater && who == 0 {
                late = Some((open, TURNS_WAITED));
                continue;
            }
            scripts[who].observe(&call, &open.reply);
            recorder.end(open);
            if call.id.is_some() && sending == Sending::AgainAsOwn {
                let open = recorder.begin(who, &call, &mut clients[who]);
                recorder.end(open);
            }
        }
        if let Some((open, _)) = late {
            recorder.end(open);
        }
        let mut finals = workload.finals(NODES, assay_workload::Dumps::Wanted);
        while let Some(call) = finals.next() {
            let open = recorder.begin(config.clients, &call, &mut clients[0]);
            finals.observe(&call, &open.reply);
            recorder.end(open);
        }
        recorder
    }

    fn now_ns(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_nanos()).expect("a test ends within centuries")
    }

    fn begin(&self, process: usize, call: &Call, client: &mut KvClient) -> Open {
        let invoke_ts = self.now_ns();
        let reply = client.call(call, ANSWER_MAX);
        Open { process, call: call.clone(), invoke_ts, reply }
    }

    fn end(&mut self, open: Open) {
        let Open { process, call, invoke_ts, reply } = open;
        let (output, error, unknown, node, revision) = match reply {
            Reply::Ok { output, node, revision } => (output, Value::Null, false, node, revision),
            Reply::Fail { error, node } => (Value::Null, json!(error), false, node, None),
            Reply::Unknown { error, node } => (Value::Null, json!(error), true, node, None),
        };
        let complete_ts = if unknown { Value::Null } else { json!(self.now_ns()) };
        let mut row = json!({
            "event": "op", "op_id": self.rows.len(), "process_id": process,
            "invoke_ts": invoke_ts, "complete_ts": complete_ts, "op_type": call.op,
            "key": call.key, "input": call.input, "output": output, "error": error,
            "timeout_marker": unknown, "node_seen": node, "fault_epoch": null,
        });
        if let Some(revision) = revision {
            row["revision"] = json!(revision);
        }
        self.rows.push(row);
    }

    /// How many operations went well.
    pub fn oks(&self) -> usize {
        self.rows.iter().filter(|row| row["error"].is_null()).count()
    }

    /// Exit code and words of `assay check`. Where a model judges, what is none of its operations
    /// is left out.
    pub fn judge(&self, checker: &str, settings: &[&str]) -> (i32, String) {
        let model = match checker.strip_prefix("linearizability:") {
            None if ["list-append", "rw-register"].contains(&checker) => Some(checker),
            model => model,
        };
        let aside: &[&str] = if model.is_some() { &["dump", "reconnect"] } else { &[] };
        let kept = |row: &&Value| !aside.iter().any(|op| row["op_type"] == *op);
        let rows: Vec<&Value> = self.rows.iter().filter(kept).collect();
        let header = json!({"event": "header", "format": "assay-history", "version": 1,
            "clock": "monotonic", "time_unit": "ns", "pipelined": false});
        let footer = json!({"event": "footer", "sent": rows.len(), "recorded": rows.len()});
        let lines: Vec<String> =
            [&header].into_iter().chain(rows).chain([&footer]).map(Value::to_string).collect();
        let scratch = tempfile::tempdir().expect("a temporary directory");
        let file = scratch.path().join("history.jsonl");
        std::fs::write(&file, lines.join("\n") + "\n").expect("it can be written");
        let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
        command.arg("check").arg(&file);
        match model {
            Some(model) => command.args(["--model", model]),
            None => command.args(["--checker", checker]),
        };
        for setting in settings {
            command.args(["--set", setting]);
        }
        let output = command.output().expect("assay runs");
        let text =
            String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        (output.status.code().expect("it ends by itself"), text.into_owned())
    }
}

/// A client at one node of a cluster.
fn client(cluster: &Cluster, generator: &str, own: usize) -> KvClient {
    let addresses = cluster.ids().map(|id| ([127, 0, 0, 1], cluster.port(id)).into()).collect();
    let names = cluster.ids().map(|id| format!("n{id}")).collect();
    KvClient::new(generator, addresses, own, names).expect("the store has this generator")
}
