//! Redis 6.2 or newer.

use crate::client::{
    PATIENCE, SHORT, call, check, dump, kind, open, output, output_after_resume, refusal,
    run_generator,
};
use crate::server::{Server, WAIT_MAX, directory, free_address, program};
use assay_drivers::Client;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::process::Command;
use std::time::Instant;

const NULL: Value = Value::Null;

pub fn start(more: &[&str]) -> Server {
    start_at(free_address(), more)
}

fn start_at(address: SocketAddr, more: &[&str]) -> Server {
    let mut command = Command::new(program("redis-server", &[], "redis-server"));
    let (host, port) = (address.ip().to_string(), address.port().to_string());
    command.args(["--bind", &host, "--port", &port, "--replica-announce-ip", &host]);
    command.args(["--save", "", "--appendonly", "no", "--repl-diskless-sync-delay", "0"]);
    command.args(more);
    Server::start(command, address, directory())
}

fn replica_of(master: SocketAddr, more: &[&str]) -> Server {
    let (host, port) = (master.ip().to_string(), master.port().to_string());
    start(&[&["--replicaof", &host, &port][..], more].concat())
}

/// What `redis-cli` says.
pub fn cli(address: SocketAddr, words: &[&str]) -> String {
    let mut command = Command::new(program("redis-cli", &[], "redis-tools"));
    command.args(["-h", &address.ip().to_string(), "-p", &address.port().to_string()]);
    let said = command.args(words).output().expect("it runs");
    String::from_utf8_lossy(&said.stdout).into_owned()
}

pub fn client(server: &Server, generator: &str, options: Value) -> Box<dyn Client> {
    open("redis", &[server.address], generator, options)
}

#[test]
fn redis_keeps_registers() {
    let server = start(&[]);
    let mut client = client(&server, "register", json!({}));
    let text = json!("a \"quoted\" text\r\n");
    check(
        client.as_mut(),
        &[
            ("read", "k0", NULL, NULL),
            ("cas", "k0", json!([5, 6]), json!(false)),
            ("cas", "k0", json!([null, 1]), json!(true)),
            ("write", "k0", json!(2), NULL),
            ("cas", "k0", json!([1, 3]), json!(false)),
            ("cas", "k0", json!([2, 3]), json!(true)),
            ("read", "k0", NULL, json!(3)),
            ("write", "k1", text.clone(), NULL),
            ("read", "k1", NULL, text.clone()),
            ("frob", "k1", NULL, json!("fail")),
        ],
    );
    assert_eq!(output(client.as_mut(), &dump(0)), json!({ "k0": 3, "k1": text }));
}

#[test]
fn redis_keeps_sets_counters_and_queues() {
    let server = start(&[]);
    let mut set = client(&server, "set", json!({}));
    check(
        set.as_mut(),
        &[
            ("read", "k0", NULL, json!([])),
            ("add", "k0", json!(7), json!(true)),
            ("add", "k0", json!(7), json!(false)),
            ("add", "k0", json!("x"), json!(true)),
            ("contains", "k0", json!(7), json!(true)),
            ("contains", "k0", json!("7"), json!(false)),
            ("read", "k0", NULL, json!(["x", 7])),
        ],
    );
    assert_eq!(output(set.as_mut(), &dump(0)), json!({ "k0": ["x", 7] }));
    let mut counter = client(&server, "counter", json!({}));
    check(
        counter.as_mut(),
        &[
            ("read", "k0", NULL, json!(0)),
            ("add", "k0", json!(9), NULL),
            ("inc", "k0", NULL, NULL),
            ("dec", "k0", NULL, NULL),
            ("dec", "k0", json!(12), NULL),
            ("read", "k0", NULL, json!(-3)),
            ("add", "k0", json!("x"), json!("fail")),
        ],
    );
    assert_eq!(output(counter.as_mut(), &dump(0)), json!({ "k0": -3 }));
    let mut queue = client(&server, "queue", json!({}));
    check(
        queue.as_mut(),
        &[
            ("dequeue", "k0", NULL, NULL),
            ("enqueue", "k0", json!({ "id": "a" }), NULL),
            ("enqueue", "k0", json!(2), NULL),
            ("enqueue", "k0", json!(3), NULL),
            ("dequeue", "k0", NULL, json!({ "id": "a" })),
        ],
    );
    let accepted = json!([{ "id": "a" }, 2, 3]);
    assert_eq!(output(queue.as_mut(), &dump(0)), json!({ "k0": accepted }));
    let of_key = |key: &str| assay_workload::Call { key: Some(json!(key)), ..dump(0) };
    assert_eq!(output(queue.as_mut(), &of_key("k0")), accepted);
    assert_eq!(output(queue.as_mut(), &of_key("k1")), json!([]));
}

#[test]
fn redis_locks_have_one_holder_and_rising_tokens() {
    let server = start(&[]);
    for fencing in [false, true] {
        let options = json!({ "fencing": fencing, "ttl": 0 });
        let token = |number: i64| if fencing { json!(number) } else { NULL };
        let mut one = client(&server, "lock", options.clone());
        let mut two = client(&server, "lock", options);
        check(one.as_mut(), &[("acquire", "k0", json!("c0"), token(1))]);
        check(one.as_mut(), &[("acquire", "k0", json!("c0"), json!("fail"))]);
        check(two.as_mut(), &[("acquire", "k0", json!("c1"), json!("fail"))]);
        check(two.as_mut(), &[("release", "k0", json!("c1"), json!("fail"))]);
        assert_eq!(output(two.as_mut(), &dump(0)), json!({ "k0": "c0" }));
        check(one.as_mut(), &[("release", "k0", json!("c0"), NULL)]);
        check(one.as_mut(), &[("release", "k0", json!("c0"), json!("fail"))]);
        check(two.as_mut(), &[("acquire", "k0", json!("c1"), token(2))]);
        check(two.as_mut(), &[("release", "k0", json!("c1"), NULL)]);
    }
    let mut brief = client(&server, "lock", json!({ "ttl": 1 }));
    check(brief.as_mut(), &[("acquire", "k1", json!("c0"), NULL)]);
    let began = Instant::now();
    let mut next = client(&server, "lock", json!({}));
    while kind(&next.call(&call("acquire", "k1", json!("c1")), PATIENCE)) != NULL {
        assert!(began.elapsed() < WAIT_MAX, "a lock outlives its time");
    }
}

#[test]
fn redis_has_words_for_whatever_its_generators_do() {
    let server = start(&[]);
    for generator in ["register", "map", "session", "set", "counter", "queue", "lock"] {
        run_generator("redis", &[server.address], generator, json!({}));
    }
}

#[test]
fn redis_that_stops_in_a_call_leaves_it_unknown_and_later_calls_get_their_own_answers() {
    let mut server = start(&[]);
    let mut client = client(&server, "register", json!({}));
    check(client.as_mut(), &[("write", "k0", json!(1), NULL), ("write", "k1", json!(2), NULL)]);
    server.stop();
    let write = client.call(&call("write", "k2", json!(3)), SHORT);
    assert_eq!(kind(&write), json!("unknown"), "{write:?}");
    let read = client.call(&call("read", "k0", NULL), SHORT);
    assert_eq!(kind(&read), json!("fail"), "{read:?}");
    let read = call("read", "k1", NULL);
    let answer = output_after_resume(&mut server, client.as_mut(), &read);
    assert_eq!(answer, json!(2));
    check(client.as_mut(), &[("read", "k1", NULL, json!(2)), ("read", "k0", NULL, json!(1))]);
}

#[test]
fn redis_that_dies_in_a_call_leaves_it_unknown_and_without_redis_calls_fail() {
    let mut server = start(&[]);
    let mut client = client(&server, "register", json!({}));
    check(client.as_mut(), &[("write", "k0", json!(1), NULL)]);
    server.stop();
    let under_way = std::thread::spawn(move || {
        let reply = client.call(&call("write", "k0", json!(2)), PATIENCE);
        (client, reply)
    });
    server.until_more_is_unread(0);
    server.kill();
    let (mut client, reply) = under_way.join().expect("no panic");
    assert_eq!(kind(&reply), json!("unknown"), "{reply:?}");
    check(client.as_mut(), &[("write", "k0", json!(3), json!("fail"))]);
}

#[test]
fn redis_that_was_killed_between_calls_has_refused_the_next() {
    let mut server = start(&[]);
    let mut client = client(&server, "register", json!({}));
    check(client.as_mut(), &[("write", "k0", json!(1), NULL)]);
    server.kill();
    check(client.as_mut(), &[("write", "k0", json!(2), json!("fail"))]);
}

#[test]
fn redis_writes_wait_for_replicas_and_replicas_refuse_them() {
    let master = start(&[]);
    let mut alone = client(&master, "register", json!({ "wait": 1 }));
    let reply = alone.call(&call("write", "k0", json!(1)), SHORT);
    assert_eq!(kind(&reply), json!("unknown"), "{reply:?}");
    // A read has nothing to wait for, nor has a cas that did not swap.
    check(
        alone.as_mut(),
        &[("read", "k0", NULL, json!(1)), ("cas", "k0", json!([9, 9]), json!(false))],
    );
    let replica = replica_of(master.address, &[]);
    check(alone.as_mut(), &[("write", "k0", json!(2), NULL)]);
    let nodes = [replica.address, master.address];
    let mut client = open("redis", &nodes, "register", json!({}));
    check(
        client.as_mut(),
        &[("write", "k0", json!(3), json!("fail")), ("read", "k0", NULL, json!(2))],
    );
    for node in 0..2 {
        assert_eq!(output(client.as_mut(), &dump(node)), json!({ "k0": 2 }), "node {node}");
    }
}

#[test]
fn redis_behind_a_sentinel_is_followed_to_the_new_master() {
    let mut master = start(&[]);
    let mut replica = replica_of(master.address, &[]);
    replica.until("is in sync", |replica| {
        cli(replica.address, &["INFO", "replication"]).contains("master_link_status:up")
    });
    let mut sentinels = [sentinel(&master, 26_401), sentinel(&replica, 26_402)];
    for sentinel in &mut sentinels {
        tell(sentinel.address, &master);
        sentinel.until("finds the replica", |sentinel| {
            cli(sentinel.address, &["SENTINEL", "replicas", "m"]).contains("ip")
        });
    }
    let addresses = sentinels.each_ref().map(|sentinel| sentinel.address);
    let mut client = open("redis", &addresses, "register", json!({ "sentinel": "m" }));
    let decided = |client: &mut dyn Client, value: i64| {
        let reply = client.call(&call("write", "k0", json!(value)), PATIENCE);
        match reply {
            assay_workload::Reply::Ok { node, .. } => node,
            _ => None,
        }
    };
    assert_eq!(decided(client.as_mut(), 1).as_deref(), Some("n1"));
    for node in 0..2 {
        master.until("is copied", |_| output(client.as_mut(), &dump(node)) == json!({ "k0": 1 }));
    }
    // A Sentinel that knows of the replica may not have looked at it yet, and then refuses.
    sentinels[0].until("agrees to the failover", |sentinel| {
        cli(sentinel.address, &["SENTINEL", "FAILOVER", "m"]).contains("OK")
    });
    let mut value = 1;
    replica.until("is master", |_| {
        value += 1;
        decided(client.as_mut(), value).as_deref() == Some("n2")
    });
    assert_eq!(output(client.as_mut(), &call("read", "k0", NULL)), json!(value));
}

/// A Sentinel on the host of a node.
fn sentinel(of: &Server, port: u16) -> Server {
    let directory = directory();
    let (host, config) = (of.address.ip(), directory.path().join("sentinel.conf"));
    std::fs::write(&config, format!("bind {host}\nport {port}\n")).expect("a file");
    let mut command = Command::new(program("redis-server", &[], "redis-server"));
    command.arg(config).arg("--sentinel");
    Server::start(command, SocketAddr::new(host, port), directory)
}

fn tell(sentinel: SocketAddr, master: &Server) {
    let (host, port) = (master.address.ip().to_string(), master.address.port().to_string());
    assert!(cli(sentinel, &["SENTINEL", "MONITOR", "m", &host, &port, "1"]).contains("OK"));
}

#[test]
fn redis_options_that_mean_nothing_are_errors() {
    let cases = [
        ("register", json!({ "wait": "all" }), "`wait` is \"all\""),
        ("register", json!({ "sentinel": true }), "`sentinel` is true"),
        ("lock", json!({ "ttl": -1 }), "`ttl` is -1"),
        ("lock", json!({ "fencing": "yes" }), "`fencing` is \"yes\""),
        ("bank", json!({}), "nothing for the generator `bank`"),
    ];
    for (generator, options, expected) in cases {
        let message = refusal("redis", generator, options);
        assert!(message.contains(expected), "{message}");
    }
}
