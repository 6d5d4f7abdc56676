//! What clients saw while a leader was killed or frozen, judged by `assay check`.

use crate::cluster::{Cluster, wait_for};
use crate::http::{Answer, Client};
use serde_json::{Value, json};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

const CLIENTS: usize = 6;
const KEYS: u64 = 3;
/// Operations that went well between two events, so that every phase is seen by the clients.
const PHASE_OPS: u64 = 400;

/// One client: reads, writes and compare-and-sets of values nobody else writes.
struct Recorder<'a> {
    start: Instant,
    next: &'a AtomicU64,
    done: &'a AtomicU64,
    stop: &'a AtomicBool,
}

impl Recorder<'_> {
    fn now_ns(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_nanos()).expect("a test ends within centuries")
    }

    fn run(&self, number: usize, node: usize, port: u16) -> Vec<Value> {
        let (mut client, mut process, mut rows) = (Client::new(port), number, Vec::new());
        let mut seen = Value::Null;
        while !self.stop.load(Ordering::Relaxed) {
            let id = self.next.fetch_add(1, Ordering::Relaxed);
            let key = id % KEYS;
            // Drawn from the id: the mix is the same in every run, the interleaving is not.
            let (op, input) = match id.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 60 {
                0..=6 => ("read", Value::Null),
                7..=13 => ("write", json!(id)),
                _ => ("cas", json!([seen, id])),
            };
            let request = json!({"op": format!("register.{op}"), "key": key, "input": input});
            let invoke_ts = self.now_ns();
            let answer = client.op(&request);
            let complete_ts = self.now_ns();
            let (output, error, unknown) = match answer {
                Answer::Ok(value) => (value, Value::Null, false),
                Answer::Fail(why) => (Value::Null, json!(why), false),
                Answer::Unknown(why) => (Value::Null, json!(why), true),
                Answer::Bad(status, text) => panic!("{request}: {status} {text}"),
            };
            let ok = error.is_null();
            if op == "read" && ok {
                seen = output.clone();
            }
            rows.push(json!({
                "event": "op", "op_id": id, "process_id": process, "invoke_ts": invoke_ts,
                "complete_ts": if unknown { Value::Null } else { json!(complete_ts) },
                "op_type": op, "key": key, "input": input, "output": output, "error": error,
                "timeout_marker": unknown, "node_seen": node, "fault_epoch": null,
            }));
            if unknown {
                // The operation has no end, so its process cannot go on: another takes over.
                process += CLIENTS;
            }
            if ok {
                self.done.fetch_add(1, Ordering::Relaxed);
            } else {
                // A dead node is not asked as fast as the machine can.
                std::thread::park_timeout(Duration::from_millis(10));
            }
        }
        rows
    }
}

/// Ends the clients also when what happens beside them fails: a scope waits for its threads.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Records a history while `act` does something to the cluster; gives the exit code of the check.
fn judge(cluster: &mut Cluster, act: impl FnOnce(&mut Cluster, &dyn Fn())) -> (i32, String) {
    let ports: Vec<u16> = cluster.ids().map(|id| cluster.port(id)).collect();
    let (next, done, stop) = (AtomicU64::new(1), AtomicU64::new(0), AtomicBool::new(false));
    let recorder = Recorder { start: Instant::now(), next: &next, done: &done, stop: &stop };
    let rows: Vec<Value> = std::thread::scope(|scope| {
        let recorder = &recorder;
        let threads: Vec<_> = (0..CLIENTS)
            .map(|i| (i, i % ports.len()))
            .map(|(i, node)| (i, node, ports[node]))
            .map(|(i, node, port)| scope.spawn(move || recorder.run(i, node + 1, port)))
            .collect();
        let phase = || {
            let target = done.load(Ordering::Relaxed) + PHASE_OPS;
            wait_for("operations", || (done.load(Ordering::Relaxed) >= target).then_some(()));
        };
        let stopping = Stop(&stop);
        phase();
        act(cluster, &phase);
        phase();
        drop(stopping);
        threads.into_iter().flat_map(|thread| thread.join().expect("a client")).collect()
    });
    let header = json!({"event": "header", "format": "assay-history", "version": 1,
        "clock": "monotonic", "time_unit": "ns", "pipelined": false});
    let count = rows.len();
    let footer = json!({"event": "footer", "sent": count, "recorded": count});
    let lines: Vec<String> =
        [header].iter().chain(&rows).chain([&footer]).map(Value::to_string).collect();
    let scratch = tempfile::tempdir().expect("a temporary directory");
    let file = scratch.path().join("history.jsonl");
    std::fs::write(&file, lines.join("\n") + "\n").expect("it can be written");
    let ok = rows.iter().filter(|row| row["error"].is_null()).count();
    assert!(ok as u64 > PHASE_OPS, "{ok} of {count} operations went well: that proves nothing");
    let check = Command::new(env!("CARGO_BIN_EXE_assay"))
        .args(["check", "--model", "register"])
        .arg(&file)
        .output()
        .expect("assay runs");
    let text = String::from_utf8_lossy(&check.stdout) + String::from_utf8_lossy(&check.stderr);
    let unknown = rows.iter().filter(|row| row["timeout_marker"] == true).count();
    let summary = format!("{count} operations, {ok} ok, {unknown} unknown\n{text}");
    (check.status.code().expect("it ends by itself"), summary)
}

fn kill_the_leader(cluster: &mut Cluster, phase: &dyn Fn()) {
    let leader = cluster.leader();
    cluster.kill(leader);
    cluster.leader();
    phase();
    cluster.start_node(leader);
    phase();
}

/// To the others a frozen leader looks cut off; when it thaws it does not know what it missed.
fn freeze_the_leader(cluster: &mut Cluster, phase: &dyn Fn()) {
    let leader = cluster.leader();
    let others: Vec<usize> = cluster.ids().filter(|id| *id != leader).collect();
    cluster.signal(leader, "STOP");
    cluster.leader_among(&others);
    phase();
    cluster.signal(leader, "CONT");
    phase();
}

#[test]
fn the_honest_store_is_linearizable_while_its_leader_is_killed_and_frozen() {
    let mut cluster = Cluster::start(3, &[]);
    for act in [kill_the_leader, freeze_the_leader] {
        let (code, text) = judge(&mut cluster, act);
        assert_eq!(code, 0, "{text}");
        eprintln!("{text}");
        // A history of its own for each fault: registers start at null.
        cluster = Cluster::start(3, &[]);
    }
}

#[test]
fn stale_reads_are_refuted_while_the_leader_is_frozen() {
    // The race is real, so a run can get away with it; three in a row do not.
    let refuted = (0..3).any(|_| {
        let mut cluster = Cluster::start(3, &["--defect", "stale-reads"]);
        let (code, text) = judge(&mut cluster, freeze_the_leader);
        assert!([0, 1].contains(&code), "{text}");
        code == 1
    });
    assert!(refuted, "three runs with stale reads, and none was refuted");
}
