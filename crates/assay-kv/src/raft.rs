//! The types Raft is instantiated with, and its timing.

use crate::state::{Batch, Outcome};
use openraft::{Config, SnapshotPolicy};
use std::io::Cursor;

/// The number of a node, unique in its cluster.
pub type NodeId = u64;

openraft::declare_raft_types!(
    /// A log entry carries a batch of commands; applying it gives one outcome for each.
    ///
    /// Membership holds ids and no addresses. Each node has its own address for each peer (a proxy
    /// in between is the rule here, not the exception), so an address learnt from another node
    /// would be the wrong one.
    pub TypeConfig:
        D = Batch,
        R = Vec<Outcome>,
        NodeId = NodeId,
        Node = openraft::EmptyNode,
);

pub type Raft = openraft::Raft<TypeConfig>;
pub type Entry = openraft::Entry<TypeConfig>;
pub type LogId = openraft::LogId<NodeId>;
pub type Vote = openraft::Vote<NodeId>;
pub type StoredMembership = openraft::StoredMembership<NodeId, openraft::EmptyNode>;
pub type SnapshotMeta = openraft::SnapshotMeta<NodeId, openraft::EmptyNode>;
pub type StorageError = openraft::StorageError<NodeId>;

/// Time between heartbeats, and the longest a replication or leadership check waits for a peer.
pub const HEARTBEAT_MS: u64 = 100;
/// A follower that has heard nothing for at least this long asks for votes.
pub const ELECTION_MS_MIN: u64 = 400;
/// The longest it waits; the draw between the two keeps candidates apart.
pub const ELECTION_MS_MAX: u64 = 800;
/// How long a peer may take to install the last part of a snapshot.
const SNAPSHOT_MS_MAX: u64 = 5_000;
/// Entries between snapshots.
const SNAPSHOT_EVERY: u64 = 2_000;
/// Entries kept behind a snapshot, so that a peer that blinked catches up from the log.
const ENTRIES_KEPT: u64 = 500;
/// Entries purged at once: each purge rewrites the log file.
const PURGE_BATCH: u64 = 500;
/// Entries in one replication message: with the limit on a batch, about ten megabytes.
const MESSAGE_ENTRIES_MAX: u64 = 32;
/// Bytes of a snapshot in one message.
const SNAPSHOT_CHUNK_BYTES: u64 = 512 * 1024;

/// The configuration of every node.
pub fn config(snapshot_every: Option<u64>) -> Config {
    let snapshot_every = snapshot_every.unwrap_or(SNAPSHOT_EVERY);
    Config {
        cluster_name: "assay-kv".to_string(),
        heartbeat_interval: HEARTBEAT_MS,
        election_timeout_min: ELECTION_MS_MIN,
        election_timeout_max: ELECTION_MS_MAX,
        install_snapshot_timeout: SNAPSHOT_MS_MAX,
        max_payload_entries: MESSAGE_ENTRIES_MAX,
        replication_lag_threshold: snapshot_every.saturating_mul(2),
        snapshot_policy: SnapshotPolicy::LogsSinceLast(snapshot_every),
        snapshot_max_chunk_size: SNAPSHOT_CHUNK_BYTES,
        max_in_snapshot_log_to_keep: ENTRIES_KEPT.min(snapshot_every),
        purge_batch_size: PURGE_BATCH.min(snapshot_every),
        ..Config::default()
    }
}
