//! The links of a cluster: who reaches whom at which address.

use crate::ports::{free_address, give_back};
use crate::roster::{Caller, Roster};
use crate::spec::{Description, PortUse};
use crate::template::Placeholder;
use assay_kernel::net::{HubKind, NetError, Network};
use assay_nemesis::{DatagramLimits, LinkId, Mesh, Transport};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};

/// The port of nodes that have none of their own.
pub(crate) const MAELSTROM_PORT: &str = "maelstrom";
/// The first port of nodes that share it with nobody.
const NAMESPACE_PORT_MIN: u16 = 12_000;
/// Who asks through links on which no fault is ever laid: commands of the description.
const PROBES: &str = "probes";

/// Whether nodes reach each other through proxies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wiring {
    /// Every link leads through the mesh.
    Proxied,
    /// Nodes are told each other's real addresses, so no fault on a link can be felt. This is what
    /// a harness gets wrong; it exists so that a test can see it noticed.
    Direct,
    /// Every node is in a network namespace of its own, and there are no proxies: faults are laid
    /// on packets, and nothing gets around them. Only inside ([`assay_kernel::inside`]).
    Namespaces(HubKind),
}

/// Where a link begins.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Peer {
    /// At the clients, all of them.
    Clients,
    /// At a node, by its index from 0.
    Node(usize),
}

/// Addresses by port, then by node.
pub(crate) type Addresses = BTreeMap<String, Vec<SocketAddr>>;

/// All addresses and links.
#[derive(Debug)]
pub(crate) struct Wires {
    /// Where nodes really listen.
    pub(crate) listen: Addresses,
    /// Ports at which nodes are known to reach each other without a proxy.
    direct: BTreeSet<String>,
    /// For each node, where it reaches the others; itself where it listens.
    pub(crate) peers: Vec<Addresses>,
    /// Where everybody reaches the nodes, of ports that are told to everybody.
    pub(crate) publics: Addresses,
    /// Where commands reach the nodes.
    pub(crate) probes: Addresses,
    /// Where clients reach the nodes.
    pub(crate) clients: Vec<SocketAddr>,
    /// Whose processes are whose.
    pub(crate) roster: Roster,
    links: BTreeMap<(Peer, usize), Vec<LinkId>>,
}

impl Wires {
    /// Finds free ports and adds the links.
    pub(crate) fn lay(
        described: &Description,
        names: &[String],
        mesh: &Mesh,
        wiring: Wiring,
    ) -> io::Result<Wires> {
        let mut wires = Wires::none(names.len());
        let client_port = client_port(described);
        for (port, uses) in ports(described) {
            let addresses =
                names.iter().map(|_| free_address()).collect::<io::Result<Vec<SocketAddr>>>()?;
            wires.listen.insert(port.clone(), addresses.clone());
            let transport = match uses.contains(&PortUse::Datagrams) {
                true => Transport::Datagrams,
                false => Transport::Stream,
            };
            if uses.contains(&PortUse::Direct) {
                let each = wires.peers.iter_mut();
                each.for_each(|peers| drop(peers.insert(port.clone(), addresses.clone())));
                wires.direct.insert(port.clone());
            }
            if uses.contains(&PortUse::Peers) {
                wires.between_nodes((&port, transport), &addresses, names, mesh, wiring)?;
            }
            if uses.contains(&PortUse::Clients) {
                let from = (Peer::Clients, "clients");
                let clients = wires.from(from, transport, &addresses, names, mesh)?;
                if client_port == Some(port.as_str()) {
                    wires.clients = clients;
                }
            }
            if is_public(described, &port) {
                let told = wires.publish(&addresses, mesh, wiring, names)?;
                wires.publics.insert(port.clone(), told);
            }
            if has_commands(described) {
                let mut through = Vec::new();
                for (name, address) in names.iter().zip(&addresses) {
                    through.push(mesh.listen(add(mesh, transport, (PROBES, name), *address)?));
                }
                wires.probes.insert(port, through);
            }
        }
        Ok(wires)
    }

    fn none(nodes: usize) -> Wires {
        Wires {
            listen: BTreeMap::new(),
            direct: BTreeSet::new(),
            peers: vec![BTreeMap::new(); nodes],
            publics: BTreeMap::new(),
            probes: BTreeMap::new(),
            clients: Vec::new(),
            roster: Roster::new(nodes),
            links: BTreeMap::new(),
        }
    }

    /// The same ports for every node, at its address in a network, for whoever asks.
    pub(crate) fn within(
        described: &Description,
        names: &[String],
        network: &Network,
    ) -> Result<Wires, NetError> {
        let mut wires = Wires::none(names.len());
        let client_port = client_port(described);
        for (name, number) in ports(described).into_keys().zip(NAMESPACE_PORT_MIN..) {
            let address = |node: &String| Ok(SocketAddr::from((network.address(node)?, number)));
            let addresses = names.iter().map(address).collect::<Result<Vec<_>, NetError>>()?;
            if client_port == Some(name.as_str()) {
                wires.clients.clone_from(&addresses);
            }
            let of_nodes = wires.peers.iter_mut();
            for told in of_nodes.chain([&mut wires.listen, &mut wires.publics, &mut wires.probes]) {
                told.insert(name.clone(), addresses.clone());
            }
        }
        Ok(wires)
    }

    fn between_nodes(
        &mut self,
        (port, transport): (&str, Transport),
        addresses: &[SocketAddr],
        names: &[String],
        mesh: &Mesh,
        wiring: Wiring,
    ) -> io::Result<()> {
        for (index, name) in names.iter().enumerate() {
            let from = (Peer::Node(index), name.as_str());
            let proxied = self.from(from, transport, addresses, names, mesh)?;
            let told = match wiring {
                Wiring::Direct => addresses.to_vec(),
                Wiring::Proxied | Wiring::Namespaces(_) => proxied,
            };
            self.peers[index].insert(port.to_string(), told);
        }
        Ok(())
    }

    /// One address of each node for everybody: who connects takes the link from there.
    fn publish(
        &self,
        addresses: &[SocketAddr],
        mesh: &Mesh,
        wiring: Wiring,
        names: &[String],
    ) -> io::Result<Vec<SocketAddr>> {
        if wiring == Wiring::Direct {
            return Ok(addresses.to_vec());
        }
        let mut told = Vec::new();
        for (to, address) in addresses.iter().enumerate() {
            // A node that connects to itself, or a client of a port that is for peers only, takes a
            // link that no fault is ever laid on.
            let own = mesh.add(PROBES, &names[to], *address)?;
            let laid = mesh.links();
            let link_from = |from| {
                let links = self.links.get(&(from, to)).into_iter().flatten();
                let of_port = |link: &&LinkId| {
                    laid.iter().any(|known| known.id == **link && known.upstream == *address)
                };
                links.copied().find(|link| of_port(&link)).unwrap_or(own)
            };
            let sides = (0..names.len()).map(Peer::Node).chain([Peer::Clients]);
            let links: Vec<LinkId> = sides.map(link_from).collect();
            let (roster, clients) = (self.roster.clone(), names.len());
            // Known once it listens, which is before anybody connects.
            let here = Arc::new(OnceLock::new());
            let listens_at = Arc::clone(&here);
            let whose = move |other_end| match roster.caller(other_end, *listens_at.get()?)? {
                Caller::Node(node) => Some(node),
                Caller::Other => Some(clients),
            };
            let address = mesh.add_shared(&links, whose)?;
            here.get_or_init(|| address);
            told.push(address);
        }
        Ok(told)
    }

    /// Links from one side to all nodes but itself: where they listen, itself where it does.
    fn from(
        &mut self,
        (from, from_name): (Peer, &str),
        transport: Transport,
        addresses: &[SocketAddr],
        names: &[String],
        mesh: &Mesh,
    ) -> io::Result<Vec<SocketAddr>> {
        let mut listen = Vec::new();
        for (to, (name, address)) in names.iter().zip(addresses).enumerate() {
            if from == Peer::Node(to) {
                listen.push(*address);
                continue;
            }
            let link = add(mesh, transport, (from_name, name), *address)?;
            self.links.entry((from, to)).or_default().push(link);
            listen.push(mesh.listen(link));
        }
        Ok(listen)
    }

    /// The links from one side to a node, one for each port.
    pub(crate) fn links(&self, from: Peer, to: usize) -> Vec<LinkId> {
        self.links.get(&(from, to)).cloned().unwrap_or_default()
    }

    /// Whose each real port is, of those that only proxies may reach.
    pub(crate) fn real_ports(&self) -> BTreeMap<u16, usize> {
        let of = |addresses: &Vec<SocketAddr>| -> Vec<(u16, usize)> {
            addresses.iter().enumerate().map(|(node, address)| (address.port(), node)).collect()
        };
        let behind_proxies = self.listen.iter().filter(|(port, _)| !self.direct.contains(*port));
        behind_proxies.flat_map(|(_, addresses)| of(addresses)).collect()
    }

    /// The real ports at which nodes may reach each other without a proxy.
    pub(crate) fn direct_ports(&self) -> BTreeSet<u16> {
        let direct = self.listen.iter().filter(|(port, _)| self.direct.contains(*port));
        direct.flat_map(|(_, addresses)| addresses.iter().map(SocketAddr::port)).collect()
    }

    /// A port of this node on which somebody else listens, if there is one.
    pub(crate) fn taken_port(&self, node: usize) -> Option<u16> {
        let of_node = self.listen.values().filter_map(|addresses| addresses.get(node));
        of_node.map(SocketAddr::port).find(|port| !crate::ports::is_free(*port))
    }
}

impl Drop for Wires {
    fn drop(&mut self) {
        self.listen.values().flatten().copied().for_each(give_back);
    }
}

/// A link that carries what a port takes.
fn add(
    mesh: &Mesh,
    transport: Transport,
    (from, to): (&str, &str),
    upstream: SocketAddr,
) -> io::Result<LinkId> {
    match transport {
        Transport::Stream => mesh.add(from, to, upstream),
        Transport::Datagrams => mesh.add_datagrams(from, to, upstream, DatagramLimits::default()),
    }
}

fn ports(described: &Description) -> BTreeMap<String, Vec<PortUse>> {
    match described.client.maelstrom {
        true => {
            let uses = vec![PortUse::Peers, PortUse::Clients];
            BTreeMap::from([(MAELSTROM_PORT.to_string(), uses)])
        }
        false => described.ports.clone(),
    }
}

fn client_port(described: &Description) -> Option<&str> {
    if described.client.maelstrom {
        return Some(MAELSTROM_PORT);
    }
    let for_clients = |(_, uses): &(&String, &Vec<PortUse>)| uses.contains(&PortUse::Clients);
    let first = described.ports.iter().find(for_clients).map(|(name, _)| name.as_str());
    described.client.port.as_deref().or(first)
}

/// Whether nodes are told one address of this port for everybody.
fn is_public(described: &Description, port: &str) -> bool {
    let words = described.node.command.iter().flat_map(|word| word.templates());
    let mut templates = words.chain(described.node.environment.values());
    templates.any(|template| {
        template
            .placeholders()
            .any(|placeholder| matches!(placeholder, Placeholder::Public(name, _) if name == port))
    })
}

/// Whether anything is asked by a command. It needs an address that is not taken for a bypass.
fn has_commands(described: &Description) -> bool {
    let quiescence = &described.quiescence;
    let holds = [&quiescence.pending, &quiescence.converged];
    described.roles.values().any(|role| role.command.is_some())
        || described.signals.values().any(|signal| signal.command.is_some())
        || holds.into_iter().flatten().any(|holds| holds.command.is_some())
}
