//! Networks of namespaces: one for each node, and a hub between them that can lose packets.
//!
//! A [`Network`] gives every node a namespace with one interface, `eth0`, and one cable to the hub.
//! There is no other way from one node to another, so nothing gets around a fault. The hub counts
//! every packet of every directed link, and what became of it. Nobody has to be asked for hardware
//! addresses, and IPv6 is kept from the cables, so there are no packets but those of the system.
//!
//! | [`HubKind`] | is | can |
//! |---|---|---|
//! | `Bridge` | the kernel's, with nftables | cuts, at the speed of the kernel |
//! | `Switch` | a thread of this process | all of [`PacketRule`], by a seed |
//!
//! Besides the nodes there are [`CLIENTS`], for threads that call the system, and [`ASSAY`], this
//! process itself: it is reached by all, answers names of nodes, and is never cut off.
//!
//! ```no_run
//! use assay_kernel::net::{DirectedRule, HubKind, Network, NetworkSpec, PacketRule};
//!
//! let nodes = vec!["n1".to_string(), "n2".to_string()];
//! let network = Network::build(NetworkSpec { nodes, hub: HubKind::Switch, seed: 1 })?;
//! let mut node = std::process::Command::new("server");
//! network.enter_on_exec("n1", &mut node)?;
//! let (from, to) = ("n1".to_string(), "n2".to_string());
//! let layer = network.impose(&[DirectedRule { from, to, rule: PacketRule::cut() }])?;
//! network.lift(layer)?;
//! # Ok::<(), assay_kernel::net::NetError>(())
//! ```
//!
//! Networks are built inside only ([`crate::inside`]): there nothing of them can stay behind.

mod bridge;
mod cables;
mod dns;
mod facts;
mod lane;
mod links;
mod names;
mod netlink;
mod network;
mod nft;
mod port;
mod resolver;
mod rules;
mod space;
mod spawn;
mod switch;

pub use dns::NameCount;
pub use facts::{BRIDGES, CABLES, probe};
pub use names::{ASSAY, CLIENTS, NODES_MAX, NetError};
pub use network::{HubKind, Network, NetworkSpec};
pub use rules::{DELAY_MAX, DirectedRule, Layer, LinkCount, PacketRule, Packets, SHARE_WHOLE};

/// Has the loopback interface of this namespace work; a new one is down.
pub(crate) fn raise_loopback() -> std::io::Result<()> {
    links::Links::open()?.loopback_up()
}
