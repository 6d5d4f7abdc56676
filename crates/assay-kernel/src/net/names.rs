//! Who is in a network, and where.

use super::links::Mac;
use std::io;
use std::net::Ipv4Addr;

/// The name of the namespace for threads that call the system.
pub const CLIENTS: &str = "clients";
/// The name of this process in its networks.
pub const ASSAY: &str = "assay";
/// A network has at most so many nodes.
pub const NODES_MAX: usize = 200;

const CLIENTS_HOST: u8 = 250;
const ASSAY_HOST: u8 = 251;

/// Why a network does not do what it was asked for.
#[derive(Debug, thiserror::Error)]
pub enum NetError {
    /// This process is not inside.
    #[error("networks are built inside namespaces of our own only: call inside::enter() first")]
    NotInside,
    /// There is another network.
    #[error("this process has a network already: drop it before another one is built")]
    Another,
    /// The nodes cannot be told apart, or are too many.
    #[error("the nodes of a network: {0}")]
    Nodes(String),
    /// Nobody has this name.
    #[error("there is no `{0}` in this network")]
    Unknown(String),
    /// A rule makes no sense.
    #[error("a rule for packets: {0}")]
    Rule(&'static str),
    /// The hub cannot do it.
    #[error("{from} -> {to}: a bridge can only cut; for {wanted} use the switch as the hub")]
    HubCannot {
        /// Who speaks.
        from: String,
        /// Who is spoken to.
        to: String,
        /// What was asked for.
        wanted: &'static str,
    },
    /// The kernel said no.
    #[error("the network: cannot {doing}: {source}")]
    Io {
        /// What was tried.
        doing: &'static str,
        /// Why not.
        source: io::Error,
    },
    /// Packets do not pass although nothing forbids it.
    #[error("the network: a packet from {from} to {to} does not arrive, without any fault")]
    Dead {
        /// Who spoke.
        from: String,
        /// Who was spoken to.
        to: String,
    },
}

pub(super) fn io(doing: &'static str) -> impl Fn(io::Error) -> NetError {
    move |source| NetError::Io { doing, source }
}

/// Everybody in a network, by the number of their port.
#[derive(Clone, Debug)]
pub(super) struct Names(Vec<String>);

impl Names {
    pub(super) fn new(nodes: &[String]) -> Result<Names, NetError> {
        if nodes.is_empty() || nodes.len() > NODES_MAX {
            let count = nodes.len();
            return Err(NetError::Nodes(format!(
                "there are {count}, allowed are 1 to {NODES_MAX}"
            )));
        }
        let own = [CLIENTS.to_string(), ASSAY.to_string()];
        let all: Vec<String> = nodes.iter().cloned().chain(own).collect();
        let twice = all.iter().enumerate().find(|(at, name)| all[..*at].contains(name));
        if let Some((_, name)) = twice {
            return Err(NetError::Nodes(format!("`{name}` is there twice")));
        }
        Ok(Names(all))
    }

    pub(super) fn all(&self) -> &[String] {
        &self.0
    }

    pub(super) fn port(&self, name: &str) -> Result<usize, NetError> {
        let found = self.0.iter().position(|other| other == name);
        found.ok_or_else(|| NetError::Unknown(name.to_string()))
    }

    /// The port of this process.
    pub(super) fn assay(&self) -> usize {
        self.0.len() - 1
    }

    pub(super) fn address(&self, port: usize) -> Ipv4Addr {
        let host = match self.0.len() - port {
            1 => ASSAY_HOST,
            2 => CLIENTS_HOST,
            _ => u8::try_from(port + 1).expect("there are few nodes"),
        };
        Ipv4Addr::new(10, 77, 0, host)
    }

    /// A hardware address that ends with the number of the port.
    pub(super) fn mac(port: usize) -> Mac {
        [0x02, 0x77, 0, 0, 0, u8::try_from(port).expect("there are few ports")]
    }

    /// The number of the hub's end of the cable.
    pub(super) fn index(port: usize) -> u32 {
        1000 + u32::try_from(port).expect("there are few ports")
    }
}
