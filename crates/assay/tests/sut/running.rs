//! A cluster that runs and stops.

use crate::support::{kv, kv_with, launch, leader, op, three, wait_for};
use assay_nemesis::{Process, ProcessState};
use assay_sut::{Cluster, Peer, Shown, Wiring};
use serde_json::json;

#[test]
fn writes_through_the_proxies_reach_every_node_and_it_comes_to_rest() {
    let (directory, cluster) = three(Wiring::Proxied);
    assert_eq!(cluster.names(), ["n1", "n2", "n3"]);
    let addresses = cluster.client_addresses();
    for (node, address) in addresses.iter().enumerate() {
        let link = cluster.links(Peer::Clients, node);
        assert_eq!(link.len(), 1);
        assert_eq!(cluster.mesh().listen(link[0]), *address);
        let write = json!({"op": "register.write", "key": node, "input": 40 + node});
        wait_for("a write at each node", || op(*address, &write));
        assert!(cluster.mesh().counts(link[0]).request.bytes_passed > 0);
    }
    let read = json!({"op": "register.read", "key": 0});
    let value = wait_for("a read elsewhere", || op(addresses[2], &read));
    assert_eq!(value, json!(40));
    wait_for("rest", || {
        let rest = cluster.quiescence();
        let shown = |shown: Shown| matches!(shown, Shown::Yes(evidence) if !evidence.is_empty());
        (shown(rest.pending) && shown(rest.converged)).then_some(())
    });
    assert_eq!(cluster.log_lines(None, "ready node="), 3);
    assert_eq!(cluster.log_lines(Some(1), "ready node=2"), 1);
    assert_eq!(cluster.log_lines(Some(1), "ready node=3"), 0);
    assert!(cluster.data_directory(0).join("log").is_file());
    assert_eq!(cluster.bypasses(), Vec::<String>::new());

    let processes: Vec<Process> =
        (0..3).map(|node| cluster.process(node).expect("it runs")).collect();
    cluster.stop();
    cluster.stop();
    for process in processes {
        assert_eq!(process.state().expect("readable"), ProcessState::Gone);
    }
    assert!((0..3).all(|node| cluster.process(node).is_none()));
    assert!(cluster.restart(0).is_err());
    drop(cluster);
    let path = directory.path().join(assay_sut::PROCESSES_NAME);
    let lines = std::fs::read_to_string(&path).expect("it is there");
    assert_eq!(lines.matches("\"started\"").count(), lines.matches("\"ended\"").count());
    assert_eq!(assay_sut::reap_orphans(&path).expect("free"), Vec::<String>::new());
}

#[test]
fn roles_and_signals_are_answered_or_refused_by_name() {
    let (_directory, cluster) = three(Wiring::Proxied);
    let leads = leader(&cluster);
    wait_for("two followers", || {
        let followers = cluster.role("follower").ok()?;
        (followers.len() == 2 && !followers.contains(&leads)).then_some(())
    });
    let error = cluster.role("primary").expect_err("no such role").to_string();
    assert!(error.contains("follower, leader"), "{error}");
    assert!(cluster.has_signal("elections") && cluster.has_signal("heartbeat-gap"));
    assert!(!cluster.has_signal("nothing") && cluster.signal("nothing", None).is_none());
    assert!(cluster.signal("elections", None).is_some_and(|elections| elections >= 1));
    assert!(cluster.signal("elections", Some(7)).is_none());
    assert!(cluster.signal("term", Some(leads)).is_some_and(|term| term >= 1));
    assert_eq!(cluster.signal("restarts", None), Some(0));
}

#[test]
fn a_single_node_needs_nobody() {
    let directory = tempfile::tempdir().expect("a directory");
    let cluster =
        launch(&kv(), 1, json!({}), directory.path(), Wiring::Proxied).expect("it starts");
    assert_eq!(leader(&cluster), 0);
    let write = json!({"op": "register.write", "key": "x", "input": 1});
    wait_for("a write", || op(cluster.client_addresses()[0], &write));
}

#[test]
fn one_node_has_no_replicas_and_of_several_somebody_has_to_say() {
    let described = "[quiescence.converged]\nget = \"http:/dump\"\nsame = [\"/state\"]\n";
    for (nodes, is_known) in [(1, true), (3, false)] {
        let directory = tempfile::tempdir().expect("a directory");
        let spec = kv_with(described, "");
        let cluster =
            launch(&spec, nodes, json!({}), directory.path(), Wiring::Proxied).expect("it starts");
        let converged = cluster.quiescence().converged;
        let is_yes = matches!(converged, Shown::Yes(_));
        assert_eq!(is_yes, is_known, "{nodes} nodes: {converged:?}");
    }
}

#[test]
fn commands_are_asked_as_well_as_nodes() {
    let commands = r#"
[roles.odd]
command = ["sh", "-c", "echo n1, n3"]
[roles.wrong]
command = ["echo", "n9"]
[signals.ids]
command = ["echo", "{id}"]
[signals.whole]
command = ["sh", "-c", "echo 42; echo {names} >&2"]
[signals.port]
command = ["echo", "{address.http.port}"]
over = "max"
[signals.words]
command = ["echo", "many"]
[signals.starts]
log = "ready node="
[client]"#;
    let spec = kv_with("[client]", commands);
    let directory = tempfile::tempdir().expect("a directory");
    let cluster =
        launch(&spec, 3, json!({}), directory.path(), Wiring::Proxied).expect("it starts");
    assert_eq!(cluster.role("odd").expect("it is listed"), [0, 2]);
    assert!(cluster.role("wrong").expect_err("no such node").to_string().contains("`n9`"));
    let signals = [
        ("ids", None, Some(6)),
        ("ids", Some(2), Some(3)),
        ("whole", None, Some(42)),
        ("words", None, None),
        ("starts", None, Some(3)),
        ("starts", Some(0), Some(1)),
    ];
    for (name, node, expected) in signals {
        assert_eq!(cluster.signal(name, node), expected, "{name}");
    }
    // A command gets the address of a link, or it would be taken for a bypass.
    let links = cluster.mesh().links();
    let port = cluster.signal("port", Some(1)).expect("a number");
    let through = links.iter().find(|link| u64::from(link.listen.port()) == port);
    assert_eq!(through.map(|link| (link.from.as_str(), link.to.as_str())), Some(("probes", "n2")));
}

#[test]
fn a_cluster_can_be_shared_between_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<Cluster>();
}
