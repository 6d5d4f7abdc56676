//! ZooKeeper 3.8 or newer.

use crate::client::{
    PATIENCE, SHORT, call, check, dump, kind, open, output, output_after_resume, refusal,
    run_generator, target,
};
use crate::server::{Server, directory, free_address, program};
use assay_drivers::Client;
use assay_workload::Reply;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;

const NULL: Value = Value::Null;

fn start_at(address: SocketAddr, number: usize, more: &str) -> Server {
    let java = program("java", &[], "default-jre-headless");
    let jar = program("zookeeper.jar", &[Path::new("/usr/share/java")], "zookeeper");
    let directory = directory();
    let (data, config) = (directory.path().join("data"), directory.path().join("zoo.cfg"));
    std::fs::create_dir(&data).expect("a directory");
    std::fs::write(data.join("myid"), number.to_string()).expect("a file");
    let text = format!(
        "tickTime=500\ninitLimit=20\nsyncLimit=10\ndataDir={}\nclientPort={}\n\
         clientPortAddress={}\nadmin.enableServer=false\n{more}",
        data.display(),
        address.port(),
        address.ip()
    );
    std::fs::write(&config, text).expect("a file");
    let mut command = Command::new(java);
    command.args(["-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]);
    // Its sockets are looked for among those of IPv4.
    command.args(["-Djava.net.preferIPv4Stack=true", "-cp"]).arg(jar);
    command.arg("org.apache.zookeeper.server.quorum.QuorumPeerMain").arg(config);
    Server::start(command, address, directory)
}

fn start() -> Server {
    let mut server = start_at(free_address(), 1, "");
    until_it_serves(&mut server);
    server
}

/// A server that listens may not serve yet.
fn until_it_serves(server: &mut Server) {
    let mut client = client(server, "register", json!({}));
    server.until("serves", |_| {
        matches!(client.call(&call("read", "none", NULL), PATIENCE), Reply::Ok { .. })
    });
}

/// Three servers that know each other.
fn ensemble() -> [Server; 3] {
    let clients = [(); 3].map(|()| free_address());
    let (peers, votes) = ([(); 3].map(|()| free_address()), [(); 3].map(|()| free_address()));
    let mut more = String::new();
    for node in 0..3 {
        // Both ports of a peer are on one host.
        let (host, peer, vote) = (peers[node].ip(), peers[node].port(), votes[node].port());
        more.push_str(&format!("server.{}={host}:{peer}:{vote}\n", node + 1));
    }
    // None listens to clients before there is a leader; so they must not wait for each other.
    let starting = [0, 1, 2].map(|node: usize| {
        let (address, more) = (clients[node], more.clone());
        std::thread::spawn(move || start_at(address, node + 1, &more))
    });
    starting.map(|server| {
        let mut server = server.join().expect("it starts");
        until_it_serves(&mut server);
        server
    })
}

fn client(server: &Server, generator: &str, options: Value) -> Box<dyn Client> {
    open("zookeeper", &[server.address], generator, options)
}

#[test]
fn zookeeper_keeps_registers_and_sets() {
    let server = start();
    let mut register = client(&server, "register", json!({ "reads": "synced" }));
    check(
        register.as_mut(),
        &[
            ("read", "k0", NULL, NULL),
            ("cas", "k0", json!([5, 6]), json!(false)),
            ("cas", "k0", json!([null, 1]), json!(true)),
            ("cas", "k0", json!([null, 2]), json!(false)),
            ("write", "k0", json!(2), NULL),
            ("cas", "k0", json!([1, 3]), json!(false)),
            ("cas", "k0", json!([2, 3]), json!(true)),
            ("read", "k0", NULL, json!(3)),
            ("write", "k1", json!("a text"), NULL),
            ("read", "k1", NULL, json!("a text")),
            ("frob", "k1", NULL, json!("fail")),
        ],
    );
    assert_eq!(output(register.as_mut(), &dump(0)), json!({ "k0": 3, "k1": "a text" }));
    let mut set = client(&server, "set", json!({}));
    check(
        set.as_mut(),
        &[
            ("read", "k0", NULL, json!([])),
            ("contains", "k0", json!(7), json!(false)),
            ("add", "k0", json!(7), json!(true)),
            ("add", "k0", json!(7), json!(false)),
            ("add", "k0", json!("x/y"), json!(true)),
            ("contains", "k0", json!(7), json!(true)),
            ("contains", "k0", json!("7"), json!(false)),
            ("read", "k0", NULL, json!(["x/y", 7])),
        ],
    );
    assert_eq!(output(set.as_mut(), &dump(0)), json!({ "k0": ["x/y", 7] }));
    for generator in ["register", "map", "session", "set"] {
        run_generator("zookeeper", &[server.address], generator, json!({}));
    }
}

#[test]
fn zookeeper_that_stops_in_a_call_leaves_it_unknown_and_later_calls_get_their_own_answers() {
    let mut server = start();
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
fn zookeeper_that_dies_in_a_call_leaves_it_unknown_and_without_zookeeper_calls_fail() {
    let mut server = start();
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
fn zookeeper_ensembles_are_read_at_each_server_and_outlive_one() {
    let mut servers = ensemble();
    let addresses = servers.each_ref().map(|server| server.address);
    let mut clients = [0, 1, 2].map(|own| {
        let reads = ["confirmed", "synced", "confirmed"][own];
        let target = target(&addresses, own, "register", json!({ "reads": reads }));
        assay_drivers::open("zookeeper", target).expect("a client")
    });
    check(clients[0].as_mut(), &[("write", "k0", json!(1), NULL)]);
    for client in &mut clients {
        check(client.as_mut(), &[("read", "k0", NULL, json!(1))]);
    }
    for (node, server) in servers.iter_mut().enumerate() {
        let client = clients[0].as_mut();
        server.until("is copied", |_| output(client, &dump(node)) == json!({ "k0": 1 }));
    }
    servers[2].kill();
    check(clients[2].as_mut(), &[("write", "k0", json!(2), json!("fail"))]);
    servers[0].until("takes writes", |_| {
        let reply = clients[0].call(&call("write", "k0", json!(3)), PATIENCE);
        matches!(reply, Reply::Ok { .. })
    });
    check(clients[1].as_mut(), &[("read", "k0", NULL, json!(3))]);
}

#[test]
fn zookeeper_options_that_mean_nothing_are_errors() {
    let cases = [
        ("register", json!({ "reads": "always" }), "one of `local`, `synced`, `confirmed`"),
        ("queue", json!({}), "nothing for the generator `queue`"),
    ];
    for (generator, options, expected) in cases {
        let message = refusal("zookeeper", generator, options);
        assert!(message.contains(expected), "{message}");
    }
}
