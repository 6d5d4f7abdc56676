//! What both hubs promise.

use crate::support::{Check, Path, as_one, udp, wait_until};
use assay_kernel::net::{
    CLIENTS, DirectedRule, HubKind, NetError, Network, NetworkSpec, PacketRule,
};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::time::Duration;

pub const BOTH: &[Check] = &[
    ("fifty_packets_are_counted_as_fifty_on_their_link_and_nowhere_else", counted),
    ("a_cut_drops_one_way_only_and_counts_each_packet", one_way),
    ("a_lifted_cut_lets_packets_pass_and_leaves_other_cuts", lifted),
    ("tcp_passes_whole", tcp),
    ("clients_speak_from_their_own_address", clients),
    ("a_process_is_started_in_the_namespace_of_its_node", spawned),
    ("what_cannot_be_cut_is_refused", refused),
    ("there_is_one_network_at_a_time", one_at_a_time),
    ("names_are_answered_and_an_outage_is_silent_and_counted", crate::names::outage),
];

pub const BRIDGE: &[Check] = &[("a_bridge_refuses_what_only_the_switch_can", bridge_refuses)];

fn counted(network: &Network) {
    let others = [Path::new(network, "n2", "n1"), Path::new(network, "n1", "n3")];
    let path = Path::new(network, "n1", "n2");
    path.send(50);
    assert_eq!(path.receive(50), (0..50).collect::<Vec<u64>>());
    wait_until("all are counted", || path.count().forwarded >= 50);
    assert_eq!(path.count().forwarded, 50);
    assert_eq!(path.count().dropped, 0);
    for other in others {
        assert_eq!(other.count(), Default::default(), "{} -> {}", other.from, other.to);
    }
}

fn one_way(network: &Network) {
    let path = Path::new(network, "n1", "n2");
    let (back, aside) = (Path::new(network, "n2", "n1"), Path::new(network, "n1", "n3"));
    let layer = path.impose(PacketRule::cut());
    path.send(50);
    path.wait_decided(50);
    assert_eq!((path.count().dropped, path.count().forwarded), (50, 0));
    path.expect_nothing();
    back.send(10);
    aside.send(10);
    back.receive(10);
    aside.receive(10);
    assert_eq!((back.count().dropped, aside.count().dropped), (0, 0));
    assert!(!network.passes("n1", "n2", Duration::ZERO).expect("it can be tried"));
    network.lift(layer).expect("it is there");
    assert!(network.passes("n1", "n2", Duration::from_secs(5)).expect("it can be tried"));
}

fn lifted(network: &Network) {
    let path = Path::new(network, "n1", "n2");
    let (first, second) = (path.impose(PacketRule::cut()), path.impose(PacketRule::cut()));
    network.lift(first).expect("it is there");
    assert!(network.is_ruled("n1", "n2"));
    path.send(5);
    path.wait_decided(5);
    assert_eq!(path.count().dropped, 5);
    network.lift(second).expect("it is there");
    network.lift(second).expect("lifting twice does nothing");
    assert!(!network.is_ruled("n1", "n2"));
    path.send(50);
    assert_eq!(path.receive(50).len(), 50);
    wait_until("all are counted", || path.count().forwarded >= 50);
    assert_eq!((path.count().forwarded, path.count().dropped), (50, 5));
}

fn tcp(network: &Network) {
    const BYTES: usize = 8 << 20;
    let address = network.address("n2").expect("a node");
    let listener = as_one(network, "n2", || TcpListener::bind((address, 0)).expect("a port"));
    let target = listener.local_addr().expect("it is bound");
    let mut sender = as_one(network, "n1", || TcpStream::connect(target).expect("it listens"));
    let (mut receiver, from) = listener.accept().expect("it has connected");
    assert_eq!(from.ip(), network.address("n1").expect("a node"));
    let sent: Vec<u8> = (0..BYTES).map(|at| (at * 31 % 251) as u8).collect();
    let mut got = Vec::new();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            sender.write_all(&sent).expect("it is sent");
            drop(sender);
        });
        receiver.read_to_end(&mut got).expect("it arrives");
    });
    assert!(got == sent, "what arrives is what was sent");
}

fn clients(network: &Network) {
    let (client, node) = (udp(network, CLIENTS), udp(network, "n1"));
    client.send_to(b"hello", node.local_addr().expect("bound")).expect("it is sent");
    let (_, from) = node.recv_from(&mut [0; 16]).expect("it arrives");
    assert_eq!(from.ip().to_string(), "10.77.0.250");
}

fn spawned(network: &Network) {
    let space_of = |name: Option<&str>| {
        let mut command = Command::new("readlink");
        command.arg("/proc/self/ns/net");
        if let Some(name) = name {
            network.enter_on_exec(name, &mut command).expect("it is in the network");
        }
        String::from_utf8(command.output().expect("it runs").stdout).expect("a text")
    };
    let (own, n1, n2) = (space_of(None), space_of(Some("n1")), space_of(Some("n2")));
    assert!(own != n1 && n1 != n2 && own != n2, "{own}{n1}{n2}");
    assert_eq!(n1, space_of(Some("n1")));
}

fn refused(network: &Network) {
    let cut = |from: &str, to: &str| {
        let (from, to) = (from.to_string(), to.to_string());
        network.impose(&[DirectedRule { from, to, rule: PacketRule::cut() }])
    };
    assert!(matches!(cut("n1", "n9"), Err(NetError::Unknown(name)) if name == "n9"));
    assert!(matches!(cut("n1", "n1"), Err(NetError::Rule(_))));
    assert!(matches!(cut("n1", "assay"), Err(NetError::Rule(_))));
    let too_much = PacketRule { loss_ppm: 1_000_001, ..PacketRule::default() };
    let (from, to) = ("n1".to_string(), "n2".to_string());
    let refused = network.impose(&[DirectedRule { from, to, rule: too_much }]);
    assert!(matches!(refused, Err(NetError::Rule(_))));
    assert!(!network.is_ruled("n1", "n2"));
}

fn one_at_a_time(_: &Network) {
    let spec = |nodes: &[&str]| NetworkSpec {
        nodes: nodes.iter().map(|node| node.to_string()).collect(),
        hub: HubKind::Switch,
        seed: 1,
    };
    assert!(matches!(Network::build(spec(&["a"])), Err(NetError::Another)));
    for nodes in [&["a", "a"][..], &["clients"], &[]] {
        assert!(matches!(Network::build(spec(nodes)), Err(NetError::Nodes(_))), "{nodes:?}");
    }
}

fn bridge_refuses(network: &Network) {
    let path = Path::new(network, "n1", "n2");
    let delay = PacketRule { delay: Duration::from_millis(5), ..PacketRule::default() };
    let refused = network.impose(&[path.rule(delay)]).expect_err("a bridge cannot delay");
    assert_eq!(
        refused.to_string(),
        "n1 -> n2: a bridge can only cut; for a delay use the switch as the hub"
    );
}
