//! Clusters that never outlive their test, and as much of a client as is needed to look at them.

use assay_sut::{Cluster, Launch, SutError, SystemSpec, Wiring};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How long anything may take before a test calls it broken. Far above what is seen, because the
/// machine may be busy.
const PATIENCE: Duration = Duration::from_secs(60);
/// Longer than any answer of a node takes.
const ANSWER_MAX: Duration = Duration::from_secs(5);

/// Waits until `what` gives something, and says what was waited for if it never does.
#[track_caller]
pub fn wait_for<T>(wish: &str, mut what: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = what() {
            return found;
        }
        assert!(start.elapsed() < PATIENCE, "waited {PATIENCE:?} in vain for: {wish}");
        std::thread::park_timeout(Duration::from_millis(20));
    }
}

/// The description of the store.
pub fn kv() -> SystemSpec {
    assay_sut::load("kv", None).expect("it is built in")
}

/// The description of the store with one text replaced.
pub fn kv_with(from: &str, to: &str) -> SystemSpec {
    let text = include_str!("../../../../systems/kv.toml");
    assert!(text.contains(from), "{from}");
    let text = text.replace(from, to);
    SystemSpec::parse("kv", "systems/kv.toml", &text).unwrap_or_else(|error| panic!("{error}"))
}

/// Starts nodes below a directory.
pub fn launch(
    spec: &SystemSpec,
    nodes: usize,
    options: Value,
    directory: &Path,
    wiring: Wiring,
) -> Result<Cluster, SutError> {
    let options: BTreeMap<String, Value> = serde_json::from_value(options).expect("a table");
    let executable = Path::new(env!("CARGO_BIN_EXE_assay"));
    let options = &options;
    Cluster::start(&Launch {
        spec,
        nodes,
        options,
        directory,
        seed: 1,
        generator: "register",
        executable,
        wiring,
        gear: assay_sut::Gear::default(),
    })
}

/// Three nodes of the store.
pub fn three(wiring: Wiring) -> (TempDir, Cluster) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let started = launch(&kv(), 3, serde_json::json!({}), directory.path(), wiring);
    let cluster = started.unwrap_or_else(|error| panic!("{error}"));
    (directory, cluster)
}

/// The one that leads by its own account.
pub fn leader(cluster: &Cluster) -> usize {
    wait_for("a leader", || cluster.role("leader").ok()?.first().copied())
}

/// One request over a connection of its own; `None` unless it succeeded.
pub fn op(address: SocketAddr, body: &Value) -> Option<Value> {
    let mut stream = TcpStream::connect_timeout(&address, ANSWER_MAX).ok()?;
    stream.set_read_timeout(Some(ANSWER_MAX)).ok()?;
    let body = body.to_string();
    let length = body.len();
    let head = format!("POST /op HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n");
    let request =
        format!("{head}Content-Type: application/json\r\nConnection: close\r\n\r\n{body}");
    stream.write_all(request.as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let (_, text) = answer.split_once("\r\n\r\n")?;
    serde_json::from_str::<Value>(text).ok()?.get("ok").cloned()
}
