//! Nodes of an Assay that was killed.

use crate::support::{three, wait_for};
use assay_nemesis::{Process, ProcessState};
use assay_sut::{PROCESSES_NAME, Wiring, reap_orphans};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Tells this test binary to start a cluster and wait for its death, and where.
const PARENT_DIRECTORY: &str = "ASSAY_TEST_SUT_PARENT";

/// Not a test of its own: the part of the parent in the test below. Without its variable it has
/// nothing to do.
#[test]
fn a_parent_that_is_killed() {
    let Some(directory) = std::env::var_os(PARENT_DIRECTORY) else { return };
    let directory = PathBuf::from(directory);
    let options = serde_json::json!({});
    // A client that stays when its input has ended, and does not mind a hangup.
    let script = "trap '' HUP\nread -r line\necho '{\"type\":\"ready\"}'\nsleep 600\nexit 0\n";
    let path = directory.join("client.sh");
    std::fs::write(&path, script).expect("it can be written");
    let client = format!("command = [\"sh\", \"{}\"]", path.display());
    let spec = crate::support::kv_with("builtin = \"kv\"", &client);
    let started = crate::support::launch(&spec, 3, options, &directory, Wiring::Proxied);
    let cluster = started.expect("it starts");
    let _client = cluster.client(0).expect("it is ready");
    std::fs::write(directory.join("up"), "").expect("it can be written");
    wait_for("being killed", || None::<()>);
}

fn entries(path: &Path) -> Vec<Process> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let lines = text.lines().filter(|line| line.contains("\"started\""));
    let process = |line: &str| {
        let entry: serde_json::Value = serde_json::from_str(line).expect("a whole line");
        let number = |name: &str| entry[name].as_u64().expect("a number");
        Process { pid: number("pid") as u32, start_ticks: number("start_ticks") }
    };
    lines.map(process).collect()
}

/// Everything that carries the mark of a cluster, found without the code under test.
fn marked(path: &Path) -> Vec<Process> {
    let text = std::fs::read_to_string(path).expect("an account");
    let opened = text.lines().next().expect("a first line");
    let opened: serde_json::Value = serde_json::from_str(opened).expect("a whole line");
    let mark = format!("ASSAY_TRIAL={}", opened["mark"].as_str().expect("a mark"));
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").expect("listed").flatten() {
        let environment = std::fs::read(entry.path().join("environ")).unwrap_or_default();
        let carries = environment.split(|byte| *byte == 0).any(|one| one == mark.as_bytes());
        let pid = entry.file_name().to_str().and_then(|name| name.parse().ok());
        found.extend(pid.filter(|_| carries).and_then(|pid| Process::of(pid).ok()));
    }
    found
}

/// Ends the parent whatever happens to the test.
struct Parent(Child);

impl Drop for Parent {
    fn drop(&mut self) {
        let _dead_already = self.0.kill().and_then(|()| self.0.wait());
    }
}

#[test]
fn nodes_of_a_killed_parent_are_found_and_killed() {
    let directory = tempfile::tempdir().expect("a directory");
    let child = Command::new(std::env::current_exe().expect("this test"))
        .args(["--exact", "orphans::a_parent_that_is_killed"])
        .env(PARENT_DIRECTORY, directory.path())
        .stdout(Stdio::null())
        .spawn()
        .expect("this test runs");
    let mut parent = Parent(child);
    wait_for("a cluster of another process", || {
        let ended = parent.0.try_wait().expect("a child");
        assert!(ended.is_none(), "the parent ended: {ended:?}");
        directory.path().join("up").exists().then_some(())
    });
    let path = directory.path().join(PROCESSES_NAME);
    let busy = reap_orphans(&path).expect_err("the parent lives").to_string();
    assert!(busy.contains("still going on"), "{busy}");
    parent.0.kill().and_then(|()| parent.0.wait()).expect("our own child");

    let nodes = entries(&path);
    assert_eq!(nodes.len(), 3);
    let alive = |process: &&Process| process.state().expect("readable") != ProcessState::Gone;
    assert_eq!(nodes.iter().filter(alive).count(), 3, "they outlive their parent");
    let marked = marked(&path);
    assert!(marked.len() >= 5, "the nodes, and a client with what it started: {marked:?}");
    let lines = reap_orphans(&path).expect("nobody holds it");
    let killed = |of: &str| {
        lines.iter().filter(|line| line.starts_with(of) && line.ends_with(": killed")).count()
    };
    assert_eq!(killed("n"), 3, "{lines:?}");
    assert_eq!(killed("started by the run"), marked.len() - 3, "{lines:?}");
    assert_eq!(nodes.iter().chain(&marked).filter(alive).count(), 0);
    assert_eq!(reap_orphans(&path).expect("twice is no mistake"), Vec::<String>::new());
}

#[test]
fn a_cluster_that_is_dropped_leaves_nothing() {
    let (directory, cluster) = three(Wiring::Proxied);
    drop(cluster);
    let nodes = entries(&directory.path().join(PROCESSES_NAME));
    assert_eq!(nodes.len(), 3);
    for node in nodes {
        assert_eq!(node.state().expect("readable"), ProcessState::Gone);
    }
}
