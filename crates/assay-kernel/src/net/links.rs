//! Interfaces, addresses and neighbours, in the namespace of the calling thread.

use super::netlink::{CREATE, Family, Message, Netlink, REPLACE};
use super::space::Space;
use std::io;
use std::net::Ipv4Addr;
use std::os::fd::AsRawFd;

/// The name of the one interface that a node has.
pub(super) const NODE_LINK: &str = "eth0";
/// Its number: far from those that a kernel gives to interfaces it makes by itself.
pub(super) const NODE_INDEX: u32 = 77;
const LOOPBACK_INDEX: u32 = 1;

const RTM_NEWLINK: u16 = 16;
const RTM_DELLINK: u16 = 17;
const RTM_NEWADDR: u16 = 20;
const RTM_NEWNEIGH: u16 = 28;
const IFLA_ADDRESS: u16 = 1;
const IFLA_IFNAME: u16 = 3;
const IFLA_MASTER: u16 = 10;
const IFLA_LINKINFO: u16 = 18;
const IFLA_NET_NS_FD: u16 = 28;
const IFLA_INFO_KIND: u16 = 1;
const IFLA_INFO_DATA: u16 = 2;
const VETH_INFO_PEER: u16 = 1;
const IFA_ADDRESS: u16 = 1;
const IFA_LOCAL: u16 = 2;
const NDA_DST: u16 = 1;
const NDA_LLADDR: u16 = 2;
const NUD_NOARP: u16 = 0x40;
const NUD_PERMANENT: u16 = 0x80;
const NTF_MASTER: u8 = 4;
const AF_INET: u8 = 2;
const AF_BRIDGE: u8 = 7;
const IFF_UP: u32 = 1;
const PREFIX_BITS: u8 = 24;

/// A hardware address.
pub(super) type Mac = [u8; 6];

fn link_header(index: u32, flags: u32) -> [u8; 16] {
    let mut header = [0; 16];
    header[4..8].copy_from_slice(&index.to_ne_bytes());
    header[8..12].copy_from_slice(&flags.to_ne_bytes());
    header[12..].copy_from_slice(&flags.to_ne_bytes());
    header
}

fn neighbour_header(family: u8, index: u32, state: u16, flags: u8) -> [u8; 12] {
    let mut header = [0; 12];
    header[0] = family;
    header[4..8].copy_from_slice(&index.to_ne_bytes());
    header[8..10].copy_from_slice(&state.to_ne_bytes());
    header[10] = flags;
    header
}

/// Links of one namespace.
#[derive(Debug)]
pub(super) struct Links(Netlink);

impl Links {
    pub(super) fn open() -> io::Result<Links> {
        Ok(Links(Netlink::open(Family::Route)?))
    }

    /// A cable: one end here by this name and number, the other one in `space` as [`NODE_LINK`].
    pub(super) fn cable(
        &mut self,
        name: &str,
        index: u32,
        mac: Mac,
        space: &Space,
    ) -> io::Result<()> {
        let far = link_header(NODE_INDEX, 0);
        let message = Message::new(RTM_NEWLINK, CREATE, &link_header(index, 0))
            .text(IFLA_IFNAME, name)
            .nest(IFLA_LINKINFO, |info| {
                info.text(IFLA_INFO_KIND, "veth").nest(IFLA_INFO_DATA, |data| {
                    data.nest_after(VETH_INFO_PEER, &far, |peer| {
                        peer.text(IFLA_IFNAME, NODE_LINK)
                            .attr(IFLA_ADDRESS, &mac)
                            .attr(IFLA_NET_NS_FD, &space.file().as_raw_fd().to_ne_bytes())
                    })
                })
            });
        self.0.request(message)
    }

    pub(super) fn bridge(&mut self, name: &str, index: u32) -> io::Result<()> {
        let message = Message::new(RTM_NEWLINK, CREATE, &link_header(index, 0))
            .text(IFLA_IFNAME, name)
            .nest(IFLA_LINKINFO, |info| info.text(IFLA_INFO_KIND, "bridge"));
        self.0.request(message)
    }

    /// Makes an interface a port of a bridge, behind which `mac` lives.
    pub(super) fn plug(&mut self, index: u32, bridge: u32, mac: Mac) -> io::Result<()> {
        let message = Message::new(RTM_NEWLINK, 0, &link_header(index, 0))
            .attr(IFLA_MASTER, &bridge.to_ne_bytes());
        self.0.request(message)?;
        // Known beforehand, so that no packet goes to everybody.
        let header = neighbour_header(AF_BRIDGE, index, NUD_NOARP, NTF_MASTER);
        self.0.request(Message::new(RTM_NEWNEIGH, REPLACE, &header).attr(NDA_LLADDR, &mac))
    }

    pub(super) fn up(&mut self, index: u32) -> io::Result<()> {
        self.0.request(Message::new(RTM_NEWLINK, 0, &link_header(index, IFF_UP)))
    }

    pub(super) fn loopback_up(&mut self) -> io::Result<()> {
        self.up(LOOPBACK_INDEX)
    }

    pub(super) fn address(&mut self, index: u32, address: Ipv4Addr) -> io::Result<()> {
        let mut header = [AF_INET, PREFIX_BITS, 0, 0, 0, 0, 0, 0];
        header[4..].copy_from_slice(&index.to_ne_bytes());
        let message = Message::new(RTM_NEWADDR, CREATE, &header)
            .attr(IFA_LOCAL, &address.octets())
            .attr(IFA_ADDRESS, &address.octets());
        self.0.request(message)
    }

    /// Who lives where, for good: nobody has to ask, so there are no packets but those of the
    /// system under test, and counters are exact.
    pub(super) fn neighbour(&mut self, index: u32, address: Ipv4Addr, mac: Mac) -> io::Result<()> {
        let header = neighbour_header(AF_INET, index, NUD_PERMANENT, 0);
        let message = Message::new(RTM_NEWNEIGH, REPLACE, &header)
            .attr(NDA_DST, &address.octets())
            .attr(NDA_LLADDR, &mac);
        self.0.request(message)
    }

    pub(super) fn delete(&mut self, index: u32) -> io::Result<()> {
        self.0.request(Message::new(RTM_DELLINK, 0, &link_header(index, 0)))
    }
}

/// Keeps IPv6 from new interfaces: its own packets would be counted with those of the system.
/// Loopback keeps `::1`.
pub(super) fn without_ipv6() -> io::Result<()> {
    match std::fs::write("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1") {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        written => written,
    }
}
