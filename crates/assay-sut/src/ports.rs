//! Free ports for nodes.
//!
//! A node is told its port before it is started, so the port must be free until the node takes it,
//! and again whenever the node is restarted. Ports the kernel gives to outgoing connections are
//! neither: any connection of this machine may sit on one at that moment. So ports come from below
//! that range, each is tried by listening on it, and none is handed out twice by one process. What
//! remains is a race with other processes, which whoever starts the nodes has to survive.

use std::collections::BTreeSet;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, UdpSocket};
use std::sync::Mutex;

/// The lowest port handed out; below are those of well-known services.
const PORT_MIN: u16 = 12_000;
/// Where the kernel's own range usually begins.
const KERNEL_PORT_MIN: u16 = 32_768;
/// Fewer ports than this are not worth a search.
const RANGE_MIN: u16 = 1_000;

/// Ports that were handed out, and where to go on.
static HANDED_OUT: Mutex<(BTreeSet<u16>, u64)> = Mutex::new((BTreeSet::new(), 0));

/// An address nobody listens on.
pub(crate) fn free_address() -> io::Result<SocketAddr> {
    let end = kernel_port_min();
    let mut state = HANDED_OUT.lock().expect("nothing panics while it holds the ports");
    let range = u64::from(end.saturating_sub(PORT_MIN));
    if range >= u64::from(RANGE_MIN) {
        // Different processes begin at different places, so they seldom meet.
        let begin = u64::from(std::process::id()).wrapping_mul(7_919);
        for _ in 0..range {
            let offset = (begin + state.1) % range;
            state.1 += 1;
            let port = PORT_MIN + offset as u16;
            if !state.0.contains(&port) && is_free(port) {
                state.0.insert(port);
                return Ok(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
            }
        }
    }
    // Everything below is taken: what the kernel gives is better than nothing.
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()
}

/// Gives an address back.
pub(crate) fn give_back(address: SocketAddr) {
    let mut state = HANDED_OUT.lock().expect("nothing panics while it holds the ports");
    state.0.remove(&address.port());
}

/// Whether a node could listen there, for connections or for datagrams.
pub(crate) fn is_free(port: u16) -> bool {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok()
        && UdpSocket::bind((Ipv4Addr::LOCALHOST, port)).is_ok()
}

fn kernel_port_min() -> u16 {
    let range = std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range");
    let first = range.ok().and_then(|range| range.split_whitespace().next()?.parse().ok());
    first.unwrap_or(KERNEL_PORT_MIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_address_is_handed_out_twice_or_while_somebody_listens() {
        let first = free_address().expect("a port");
        let listener = TcpListener::bind(first).expect("it is free");
        let more: Vec<SocketAddr> = (0..50).map(|_| free_address().expect("a port")).collect();
        let distinct: BTreeSet<&SocketAddr> = more.iter().collect();
        assert_eq!(distinct.len(), more.len());
        assert!(!more.contains(&first));
        give_back(first);
        assert!(!is_free(first.port()));
        drop(listener);
        more.into_iter().for_each(give_back);
    }
}
