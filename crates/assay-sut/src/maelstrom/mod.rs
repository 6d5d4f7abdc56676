//! Nodes written for Maelstrom, run unchanged over links that can be made to fail.
//!
//! A Maelstrom node reads messages on its standard input and writes messages on its standard
//! output; everything between the nodes belongs to whoever runs them. Here a [`Relay`] stands at
//! each node and carries its messages over TCP, through Assay's proxies. So a node that has no
//! socket of its own gets links that can be cut, slowed and counted like those of any other system.
//!
//! ```text
//!   n1 ──stdout──► relay of n1 ──TCP──► proxy n1->n2 ──TCP──► relay of n2 ──stdin──► n2
//!   client c3 ◄────────── TCP through the client's proxy ──────────► relay of n1
//!   n1 ──stdout──► relay of n1 ──► lin-kv (in Assay's process) ──► relay of n1 ──stdin──► n1
//! ```
//!
//! [`MaelstromClient`] turns our operations into the messages of Maelstrom's workloads and their
//! answers into outcomes; [`Services`] are the stores that Maelstrom offers to nodes. The formats
//! and all tables are in docs/formats/maelstrom.md.

mod client;
mod errors;
mod hub;
mod message;
mod queue;
mod relay;
mod service;
mod streams;
mod workload;

pub use client::{MaelstromClient, MaelstromConfig};
pub use hub::RelayCounts;
pub use message::Body;
pub use relay::{INIT_TIME_MAX, Relay, RelayConfig, RelayError};
pub use service::{SERVICE_KEYS_MAX, Services};
pub use workload::Workload;
