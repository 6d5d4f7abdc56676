//! Each defect shows by a direct check, and the honest store passes the same check.

use crate::cluster::Cluster;
use crate::http::Answer;
use serde_json::{Value, json};

/// Runs `check` without and with the defect; it says whether something was broken.
fn only_with(defect: &str, check: fn(&mut Cluster) -> bool) {
    assert!(!check(&mut Cluster::start(3, &[])), "the honest store fails the check of {defect}");
    let mut broken = Cluster::start(3, &["--defect", defect]);
    assert!(check(&mut broken), "{defect} is switched on and does not show");
}

const WRITE: &str = r#", "key": "x", "input": 1"#;
const READ: &str = r#", "key": "x""#;

fn others(cluster: &Cluster, id: usize) -> Vec<usize> {
    cluster.ids().filter(|other| *other != id).collect()
}

#[test]
fn stale_reads() {
    // A node that was away answers alone, though the others have moved on.
    only_with("stale-reads", |cluster| {
        let leader = cluster.leader();
        let away = others(cluster, leader)[0];
        cluster.kill(away);
        cluster.must(leader, "register.write", WRITE);
        for id in others(cluster, away) {
            cluster.kill(id);
        }
        cluster.start_node(away);
        match cluster.op(away, "register.read", READ) {
            Answer::Ok(value) => value == Value::Null,
            _ => false,
        }
    });
}

#[test]
fn ack_before_commit() {
    // A leader without peers says yes; its peers without the leader have never heard of it.
    only_with("ack-before-commit", |cluster| {
        let leader = cluster.leader();
        let peers = others(cluster, leader);
        for id in &peers {
            cluster.kill(*id);
        }
        let acked = matches!(cluster.op(leader, "register.write", WRITE), Answer::Ok(_));
        cluster.kill(leader);
        for id in &peers {
            cluster.start_node(*id);
        }
        let there = cluster.must(peers[0], "register.read", READ);
        acked && there == Value::Null
    });
}

#[test]
fn forget_on_restart() {
    only_with("forget-on-restart", |cluster| {
        cluster.must(1, "register.write", WRITE);
        for id in cluster.ids() {
            cluster.kill(id);
        }
        for id in cluster.ids() {
            cluster.start_node(id);
        }
        cluster.must(1, "register.read", READ) == Value::Null
    });
}

#[test]
fn forget_on_restart_needs_no_crash_of_all_to_be_survived() {
    // One forgetful node at a time is no loss: the defect must not simply break the cluster.
    let mut cluster = Cluster::start(3, &["--defect", "forget-on-restart"]);
    for round in 0..2 {
        cluster.must(1, "register.write", &format!(r#", "key": "x", "input": {round}"#));
        let follower = others(&cluster, cluster.leader())[round];
        cluster.kill(follower);
        cluster.start_node(follower);
        assert_eq!(cluster.converged()["registers"]["x"], json!(round));
    }
}

#[test]
fn lost_update_on_retry() {
    only_with("lost-update-on-retry", |cluster| {
        let cas = r#", "key": "x", "input": [null, 1], "id": "a""#;
        cluster.must(1, "register.cas", cas);
        cluster.must(2, "register.write", r#", "key": "x", "input": 2"#);
        assert_eq!(cluster.must(3, "register.cas", cas), json!(true));
        cluster.must(1, "register.read", READ) == json!(1)
    });
}

#[test]
fn duplicate_on_retry() {
    only_with("duplicate-on-retry", |cluster| {
        let append = r#", "key": "x", "input": 7, "id": "a""#;
        for id in cluster.ids() {
            cluster.must(id, "log.append", append);
        }
        cluster.must(1, "log.read", READ) != json!([7])
    });
}

#[test]
fn lock_without_fencing() {
    only_with("lock-without-fencing", |cluster| {
        let acquire = r#", "key": "x", "input": {"holder": "p", "ttl_ms": 1}"#;
        let first = cluster.must(1, "lease.acquire", acquire);
        // Tried again until the first lease has run out.
        let second = cluster.must(2, "lease.acquire", acquire);
        assert_eq!((first, second), (json!(1), json!(2)));
        let token = |n: u64| format!(r#", "key": "x", "input": {n}"#);
        cluster.must(3, "lease.use", &token(2));
        matches!(cluster.op(1, "lease.use", &token(1)), Answer::Ok(_))
    });
}
