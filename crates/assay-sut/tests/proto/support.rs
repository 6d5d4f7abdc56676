//! A scripted adapter, and waiting with a bound.

use assay_nemesis::{Process, ProcessState};
use assay_sut::{AdapterClient, AdapterConfig, Client};
use assay_workload::{Call, Reply};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Long enough for a machine that does ten other things; nobody waits it out on a good day.
pub const PATIENCE: Duration = Duration::from_secs(30);
/// How long a client waits for an answer that must not come.
pub const SILENCE: Duration = Duration::from_millis(200);

/// An adapter that does what the operation says, so that each test is a few calls.
const SCRIPTED: &str = r#"
import json, os, subprocess, sys
def say(**message): print(json.dumps(message), flush=True)
init = json.loads(sys.stdin.readline())
print("adapter", init["client"], "is here", file=sys.stderr, flush=True)
start = init["options"].get("start", "ready")
if start == "ready": say(type="ready")
elif start == "die": sys.exit(3)
elif start != "never": print(start, flush=True)
held = []
for line in sys.stdin:
    call = json.loads(line)
    op, id, input = call["op"], call["id"], call["input"]
    if op == "hold":
        held.append(id)
        continue
    for late in held: say(id=late, type="ok", output="late")
    held = []
    if op == "init": say(id=id, type="ok", output=init)
    elif op == "invoke": say(id=id, type="ok", output=call)
    elif op == "say": say(id=id, **input)
    elif op == "raw": print(input, flush=True)
    elif op == "long": print("x" * input, flush=True)
    elif op == "half": print(json.dumps({"id": id})[:-1], end="", flush=True); os._exit(0)
    elif op == "die": os._exit(input)
    elif op == "pid": say(id=id, type="ok", output=os.getpid())
    elif op == "child":
        child = subprocess.Popen(["sleep", "600"])
        say(id=id, type="ok", output=child.pid)
    elif op == "deaf":
        while True: os.read(os.pipe()[0], 1)
"#;

pub fn scripted(directory: &TempDir) -> AdapterConfig {
    let command = ["python3", "-u", "-c", SCRIPTED].map(String::from).to_vec();
    configured(directory, command)
}

/// A client with two nodes, its own being the second.
pub fn configured(directory: &TempDir, command: Vec<String>) -> AdapterConfig {
    let mut config = AdapterConfig::new(command);
    config.log = directory.path().join("client.log");
    config.client = 3;
    config.names = vec!["n1".to_string(), "n2".to_string()];
    config.addresses = ["127.0.0.1:4001", "127.0.0.1:4002"]
        .map(|address| address.parse().expect("an address"))
        .to_vec();
    config.own = 1;
    config.seed = 7;
    config.ready_time_max = PATIENCE;
    config
}

pub fn start(config: AdapterConfig) -> AdapterClient {
    AdapterClient::start(config).unwrap_or_else(|error| panic!("{error}"))
}

/// One operation on key `x`, with all the time it needs.
pub fn ask(client: &mut impl Client, op: &str, input: Value) -> Reply {
    client.call(&call(op, input), PATIENCE)
}

pub fn call(op: &str, input: Value) -> Call {
    Call::new(op, Some(json!("x")), input)
}

#[track_caller]
pub fn output(reply: Reply) -> Value {
    match reply {
        Reply::Ok { output, .. } => output,
        other => panic!("not ok: {other:?}"),
    }
}

#[track_caller]
pub fn failure(reply: Reply) -> String {
    match reply {
        Reply::Fail { error, .. } => error,
        other => panic!("not a fail: {other:?}"),
    }
}

#[track_caller]
pub fn unknown(reply: Reply) -> String {
    match reply {
        Reply::Unknown { error, .. } => error,
        other => panic!("not unknown: {other:?}"),
    }
}

/// Waits until `done`; looks again and again, never for longer than [`PATIENCE`].
#[track_caller]
pub fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !done() {
        assert!(Instant::now() < until, "waited {PATIENCE:?} for: {what}");
        std::thread::park_timeout(Duration::from_millis(1));
    }
}

pub fn process(pid: &Value) -> Process {
    let pid = pid.as_u64().and_then(|pid| u32::try_from(pid).ok()).expect("a process id");
    Process::of(pid).expect("it runs")
}

#[track_caller]
pub fn wait_until_gone(process: Process) {
    wait_until("the process is gone", || matches!(process.state(), Ok(ProcessState::Gone)));
}

/// A file of this repository, by its path from the root.
pub fn repository(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}
