//! Systems under test: described, started, probed, and talked to by clients.

mod client;
#[allow(dead_code, reason = "used by the parts that follow")]
mod http;

pub use client::{Client, ClientError};
