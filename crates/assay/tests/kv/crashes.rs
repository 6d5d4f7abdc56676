//! Nodes that are killed or frozen under load: nothing acknowledged is lost, nothing happens twice.

use crate::cluster::{Cluster, wait_for};
use crate::http::{Answer, Client};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Clients that append to one log until they are told to stop.
const CLIENTS: usize = 6;

/// After a request that came to nothing: a dead node is not asked as fast as the machine can.
const PAUSE: Duration = Duration::from_millis(10);

/// What the clients of [`under_load`] saw.
struct Load {
    acked: BTreeSet<u64>,
    sent: u64,
}

/// Runs `act` while clients append numbers, each client at its own node. A request without an
/// answer is tried again with the same id until there is one.
fn under_load(ports: &[u16], first: u64, act: impl FnOnce(&AtomicU64)) -> Load {
    let (next, acks, stop) = (AtomicU64::new(first), AtomicU64::new(0), AtomicBool::new(false));
    let client = |port: u16| {
        let (mut client, mut acked) = (Client::new(port), Vec::new());
        while !stop.load(Ordering::Relaxed) {
            let n = next.fetch_add(1, Ordering::Relaxed);
            let request = json!({"op": "log.append", "key": "l", "input": n, "id": n.to_string()});
            // The node may be dead: then the number stays unacknowledged.
            for _ in 0..3 {
                if let Answer::Ok(_) = client.op(&request) {
                    acked.push(n);
                    acks.fetch_add(1, Ordering::Relaxed);
                    break;
                }
                std::thread::park_timeout(PAUSE);
            }
        }
        acked
    };
    std::thread::scope(|scope| {
        let client = &client;
        let threads: Vec<_> = (0..CLIENTS)
            .map(|i| ports[i % ports.len()])
            .map(|port| scope.spawn(move || client(port)))
            .collect();
        act(&acks);
        stop.store(true, Ordering::Relaxed);
        let acked = threads.into_iter().flat_map(|thread| thread.join().expect("a client"));
        Load { acked: acked.collect(), sent: next.load(Ordering::Relaxed) - first }
    })
}

fn ports(cluster: &Cluster) -> Vec<u16> {
    cluster.ids().map(|id| cluster.port(id)).collect()
}

/// Waits for `more` acknowledgements.
fn more_acks(acks: &AtomicU64, more: u64) {
    let target = acks.load(Ordering::Relaxed) + more;
    wait_for("acknowledgements", || (acks.load(Ordering::Relaxed) >= target).then_some(()));
}

/// Every acknowledged number is in the log once; every other number at most once.
fn nothing_lost_or_doubled(state: &Value, load: &Load) {
    let log = state["logs"]["l"].as_array().cloned().unwrap_or_default();
    let mut counts = std::collections::BTreeMap::new();
    for number in log.iter().filter_map(Value::as_u64) {
        *counts.entry(number).or_insert(0) += 1;
    }
    let lost: Vec<&u64> = load.acked.iter().filter(|n| !counts.contains_key(n)).collect();
    let doubled: Vec<_> = counts.iter().filter(|(_, count)| **count > 1).collect();
    assert!(lost.is_empty(), "acknowledged and lost: {lost:?}");
    assert!(doubled.is_empty(), "applied more than once: {doubled:?}");
}

#[test]
fn a_leader_killed_under_load_loses_nothing_and_catches_up() {
    let mut cluster = Cluster::start(3, &["--snapshot-every", "50"]);
    let load = under_load(&ports(&cluster), 0, |acks| {
        for _ in 0..4 {
            more_acks(acks, 100);
            let leader = cluster.leader();
            cluster.kill(leader);
            cluster.leader();
            more_acks(acks, 100);
            cluster.start_node(leader);
        }
        more_acks(acks, 100);
    });
    let state = cluster.converged();
    nothing_lost_or_doubled(&state, &load);
    let status = cluster.status(1).expect("it runs");
    assert!(status["snapshot"].as_u64() >= Some(50), "{status}");
    assert!(status["purged"].is_u64(), "{status}");
    eprintln!("{} acknowledged of {} sent, four leaders killed", load.acked.len(), load.sent);
}

#[test]
fn all_nodes_killed_at_once_lose_nothing() {
    let mut cluster = Cluster::start(3, &["--snapshot-every", "40"]);
    for round in 0..3 {
        let load = under_load(&ports(&cluster), round * 1_000_000, |acks| {
            more_acks(acks, 150);
            for id in cluster.ids() {
                cluster.kill(id);
            }
        });
        for id in cluster.ids() {
            cluster.start_node(id);
        }
        cluster.must(1, "register.write", r#", "key": "x", "input": 1"#);
        nothing_lost_or_doubled(&cluster.converged(), &load);
    }
}

#[test]
fn a_node_that_lost_its_directory_is_sent_a_snapshot() {
    let mut cluster = Cluster::start(3, &["--snapshot-every", "20"]);
    let load = under_load(&ports(&cluster), 0, |acks| more_acks(acks, 300));
    let leader = cluster.leader();
    let victim = if leader == 3 { 2 } else { 3 };
    cluster.kill(victim);
    std::fs::remove_dir_all(cluster.data(victim)).expect("its directory can be removed");
    wait_for("a log that no longer begins at the beginning", || {
        cluster.must(leader, "register.write", r#", "key": "x", "input": 1"#);
        cluster.status(leader)?["purged"].as_u64()
    });
    cluster.start_node(victim);
    nothing_lost_or_doubled(&cluster.converged(), &load);
    let snapshot = wait_for("its snapshot", || cluster.status(victim)?["snapshot"].as_u64());
    assert!(snapshot > 0);
}

#[test]
fn a_frozen_leader_is_replaced_within_a_bound_and_rejoins() {
    let cluster = Cluster::start(3, &[]);
    cluster.must(1, "register.write", r#", "key": "x", "input": 1"#);
    let frozen = cluster.leader();
    let term = cluster.status(frozen).expect("it runs")["term"].as_u64();
    let others: Vec<usize> = cluster.ids().filter(|id| *id != frozen).collect();
    cluster.signal(frozen, "STOP");
    let start = Instant::now();
    let leader = cluster.leader_among(&others);
    let took = start.elapsed();
    assert!(took < Duration::from_secs(10), "{took:?} without a leader");
    let write = r#", "key": "x", "input": 2"#;
    assert_eq!(cluster.must(leader, "register.write", write), json!(null));
    let missed = wait_for("a trace of the pause at the new leader", || {
        let calls = cluster.status(leader)?["counters"]["peer_calls"][frozen.to_string()].clone();
        calls["timeouts"].as_u64().filter(|timeouts| *timeouts > 0)
    });
    cluster.signal(frozen, "CONT");
    // The old leader must not answer from its own state, not even once.
    let read = cluster.must(frozen, "register.read", r#", "key": "x""#);
    assert_eq!(read, json!(2));
    wait_for("the old leader to follow", || {
        let status = cluster.status(frozen)?;
        (status["role"] == "follower" && status["term"].as_u64() > term).then_some(())
    });
    cluster.converged();
    eprintln!("a new leader after {} ms, {missed} calls timed out", took.as_millis());
}

#[test]
fn without_a_majority_writes_are_unknown_and_reads_fail() {
    let mut cluster = Cluster::start(3, &[]);
    let leader = cluster.leader();
    for id in cluster.ids().filter(|id| *id != leader) {
        cluster.kill(id);
    }
    let write = cluster.op(leader, "register.write", r#", "key": "x", "input": 1"#);
    assert!(matches!(write, Answer::Unknown(_)), "{write:?}");
    let read = cluster.op(leader, "register.read", r#", "key": "x""#);
    assert!(matches!(read, Answer::Fail(_)), "{read:?}");
}
