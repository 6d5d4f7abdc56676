//! What is said when a cluster does not start.

use crate::support::{kv, kv_with, launch};
use assay_sut::{SutError, SystemSpec, Wiring};
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn failure(spec: &SystemSpec, nodes: usize, options: Value) -> SutError {
    let directory = tempfile::tempdir().expect("a directory");
    let started = launch(spec, nodes, options, directory.path(), Wiring::Proxied);
    started.map(|_| ()).expect_err("it cannot start")
}

#[test]
fn a_node_that_ends_at_once_shows_the_end_of_its_log() {
    let error = failure(&kv_with("\"--id\"", "\"--idd\""), 1, json!({}));
    let SutError::DidNotStart { node, why, tail, .. } = &error else { panic!("{error}") };
    assert_eq!(node, "n1");
    assert!(why.contains("exit status: 64"), "{why}");
    assert!(tail.iter().any(|line| line.contains("--idd")), "{tail:?}");
    assert!(error.to_string().contains("--idd"), "{error}");
}

#[test]
fn a_node_that_is_never_ready_is_given_up() {
    let late = "ready = { get = \"http:/nothing\", within = \"500ms\" }";
    let error = failure(
        &kv_with("ready = { get = \"http:/status\", within = \"30s\" }", late),
        1,
        json!({}),
    );
    assert!(error.to_string().contains("not ready within 500ms"), "{error}");
    assert!(error.to_string().contains("ready node=1"), "{error}");
}

#[test]
fn what_is_missing_or_does_not_fit_is_said_before_anything_starts() {
    let about = "[nodes]";
    let missing = kv_with(about, "requires = [\"sh\", \"no-such-command\"]\n[nodes]");
    let error = failure(&missing, 3, json!({}));
    let SutError::Missing { capabilities } = &error else { panic!("{error}") };
    assert_eq!(capabilities, &["no-such-command"]);

    let error =
        failure(&kv_with("\"{assay}\", \"kv\"", "\"/no/such/program\", \"kv\""), 3, json!({}));
    assert!(matches!(error, SutError::Missing { .. }), "{error}");

    let error = failure(&kv(), 4, json!({}));
    assert!(error.to_string().contains("cannot have 4 nodes; it can have 1, 3, 5, 7"), "{error}");

    for (options, expected) in [
        (json!({"defects": ["stale-read"]}), "\"stale-read\" is none of \"stale-reads\""),
        (json!({"defect": []}), "no option `defect`; there are defects, snapshot-every"),
        (json!({"snapshot-every": "often"}), "is not a number"),
    ] {
        let error = failure(&kv(), 3, options);
        assert!(matches!(error, SutError::BadOption { .. }), "{error}");
        assert!(error.to_string().contains(expected), "{error}");
    }
}

#[test]
fn the_description_of_the_store_knows_every_defect_and_no_other() {
    let problems = |name: &str| {
        kv().option_problems(&BTreeMap::from([("defects".to_string(), json!([name]))]))
    };
    for (_, name) in assay_kv::Defect::ALL {
        assert_eq!(problems(name), Vec::<String>::new());
    }
    let text = include_str!("../../../../systems/kv.toml");
    let values = text.split("values = [").nth(1).and_then(|rest| rest.split(']').next());
    let described = values.expect("a list").matches('"').count() / 2;
    assert_eq!(described, assay_kv::Defect::ALL.len());
}

#[test]
fn options_reach_the_nodes() {
    let directory = tempfile::tempdir().expect("a directory");
    let options = json!({"defects": ["stale-reads", "duplicate-on-retry"]});
    let cluster = launch(&kv(), 1, options, directory.path(), Wiring::Proxied).expect("it starts");
    let process = cluster.process(0).expect("it runs");
    let arguments = std::fs::read(format!("/proc/{}/cmdline", process.pid)).expect("our own child");
    let arguments = String::from_utf8_lossy(&arguments).replace('\0', " ");
    assert!(arguments.contains("--defect stale-reads --defect duplicate-on-retry"), "{arguments}");
    assert!(arguments.contains("--snapshot-every 2000"), "{arguments}");
}
