//! One link: a listener, the connections that came through it, and the way to the other side.

use super::counters::{ConnectionCounters, FlowCounters, LinkCounts};
use super::dials::DialPorts;
use super::pipe::{Broken, Ear, LinkRules, Pipe, listen};
use super::rules::{Admission, Direction, Flow, Rules};
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};

/// Connections open at the same time on one link; more are turned away and counted.
const CONNECTIONS_MAX: u64 = 4096;
/// How long the other side may take to accept a connection.
const DIAL_TIME_MAX: Duration = Duration::from_secs(10);
/// How long to wait before accepting again when the process is out of file descriptors.
const ACCEPT_RETRY: Duration = Duration::from_millis(10);

/// What runs for one link.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) upstream: SocketAddr,
    /// What each fault has imposed, in the order it came: layer, direction, rules.
    layers: Mutex<Vec<(u64, Direction, Rules)>>,
    rules: watch::Sender<LinkRules>,
    /// Grows when all open connections are to be reset.
    resets: watch::Sender<u64>,
    pub(crate) connections: ConnectionCounters,
    pub(crate) flows: [FlowCounters; 2],
    open: AtomicU64,
    dials: DialPorts,
    /// For the connections of all links together.
    room: Arc<Semaphore>,
    seed: u64,
    connection_number: AtomicU64,
    /// The way of a probe with datagrams: who sends it, and who takes it instead of the other side.
    pub(super) probe: Mutex<Option<(SocketAddr, SocketAddr)>>,
    /// Where probes are about to connect from: known before they do, so that none of them is taken
    /// for somebody else even for a moment.
    probers: Mutex<BTreeSet<SocketAddr>>,
}

/// How a connection came to its end.
enum End {
    /// Both streams ended by themselves.
    Finished,
    /// A socket failed, or an end was asked for by the peers.
    Failed,
    /// By our doing.
    Reset,
}

impl Link {
    pub(crate) fn new(
        upstream: SocketAddr,
        dials: DialPorts,
        room: Arc<Semaphore>,
        seed: u64,
    ) -> Link {
        Link {
            upstream,
            layers: Mutex::new(Vec::new()),
            rules: watch::Sender::new([Rules::default(); 2]),
            resets: watch::Sender::new(0),
            connections: ConnectionCounters::default(),
            flows: Default::default(),
            open: AtomicU64::new(0),
            dials,
            room,
            seed,
            connection_number: AtomicU64::new(0),
            probe: Mutex::new(None),
            probers: Mutex::default(),
        }
    }

    /// Addresses of probes that have not arrived yet.
    pub(super) fn probers(&self) -> MutexGuard<'_, BTreeSet<SocketAddr>> {
        self.probers.lock().expect("nothing panics while it holds the probers")
    }

    pub(crate) fn counts(&self) -> LinkCounts {
        LinkCounts {
            connections: self.connections.snapshot(),
            request: self.flows[0].snapshot(),
            response: self.flows[1].snapshot(),
        }
    }

    /// Who takes the datagrams of a sender in place of the other side, because it is a probe.
    pub(super) fn taker(&self, source: SocketAddr) -> Option<SocketAddr> {
        let probe = *self.probe.lock().expect("nothing panics while it holds the probe");
        probe.filter(|(sender, _)| *sender == source).map(|(_, taker)| taker)
    }

    /// Where the two directions of the next connection have their chances from.
    pub(super) fn seeds(&self) -> [u64; 2] {
        let number = self.connection_number.fetch_add(1, Ordering::Relaxed);
        [0, 1].map(|i| self.seed.wrapping_add(number * 2 + i))
    }

    /// The rules in force.
    pub(crate) fn rules(&self, direction: Direction) -> Rules {
        self.rules.borrow()[direction.index()]
    }

    pub(crate) fn watch(&self) -> watch::Receiver<LinkRules> {
        self.rules.subscribe()
    }

    pub(crate) fn impose(&self, layer: u64, direction: Direction, rules: Rules) {
        self.change_layers(|layers| layers.push((layer, direction, rules)));
    }

    pub(crate) fn lift(&self, layer: u64) {
        self.change_layers(|layers| layers.retain(|(of, _, _)| *of != layer));
    }

    fn change_layers(&self, change: impl FnOnce(&mut Vec<(u64, Direction, Rules)>)) {
        let mut layers = self.layers.lock().expect("nothing panics while it holds the layers");
        change(&mut layers);
        let mut sum = [Rules::default(); 2];
        for (_, direction, rules) in layers.iter() {
            let below = sum[direction.index()];
            sum[direction.index()] = rules.over(below);
        }
        self.rules.send_if_modified(|now| {
            let changes = *now != sum;
            *now = sum;
            changes
        });
    }

    /// Resets every open connection.
    pub(crate) fn reset(&self) {
        self.resets.send_modify(|epoch| *epoch += 1);
    }

    /// Accepts for ever; the mesh ends it by ending its runtime.
    pub(crate) async fn serve(self: Arc<Link>, listener: TcpListener) {
        loop {
            match listener.accept().await {
                Ok((client, other_end)) => Arc::clone(&self).admit(client, other_end),
                Err(_) => tokio::time::sleep(ACCEPT_RETRY).await,
            }
        }
    }

    /// Takes a connection, unless the rules refuse it or there are too many.
    fn admit(self: Arc<Link>, client: TcpStream, other_end: SocketAddr) {
        let is_probe = self.probers().remove(&other_end);
        let refuses = self.rules.borrow().iter().any(|r| r.admission == Admission::Refuse);
        if refuses {
            hang_up(&client);
            self.connections.made.add(u64::from(!is_probe));
            self.connections.refused.add(1);
            return;
        }
        let is_full = self.open.load(Ordering::Relaxed) >= CONNECTIONS_MAX;
        let Some(place) = self.room.clone().try_acquire_owned().ok().filter(|_| !is_full) else {
            hang_up(&client);
            self.connections.turned_away.add(1);
            return;
        };
        self.open.fetch_add(1, Ordering::Relaxed);
        self.connections.made.add(u64::from(!is_probe));
        tokio::spawn(async move {
            self.connection(client).await;
            self.open.fetch_sub(1, Ordering::Relaxed);
            drop(place);
        });
    }

    async fn connection(&self, mut client: TcpStream) {
        self.connections.opened.add(1);
        let mut resets = self.resets.subscribe();
        let seeds = self.seeds();
        let _small_writes_go_at_once = client.set_nodelay(true);
        let upstream = tokio::select! {
            biased;
            _ = resets.changed() => Err(End::Reset),
            upstream = self.dial(&mut client) => upstream,
        };
        let mut upstream = match upstream {
            Ok(upstream) => upstream,
            Err(end) => return self.finish(end, &[&client]),
        };
        let local = upstream.local_addr();
        let _entered_while_open = local.map(|local| self.dials.enter(local.port()));
        let end = {
            let (client_read, client_write) = client.split();
            let (server_read, server_write) = upstream.split();
            let pipe = |direction: Direction, from, to| {
                let i = direction.index();
                Pipe::new(direction, from, to, self.watch(), &self.flows[i], seeds[i])
            };
            let request = pipe(Direction::Request, client_read, server_write);
            let response = pipe(Direction::Response, server_read, client_write);
            tokio::select! {
                biased;
                _ = resets.changed() => End::Reset,
                ended = async { tokio::try_join!(request.run(), response.run()) } => match ended {
                    Ok(_) => End::Finished,
                    Err(Broken::Socket) => End::Failed,
                    Err(Broken::Lossy) => End::Reset,
                },
            }
        };
        self.finish(end, &[&client, &upstream]);
    }

    fn finish(&self, end: End, sockets: &[&TcpStream]) {
        match end {
            End::Finished => return,
            End::Failed => {}
            End::Reset => self.connections.reset.add(1),
        }
        sockets.iter().for_each(|socket| hang_up(socket));
    }

    /// Connects to the other side, as soon as the rules let the first packet of a connection pass.
    ///
    /// While requests are dropped or held the other side must not even learn that somebody wants to
    /// talk. A client whose bytes were dropped meanwhile is reset afterwards; one that has not said
    /// anything yet is connected late, as by a packet that was sent again.
    async fn dial(&self, client: &mut TcpStream) -> Result<TcpStream, End> {
        let counters = &self.flows[Direction::Request.index()];
        let mut watch = self.watch();
        let mut buffer = [0; 4096];
        let (mut from, _) = client.split();
        let (mut lossy, mut ended, mut held) = (false, false, false);
        loop {
            let ear = match watch.borrow_and_update()[Direction::Request.index()].flow {
                Flow::Pass => break,
                Flow::Drop if !ended => Ear::Read,
                Flow::Hold if !held => Ear::Notice,
                Flow::Drop | Flow::Hold => Ear::Closed,
            };
            tokio::select! {
                biased;
                changed = watch.changed() => {
                    changed.map_err(|_| End::Failed)?;
                    held = false;
                }
                heard = listen(&mut from, &mut buffer, ear), if ear != Ear::Closed => {
                    let Some(read) = heard else {
                        held = true;
                        counters.chunks_held.add(1);
                        continue;
                    };
                    let count = read.unwrap_or(0);
                    ended = count == 0;
                    lossy = true;
                    counters.chunks_dropped.add(1);
                    counters.bytes_dropped.add(count as u64);
                }
            }
        }
        if lossy {
            return Err(End::Reset);
        }
        let dialed = tokio::time::timeout(DIAL_TIME_MAX, TcpStream::connect(self.upstream)).await;
        let Ok(Ok(upstream)) = dialed else {
            self.connections.dial_failed.add(1);
            return Err(End::Failed);
        };
        self.connections.dialed.add(1);
        let _small_writes_go_at_once = upstream.set_nodelay(true);
        Ok(upstream)
    }
}

/// Which of several links a connection belongs to, by the address of its other end.
pub(crate) type Whose = Arc<dyn Fn(SocketAddr) -> Option<usize> + Send + Sync>;

/// Accepts for several links at one address. Connections of nobody are hung up.
pub(crate) async fn serve_shared(links: Vec<Arc<Link>>, listener: TcpListener, whose: Whose) {
    loop {
        let Ok((client, other_end)) = listener.accept().await else {
            tokio::time::sleep(ACCEPT_RETRY).await;
            continue;
        };
        let whose = Arc::clone(&whose);
        let links = links.clone();
        tokio::spawn(async move {
            // The kernel is asked, which takes its time.
            let found = tokio::task::spawn_blocking(move || whose(other_end)).await;
            match found.ok().flatten().and_then(|at| links.get(at)) {
                Some(link) => Arc::clone(link).admit(client, other_end),
                None => hang_up(&client),
            }
        });
    }
}

/// Makes the close that follows a reset, which cannot be mistaken for an orderly end.
fn hang_up(socket: &TcpStream) {
    // A socket that is closed already cannot be told anything, and need not be.
    let _closed = socket.set_zero_linger();
}
