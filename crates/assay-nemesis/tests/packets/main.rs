//! Faults on packets, in networks of namespaces, through the injector: they land, they heal, and
//! one that is laid on the wrong link does not land.
//!
//! The program starts itself again inside namespaces, so it has no test harness.

mod traffic;

use assay_kernel::inside::{Place, enter};
use assay_kernel::net::{HubKind, Network, NetworkSpec, PacketRule};
use assay_nemesis::{
    Action, ByMeans, DnsFault, Fault, FaultId, Injector, JOURNAL_NAME, Means, PacketFault, Victim,
    Window, shapes,
};
use assay_verdict::LandingState;
use std::net::ToSocketAddrs;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use traffic::{Seen, Traffic};

const PATIENCE: Duration = Duration::from_secs(20);
const NODES: [&str; 3] = ["n1", "n2", "n3"];
/// A victim has to miss, or see, so many: more than are ever under way.
const FELT_MIN: u64 = 30;

fn main() {
    match enter() {
        Ok(Place::Inside) => {}
        Ok(Place::Outside { code }) => std::process::exit(code),
        Err(error) => {
            eprintln!("SKIPPED: {error}");
            return;
        }
    }
    for hub in [HubKind::Bridge, HubKind::Switch] {
        let nodes = NODES.map(String::from).to_vec();
        let spec = NetworkSpec { nodes, hub, seed: 3 };
        let network = Arc::new(Network::build(spec).expect("a network"));
        partition_lands_and_heals(&network);
        println!("test a_partition_of_packets_lands_and_heals ({hub:?}) ... ok");
        wrong_link_misses(&network);
        println!("test a_rule_on_the_wrong_link_does_not_land ({hub:?}) ... ok");
        names_go_and_come_back(&network);
        println!("test an_outage_of_names_lands_and_heals ({hub:?}) ... ok");
        match hub {
            HubKind::Bridge => {
                bridge_refuses(&network);
                println!("test what_a_bridge_cannot_do_is_refused_before_it_is_journalled ... ok");
            }
            HubKind::Switch => {
                for (id, rule, felt) in by_chance() {
                    lands_and_heals(&network, id, rule, felt);
                    println!("test {id}_of_packets_lands_and_heals ... ok");
                }
            }
        }
    }
}

fn injector() -> (tempfile::TempDir, Injector) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let injector = Injector::new(&directory.path().join(JOURNAL_NAME), None).expect("a journal");
    (directory, injector)
}

fn fault(id: &str, means: impl Means + 'static) -> Fault {
    Fault {
        id: FaultId::named(id).expect("an id of the catalogue"),
        target: "n1".to_string(),
        window: Window::default(),
        action: Action::By(ByMeans(Arc::new(means))),
    }
}

fn victim(traffic: &Traffic, felt: fn(&Seen) -> u64) -> Victim {
    let seen = Arc::clone(&traffic.seen);
    Victim::new("datagrams", move || Some(felt(&seen))).moving_by(FELT_MIN)
}

fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !done() {
        assert!(Instant::now() < until, "waited {PATIENCE:?} for: {what}");
        std::thread::park_timeout(Duration::from_millis(1));
    }
}

fn partition_lands_and_heals(network: &Arc<Network>) {
    let (_directory, injector) = injector();
    let traffic = Traffic::start(network, "n1", "n2");
    let cuts = shapes::isolate("n1", &NODES).expect("a shape");
    let cut = PacketFault::new(Arc::clone(network), &cuts, PacketRule::cut());
    let mut guard =
        injector.inject(fault("part-full", cut), victim(&traffic, Seen::missing)).expect("on");
    assert_eq!(guard.wait_landed(PATIENCE), LandingState::Landed);
    let healed = guard.heal().expect("it can be healed");
    let moved = |link: &str| {
        let part = healed.parts.iter().find(|part| part.what == link).expect("every link is read");
        part.during.expect("read") - part.before.expect("read")
    };
    assert!(moved("n1 -> n2") > FELT_MIN / 2);
    assert_eq!(moved("n3 -> n1"), 0, "nobody spoke there");
    assert_eq!(healed.proof.len(), cuts.len());
    assert!(healed.proof.iter().all(|line| line.ends_with("a packet passes")), "{healed:?}");
    let received = traffic.seen.received.load(Ordering::SeqCst);
    wait_until("datagrams arrive again", || {
        traffic.seen.received.load(Ordering::SeqCst) > received + FELT_MIN
    });
}

fn wrong_link_misses(network: &Arc<Network>) {
    let (_directory, injector) = injector();
    let traffic = Traffic::start(network, "n1", "n2");
    let cuts = shapes::asymmetric(&["n2"], &["n1"]).expect("a shape");
    let cut = PacketFault::new(Arc::clone(network), &cuts, PacketRule::cut());
    let mut guard =
        injector.inject(fault("part-asym", cut), victim(&traffic, Seen::missing)).expect("on");
    let received = traffic.seen.received.load(Ordering::SeqCst);
    wait_until("many datagrams have passed", || {
        traffic.seen.received.load(Ordering::SeqCst) > received + 10 * FELT_MIN
    });
    let landing = guard.sample();
    assert_eq!(landing.injector.state(), LandingState::Missed, "{}", landing.evidence());
    assert_eq!(landing.state(), LandingState::Missed, "{}", landing.evidence());
    guard.heal().expect("it can be healed");
}

fn bridge_refuses(network: &Arc<Network>) {
    let (directory, injector) = injector();
    let cuts = shapes::asymmetric(&["n1"], &["n2"]).expect("a shape");
    let rule = PacketRule { loss_ppm: 1000, ..PacketRule::default() };
    let loss = PacketFault::new(Arc::clone(network), &cuts, rule);
    let refused = injector.inject(fault("loss", loss), Victim::unasked());
    let why = refused.err().expect("a bridge cannot lose a share").to_string();
    assert!(why.ends_with("for loss use the switch as the hub"), "{why}");
    let nothing = PacketFault::new(Arc::clone(network), &cuts, PacketRule::default());
    assert!(injector.inject(fault("loss", nothing), Victim::unasked()).is_err());
    let journal = std::fs::read_to_string(directory.path().join(JOURNAL_NAME)).expect("a journal");
    assert!(!journal.contains("inject"), "{journal}");
}

type Felt = fn(&Seen) -> u64;

/// Every rule of the switch, with what a victim feels of it.
fn by_chance() -> [(&'static str, PacketRule, Felt); 5] {
    let none = PacketRule::default();
    let delay = Duration::from_millis(80);
    let rate_bytes_per_s = NonZeroU64::new(20_000);
    [
        ("loss", PacketRule { loss_ppm: 300_000, ..none }, Seen::missing),
        ("dup", PacketRule { duplicate_ppm: 300_000, ..none }, |seen| {
            seen.repeated.load(Ordering::SeqCst)
        }),
        ("reorder", PacketRule { reorder_ppm: 200_000, ..none }, |seen| {
            seen.overtaken.load(Ordering::SeqCst)
        }),
        ("delay", PacketRule { delay, ..none }, |seen| seen.slow.load(Ordering::SeqCst)),
        ("rate", PacketRule { rate_bytes_per_s, ..none }, Seen::missing),
    ]
}

fn lands_and_heals(network: &Arc<Network>, id: &str, rule: PacketRule, felt: Felt) {
    let (_directory, injector) = injector();
    let traffic = Traffic::start(network, "n1", "n2");
    let cuts = shapes::asymmetric(&["n1"], &["n2"]).expect("a shape");
    let means = PacketFault::new(Arc::clone(network), &cuts, rule);
    let mut guard = injector.inject(fault(id, means), victim(&traffic, felt)).expect("on");
    assert_eq!(guard.wait_landed(PATIENCE), LandingState::Landed, "{id}");
    let healed = guard.heal().expect("it can be healed");
    assert_eq!(healed.proof, ["n1 -> n2: a packet passes"], "{id}");
    assert!(!network.is_ruled("n1", "n2"), "{id}");
}

fn names_go_and_come_back(network: &Arc<Network>) {
    let (_directory, injector) = injector();
    let failures = Arc::new(AtomicU64::new(0));
    let lookup = || {
        let ask = || {
            network.enter_thread("n1").expect("a node");
            ("n2", 80).to_socket_addrs().is_ok()
        };
        let answered = std::thread::scope(|scope| scope.spawn(ask).join().expect("it is asked"));
        failures.fetch_add(u64::from(!answered), Ordering::SeqCst);
        answered
    };
    assert!(lookup());
    let counted = Arc::clone(&failures);
    let felt = Victim::new("failed lookups", move || Some(counted.load(Ordering::SeqCst)));
    let means = DnsFault::new(Arc::clone(network), &["n1"]);
    let mut guard = injector.inject(fault("dns-out", means), felt).expect("on");
    assert!(!lookup());
    assert_eq!(guard.sample().state(), LandingState::Landed);
    let healed = guard.heal().expect("it can be healed");
    assert_eq!(healed.proof, ["n1: a question for a name is answered"]);
    assert!(lookup());
}
