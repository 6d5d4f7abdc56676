//! A healthy cluster: every node serves, bad requests are told so, a stop is clean.

use crate::cluster::{Cluster, wait_for};
use crate::http::{Answer, Client};
use serde_json::json;
use std::time::Instant;

#[test]
fn a_write_through_any_node_is_read_through_every_node() {
    for size in [3, 5] {
        let cluster = Cluster::start(size, &[]);
        for writer in cluster.ids() {
            let write = format!(r#", "key": "x", "input": {writer}"#);
            cluster.must(writer, "register.write", &write);
            for reader in cluster.ids() {
                let read = cluster.must(reader, "register.read", r#", "key": "x""#);
                assert_eq!(read, json!(writer), "read at {reader} after a write at {writer}");
            }
        }
        assert_eq!(cluster.converged()["registers"]["x"], json!(size));
        let voters = cluster.must(2, "members", "")["voters"].clone();
        assert_eq!(voters, json!(cluster.ids().collect::<Vec<_>>()));
    }
}

#[test]
fn every_kind_of_object_works_over_http() {
    let cluster = Cluster::start(3, &[]);
    let steps = [
        ("map.put", r#", "key": 1, "input": ["a", 5]"#, json!(null)),
        ("map.get", r#", "key": 1, "input": "a""#, json!(5)),
        (
            "txn",
            r#", "input": [["append", 7, 1], ["r", 7, null]]"#,
            json!([["append", 7, 1], ["r", 7, [1]]]),
        ),
        ("txn", r#", "input": [["r", 7, null]]"#, json!([["r", 7, [1]]])),
        ("counter.add", r#", "key": 1, "input": 3"#, json!(null)),
        ("counter.read", r#", "key": 1"#, json!(3)),
        ("set.add", r#", "key": 1, "input": 3"#, json!(true)),
        ("set.read", r#", "key": 1"#, json!([3])),
        ("queue.enqueue", r#", "key": 1, "input": 3"#, json!(null)),
        ("queue.dequeue", r#", "key": 1"#, json!(3)),
        ("log.append", r#", "key": 1, "input": 3"#, json!(0)),
        ("log.read", r#", "key": 1, "input": 0"#, json!(3)),
        ("lock.acquire", r#", "key": 1, "input": "p""#, json!(null)),
        ("lock.release", r#", "key": 1, "input": "p""#, json!(null)),
        ("lease.acquire", r#", "key": 1, "input": {"holder": "p", "ttl_ms": 60000}"#, json!(1)),
        ("lease.use", r#", "key": 1, "input": 1"#, json!(null)),
        ("bank.open", r#", "key": 1, "input": {"account": "a", "balance": 9}"#, json!(null)),
        ("bank.read", r#", "key": 1"#, json!({"a": 9})),
    ];
    for (i, (op, more, expected)) in steps.into_iter().enumerate() {
        let answer = cluster.op(i % 3 + 1, op, more);
        assert_eq!(answer, Answer::Ok(expected), "{op}{more}");
    }
    let held =
        cluster.op(1, "lease.acquire", r#", "key": 1, "input": {"holder": "q", "ttl_ms": 9}"#);
    assert_eq!(held, Answer::Fail("held by p".to_string()));
}

#[test]
fn bad_requests_are_told_what_is_wrong_and_the_node_goes_on() {
    let cluster = Cluster::start(3, &[]);
    let cases = [
        ("POST", "/op", "", 400, "not a request"),
        ("POST", "/op", "{", 400, "not a request"),
        ("POST", "/op", r#"{"op": "fly", "key": 1}"#, 400, "there is no op"),
        ("POST", "/op", r#"{"op": "register.read"}"#, 400, "key must be"),
        ("POST", "/raft/9/vote", "{}", 421, "this is node 1, not node 9"),
        ("POST", "/raft/1/vote", "{}", 400, "missing field"),
        ("POST", "/raft/one/vote", "{}", 400, ""),
        ("GET", "/op", "", 405, ""),
        ("GET", "/nothing", "", 404, ""),
    ];
    for (method, path, body, status, text) in cases {
        let answer = Client::new(cluster.port(1)).raw(method, path, body).expect("an answer");
        assert_eq!(answer.0, status, "{method} {path} {body}: {answer:?}");
        assert!(answer.1.contains(text), "{method} {path} {body}: {answer:?}");
    }
    let long =
        format!(r#"{{"op": "register.write", "key": 1, "input": "{}"}}"#, "x".repeat(1 << 17));
    let answer = Client::new(cluster.port(1)).raw("POST", "/op", &long).expect("an answer");
    assert_eq!(answer.0, 413, "{answer:?}");
    cluster.must(1, "register.write", r#", "key": 1, "input": 1"#);
    let status = cluster.status(1).expect("it runs");
    assert_eq!(status["counters"]["requests"]["bad"], 4, "{status}");
    assert_eq!(status["counters"]["messages_misdirected"], 1, "{status}");
}

#[test]
fn a_stop_is_clean_and_the_cluster_comes_back_with_its_data() {
    let mut cluster = Cluster::start(3, &[]);
    cluster.must(1, "register.write", r#", "key": "x", "input": 1"#);
    for id in cluster.ids() {
        assert_eq!(cluster.stop(id), Some(0));
    }
    for id in cluster.ids() {
        cluster.start_node(id);
    }
    assert_eq!(cluster.must(2, "register.read", r#", "key": "x""#), json!(1));
}

#[test]
fn a_node_says_what_it_is_and_what_it_has_counted() {
    let cluster = Cluster::start(3, &["--defect", "stale-reads"]);
    cluster.must(1, "register.write", r#", "key": "x", "input": 1"#);
    let leader = cluster.leader();
    let status = cluster.status(leader).expect("it runs");
    assert_eq!(status["defects"], json!(["stale-reads"]));
    assert_eq!((&status["role"], &status["leader"]), (&json!("leader"), &json!(leader)));
    assert_eq!(status["voters"], json!([1, 2, 3]));
    assert!(status["counters"]["elections_started"].as_u64() >= Some(1), "{status}");
    wait_for("health of all", || {
        let health = |id| Client::new(cluster.port(id)).get("/health").ok();
        cluster.ids().all(|id| health(id).is_some_and(|h| h["healthy"] == true)).then_some(())
    });
}

#[test]
fn many_clients_at_once_are_all_served() {
    const CLIENTS: usize = 64;
    const REQUESTS: usize = 100;
    let cluster = Cluster::start(3, &[]);
    let leader = cluster.leader();
    for (op, input) in [("counter.add", json!(1)), ("counter.read", json!(null))] {
        let start = Instant::now();
        std::thread::scope(|scope| {
            for _ in 0..CLIENTS {
                scope.spawn(|| {
                    let mut client = Client::new(cluster.port(leader));
                    for _ in 0..REQUESTS {
                        let answer = client.op(&json!({"op": op, "key": 1, "input": input}));
                        assert!(matches!(answer, Answer::Ok(_)), "{op}: {answer:?}");
                    }
                });
            }
        });
        let rate = (CLIENTS * REQUESTS) as f64 / start.elapsed().as_secs_f64();
        eprintln!("{op}: {rate:.0} requests per second from {CLIENTS} clients");
    }
    let sum = cluster.must(leader, "counter.read", r#", "key": 1"#);
    assert_eq!(sum, json!(CLIENTS * REQUESTS));
    let status = cluster.status(leader).expect("it runs");
    let batches = status["counters"]["batches_proposed"].as_u64().expect("a count");
    assert!(batches < (CLIENTS * REQUESTS / 4) as u64, "{batches} entries: nothing was batched");
}
