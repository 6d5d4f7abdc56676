//! What only the switch can do.

use crate::support::{Check, PATIENCE, PAYLOAD_BYTES, Path};
use assay_kernel::net::{Network, PacketRule};
use std::num::NonZeroU64;
use std::time::{Duration, Instant};

pub const SWITCH: &[Check] = &[
    ("a_delay_keeps_every_packet_back_and_counts_it", delay),
    ("what_waits_goes_out_in_order_when_a_delay_is_lifted", let_go),
    ("a_share_is_lost_and_every_loss_counted", loss),
    ("a_share_arrives_twice_and_every_copy_is_counted", duplicate),
    ("as_many_are_counted_as_reordered_as_arrive_out_of_order", reorder),
    ("a_rate_passes_some_and_counts_what_it_drops", rate),
];

fn delay(network: &Network) {
    let path = Path::new(network, "n1", "n2");
    let held = Duration::from_millis(50);
    let layer = path.impose(PacketRule { delay: held, ..PacketRule::default() });
    let start = Instant::now();
    path.send(20);
    assert_eq!(path.receive(20), (0..20).collect::<Vec<u64>>());
    assert!(start.elapsed() >= held, "{:?}", start.elapsed());
    path.wait_decided(20);
    assert_eq!((path.count().delayed, path.count().forwarded), (20, 20));
    network.lift(layer).expect("it is there");
    path.send(5);
    path.receive(5);
    assert_eq!(path.count().delayed, 20);
}

fn let_go(network: &Network) {
    let path = Path::new(network, "n1", "n2");
    let layer = path.impose(PacketRule { delay: 3 * PATIENCE, ..PacketRule::default() });
    path.send(10);
    crate::support::wait_until("all are kept back", || path.count().delayed == 10);
    path.expect_nothing();
    network.lift(layer).expect("it is there");
    assert_eq!(path.receive(10), (0..10).collect::<Vec<u64>>());
}

/// Sends in pieces that fit into buffers, so that nothing is lost but by the rule.
fn send_in_pieces(path: &Path, pieces: u64, piece: u64) -> Vec<u64> {
    let mut arrived = Vec::new();
    for done in 1..=pieces {
        path.send(piece);
        path.wait_decided(done * piece);
        let now = path.count();
        arrived.extend(path.receive(now.forwarded + now.duplicated - arrived.len() as u64));
    }
    path.expect_nothing();
    assert_eq!(path.count().overrun, 0, "nothing may be lost but by the rule");
    arrived
}

fn loss(network: &Network) {
    let path = Path::new(network, "n1", "n2");
    let layer = path.impose(PacketRule { loss_ppm: 200_000, ..PacketRule::default() });
    let arrived = send_in_pieces(&path, 20, 50).len() as u64;
    network.lift(layer).expect("it is there");
    let lost = path.count().dropped;
    assert_eq!(arrived + lost, 1000);
    assert!((130..270).contains(&lost), "{lost} of 1000 at a share of 200");
}

fn duplicate(network: &Network) {
    let path = Path::new(network, "n1", "n2");
    let layer = path.impose(PacketRule { duplicate_ppm: 200_000, ..PacketRule::default() });
    let arrived = send_in_pieces(&path, 8, 50).len() as u64;
    network.lift(layer).expect("it is there");
    let count = path.count();
    assert_eq!((count.forwarded, arrived), (400, 400 + count.duplicated));
    assert!((40..120).contains(&count.duplicated), "{} of 400 at 80", count.duplicated);
}

fn reorder(network: &Network) {
    let path = Path::new(network, "n1", "n2");
    let layer = path.impose(PacketRule { reorder_ppm: 100_000, ..PacketRule::default() });
    let arrived = send_in_pieces(&path, 1, 100);
    network.lift(layer).expect("it is there");
    let late = arrived
        .iter()
        .enumerate()
        .filter(|(at, number)| arrived[..*at].iter().any(|earlier| earlier > number));
    let late = late.count() as u64;
    assert!(late > 0, "{arrived:?}");
    assert_eq!(path.count().reordered, late);
}

fn rate(network: &Network) {
    let path = Path::new(network, "n1", "n2");
    // Ethernet, IP and UDP put 42 bytes before each.
    let wire_bytes = PAYLOAD_BYTES as u64 + 42;
    let rate_bytes_per_s = NonZeroU64::new(50 * wire_bytes);
    let layer = path.impose(PacketRule { rate_bytes_per_s, ..PacketRule::default() });
    let start = Instant::now();
    let arrived = send_in_pieces(&path, 1, 100).len() as u64;
    // The last one had to wait for those before it.
    assert!(start.elapsed() >= Duration::from_millis(20) * (arrived as u32 - 1));
    network.lift(layer).expect("it is there");
    let count = path.count();
    assert_eq!(arrived + count.rate_dropped, 100);
    assert!(count.rate_dropped > 0 && arrived > 0, "{count:?}");
    assert_eq!(count.rate_delayed, arrived);
}
