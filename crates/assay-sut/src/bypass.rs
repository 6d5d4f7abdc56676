//! Connections that went around the proxies.
//!
//! A partition cuts links. If nodes have another way to each other, the cut proves nothing,
//! although every counter of the proxies moves. So the kernel is asked which connections the nodes'
//! real ports have. Whoever made one must have entered it ([`DialPorts`]): the links do, and the
//! probes do. All others are a bypass, and named. So is a connection from one node to another over
//! a port that the description does not name: nothing could cut it.
//!
//! Looking is sampling: a connection that lives for less than the time between two looks can be
//! missed, and so can short ones whose owner is gone before it is looked up. Those that are kept
//! are caught.

use crate::sockets::{Socket, command_of, established, family, held_by, owners};
use assay_nemesis::DialPorts;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// A connection of our own is entered right after it is made and crossed out right before it is
/// closed. In between, on a busy machine, a look may come; only what stays this long is a bypass.
const OWN_TIME_MAX: Duration = Duration::from_secs(3);
/// Time between two looks for connections over ports that nobody has declared: each goes through
/// all descriptors of the nodes.
const BESIDE_STEP: Duration = Duration::from_secs(1);
/// Sentences kept; a thousand would say no more.
const SENTENCES_MAX: usize = 100;

/// Whose ports are watched.
#[derive(Clone, Debug)]
pub(crate) struct Watched {
    /// Names of the nodes.
    pub(crate) names: Vec<String>,
    /// The nodes' real ports.
    pub(crate) ports: BTreeMap<u16, usize>,
    /// Ports of which the description says that nodes reach each other there without a proxy.
    pub(crate) direct: BTreeSet<u16>,
    /// Connections that were made on purpose.
    pub(crate) dials: DialPorts,
}

/// What was seen so far.
#[derive(Debug, Default)]
pub(crate) struct Bypasses {
    /// Each culprit is named once.
    sentences: BTreeMap<Around, String>,
    /// Connections that may be ours, and since when they look as if they were not.
    doubtful: BTreeMap<(SocketAddr, SocketAddr), Instant>,
    /// Since when looks see nothing, and why.
    unseen: Option<(Instant, String)>,
    /// When it was last looked for connections over other ports.
    looked_beside: Option<Instant>,
}

/// Who went around the proxies.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Around {
    /// Somebody, if it is known who, reached a node.
    Reached(usize, Option<u32>),
    /// Two nodes have a connection over a port that is none of the described ones.
    Beside(usize, usize),
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
        if self.looked_beside.is_none_or(|then| then.elapsed() >= BESIDE_STEP) {
            self.looked_beside = Some(Instant::now());
            self.look_beside(&sockets, watched, &held_by(groups));
        }
        Ok(())
    }

    fn look_beside(&mut self, sockets: &[Socket], watched: &Watched, held: &BTreeMap<u64, usize>) {
        for (one, other, socket) in beside(sockets, watched, held) {
            let (names, Socket { local, remote, .. }) = (&watched.names, socket);
            let (here, there) = (&names[one], &names[other]);
            let sentence = format!(
                "{here} and {there} have a connection of their own ({local} to {remote}) over a \
                 port that the description of the system does not name"
            );
            self.keep(Around::Beside(one, other), || sentence);
        }
    }

    /// The kernel did not tell its connections: what it did not tell may be a bypass.
    pub(crate) fn not_told(&mut self, error: &io::Error) {
        let why = || format!("this machine does not tell its connections: {error}");
        self.unseen.get_or_insert_with(|| (Instant::now(), why()));
    }

    /// It did tell them. Whoever goes around the proxies does so all the time, and would be seen
    /// now; but nobody has looked for long.
    pub(crate) fn told(&mut self) {
        self.unseen.take_if(|(since, _)| since.elapsed() < OWN_TIME_MAX);
    }

    /// Why nobody knows whether there were others than those found.
    pub(crate) fn unseen(&self) -> Option<String> {
        self.unseen.as_ref().map(|(_, why)| why.clone())
    }

    fn report(&mut self, node: usize, culprit: Option<u32>, name: &str, from: SocketAddr) {
        self.keep(Around::Reached(node, culprit), || {
            let who = match culprit {
                Some(pid) => format!("pid {pid}, `{}`", command_of(pid)),
                None => "a process that cannot be told".to_string(),
            };
            format!("{name} was reached by {from} ({who}) without the proxy")
        });
    }

    fn keep(&mut self, around: Around, sentence: impl FnOnce() -> String) {
        if self.sentences.len() < SENTENCES_MAX {
            self.sentences.entry(around).or_insert_with(sentence);
        }
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

/// Connections between two nodes over ports that are not described: those of described ports have
/// been looked at already. Each once, the node with the lower index first.
fn beside(
    sockets: &[Socket],
    watched: &Watched,
    held: &BTreeMap<u64, usize>,
) -> Vec<(usize, usize, Socket)> {
    let Watched { ports, direct, .. } = watched;
    let described = |at: SocketAddr| ports.contains_key(&at.port()) || direct.contains(&at.port());
    let ends: BTreeMap<(SocketAddr, SocketAddr), usize> = sockets
        .iter()
        .filter(|socket| !described(socket.local) && !described(socket.remote))
        .filter_map(|socket| Some(((socket.local, socket.remote), *held.get(&socket.inode)?)))
        .collect();
    let pair = |socket: &Socket| {
        let one = *ends.get(&(socket.local, socket.remote))?;
        let other = *ends.get(&(socket.remote, socket.local))?;
        (one < other).then_some((one, other, *socket))
    };
    sockets.iter().filter_map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_that_failed_is_not_forgotten() {
        let mut bypasses = Bypasses::default();
        assert_eq!(bypasses.unseen(), None);
        bypasses.not_told(&io::Error::other("no such file"));
        bypasses.not_told(&io::Error::other("something else"));
        assert!(bypasses.unseen().is_some_and(|why| why.ends_with("no such file")));
        let long_ago = Instant::now().checked_sub(2 * OWN_TIME_MAX).expect("a running machine");
        bypasses.unseen = Some((long_ago, "no such file".to_string()));
        bypasses.told();
        assert!(bypasses.unseen().is_some(), "nobody looked for too long");
        bypasses.unseen = Some((Instant::now(), "no room".to_string()));
        bypasses.told();
        assert_eq!(bypasses.unseen(), None, "a moment is no gap between two looks");
    }

    #[test]
    fn what_is_not_entered_is_a_stranger() {
        let socket = |local: &str, remote: &str| Socket {
            local: local.parse().expect("an address"),
            remote: remote.parse().expect("an address"),
            inode: 1,
        };
        let dials = DialPorts::default();
        let _open = dials.enter(40_000);
        let watched = Watched {
            names: vec!["n1".into()],
            ports: BTreeMap::from([(7_000, 0)]),
            direct: BTreeSet::new(),
            dials,
        };
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
    #[test]
    fn two_nodes_have_no_connection_over_another_port() {
        let end = |local: &str, remote: &str, inode: u64| Socket {
            local: local.parse().expect("an address"),
            remote: remote.parse().expect("an address"),
            inode,
        };
        // Sockets 1 and 2 are of n1, 3 and 4 of n2, and 5 is of somebody else.
        let held = BTreeMap::from([(1, 0), (2, 0), (3, 1), (4, 1)]);
        let (names, ports) = (vec!["n1".into(), "n2".into()], BTreeMap::from([(7_000, 1)]));
        let (direct, dials) = (BTreeSet::from([8_000]), DialPorts::default());
        let watched = Watched { names, ports, direct, dials };
        let (low, high) = ("127.0.0.1:5000", "127.0.0.1:41000");
        let cases = [
            ("n2 calls n1", low, high, (1, 3), 1),
            ("n1 calls n2", high, low, (2, 4), 1),
            ("n1 calls itself", low, high, (1, 2), 0),
            ("somebody calls n1", low, high, (1, 5), 0),
            ("over a described port", "127.0.0.1:7000", high, (3, 1), 0),
            ("n2 calls n1 where it may", "127.0.0.1:8000", high, (1, 3), 0),
            ("n1 calls n2 where it may", high, "127.0.0.1:8000", (2, 4), 0),
        ];
        for (what, here, there, (inode, other), expected) in cases {
            let sockets = [end(here, there, inode), end(there, here, other)];
            let found = beside(&sockets, &watched, &held);
            assert_eq!(found.len(), expected, "{what}: {found:?}");
        }
        let mut bypasses = Bypasses::default();
        for _ in 0..2 {
            bypasses.look_beside(&[end(low, high, 1), end(high, low, 3)], &watched, &held);
        }
        let [sentence] = &bypasses.sentences()[..] else { panic!("{bypasses:?}") };
        assert!(sentence.starts_with("n1 and n2 have a connection of their own"), "{sentence}");
    }
}
