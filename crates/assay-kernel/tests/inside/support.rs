//! Packets with numbers, sent from one node to another and counted where they arrive.

use assay_kernel::net::{DirectedRule, HubKind, Layer, Network, NetworkSpec, PacketRule, Packets};
use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

/// A check of one promise.
pub type Check = (&'static str, fn(&Network));
/// The exit code of a role that cannot be played here.
pub const SKIPPED: i32 = 77;
/// Long enough for a machine that does ten other things.
pub const PATIENCE: Duration = Duration::from_secs(20);
/// What packets are long without their headers.
pub const PAYLOAD_BYTES: usize = 100;

/// Three nodes and a hub.
pub fn network(hub: HubKind) -> Network {
    let nodes = ["n1", "n2", "n3"].map(String::from).to_vec();
    Network::build(NetworkSpec { nodes, hub, seed: 42 }).expect("a network")
}

pub fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|own| {
        use std::os::unix::fs::MetadataExt;
        own.uid() == 0
    })
}

#[track_caller]
pub fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !done() {
        assert!(Instant::now() < until, "waited {PATIENCE:?} for: {what}");
        std::thread::park_timeout(Duration::from_millis(1));
    }
}

/// Does something as one of the network.
pub fn as_one<T: Send>(network: &Network, name: &str, work: impl FnOnce() -> T + Send) -> T {
    let work = || {
        network.enter_thread(name).expect("it is in the network");
        work()
    };
    std::thread::scope(|scope| scope.spawn(work).join().expect("the work is done"))
}

pub fn udp(network: &Network, name: &str) -> UdpSocket {
    let address = network.address(name).expect("it is in the network");
    as_one(network, name, || UdpSocket::bind((address, 0)).expect("a port is free"))
}

/// One directed path with its counters.
pub struct Path<'a> {
    pub network: &'a Network,
    pub from: &'static str,
    pub to: &'static str,
    sender: UdpSocket,
    receiver: UdpSocket,
    before: Packets,
}

impl<'a> Path<'a> {
    pub fn new(network: &'a Network, from: &'static str, to: &'static str) -> Path<'a> {
        let (sender, receiver) = (udp(network, from), udp(network, to));
        let before = network.count(from, to).expect("counters can be read");
        Path { network, from, to, sender, receiver, before }
    }

    pub fn target(&self) -> SocketAddr {
        self.receiver.local_addr().expect("it is bound")
    }

    pub fn send(&self, count: u64) {
        for number in 0..count {
            let mut payload = [0; PAYLOAD_BYTES];
            payload[..8].copy_from_slice(&number.to_le_bytes());
            self.sender.send_to(&payload, self.target()).expect("it is sent");
        }
    }

    /// The packets of this path since it was made.
    pub fn count(&self) -> Packets {
        let now = self.network.count(self.from, self.to).expect("counters can be read");
        let before = self.before;
        Packets {
            forwarded: now.forwarded - before.forwarded,
            dropped: now.dropped - before.dropped,
            lost: now.lost - before.lost,
            delayed: now.delayed - before.delayed,
            duplicated: now.duplicated - before.duplicated,
            reordered: now.reordered - before.reordered,
            rate_delayed: now.rate_delayed - before.rate_delayed,
            rate_dropped: now.rate_dropped - before.rate_dropped,
            overrun: now.overrun - before.overrun,
        }
    }

    /// Waits until the hub has decided about so many.
    #[track_caller]
    pub fn wait_decided(&self, count: u64) {
        wait_until("all packets passed or not", || {
            let now = self.count();
            now.forwarded + now.dropped + now.rate_dropped + now.overrun >= count
        });
    }

    /// The numbers of so many packets, in the order they arrive.
    #[track_caller]
    pub fn receive(&self, count: u64) -> Vec<u64> {
        self.receiver.set_read_timeout(Some(PATIENCE)).expect("a time");
        (0..count).map(|_| self.next().expect("it arrives")).collect()
    }

    fn next(&self) -> Option<u64> {
        let mut buffer = [0; 2048];
        self.receiver.recv(&mut buffer).ok()?;
        Some(u64::from_le_bytes(buffer[..8].try_into().expect("eight bytes")))
    }

    /// Nothing has arrived that was not received yet.
    #[track_caller]
    pub fn expect_nothing(&self) {
        self.receiver.set_nonblocking(true).expect("it can");
        assert_eq!(self.next(), None, "nothing may arrive");
        self.receiver.set_nonblocking(false).expect("it can");
    }

    pub fn rule(&self, rule: PacketRule) -> DirectedRule {
        DirectedRule { from: self.from.to_string(), to: self.to.to_string(), rule }
    }

    #[track_caller]
    pub fn impose(&self, rule: PacketRule) -> Layer {
        self.network.impose(&[self.rule(rule)]).expect("the hub can do it")
    }
}
