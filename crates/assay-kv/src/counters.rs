//! What a node counts. These are the signals by which a fault shows on the victim's side: a fault
//! that moves none of them has not landed here.

use crate::raft::NodeId;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// What takes this long is slow: many times what a disk or a neighbour takes that is well.
const SLOW: Duration = Duration::from_millis(50);

/// A number that only grows.
#[derive(Default, Debug)]
pub(crate) struct Count(AtomicU64);

impl Count {
    pub fn add_one(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts what began then, if it was slow.
    pub fn add_slow(&self, began: Instant) {
        if began.elapsed() >= SLOW {
            self.add_one();
        }
    }

    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Calls to one peer, by how they ended.
#[derive(Default, Debug)]
pub(crate) struct PeerCounters {
    pub answered: Count,
    pub timeouts: Count,
    pub unreachable: Count,
    /// Those that took long, however they ended.
    pub slow: Count,
}

/// Everything a node counts, since it started.
#[derive(Default, Debug)]
pub(crate) struct Counters {
    /// Requests of clients, by outcome. What is forwarded counts on both nodes.
    pub ok: Count,
    pub fail: Count,
    pub unknown: Count,
    pub bad: Count,
    pub forwarded: Count,
    /// Log entries proposed here; several requests share one.
    pub batches: Count,
    /// Writes to the log that took long.
    pub slow_writes: Count,
    /// Messages of peers that were for another node.
    pub misdirected: Count,
    peers: BTreeMap<NodeId, PeerCounters>,
    elections: Count,
    campaign_term: AtomicU64,
}

impl Counters {
    pub fn new(peers: impl Iterator<Item = NodeId>) -> Counters {
        let peers = peers.map(|id| (id, PeerCounters::default())).collect();
        Counters { peers, ..Counters::default() }
    }

    pub fn peer(&self, id: NodeId) -> Option<&PeerCounters> {
        self.peers.get(&id)
    }

    /// A vote was asked for in `term`. One election asks every peer; it counts once.
    pub fn campaigned(&self, term: u64) {
        if self.campaign_term.fetch_max(term, Ordering::Relaxed) < term {
            self.elections.add_one();
        }
    }

    pub fn to_json(&self) -> Value {
        let peers: BTreeMap<String, Value> = self
            .peers
            .iter()
            .map(|(id, peer)| {
                let counts = json!({
                    "answered": peer.answered.get(),
                    "timeouts": peer.timeouts.get(),
                    "unreachable": peer.unreachable.get(),
                    "slow": peer.slow.get(),
                });
                (id.to_string(), counts)
            })
            .collect();
        json!({
            "elections_started": self.elections.get(),
            "requests": {
                "ok": self.ok.get(),
                "fail": self.fail.get(),
                "unknown": self.unknown.get(),
                "bad": self.bad.get(),
                "forwarded": self.forwarded.get(),
            },
            "batches_proposed": self.batches.get(),
            "slow_log_writes": self.slow_writes.get(),
            "messages_misdirected": self.misdirected.get(),
            "peer_calls": peers,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_takes_long_is_slow() {
        let count = Count::default();
        let now = Instant::now();
        count.add_slow(now + SLOW);
        assert_eq!(count.get(), 0, "it has not even begun");
        count.add_slow(now - SLOW);
        assert_eq!(count.get(), 1);
    }

    #[test]
    fn an_election_counts_once_however_many_peers_are_asked() {
        let counters = Counters::new([2, 3].into_iter());
        for term in [1, 1, 3, 3, 2] {
            counters.campaigned(term);
        }
        assert_eq!(counters.to_json()["elections_started"], 2);
    }
}
