//! What clients do: operations made from a seed, and what becomes of them.
//!
//! Pure: no clock, no network, no threads. A [`Script`] is what one client does; whoever drives it
//! asks for the next [`Call`], has it done, and tells the script the [`Reply`]. A [`Workload`] has
//! a script for each client, what must be done before they start, and what is read when they are
//! done.
//!
//! ```
//! use assay_workload::{Config, Reply, Workload};
//! use serde_json::Value;
//!
//! let workload = Workload::new(&Config::new("register", 2, 4, 7))?;
//! let mut script = workload.script(0);
//! let call = script.next().expect("scripts of clients are endless");
//! assert!(["read", "write", "cas"].contains(&call.op.as_str()));
//! script.observe(&call, &Reply::Ok { output: Value::Null, node: None, revision: None });
//! # Ok::<(), assay_workload::ConfigError>(())
//! ```
//!
//! Every client has a random stream of its own: what it does depends on the seed and on the replies
//! it got, never on how fast the others are. What each generator does is in [`GENERATORS`], from
//! which docs/workloads.md is made.

mod arrivals;
mod call;
mod catalog;
mod config;
mod finals;
mod generators;
mod keys;
mod mix;
mod near;
mod options;
mod source;
mod workload;

pub use arrivals::{Arrivals, arrivals};
pub use call::{Call, Reply, Script};
pub use catalog::{GENERATORS, GeneratorInfo, OpInfo, OptionInfo, Resend, generator};
pub use config::{CLIENTS_MAX, Config, ConfigError, Distribution, KEYS_MAX};
pub use workload::{Dumps, Workload};
