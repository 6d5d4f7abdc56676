//! Systems under test: described, started, probed, and talked to by clients.

mod adapter;
mod client;
#[allow(dead_code, reason = "used by the parts that follow")]
mod http;
mod json_lines;
mod maelstrom;

pub use adapter::{
    AdapterClient, AdapterConfig, AdapterCounts, AdapterWatch, READY_TIME_MAX, RESTARTS_MAX,
    UNANSWERED_MAX,
};
pub use client::{Client, ClientError};
pub use maelstrom::{
    Body, INIT_TIME_MAX, MaelstromClient, MaelstromConfig, Relay, RelayConfig, RelayCounts,
    RelayError, SERVICE_KEYS_MAX, Services, Workload,
};
