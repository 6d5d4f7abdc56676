//! Numbered datagrams from one node to another, again and again, and what became of them.

use assay_kernel::net::Network;
use std::net::UdpSocket;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const PAYLOAD_BYTES: usize = 200;
/// One datagram after the other.
const PACE: Duration = Duration::from_millis(1);
/// Slower than this is slow: without a fault they take less than a tenth of it.
const SLOW: Duration = Duration::from_millis(40);

/// What the receiver saw.
#[derive(Debug, Default)]
pub struct Seen {
    pub sent: AtomicU64,
    pub received: AtomicU64,
    pub repeated: AtomicU64,
    pub overtaken: AtomicU64,
    pub slow: AtomicU64,
    stopped: AtomicBool,
}

impl Seen {
    /// Those that were sent and did not arrive, or not yet.
    pub fn missing(&self) -> u64 {
        let received = self.received.load(Ordering::SeqCst);
        self.sent.load(Ordering::SeqCst).saturating_sub(received)
    }
}

/// Datagrams from one node to another, as long as this lives.
pub struct Traffic {
    pub seen: Arc<Seen>,
    threads: Vec<JoinHandle<()>>,
}

impl Traffic {
    pub fn start(network: &Arc<Network>, from: &str, to: &str) -> Traffic {
        let seen = Arc::new(Seen::default());
        let bound = |name: &str| {
            let address = network.address(name).expect("a node");
            let bind = || {
                network.enter_thread(name).expect("a node");
                UdpSocket::bind((address, 0)).expect("a free port")
            };
            std::thread::scope(|scope| scope.spawn(bind).join().expect("it is bound"))
        };
        let (sender, receiver) = (bound(from), bound(to));
        receiver.set_read_timeout(Some(Duration::from_millis(50))).expect("a time");
        let target = receiver.local_addr().expect("bound");
        let start = Instant::now();
        let (sending, receiving) = (Arc::clone(&seen), Arc::clone(&seen));
        let send = move || {
            while !sending.stopped.load(Ordering::SeqCst) {
                let mut payload = [0; PAYLOAD_BYTES];
                let number = sending.sent.fetch_add(1, Ordering::SeqCst);
                payload[..8].copy_from_slice(&number.to_le_bytes());
                let now = start.elapsed().as_nanos() as u64;
                payload[8..16].copy_from_slice(&now.to_le_bytes());
                sender.send_to(&payload, target).expect("it is sent");
                std::thread::park_timeout(PACE);
            }
        };
        let receive = move || {
            let mut numbers = std::collections::BTreeSet::new();
            while !receiving.stopped.load(Ordering::SeqCst) {
                let mut payload = [0; PAYLOAD_BYTES];
                if receiver.recv(&mut payload).is_err() {
                    continue;
                }
                let word = |at: usize| {
                    u64::from_le_bytes(payload[at..at + 8].try_into().expect("eight bytes"))
                };
                let (number, sent) = (word(0), Duration::from_nanos(word(8)));
                let add = |counter: &AtomicU64| _ = counter.fetch_add(1, Ordering::SeqCst);
                if start.elapsed() - sent > SLOW {
                    add(&receiving.slow);
                }
                if numbers.last().is_some_and(|last| number < *last) {
                    add(&receiving.overtaken);
                }
                add(if numbers.insert(number) { &receiving.received } else { &receiving.repeated });
            }
        };
        Traffic { seen, threads: vec![std::thread::spawn(send), std::thread::spawn(receive)] }
    }
}

impl Drop for Traffic {
    fn drop(&mut self) {
        self.seen.stopped.store(true, Ordering::SeqCst);
        self.threads.drain(..).for_each(|thread| thread.join().expect("it ends"));
    }
}
