//! Real servers in namespaces of their own: reached by clients and by probes, cut off by packets.
//!
//! The program starts itself again inside namespaces, so it has no test harness.

use assay_kernel::inside::{Place, enter};
use assay_kernel::net::{CLIENTS, DirectedRule, HubKind, PacketRule};
use assay_sut::{Cluster, Launch, SystemSpec, Wiring};
use assay_workload::{Call, Reply};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Three servers that do not know of each other.
const REDIS: &str = r#"
about = "Redis servers side by side"
requires = ["redis-server"]

[nodes]
default = 3
allowed = [3]

[ports]
redis = ["peers", "clients"]

[node]
command = [
    "redis-server", "--port", "{listen.redis.port}", "--bind", "{listen.redis.host}",
    "--protected-mode", "no", "--dir", "{data}", "--save", "",
]
ready = { connect = "redis", within = "30s" }
stop = { signal = "term", grace = "5s" }

[client]
builtin = "redis"
retries = "none"
reason = "each call is one command on one connection, sent at most once"
"#;

fn main() {
    if Command::new("redis-server").arg("--version").output().is_err() {
        eprintln!("SKIPPED: no redis-server here");
        return;
    }
    match enter() {
        Ok(Place::Inside) => {}
        Ok(Place::Outside { code }) => std::process::exit(code),
        Err(error) => {
            eprintln!("SKIPPED: {error}");
            return;
        }
    }
    for hub in [HubKind::Bridge, HubKind::Switch] {
        nodes_are_reached_and_cut_off(hub);
        println!("test nodes_in_namespaces_are_reached_and_cut_off ({hub:?}) ... ok");
    }
    for (system, nodes, op) in DESCRIBED {
        match a_described_system_serves(system, nodes, op) {
            true => println!("test a_described_system_serves_in_namespaces ({system}) ... ok"),
            false => eprintln!("SKIPPED: the programs of {system} are not here"),
        }
    }
}

/// Systems that come with Assay, how many nodes they get here, and how something is written.
const DESCRIBED: [(&str, usize, (&str, &str)); 6] = [
    ("etcd", 3, ("register", "write")),
    ("nats", 3, ("set", "add")),
    ("postgres", 3, ("set", "add")),
    ("redis", 1, ("register", "write")),
    ("redis-sentinel", 3, ("set", "add")),
    ("zookeeper", 3, ("register", "write")),
];

/// Whether its programs are here; if they are, it starts and takes a write.
fn a_described_system_serves(system: &str, nodes: usize, (generator, op): (&str, &str)) -> bool {
    let spec = assay_sut::load(system, None).expect("it is built in");
    let releases = spec.releases();
    let release = releases.iter().map(|(release, _)| *release).find(|one| spec.is_at_hand(one));
    let Some(release) = release else { return false };
    let options = BTreeMap::from([("release".to_string(), json!(release))]);
    let directory = tempfile::tempdir().expect("a temporary directory");
    let launch = Launch { nodes, options: &options, generator, ..launch(&spec, directory.path()) };
    let cluster = Cluster::start(&launch).unwrap_or_else(|error| panic!("{system}: {error}"));
    let until = std::time::Instant::now() + Duration::from_secs(60);
    loop {
        let written = ask(&cluster, 0, op, json!(1));
        if matches!(written, Reply::Ok { .. }) {
            break;
        }
        assert!(std::time::Instant::now() < until, "{system}: {written:?}");
    }
    cluster.stop();
    true
}

fn launch<'l>(spec: &'l SystemSpec, directory: &'l Path) -> Launch<'l> {
    static NO_OPTIONS: BTreeMap<String, Value> = BTreeMap::new();
    Launch {
        spec,
        nodes: 3,
        options: &NO_OPTIONS,
        directory,
        seed: 1,
        generator: "register",
        executable: Path::new("/proc/self/exe"),
        wiring: Wiring::Namespaces(HubKind::Bridge),
        gear: assay_sut::Gear::default(),
    }
}

fn start(directory: &Path, hub: HubKind) -> Cluster {
    let spec = SystemSpec::parse("redis-3", "redis-3.toml", REDIS).expect("a description");
    let launch = Launch { wiring: Wiring::Namespaces(hub), ..launch(&spec, directory) };
    Cluster::start(&launch).unwrap_or_else(|error| panic!("{error}"))
}

fn ask(cluster: &Cluster, client: usize, op: &str, input: Value) -> Reply {
    let mut client = cluster.client(client).expect("a client");
    client.call(&Call::new(op, Some("x".into()), input), Duration::from_secs(2))
}

fn nodes_are_reached_and_cut_off(hub: HubKind) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let cluster = start(directory.path(), hub);
    let network = cluster.network().expect("it was asked for");
    let passed = |to: &str| network.count(CLIENTS, to).expect("counters").forwarded;
    for node in 0..3 {
        let before = passed(&cluster.names()[node]);
        let written = ask(&cluster, node, "write", json!(node));
        assert!(matches!(written, Reply::Ok { .. }), "{written:?}");
        assert!(passed(&cluster.names()[node]) > before, "clients speak from their namespace");
    }
    // They do not know of each other, so each has its own value.
    for node in 0..3 {
        let read = ask(&cluster, node, "read", Value::Null);
        assert!(matches!(&read, Reply::Ok { output, .. } if *output == json!(node)), "{read:?}");
    }
    let (from, to) = (CLIENTS.to_string(), "n2".to_string());
    let cut = DirectedRule { from, to, rule: PacketRule::cut() };
    let layer = network.impose(&[cut]).expect("it can be cut");
    let unreached = ask(&cluster, 1, "read", Value::Null);
    assert!(!matches!(unreached, Reply::Ok { .. }), "{unreached:?}");
    assert!(network.count(CLIENTS, "n2").expect("counters").dropped > 0);
    let reached = ask(&cluster, 0, "read", Value::Null);
    assert!(matches!(reached, Reply::Ok { .. }), "{reached:?}");
    network.lift(layer).expect("it is there");
    let again = ask(&cluster, 1, "read", Value::Null);
    assert!(matches!(again, Reply::Ok { .. }), "{again:?}");
    assert_eq!(cluster.bypasses(), Vec::<String>::new());
    let process = cluster.process(2).expect("it runs");
    process.kill().expect("it can be killed");
    cluster.restart(2).expect("it starts again, in its namespace");
    let back = ask(&cluster, 2, "write", json!(7));
    assert!(matches!(back, Reply::Ok { .. }), "{back:?}");
    drop(network);
    cluster.stop();
}
