//! Clients of known systems: the operations of the generators, in each system's own language.
//!
//! A description of a system names its driver (`client.builtin`), and [`open`] makes a client. One
//! client serves one generator, because `read` means something else of a register than of a set.
//! Every driver keeps to the same rules: a call is sent at most once; what was not sent is a
//! *fail*, what was sent and not answered is *unknown*; and after a timeout the connection is given
//! up, so that a late answer is never taken for that of another call.
//!
//! ```
//! let kv = assay_drivers::DRIVERS.iter().find(|driver| driver.name == "kv").expect("it is there");
//! assert!(kv.generators.contains(&"register"));
//! ```

// Without some of the drivers, some of what they share is not used.
#![cfg_attr(not(all(feature = "nats", feature = "postgres", feature = "redis")), allow(dead_code))]

mod client;
mod etcd;
pub mod http;
mod kv;
#[cfg(feature = "nats")]
mod nats;
mod options;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "redis")]
mod redis;
mod resend;
#[cfg(any(feature = "nats", feature = "postgres", feature = "zookeeper"))]
mod runtime;
mod trouble;
#[cfg(feature = "zookeeper")]
mod zookeeper;

pub use client::{Client, ClientError, Target};
pub use kv::KvClient;

/// A driver.
#[derive(Clone, Copy, Debug)]
pub struct Driver {
    /// What descriptions call it.
    pub name: &'static str,
    /// What it talks to, in a line.
    pub about: &'static str,
    /// The generators it has words for.
    pub generators: &'static [&'static str],
    /// Makes a client.
    open: fn(Target) -> Result<Box<dyn Client>, ClientError>,
}

/// All drivers.
pub const DRIVERS: &[Driver] = &[
    etcd::DRIVER,
    kv::DRIVER,
    #[cfg(feature = "redis")]
    redis::DRIVER,
    #[cfg(feature = "postgres")]
    postgres::DRIVER,
    #[cfg(feature = "nats")]
    nats::DRIVER,
    #[cfg(feature = "zookeeper")]
    zookeeper::DRIVER,
];

/// Drivers that a build can leave out: each is a feature of its own name.
const FEATURES: [&str; 4] = ["nats", "postgres", "redis", "zookeeper"];

/// Why there is no driver of this name, and what to do.
pub fn absent(name: &str) -> String {
    if FEATURES.contains(&name) {
        return format!(
            "the client `{name}` was left out when this program was built: build it with the \
             feature `{name}`"
        );
    }
    let names: Vec<&str> = DRIVERS.iter().map(|driver| driver.name).collect();
    format!("no client `{name}` is built in: {}", names.join(", "))
}

/// Makes a client of the system that a driver is for.
///
/// # Errors
/// There is no such driver, or it has nothing for the generator or the options.
pub fn open(driver: &str, target: Target) -> Result<Box<dyn Client>, ClientError> {
    let Some(known) = DRIVERS.iter().find(|known| known.name == driver) else {
        return Err(ClientError { message: absent(driver) });
    };
    if !known.generators.contains(&target.generator.as_str()) {
        let message = format!(
            "the client of `{driver}` has nothing for the generator `{}`; it has {}",
            target.generator,
            known.generators.join(", ")
        );
        return Err(ClientError { message });
    }
    if target.own >= target.addresses.len() || target.names.len() != target.addresses.len() {
        let (nodes, names) = (target.addresses.len(), target.names.len());
        let message = format!("node {} of {nodes} nodes with {names} names", target.own);
        return Err(ClientError { message });
    }
    (known.open)(target)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_asks_for_a_client_that_is_not_there_learns_how_to_get_it() {
        let is_there = |name: &str| DRIVERS.iter().any(|driver| driver.name == name);
        for (name, is_built) in [
            ("nats", cfg!(feature = "nats")),
            ("postgres", cfg!(feature = "postgres")),
            ("redis", cfg!(feature = "redis")),
            ("zookeeper", cfg!(feature = "zookeeper")),
        ] {
            assert_eq!(is_there(name), is_built, "{name}");
            assert!(absent(name).ends_with(&format!("feature `{name}`")), "{}", absent(name));
        }
        assert!(absent("oracle").starts_with("no client `oracle` is built in: etcd, kv"));
    }
}
