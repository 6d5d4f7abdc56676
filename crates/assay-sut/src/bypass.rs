//! Connections that went around the proxies.
//!
//! A partition cuts links. If nodes have another way to each other, the cut proves nothing,
//! although every counter of the proxies moves. So the kernel is asked which connections the nodes'
//! real ports have. Whoever made one must have entered it ([`DialPorts`]): the links do, and the
//! probes do. All others are a bypass, and named.
//!
//! Looking is sampling: a connection that lives for less than the time between two looks can be
//! missed. Peers and clients that go around the proxies do so all the time, and are caught.

use crate::sockets::{Socket, command_of, established, family, owners};
use assay_nemesis::DialPorts;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// A connection of our own is entered right after it is made and crossed out right before it is
/// closed. In between, on a busy machine, a look may come; only what stays this long is a bypass.
const OWN_TIME_MAX: Duration = Duration::from_secs(3);
/// Sentences kept; a thousand would say no more.
const SENTENCES_MAX: usize = 100;

/// Whose ports are watched.
#[derive(Clone, Debug)]
pub(crate) struct Watched {
    /// Names of the nodes.
    pub(crate) names: Vec<String>,
    /// The nodes' real ports.
    pub(crate) ports: BTreeMap<u16, usize>,
    /// Connections that were made on purpose.
    pub(crate) dials: DialPorts,
}

/// What was seen so far.
#[derive(Debug, Default)]
pub(crate) struct Bypasses {
    /// By node and culprit, so that each is named once.
    sentences: BTreeMap<(usize, Option<u32>), String>,
    /// Connections that may be ours, and since when they look as if they were not.
    doubtful: BTreeMap<(SocketAddr, SocketAddr), Instant>,
}

impl Bypasses {
    /// Looks once. `groups` are the first processes of the nodes, for a node that talks to itself.
    pub(crate) fn look(&mut self, watched: &Watched, groups: &[Option<u32>]) -> io::Result<()> {
        let sockets = established()?;
        let strangers = strangers(&sockets, watched);
        let other_ends: BTreeMap<(SocketAddr, SocketAddr), u64> = match strangers.is_empty() {
            true => BTreeMap::new(),
            false => sockets.iter().map(|s| ((s.local, s.remote), s.inode)).collect(),
        };
        let inode = |socket: &Socket| other_ends.get(&(socket.remote, socket.local)).copied();
        let inodes: BTreeSet<u64> = strangers.iter().filter_map(|(_, s)| inode(s)).collect();
        let owners = if inodes.is_empty() { BTreeMap::new() } else { owners(&inodes) };
        let mut doubtful = BTreeMap::new();
        for (node, socket) in strangers {
            let owners = inode(&socket).and_then(|inode| owners.get(&inode));
            let none = BTreeSet::new();
            let owners = owners.unwrap_or(&none);
            if owners.iter().any(|pid| groups[node].is_some_and(|own| family(*pid).contains(&own)))
            {
                continue;
            }
            let own = Some(std::process::id());
            let culprit = match owners.contains(&std::process::id()) {
                true => own,
                false => owners.first().copied(),
            };
            // Who has ended meanwhile can no longer be told from a node that asked itself.
            let has_ended = culprit.is_some_and(|pid| command_of(pid).is_empty());
            if culprit.is_none() || culprit == own || has_ended {
                let key = (socket.local, socket.remote);
                let since = self.doubtful.get(&key).copied().unwrap_or_else(Instant::now);
                doubtful.insert(key, since);
                if since.elapsed() < OWN_TIME_MAX {
                    continue;
                }
            }
            self.report(node, culprit, &watched.names[node], socket.remote);
        }
        self.doubtful = doubtful;
        Ok(())
    }

    fn report(&mut self, node: usize, culprit: Option<u32>, name: &str, from: SocketAddr) {
        if self.sentences.len() >= SENTENCES_MAX || self.sentences.contains_key(&(node, culprit)) {
            return;
        }
        let who = match culprit {
            Some(pid) => format!("pid {pid}, `{}`", command_of(pid)),
            None => "a process that cannot be told".to_string(),
        };
        let sentence = format!("{name} was reached by {from} ({who}) without the proxy");
        self.sentences.insert((node, culprit), sentence);
    }

    /// What was found.
    pub(crate) fn sentences(&self) -> Vec<String> {
        self.sentences.values().cloned().collect()
    }
}

/// The nodes' ends of connections that nobody entered.
fn strangers(sockets: &[Socket], watched: &Watched) -> Vec<(usize, Socket)> {
    let stranger = |socket: &Socket| {
        let node = *watched.ports.get(&socket.local.port())?;
        let entered = socket.remote.ip().is_loopback() && watched.dials.has(socket.remote.port());
        (!entered).then_some((node, *socket))
    };
    sockets.iter().filter_map(stranger).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_entered_is_a_stranger() {
        let socket = |local: &str, remote: &str| Socket {
            local: local.parse().expect("an address"),
            remote: remote.parse().expect("an address"),
            inode: 1,
        };
        let dials = DialPorts::default();
        let _open = dials.enter(40_000);
        let watched =
            Watched { names: vec!["n1".into()], ports: BTreeMap::from([(7_000, 0)]), dials };
        let cases = [
            ("127.0.0.1:7000", "127.0.0.1:40000", false),
            ("127.0.0.1:7000", "127.0.0.1:40001", true),
            ("127.0.0.1:7000", "10.0.0.7:40000", true),
            ("127.0.0.1:7001", "127.0.0.1:40001", false),
            ("127.0.0.1:40001", "127.0.0.1:7000", false),
        ];
        for (local, remote, expected) in cases {
            let found = strangers(&[socket(local, remote)], &watched);
            assert_eq!(!found.is_empty(), expected, "{local} {remote}");
        }
    }
}
