//! A mesh of links: every way between two nodes leads through a proxy of ours.
//!
//! A link has a direction of its own: `from` connects, `to` is connected to. On each link bytes go
//! both ways, requests and responses, and each way has its own rules. So a fault needs no
//! privilege, and because the links are the only way there, it cannot be bypassed unnoticed: the
//! counters of a link that nobody uses stand still.
//!
//! ```
//! use assay_nemesis::{Direction, Flow, LinkRule, Mesh, Rules};
//!
//! let mesh = Mesh::new(7)?;
//! let link = mesh.add("n1", "n2", "127.0.0.1:9".parse()?)?;
//! println!("n1 reaches n2 at {}", mesh.listen(link));
//! let cut = LinkRule { link, direction: Direction::Request, rules: Rules::flow(Flow::Drop) };
//! let layer = mesh.impose(&[cut]);
//! assert_eq!(mesh.rules(link, Direction::Request).flow, Flow::Drop);
//! mesh.lift(layer);
//! assert_eq!(mesh.rules(link, Direction::Request).flow, Flow::Pass);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod counters;
mod datagrams;
mod dials;
mod lane;
mod link;
mod odds;
mod pipe;
mod probe;
mod rules;

pub use counters::{ConnectionCounts, FlowCounts, LinkCounts};
pub use datagrams::DatagramLimits;
pub use dials::{DialPort, DialPorts};
pub use odds::{Odds, Share};
pub use probe::Probe;
pub use rules::{Admission, DELAY_MAX, Delay, Direction, Flow, Rules, Transport};

use link::{Link, Whose, serve_shared};
use rustix::process::{Resource, getrlimit};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, RwLock};
use tokio::net::{TcpListener, UdpSocket};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Semaphore;

/// Links of one mesh: a hundred nodes that all talk to each other.
pub const LINKS_MAX: usize = 10_000;
/// Threads that carry the bytes.
const WORKERS: usize = 2;
/// Descriptors that are reckoned with where there is no limit.
const DESCRIPTORS_MAX: u64 = 1 << 20;

/// A link of a mesh.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LinkId(usize);

/// What was imposed together and is lifted together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Layer(u64);

/// Rules for one direction of one link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LinkRule {
    /// The link.
    pub link: LinkId,
    /// The direction.
    pub direction: Direction,
    /// What happens there.
    pub rules: Rules,
}

/// Who a link connects and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LinkInfo {
    /// The link.
    pub id: LinkId,
    /// The side that connects.
    pub from: String,
    /// The side that is connected to.
    pub to: String,
    /// Where `from` connects to instead of to `to`.
    pub listen: SocketAddr,
    /// Where `to` really is.
    pub upstream: SocketAddr,
    /// What it carries.
    pub transport: Transport,
}

/// All links, and what carries their bytes.
#[derive(Debug)]
pub struct Mesh {
    /// `None` only while it is being dropped.
    runtime: Option<Runtime>,
    links: RwLock<Vec<(LinkInfo, Arc<Link>)>>,
    layers: AtomicU64,
    dials: DialPorts,
    room: Arc<Semaphore>,
    /// Held by a probe with datagrams: a link can tell one from others, not two.
    probing: Mutex<()>,
    seed: u64,
}

impl Mesh {
    /// A mesh without links; `seed` is where jitter comes from.
    pub fn new(seed: u64) -> io::Result<Mesh> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(WORKERS)
            .thread_name("assay-mesh")
            .enable_all()
            .build()?;
        let (links, layers) = (RwLock::default(), AtomicU64::new(0));
        let (dials, probing) = (DialPorts::default(), Mutex::new(()));
        let room = Arc::new(Semaphore::new(room()));
        Ok(Mesh { runtime: Some(runtime), links, layers, dials, room, probing, seed })
    }

    /// Adds a link to `upstream` and listens for it on a free port of this machine.
    pub fn add(&self, from: &str, to: &str, upstream: SocketAddr) -> io::Result<LinkId> {
        let listener = self.runtime().block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)))?;
        let listen = listener.local_addr()?;
        let (id, link) = self.push(from, to, listen, (upstream, Transport::Stream))?;
        self.runtime().spawn(link.serve(listener));
        Ok(id)
    }

    /// Listens on one more address, for several links at once: nodes that tell each other where
    /// they are can name one address for everybody. `whose` says which of the links a connection
    /// takes, by the address of its other end; it may take its time. Connections of nobody are hung
    /// up.
    pub fn add_shared(
        &self,
        links: &[LinkId],
        whose: impl Fn(SocketAddr) -> Option<usize> + Send + Sync + 'static,
    ) -> io::Result<SocketAddr> {
        let listener = self.runtime().block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)))?;
        let listen = listener.local_addr()?;
        let live = links.iter().map(|link| self.live(*link)).collect();
        let whose: Whose = Arc::new(whose);
        self.runtime().spawn(serve_shared(live, listener, whose));
        Ok(listen)
    }

    /// Adds a link that carries datagrams to `upstream`, and takes them on a free port of this
    /// machine. Nodes that speak both ways have a link for each.
    pub fn add_datagrams(
        &self,
        from: &str,
        to: &str,
        upstream: SocketAddr,
        limits: DatagramLimits,
    ) -> io::Result<LinkId> {
        let socket = self.runtime().block_on(UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)))?;
        let listen = socket.local_addr()?;
        let (id, link) = self.push(from, to, listen, (upstream, Transport::Datagrams))?;
        self.runtime().spawn(datagrams::serve(link, socket, limits));
        Ok(id)
    }

    fn push(
        &self,
        from: &str,
        to: &str,
        listen: SocketAddr,
        (upstream, transport): (SocketAddr, Transport),
    ) -> io::Result<(LinkId, Arc<Link>)> {
        let mut links = self.links.write().expect("nothing panics while it holds the links");
        if links.len() >= LINKS_MAX {
            let message = format!("a mesh has at most {LINKS_MAX} links");
            return Err(io::Error::other(message));
        }
        let id = LinkId(links.len());
        let seed = self.seed ^ ((id.0 as u64 + 1) << 32);
        let room = Arc::clone(&self.room);
        let link = Arc::new(Link::new(upstream, self.dials.clone(), room, seed));
        let (from, to) = (from.to_string(), to.to_string());
        links.push((LinkInfo { id, from, to, listen, upstream, transport }, Arc::clone(&link)));
        Ok((id, link))
    }

    /// Who is connected with whom, in the order the links were added.
    pub fn links(&self) -> Vec<LinkInfo> {
        let links = self.links.read().expect("nothing panics while it holds the links");
        links.iter().map(|(info, _)| info.clone()).collect()
    }

    /// Where the connecting side of a link has to connect to.
    pub fn listen(&self, link: LinkId) -> SocketAddr {
        self.with(link, |info, _| info.listen)
    }

    /// What a link carries.
    pub fn transport(&self, link: LinkId) -> Transport {
        self.with(link, |info, _| info.transport)
    }

    /// `from->to`, for messages and evidence.
    pub fn name(&self, link: LinkId) -> String {
        self.with(link, |info, _| format!("{}->{}", info.from, info.to))
    }

    /// Imposes rules, all at once as far as a single connection can tell. They lie over what other
    /// layers impose, until they are lifted.
    pub fn impose(&self, rules: &[LinkRule]) -> Layer {
        let layer = self.layers.fetch_add(1, Ordering::Relaxed);
        for LinkRule { link, direction, rules } in rules {
            self.with(*link, |_, live| live.impose(layer, *direction, *rules));
        }
        Layer(layer)
    }

    /// Takes a layer away; taking it away twice is no mistake.
    pub fn lift(&self, layer: Layer) {
        let links = self.links.read().expect("nothing panics while it holds the links");
        links.iter().for_each(|(_, link)| link.lift(layer.0));
    }

    /// The rules in force, of all layers together.
    pub fn rules(&self, link: LinkId, direction: Direction) -> Rules {
        self.with(link, |_, live| live.rules(direction))
    }

    /// Resets the connections that are open now; later ones are not concerned.
    pub fn reset(&self, link: LinkId) {
        self.with(link, |_, live| live.reset());
    }

    /// What one link has counted.
    pub fn counts(&self, link: LinkId) -> LinkCounts {
        self.with(link, |_, live| live.counts())
    }

    /// What all links have counted, in their order. Costs a few loads per link.
    pub fn snapshot(&self) -> Vec<LinkCounts> {
        let links = self.links.read().expect("nothing panics while it holds the links");
        links.iter().map(|(_, link)| link.counts()).collect()
    }

    /// The local ports of the connections that links have open to the other side. Others that
    /// connect to a node on purpose may enter theirs.
    pub fn dial_ports(&self) -> &DialPorts {
        &self.dials
    }

    fn with<T>(&self, link: LinkId, look: impl FnOnce(&LinkInfo, &Link) -> T) -> T {
        let links = self.links.read().expect("nothing panics while it holds the links");
        let (info, live) = links.get(link.0).expect("a link id comes from its own mesh");
        look(info, live)
    }

    fn live(&self, link: LinkId) -> Arc<Link> {
        let links = self.links.read().expect("nothing panics while it holds the links");
        Arc::clone(&links.get(link.0).expect("a link id comes from its own mesh").1)
    }

    fn runtime(&self) -> &Runtime {
        self.runtime.as_ref().expect("the runtime is there until the mesh is dropped")
    }
}

/// How many connections all links together may have open, two sockets each: they take half of the
/// descriptors of this process. While a node is frozen, those of everybody who tries again pile up,
/// and without a descriptor for a look at the node it could not be resumed.
fn room() -> usize {
    let descriptors = getrlimit(Resource::Nofile).current.unwrap_or(DESCRIPTORS_MAX);
    usize::try_from(descriptors.min(DESCRIPTORS_MAX) / 4).unwrap_or(1)
}

impl Drop for Mesh {
    /// Ends all connections without waiting for them: waiting may be forbidden where we are.
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
