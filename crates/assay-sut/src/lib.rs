//! Systems under test: described, started, probed, and talked to by clients.

mod client;

pub use client::{Client, ClientError};
