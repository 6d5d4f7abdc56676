//! Whose a connection is: the node whose process, or one of its children, holds the other end.
//!
//! Systems that tell their members one address for each node (etcd, Redis, ZooKeeper) leave no room
//! for an address per pair. So everybody connects to one, and the kernel is asked who did.

use crate::sockets::{Families, established, holds, inode_of, pids};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

/// The first process of each node.
#[derive(Clone, Debug)]
pub(crate) struct Roster {
    pids: Arc<Mutex<Vec<Option<u32>>>>,
}

/// Where one node enters its process.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    roster: Roster,
    node: usize,
}

/// Who connected.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Caller {
    /// A node, by its index.
    Node(usize),
    /// Anybody else: clients and probes.
    Other,
}

impl Roster {
    pub(crate) fn new(nodes: usize) -> Roster {
        Roster { pids: Arc::new(Mutex::new(vec![None; nodes])) }
    }

    pub(crate) fn place(&self, node: usize) -> Place {
        Place { roster: self.clone(), node }
    }

    /// Who holds the other end of a connection to `here`; `None` if it is closed already. Only the
    /// processes of nodes are looked into, which are few: whoever is none of them is somebody else.
    pub(crate) fn caller(&self, other_end: SocketAddr, here: SocketAddr) -> Option<Caller> {
        let inode = inode_of(other_end, here).unwrap_or_else(|_| {
            let sockets = established().ok()?;
            sockets.iter().find(|socket| socket.local == other_end).map(|socket| socket.inode)
        })?;
        let nodes = self.pids.lock().expect("nothing panics while it holds the roster").clone();
        let mut families = Families::default();
        for pid in pids() {
            let family = families.of(pid);
            let node =
                nodes.iter().position(|node| node.is_some_and(|node| family.contains(&node)));
            if let Some(node) = node.filter(|_| holds(pid, inode)) {
                return Some(Caller::Node(node));
            }
        }
        Some(Caller::Other)
    }
}

impl Place {
    /// Enters the process of a start; it takes the place of an earlier one.
    pub(crate) fn enter(&self, pid: u32) {
        let mut pids = self.roster.pids.lock().expect("nothing panics while it holds the roster");
        if let Some(place) = pids.get_mut(self.node) {
            *place = Some(pid);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};
    use std::process::{Command, Stdio};

    #[test]
    fn a_connection_of_a_nodes_grandchild_is_the_nodes_and_ours_is_not() {
        let roster = Roster::new(2);
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("bound");
        let script = format!(
            "setsid bash -c 'exec 3<>/dev/tcp/127.0.0.1/{}; sleep 60' & wait",
            address.port()
        );
        let child = Command::new("bash").args(["-c", &script]).stdin(Stdio::null()).spawn();
        let mut child = child.expect("bash runs");
        roster.place(1).enter(child.id());
        let (_held, other_end) = listener.accept().expect("a connection");
        assert_eq!(roster.caller(other_end, address), Some(Caller::Node(1)));
        let ours = TcpStream::connect(address).expect("connected");
        let (_held, other_end) = listener.accept().expect("a connection");
        assert_eq!(roster.caller(other_end, address), Some(Caller::Other));
        drop(ours);
        child.kill().and_then(|()| child.wait()).expect("it ends");
    }
}
