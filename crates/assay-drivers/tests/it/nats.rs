//! NATS 2.9 or newer, with JetStream.

use crate::client::{
    PATIENCE, SHORT, call, check, dump, kind, open, output, refusal, run_generator,
};
use crate::server::{Server, directory, free_address, program};
use assay_drivers::Client;
use assay_workload::{Call, Reply};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::process::Command;
use std::time::Duration;

const NULL: Value = Value::Null;

fn start_at(address: SocketAddr, more: &[String]) -> Server {
    let directory = directory();
    let mut command = Command::new(program("nats-server", &[], "nats-server"));
    command.args(["-a", &address.ip().to_string(), "-p", &address.port().to_string()]);
    command.arg("-js").arg("-sd").arg(directory.path().join("data")).args(more);
    Server::start(command, address, directory)
}

fn start() -> Server {
    start_at(free_address(), &[])
}

/// Three servers that know each other.
fn cluster() -> [Server; 3] {
    let (clients, peers) = ([(); 3].map(|()| free_address()), [(); 3].map(|()| free_address()));
    let routes = peers.map(|peer| format!("nats://{peer}")).join(",");
    [0, 1, 2].map(|node: usize| {
        let words = ["-n", &format!("n{}", node + 1), "--cluster_name", "c", "--cluster"];
        let more = [&words[..], &[&format!("nats://{}", peers[node]), "--routes", &routes]];
        start_at(clients[node], &more.concat().iter().map(ToString::to_string).collect::<Vec<_>>())
    })
}

fn client(server: &Server, generator: &str, options: Value) -> Box<dyn Client> {
    open("nats", &[server.address], generator, options)
}

#[test]
fn nats_keeps_sets_and_logs() {
    let server = start();
    let mut set = client(&server, "set", json!({ "stream": "sets" }));
    check(
        set.as_mut(),
        &[
            ("read", "k0", NULL, json!([])),
            ("contains", "k0", json!(7), json!(false)),
            ("add", "k0", json!(7), NULL),
            ("add", "k0", json!("x"), NULL),
            ("add", "k1", json!(1), NULL),
            ("contains", "k0", json!(7), json!(true)),
            ("contains", "k0", json!("7"), json!(false)),
            ("read", "k0", NULL, json!([7, "x"])),
            ("add", "no such. key", json!(1), json!("fail")),
            ("frob", "k0", NULL, json!("fail")),
        ],
    );
    assert_eq!(output(set.as_mut(), &dump(0)), json!({ "k0": [7, "x"], "k1": [1] }));
    let mut log = client(&server, "log", json!({ "stream": "logs" }));
    check(
        log.as_mut(),
        &[
            ("read", "k0", json!(0), NULL),
            ("append", "k0", json!(5), json!(0)),
            ("append", "k0", json!("y"), json!(1)),
            ("read", "k0", json!(1), json!("y")),
            ("read", "k0", json!(2), NULL),
            ("read", "k0", NULL, json!([5, "y"])),
        ],
    );
    let once = Call { id: Some("a".to_string()), ..call("append", "k0", json!(6)) };
    for _ in 0..2 {
        assert_eq!(output(log.as_mut(), &once), json!(2), "an id is taken once");
    }
    assert_eq!(output(log.as_mut(), &dump(0)), json!({ "k0": [5, "y", 6] }));
}

#[test]
fn nats_streams_are_read_to_the_end() {
    let server = start();
    let mut set = client(&server, "set", json!({}));
    let all: Vec<Value> = (0..1_500).map(|number| json!(number)).collect();
    for number in &all {
        check(set.as_mut(), &[("add", "k0", number.clone(), NULL)]);
    }
    check(set.as_mut(), &[("read", "k0", NULL, json!(all))]);
}

#[test]
fn nats_has_words_for_whatever_its_generators_do() {
    let server = start();
    for generator in ["set", "log"] {
        let options = json!({ "stream": generator });
        run_generator("nats", &[server.address], generator, options);
    }
}

#[test]
fn nats_that_stops_in_a_call_leaves_it_unknown_and_later_calls_get_their_own_answers() {
    let mut server = start();
    let mut log = client(&server, "log", json!({}));
    check(log.as_mut(), &[("append", "k0", json!(1), json!(0))]);
    check(log.as_mut(), &[("append", "k1", json!(2), json!(0))]);
    server.stop();
    let append = log.call(&call("append", "k0", json!(3)), SHORT);
    assert_eq!(kind(&append), json!("unknown"), "{append:?}");
    let read = log.call(&call("read", "k0", json!(0)), SHORT);
    assert_eq!(kind(&read), json!("fail"), "{read:?}");
    // A client of NATS waits for the server's greeting: what it sends comes after the stop.
    server.resume();
    check(log.as_mut(), &[("read", "k1", json!(0), json!(2)), ("read", "k1", NULL, json!([2]))]);
}

#[test]
fn nats_that_dies_in_a_call_leaves_it_unknown_and_without_nats_calls_fail() {
    let mut server = start();
    let mut set = client(&server, "set", json!({}));
    check(set.as_mut(), &[("add", "k0", json!(1), NULL)]);
    server.stop();
    let under_way = std::thread::spawn(move || {
        let reply = set.call(&call("add", "k0", json!(2)), PATIENCE);
        (set, reply)
    });
    server.until_more_is_unread(0);
    server.kill();
    let (mut set, reply) = under_way.join().expect("no panic");
    assert_eq!(kind(&reply), json!("unknown"), "{reply:?}");
    check(set.as_mut(), &[("add", "k0", json!(3), json!("fail"))]);
}

#[test]
fn nats_streams_with_replicas_outlive_a_node() {
    let mut servers = cluster();
    let addresses = servers.each_ref().map(|server| server.address);
    let mut set = open("nats", &addresses, "set", json!({ "replicas": 3 }));
    // Without a leader nobody answers: so much for one try, but not for all of them.
    let a_try = Duration::from_secs(2);
    let added = |set: &mut dyn Client, element: i64| {
        matches!(set.call(&call("add", "k0", json!(element)), a_try), Reply::Ok { .. })
    };
    servers[0].until("has a leader", |_| added(set.as_mut(), 1));
    servers[2].kill();
    servers[0].until("has a leader again", |_| added(set.as_mut(), 2));
    let mut read = NULL;
    servers[0].until("can be read", |_| {
        read = kind(&set.call(&call("read", "k0", NULL), a_try));
        read.is_array()
    });
    assert_eq!(read, json!([1, 2]));
    assert_eq!(kind(&set.call(&dump(2), PATIENCE)), json!("fail"), "it is dead");
}

#[test]
fn nats_options_that_mean_nothing_are_errors() {
    let cases = [
        ("set", json!({ "replicas": 0 }), "`replicas` is 0"),
        ("set", json!({ "stream": "a.b" }), "`stream` is \"a.b\""),
        ("register", json!({}), "nothing for the generator `register`"),
    ];
    for (generator, options, expected) in cases {
        let message = refusal("nats", generator, options);
        assert!(message.contains(expected), "{message}");
    }
}
