//! Systems under test: described, started, probed, and talked to by clients.
//!
//! A system is described in `systems/NAME.toml` (docs/formats/system.md): how a node is started,
//! how one sees that it is ready, who leads, what it counts. [`load`] finds and checks a
//! description. [`Cluster::start`] makes it run: real processes on free ports, and every link
//! between two nodes through a proxy of [`assay_nemesis::Mesh`], so that faults can be laid on it.
//!
//! ```
//! let spec = assay_sut::load("kv", None)?;
//! assert!(spec.has_signal("elections") && spec.allows_nodes(3));
//! let error = assay_sut::load("no-such-system", None).unwrap_err();
//! assert!(error.to_string().contains("kv"));
//! # Ok::<(), assay_sut::SpecError>(())
//! ```
//!
//! Two things keep a run honest. Connections that went around the proxies are found and named
//! ([`Cluster::bypasses`]). And every process stands in `processes.jsonl` from its first moment, so
//! that [`reap_orphans`] can end what a killed Assay has left.
//!
//! This crate knows nothing of plans, checkers and verdicts.

mod adapter;
mod bypass;
mod clients;
mod cluster;
mod command;
mod error;
mod gear;
mod heartbeat;
mod housed;
mod json_lines;
mod logs;
mod maelstrom;
mod ports;
mod probe;
mod processes;
mod releases;
mod roster;
mod sockets;
mod spec;
mod stragglers;
mod template;

pub use adapter::{
    AdapterClient, AdapterConfig, AdapterCounts, AdapterWatch, READY_TIME_MAX, RESTARTS_MAX,
    UNANSWERED_MAX, serve as serve_client,
};
pub use assay_drivers::{Client, ClientError, KvClient};
pub use cluster::{Cluster, Launch, Peer, Quiescence, Revived, Shown, Wiring};
pub use error::SutError;
pub use gear::{BYSTANDER, Disk, Gear};
pub use maelstrom::{
    Body, INIT_TIME_MAX, MaelstromClient, MaelstromConfig, Relay, RelayConfig, RelayCounts,
    RelayError, SERVICE_KEYS_MAX, Services, Workload,
};
pub use processes::{PROCESSES_NAME, reap_orphans};
pub use releases::{CACHE_VARIABLE, GetError, Programs, cache, fetched, get};
pub use spec::{Retries, SpecError, SystemSpec, builtin_names, known_names, load};
