//! What faults do to a cluster, and how it shows.

use crate::support::{kv_with, launch, leader, op, three, wait_for};
use assay_nemesis::{Direction, Flow, LinkRule, Rules};
use assay_sut::{Cluster, Peer, Revived, Shown, SutError, SystemSpec, Wiring};
use serde_json::json;
use std::time::{Duration, Instant};

/// Rules that drop everything between a node and the other nodes.
fn isolation(cluster: &Cluster, node: usize) -> Vec<LinkRule> {
    let others = (0..cluster.names().len()).filter(|other| *other != node);
    let links = others.flat_map(|other| {
        let there = cluster.links(Peer::Node(node), other);
        [there, cluster.links(Peer::Node(other), node)].concat()
    });
    let both = |link| {
        [Direction::Request, Direction::Response].map(|direction| LinkRule {
            link,
            direction,
            rules: Rules::flow(Flow::Drop),
        })
    };
    links.flat_map(both).collect()
}

#[test]
fn a_leader_that_is_cut_off_is_replaced_and_elections_move() {
    let (_directory, cluster) = three(Wiring::Proxied);
    let old = leader(&cluster);
    let before = cluster.signal("elections", None).expect("it can be read");
    let rules = isolation(&cluster, old);
    assert_eq!(rules.len(), 8);
    let layer = cluster.mesh().impose(&rules);
    let new = wait_for("another leader", || {
        let leaders = cluster.role("leader").ok()?;
        leaders.first().copied().filter(|new| *new != old && leaders.len() == 1)
    });
    wait_for("more elections", || cluster.signal("elections", None).filter(|now| *now > before));
    let write = json!({"op": "register.write", "key": "x", "input": 7});
    wait_for("a write at the new leader", || op(cluster.client_addresses()[new], &write));
    // Connections that come and go are what a look in between may misjudge.
    let read = json!({"op": "register.read", "key": "x"});
    for _ in 0..200 {
        op(cluster.client_addresses()[new], &read);
    }
    assert!(matches!(cluster.quiescence().converged, Shown::No(_) | Shown::Unknown(_)));
    cluster.mesh().lift(layer);
    wait_for("equal replicas", || {
        matches!(cluster.quiescence().converged, Shown::Yes(_)).then_some(())
    });
    assert_eq!(cluster.bypasses(), Vec::<String>::new());
}

#[test]
fn a_killed_node_is_seen_to_be_gone_and_comes_back_with_its_data() {
    let (_directory, cluster) = three(Wiring::Proxied);
    let write = json!({"op": "register.write", "key": "x", "input": 7});
    wait_for("a write", || op(cluster.client_addresses()[0], &write));
    let running = cluster.restart(1).expect_err("it still runs");
    assert!(matches!(running, SutError::StillRunning { .. }), "{running}");
    let elections = cluster.signal("elections", None).expect("it can be read");
    let killed = cluster.process(1).expect("it runs");
    killed.kill().expect("our own child");
    assert_eq!(cluster.process(1), None);
    assert_eq!(cluster.signal("elections", Some(1)), None);
    let again = cluster.restart(1).expect("it starts again");
    assert_ne!(again, killed);
    assert_eq!(cluster.process(1), Some(again));
    assert_eq!(cluster.signal("restarts", None), Some(1));
    assert_eq!(cluster.signal("restarts", Some(0)), Some(0));
    // The counter of the new process began at nought; the sum did not.
    assert!(cluster.signal("elections", None).is_some_and(|now| now >= elections));
    wait_for("equal replicas", || {
        matches!(cluster.quiescence().converged, Shown::Yes(_)).then_some(())
    });
    assert_eq!(cluster.log_lines(Some(1), "ready node=2"), 2);
    assert_eq!(cluster.bypasses(), Vec::<String>::new());
}

#[test]
fn a_node_that_is_stopped_is_silent_and_only_that_node() {
    let (_directory, cluster) = three(Wiring::Proxied);
    let victim = cluster.process(2).expect("it runs");
    let since = Instant::now();
    victim.pause().expect("our own child");
    let silence = Duration::from_secs(2);
    wait_for("a silence of n3", || {
        (cluster.heartbeat_gap(Some(2), since) >= silence).then_some(())
    });
    let others = cluster.heartbeat_gap(Some(0), since).max(cluster.heartbeat_gap(Some(1), since));
    assert!(others < cluster.heartbeat_gap(Some(2), since), "{others:?}");
    assert!(matches!(cluster.quiescence().pending, Shown::Unknown(_) | Shown::No(_)));
    victim.resume().expect("our own child");
    let resumed = Instant::now();
    wait_for("an answer of n3", || cluster.signal("term", Some(2)));
    assert!(cluster.heartbeat_gap(None, since) >= silence);
    assert!(cluster.heartbeat_gap(Some(2), resumed) < cluster.heartbeat_gap(Some(2), since));
}

/// A node whose first process keeps its server. The server has a lock on its directory, and so much
/// memory that it goes on holding the lock for a while after it was killed.
const KEPT: &str = r#"
about = "a server behind a shell"
[nodes]
default = 1
allowed = [1]
[ports]
tcp = ["clients"]
[node]
command = ["sh", "-c", "python3 -uc '{option.server}' & wait"]
ready = { log = "ready", within = "60s" }
[options.server]
about = "what it does"
default = ""
[client]
builtin = "kv"
retries = "none"
reason = "nobody calls it"
"#;

const SERVER: &str = r#"
import fcntl, time
lock = open("lock", "w")
try:
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
except OSError:
    print("somebody else has it")
    time.sleep(600)
memory = b"x" * (2 << 30)
print("ready")
time.sleep(600)
"#;

#[test]
fn a_server_behind_a_shell_has_ended_before_the_next_one_begins() {
    let spec = SystemSpec::parse("kept", "kept.toml", KEPT).unwrap_or_else(|e| panic!("{e}"));
    let directory = tempfile::tempdir().expect("a directory");
    let options = json!({"server": SERVER});
    let started = launch(&spec, 1, options, directory.path(), Wiring::Proxied);
    let cluster = started.unwrap_or_else(|error| panic!("{error}"));
    let shell = cluster.process(0).expect("it runs");
    shell.kill().expect("our own child");
    cluster.restart(0).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(cluster.log_lines(Some(0), "somebody else has it"), 0);
    assert_eq!(cluster.log_lines(Some(0), "ready"), 2);
}

#[test]
fn a_node_is_revived_only_if_it_has_ended_and_nobody_else_sees_to_it() {
    let (_directory, cluster) = three(Wiring::Proxied);
    let nobody_else = || true;
    let first = cluster.process(1).expect("it runs");
    let lives = cluster.revive(1, &|| panic!("nobody asks for one that runs"));
    assert_eq!(lives.expect("it runs"), Revived::Lives(first));
    first.kill().expect("our own child");
    assert_eq!(cluster.revive(1, &|| false).expect("looked at"), Revived::NotOurs);
    assert_eq!(cluster.process(1), None, "it is left alone");
    let revived = cluster.revive(1, &nobody_else).expect("it starts");
    let Revived::Anew(second) = revived else { panic!("{revived:?}") };
    assert_eq!(cluster.process(1), Some(second));
    // Somebody starts it between the look and the start: then it runs, and that is all right.
    second.kill().expect("our own child");
    let faster = || cluster.restart(1).is_ok();
    let revived = cluster.revive(1, &faster).expect("it runs");
    assert_eq!(Some(revived), cluster.process(1).map(Revived::Lives));
}

#[test]
fn a_node_that_is_ready_by_its_log_and_ends_a_moment_later_is_started_again() {
    let by_log = "ready = { log = \"ready node=\", within = \"30s\" }";
    let spec = kv_with("ready = { get = \"http:/status\", within = \"30s\" }", by_log);
    let directory = tempfile::tempdir().expect("a temporary directory");
    let cluster = launch(&spec, 3, json!({}), directory.path(), Wiring::Proxied);
    let cluster = cluster.unwrap_or_else(|error| panic!("{error}"));
    let first = cluster.process(0).expect("it runs");
    let revived = std::thread::scope(|scope| {
        let revived = scope.spawn(|| cluster.revive(0, &|| true));
        // It is refused a write, and gives up: later than anybody would see who looks once.
        std::thread::park_timeout(Duration::from_millis(100));
        first.kill().expect("our own child");
        revived.join().expect("no panic").expect("it starts again")
    });
    assert!(matches!(revived, Revived::Anew(again) if again != first), "{revived:?}");
}
