//! The command line of a node, and directories that are not its own.

use crate::cluster::Cluster;
use std::process::{Command, Stdio};

fn node(args: &[&str]) -> (i32, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_assay"))
        .args(["kv", "node"])
        .args(args)
        .stdin(Stdio::null())
        .output()
        .expect("assay runs");
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code().expect("it ends by itself"), err)
}

#[test]
fn bad_flags_are_usage_errors() {
    let base = ["--id", "1", "--listen", "127.0.0.1:0", "--data", "unused"];
    let cases: [(&[&str], &str); 7] = [
        (&["--peer", "2"], "expected ID=HOST:PORT"),
        (&["--peer", "2=127.0.0.1"], "expected HOST:PORT"),
        (&["--peer", "0=127.0.0.1:1"], "expected ID=HOST:PORT"),
        (&["--peer", "2=127.0.0.1:1", "--peer", "2=127.0.0.1:2"], "names node 2 twice"),
        (&["--defect", "none"], "there is no such defect; there are stale-reads"),
        (&["--snapshot-every", "1"], "10..=1000000"),
        (&["--fly"], "unexpected argument"),
    ];
    for (args, expected) in cases {
        let (code, err) = node(&[&base, args].concat());
        assert_eq!(code, 64, "{args:?}: {err}");
        assert!(err.contains(expected), "{args:?}: {err}");
    }
    assert_eq!(node(&["--id", "0", "--listen", "127.0.0.1:0", "--data", "unused"]).0, 64);
    assert_eq!(node(&["--id", "1"]).0, 64);
}

#[test]
fn a_directory_in_use_or_of_another_node_is_refused() {
    let mut cluster = Cluster::start(3, &[]);
    let again = cluster.command(1).output().expect("assay runs");
    let err = String::from_utf8_lossy(&again.stderr);
    assert_eq!(again.status.code(), Some(75), "{err}");
    assert!(err.contains("another process uses this data directory"), "{err}");
    cluster.kill(1);
    let mut other = cluster.command(1);
    other.args(["--peer", "4=127.0.0.1:1"]);
    let other = other.output().expect("assay runs");
    let err = String::from_utf8_lossy(&other.stderr);
    assert_eq!(other.status.code(), Some(65), "{err}");
    assert!(err.contains("members cannot be changed"), "{err}");
}

#[test]
fn the_directory_of_another_id_is_refused_and_so_is_a_damaged_one() {
    let scratch = tempfile::tempdir().expect("a temporary directory");
    let data = scratch.path().display().to_string();
    let label = r#"{"format":"assay-kv","version":1,"id":2,"members":[1]}"#;
    std::fs::write(scratch.path().join("node.json"), label).expect("it can be written");
    let start = ["--id", "1", "--listen", "127.0.0.1:0", "--data", &data];
    let (code, err) = node(&start);
    assert_eq!(code, 65, "{err}");
    assert!(err.contains("belongs to node 2, not to node 1"), "{err}");
    let label = label.replace("\"id\":2", "\"id\":1");
    std::fs::write(scratch.path().join("node.json"), label).expect("it can be written");
    std::fs::write(scratch.path().join("log"), "rubbish").expect("it can be written");
    let (code, err) = node(&start);
    assert_eq!(code, 65, "{err}");
    assert!(err.contains("corrupt at byte 0"), "{err}");
}
