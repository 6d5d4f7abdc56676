//! Datagrams of one link: a socket that takes them, and a task for each sender.
//!
//! Datagrams have no connections, so the relay keeps a table: who sends from where gets a socket of
//! its own towards the other side, and what comes back there goes to that sender. A sender that is
//! quiet for a while is forgotten, as by any translator of addresses; so is none that still has
//! something on its way. The table is bounded, and so is what waits.

use super::lane::Lane;
use super::link::Link;
use super::rules::{Admission, Direction};
use std::collections::HashMap;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::net::UdpSocket;
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;
use tokio::time::{Instant, sleep_until};

/// The largest datagram there is.
const DATAGRAM_BYTES_MAX: usize = 65_536;
/// Datagrams between the socket and the task of their sender.
const INBOX_MAX: usize = 1024;
/// How long to wait before reading again when the socket fails.
const READ_RETRY: Duration = Duration::from_millis(10);
/// Datagrams sent at a stretch before others get a turn.
const SENT_AT_ONCE_MAX: usize = 64;

/// How many senders a link of datagrams knows, and for how long.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DatagramLimits {
    /// Senders known at the same time; datagrams of more are thrown away and counted.
    pub senders_max: usize,
    /// A sender is forgotten after nothing came or went for so long.
    pub idle_max: Duration,
}

impl Default for DatagramLimits {
    fn default() -> DatagramLimits {
        DatagramLimits { senders_max: 1024, idle_max: Duration::from_secs(60) }
    }
}

/// A sender, as the reader of the link's socket knows it.
struct Sender {
    inbox: mpsc::Sender<Vec<u8>>,
    /// When something came or went last, in milliseconds since the link began.
    active_ms: Arc<AtomicU64>,
    /// A probe's, not the other side's. The next who sends from there may be somebody else.
    taker: Option<SocketAddr>,
}

/// Reads for ever; the mesh ends it by ending its runtime.
pub(super) async fn serve(link: Arc<Link>, socket: UdpSocket, limits: DatagramLimits) {
    let (socket, begun) = (Arc::new(socket), Instant::now());
    let mut senders: HashMap<SocketAddr, Sender> = HashMap::new();
    let mut buffer = vec![0; DATAGRAM_BYTES_MAX];
    let step = (limits.idle_max / 4).max(Duration::from_millis(1));
    let mut sweep = tokio::time::interval(step);
    loop {
        let heard = tokio::select! {
            heard = socket.recv_from(&mut buffer) => heard,
            _ = sweep.tick() => {
                forget_idle(&link, &mut senders, begun, limits);
                continue;
            }
        };
        let Ok((count, source)) = heard else {
            tokio::time::sleep(READ_RETRY).await;
            continue;
        };
        let taker = link.taker(source);
        if senders.get(&source).is_none_or(|sender| sender.taker != taker) {
            let refuses = link.watch().borrow().iter().any(|r| r.admission == Admission::Refuse);
            if refuses || senders.len() >= limits.senders_max {
                let counters = &link.connections;
                if refuses { &counters.refused } else { &counters.turned_away }.add(1);
                continue;
            }
            let Ok(sender) = admit(&link, &socket, source, taker, begun).await else {
                link.connections.dial_failed.add(1);
                continue;
            };
            senders.insert(source, sender);
        }
        let sender = &senders[&source];
        sender.active_ms.store(ms_since(begun), Ordering::Relaxed);
        match sender.inbox.try_send(buffer[..count].to_vec()) {
            Ok(()) => {}
            Err(TrySendError::Full(_)) => {
                link.flows[Direction::Request.index()].chunks_overflowed.add(1);
            }
            // Its task has ended before its time; the next datagram makes another.
            Err(TrySendError::Closed(_)) => _ = senders.remove(&source),
        }
    }
}

fn ms_since(begun: Instant) -> u64 {
    u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX)
}

/// Forgetting a sender closes its inbox: its task ends when nothing waits any more.
fn forget_idle(
    link: &Link,
    senders: &mut HashMap<SocketAddr, Sender>,
    begun: Instant,
    limits: DatagramLimits,
) {
    let now_ms = ms_since(begun);
    let idle_ms = u64::try_from(limits.idle_max.as_millis()).unwrap_or(u64::MAX);
    senders.retain(|_, sender| {
        let quiet_ms = now_ms.saturating_sub(sender.active_ms.load(Ordering::Relaxed));
        let stays = quiet_ms <= idle_ms;
        link.connections.expired.add(u64::from(!stays));
        stays
    });
}

/// A socket of its own for a new sender, and the task that serves it.
async fn admit(
    link: &Arc<Link>,
    socket: &Arc<UdpSocket>,
    source: SocketAddr,
    taker: Option<SocketAddr>,
    begun: Instant,
) -> io::Result<Sender> {
    let upstream = taker.unwrap_or(link.upstream);
    let any: SocketAddr = match upstream {
        SocketAddr::V4(to) if to.ip().is_loopback() => (Ipv4Addr::LOCALHOST, 0).into(),
        SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    };
    let towards = UdpSocket::bind(any).await?;
    towards.connect(upstream).await?;
    link.connections.opened.add(1);
    link.connections.dialed.add(1);
    let (inbox, requests) = mpsc::channel(INBOX_MAX);
    let active_ms = Arc::new(AtomicU64::new(0));
    let sender = Sender { inbox, active_ms: Arc::clone(&active_ms), taker };
    let relay = Relay { towards, back: Arc::clone(socket), source, requests, active_ms, begun };
    tokio::spawn(relay.run(Arc::clone(link)));
    Ok(sender)
}

/// Both ways between one sender and the other side.
struct Relay {
    towards: UdpSocket,
    back: Arc<UdpSocket>,
    source: SocketAddr,
    requests: mpsc::Receiver<Vec<u8>>,
    active_ms: Arc<AtomicU64>,
    begun: Instant,
}

impl Relay {
    async fn run(mut self, link: Arc<Link>) {
        let mut watch = link.watch();
        let (rules, seeds) = (*watch.borrow_and_update(), link.seeds());
        let lane = |i: usize| Lane::new(&link.flows[i], rules[i], seeds[i], Instant::now());
        let mut lanes = [lane(0), lane(1)];
        let mut buffer = vec![0; DATAGRAM_BYTES_MAX];
        let mut known = true;
        while known || lanes.iter().any(|lane| !lane.is_empty()) {
            let due = lanes.iter().filter_map(Lane::next_due).min();
            tokio::select! {
                biased;
                changed = watch.changed() => {
                    if changed.is_err() {
                        return;
                    }
                    let rules = *watch.borrow_and_update();
                    let pairs = lanes.iter_mut().zip(rules);
                    pairs.for_each(|(lane, rules)| lane.obey(rules, Instant::now()));
                }
                () = sleep_until(due.unwrap_or(self.begun)), if due.is_some() => {}
                request = self.requests.recv(), if known => match request {
                    Some(bytes) => lanes[0].arrived(&bytes, Instant::now()),
                    None => known = false,
                },
                // An error here says that nobody listened when something was sent; it is over.
                heard = self.towards.recv(&mut buffer) => if let Ok(count) = heard {
                    lanes[1].arrived(&buffer[..count], Instant::now());
                },
            }
            self.send_due(&mut lanes).await;
            // Whoever has something on its way is not idle, however long that takes.
            let waits = lanes.iter().any(|lane| !lane.is_empty());
            let active_ms = if waits { u64::MAX } else { ms_since(self.begun) };
            self.active_ms.store(active_ms, Ordering::Relaxed);
        }
    }

    async fn send_due(&self, lanes: &mut [Lane<'_>; 2]) {
        let [request, response] = lanes;
        for _ in 0..SENT_AT_ONCE_MAX {
            let Some(datagram) = request.take(Instant::now()) else { break };
            // An error may be the echo of an earlier datagram that nobody took, and then this one
            // was not tried yet.
            let sent = self.towards.send(&datagram.bytes).await.is_ok()
                || self.towards.send(&datagram.bytes).await.is_ok();
            if sent {
                request.sent(&datagram);
            }
        }
        for _ in 0..SENT_AT_ONCE_MAX {
            let Some(datagram) = response.take(Instant::now()) else { break };
            if self.back.send_to(&datagram.bytes, self.source).await.is_ok() {
                response.sent(&datagram);
            }
        }
    }
}
