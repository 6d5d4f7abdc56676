//! A network, from its building to its end.

use super::bridge::Bridge;
use super::cables::lay_cables;
use super::dns::{DNS_PORT, NameCount, NameServer, question};
use super::links::{Links, NODE_INDEX};
use super::names::{ASSAY, Names, NetError, io};
use super::resolver::Covered;
use super::rules::{DirectedRule, Layer, LinkCount, PacketRule, Packets};
use super::space::Space;
use super::spawn;
use super::switch::{Switch, by_port};
use crate::inside::is_inside;
use std::collections::BTreeMap;
use std::io::Result as IoResult;
use std::net::{Ipv4Addr, UdpSocket};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// How long cables may take until they carry packets.
const READY_TIME_MAX: Duration = Duration::from_secs(10);
/// How long one packet may take where nothing is in its way.
const PACKET_TIME_MAX: Duration = Duration::from_millis(200);

/// There is one network at a time: its end in this process has a fixed place.
static BUILT: AtomicBool = AtomicBool::new(false);

/// What stands between the nodes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HubKind {
    /// A bridge of the kernel: fast, and can only cut.
    Bridge,
    /// A switch in this process: can do all of [`PacketRule`].
    Switch,
}

/// What to build.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NetworkSpec {
    /// The names of the nodes; addresses are given in this order.
    pub nodes: Vec<String>,
    /// What stands between them.
    pub hub: HubKind,
    /// What chances are drawn from.
    pub seed: u64,
}

#[derive(Debug)]
enum Hub {
    Bridge(Mutex<Bridge>),
    Switch(Switch),
}

/// Nodes with a hub between them. It goes when it is dropped; processes in it lose their cable.
#[derive(Debug)]
pub struct Network {
    names: Names,
    spaces: Vec<Space>,
    hub: Hub,
    imposed: Mutex<Imposed>,
    name_server: NameServer,
    _covered: Covered,
    _place: Place,
}

#[derive(Debug, Default)]
struct Imposed {
    layers: BTreeMap<Layer, Vec<DirectedRule>>,
    next: u64,
    /// Frames of each port that the switch was too slow for.
    overruns: Vec<u64>,
}

/// The place of this process's own end; given back when the network goes.
#[derive(Debug)]
struct Place;

impl Place {
    fn take() -> Result<Place, NetError> {
        let free = BUILT.compare_exchange(false, true, Ordering::AcqRel, Ordering::Acquire);
        free.map(|_| Place).map_err(|_| NetError::Another)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // Deleting one end of a cable deletes the other. It may not be there yet.
        let _deleted = Links::open().and_then(|mut links| links.delete(NODE_INDEX));
        BUILT.store(false, Ordering::Release);
    }
}

impl Network {
    /// Builds it and waits until every cable carries packets. To be called inside only, by a
    /// thread that is in no node's namespace.
    pub fn build(spec: NetworkSpec) -> Result<Network, NetError> {
        if !is_inside() {
            return Err(NetError::NotInside);
        }
        let names = Names::new(&spec.nodes)?;
        let _place = Place::take()?;
        let ports = names.all().len();
        let mut spaces = (1..ports)
            .map(|_| Space::create())
            .collect::<IoResult<Vec<Space>>>()
            .map_err(io("make namespaces"))?;
        spaces.push(Space::current().map_err(io("hold this namespace"))?);
        let hub_space = Space::create().map_err(io("make a namespace for the hub"))?;
        lay_cables(&names, &spaces, &hub_space, spec.hub).map_err(io("lay cables"))?;
        let hub = match spec.hub {
            HubKind::Bridge => {
                let bridge = Bridge::start(&hub_space, ports);
                Hub::Bridge(Mutex::new(bridge.map_err(io("filter packets of a bridge"))?))
            }
            HubKind::Switch => {
                let indexes: Vec<u32> = (0..ports).map(Names::index).collect();
                let switch = Switch::start(&hub_space, &indexes, spec.seed);
                Hub::Switch(switch.map_err(io("start a switch"))?)
            }
        };
        let server = names.address(names.assay());
        let network = Network {
            name_server: NameServer::start(&names).map_err(io("answer names"))?,
            _covered: Covered::asking(server).map_err(io("cover /etc/resolv.conf"))?,
            imposed: Mutex::new(Imposed { overruns: vec![0; ports], ..Imposed::default() }),
            names,
            spaces,
            hub,
            _place,
        };
        network.wait_ready()?;
        Ok(network)
    }

    fn wait_ready(&self) -> Result<(), NetError> {
        for name in &self.names.all()[..self.names.assay()] {
            for (from, to) in [(name.as_str(), ASSAY), (ASSAY, name.as_str())] {
                if !self.passes(from, to, READY_TIME_MAX)? {
                    return Err(NetError::Dead { from: from.to_string(), to: to.to_string() });
                }
            }
        }
        if let Hub::Switch(switch) = &self.hub {
            switch.forget();
        }
        Ok(())
    }

    /// Everybody: the nodes as they were given, clients, and this process.
    pub fn names(&self) -> &[String] {
        self.names.all()
    }

    /// Where somebody is.
    pub fn address(&self, name: &str) -> Result<Ipv4Addr, NetError> {
        Ok(self.names.address(self.names.port(name)?))
    }

    /// Has a process that will be started run as this one.
    pub fn enter_on_exec(&self, name: &str, command: &mut Command) -> Result<(), NetError> {
        spawn::enter_on_exec(self.space(name)?, command);
        Ok(())
    }

    /// Moves the calling thread, for good: what it opens from now on it opens as this one.
    pub fn enter_thread(&self, name: &str) -> Result<(), NetError> {
        self.space(name)?.enter().map_err(io("enter a namespace"))
    }

    fn space(&self, name: &str) -> Result<&Space, NetError> {
        Ok(&self.spaces[self.names.port(name)?])
    }

    /// Imposes rules, all at the same instant. They lie upon those that are there.
    pub fn impose(&self, rules: &[DirectedRule]) -> Result<Layer, NetError> {
        for rule in rules {
            self.check(rule)?;
        }
        let port = |name: &str| self.names.port(name).expect("names have been checked");
        let mut imposed = self.imposed();
        imposed.next += 1;
        let layer = Layer(imposed.next);
        match &self.hub {
            Hub::Switch(switch) => switch.impose(layer, &by_port(rules, port)),
            Hub::Bridge(bridge) => {
                let pairs: Vec<(usize, usize)> =
                    rules.iter().map(|rule| (port(&rule.from), port(&rule.to))).collect();
                lock(bridge).cut(layer, &pairs).map_err(io("filter packets"))?;
            }
        }
        imposed.layers.insert(layer, rules.to_vec());
        Ok(layer)
    }

    /// Says what is wrong with a rule, if anything is.
    pub fn check(&self, rule: &DirectedRule) -> Result<(), NetError> {
        let (from, to) = (self.names.port(&rule.from)?, self.names.port(&rule.to)?);
        if from == to {
            return Err(NetError::Rule("from and to are the same: that is no link"));
        }
        if from == self.names.assay() || to == self.names.assay() {
            return Err(NetError::Rule("this process must not be cut off from its nodes"));
        }
        rule.rule.check()?;
        match self.hub {
            Hub::Bridge(_) if !rule.rule.only_cuts() => Err(NetError::HubCannot {
                from: rule.from.clone(),
                to: rule.to.clone(),
                wanted: wanted(&rule.rule),
            }),
            _ => Ok(()),
        }
    }

    /// Lifts rules. What they kept back goes out at once.
    pub fn lift(&self, layer: Layer) -> Result<(), NetError> {
        let mut imposed = self.imposed();
        if !imposed.layers.contains_key(&layer) {
            return Ok(());
        }
        match &self.hub {
            Hub::Switch(switch) => switch.lift(layer),
            Hub::Bridge(bridge) => lock(bridge).lift(layer).map_err(io("lift filters"))?,
        }
        imposed.layers.remove(&layer);
        Ok(())
    }

    /// Whether any rule lies on what one says to another.
    pub fn is_ruled(&self, from: &str, to: &str) -> bool {
        let imposed = self.imposed();
        imposed.layers.values().flatten().any(|rule| rule.from == from && rule.to == to)
    }

    /// The packets of every directed link.
    pub fn counts(&self) -> Result<Vec<LinkCount>, NetError> {
        let ports = self.names.all().len();
        let mut packets: Vec<Packets> = match &self.hub {
            Hub::Bridge(bridge) => lock(bridge).packets().map_err(io("read counters"))?,
            Hub::Switch(switch) => {
                (0..ports * ports).map(|at| switch.packets(at / ports, at % ports)).collect()
            }
        };
        self.add_overruns(&mut packets);
        let name = |port: usize| self.names.all()[port].clone();
        let links = packets.into_iter().enumerate().filter(|(at, _)| at / ports != at % ports);
        let count =
            |(at, packets)| LinkCount { from: name(at / ports), to: name(at % ports), packets };
        Ok(links.map(count).collect())
    }

    /// Frames that never reached the switch have a sender, but nobody knows to whom they were
    /// going: they are counted on the way to this process, where no fault is.
    fn add_overruns(&self, packets: &mut [Packets]) {
        let Hub::Switch(switch) = &self.hub else { return };
        let (ports, assay) = (self.names.all().len(), self.names.assay());
        let mut imposed = self.imposed();
        for (port, more) in switch.overruns().into_iter().enumerate() {
            imposed.overruns[port] += more;
            let to = if port == assay { 0 } else { assay };
            packets[port * ports + to].overrun += imposed.overruns[port];
        }
    }

    /// The packets of one directed link.
    pub fn count(&self, from: &str, to: &str) -> Result<Packets, NetError> {
        let counts = self.counts()?;
        let found = counts.into_iter().find(|link| link.from == from && link.to == to);
        found.map(|link| link.packets).ok_or_else(|| NetError::Unknown(format!("{from} -> {to}")))
    }

    /// Whether a packet of ours passes from one to another; tries again for `time_max`.
    pub fn passes(&self, from: &str, to: &str, time_max: Duration) -> Result<bool, NetError> {
        let (from, to) = (self.names.port(from)?, self.names.port(to)?);
        let address = self.names.address(to);
        let bound = |address| move || UdpSocket::bind((address, 0));
        let receiver = self.spaces[to].run(bound(address)).map_err(io("listen for a packet"))?;
        let sender = self.spaces[from].run(bound(self.names.address(from)));
        let sender = sender.map_err(io("send a packet"))?;
        receiver.set_read_timeout(Some(PACKET_TIME_MAX)).map_err(io("wait for a packet"))?;
        let target = receiver.local_addr().map_err(io("listen for a packet"))?;
        let until = Instant::now() + time_max;
        loop {
            let sent = sender.send_to(b"assay", target);
            if sent.is_ok() && receiver.recv_from(&mut [0; 16]).is_ok() {
                return Ok(true);
            }
            if Instant::now() >= until {
                return Ok(false);
            }
        }
    }

    /// Begins an outage of names for one of the network; outages add up.
    pub fn cut_dns(&self, name: &str) -> Result<(), NetError> {
        self.name_server.cut(self.names.port(name)?);
        Ok(())
    }

    /// Ends an outage of names; whether there was one.
    pub fn restore_dns(&self, name: &str) -> Result<bool, NetError> {
        Ok(self.name_server.restore(self.names.port(name)?))
    }

    /// Questions for names by one of the network.
    pub fn dns_count(&self, name: &str) -> Result<NameCount, NetError> {
        Ok(self.name_server.count(self.names.port(name)?))
    }

    /// Whether somebody who asks for a name over the wire gets an answer.
    pub fn dns_answers(&self, name: &str) -> Result<bool, NetError> {
        let server = (self.names.address(self.names.assay()), DNS_PORT);
        let asked = self.space(name)?.run(|| {
            let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?;
            socket.set_read_timeout(Some(PACKET_TIME_MAX * 5))?;
            socket.send_to(&question(name), server)?;
            Ok(socket.recv(&mut [0; 512]).is_ok())
        });
        asked.map_err(io("ask for a name"))
    }

    fn imposed(&self) -> MutexGuard<'_, Imposed> {
        lock(&self.imposed)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("nothing panics while it holds the network")
}

/// What a rule asks for beyond a cut.
fn wanted(rule: &PacketRule) -> &'static str {
    match rule {
        PacketRule { loss_ppm: 1.., .. } => "loss",
        PacketRule { duplicate_ppm: 1.., .. } => "duplicates",
        PacketRule { reorder_ppm: 1.., .. } => "reordering",
        PacketRule { rate_bytes_per_s: Some(_), .. } => "a rate",
        PacketRule { drop: false, delay: Duration::ZERO, jitter: Duration::ZERO, .. } => {
            "a rule that does nothing"
        }
        _ => "a delay",
    }
}
