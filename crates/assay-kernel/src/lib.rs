//! What Assay asks of the Linux kernel.
//!
//! Each module is one mechanism, with its own errors and its own numbers to read back. They know
//! how something is done and undone, not what it is called as a fault, nor when it is a good idea.
//! This is the only crate here with `unsafe` code, in single functions whose comments say why they
//! are sound: everything that calls it has none.
//!
//! - [`notify`]: system calls of a process, answered in the kernel's place.
//! - [`volume`]: a small disk of a node's own, which can lose power or turn read-only.
//! - [`cgroup`]: less processor, memory or disk for a group of processes, or none at all.
//! - [`limits`]: no more descriptors for a running process.
//! - [`inside`]: namespaces of Assay's own, in which nothing can be left behind.
//! - [`jail`]: pieces of a sandbox: namespaces that are left, limits that begin with a program.
//! - [`net`]: networks with a namespace for each node, and what happens to packets there.

mod aside;
pub mod cgroup;
mod device;
mod forget;
mod hold;
pub mod inside;
pub mod jail;
pub mod limits;
mod mountinfo;
pub mod net;
pub mod notify;
mod paths;
pub mod volume;
mod wait;

pub use device::Device;
