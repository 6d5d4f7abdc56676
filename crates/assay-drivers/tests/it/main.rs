//! The drivers against the real servers, which the tests start and stop themselves.

mod client;
#[cfg(feature = "nats")]
mod nats;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "redis")]
mod redis;
#[cfg(feature = "redis")]
mod redis_work;
mod server;
#[cfg(feature = "zookeeper")]
mod zookeeper;
