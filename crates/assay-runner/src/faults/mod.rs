//! Faults of a trial: from the windows of its spec to deeds, and to numbers that prove them.
//!
//! - [`target`]: whom a fault hits, decided when it begins.
//! - [`action`]: what is done to them.
//! - [`again`]: who runs again when it is healed.
//! - `clients`: the same to clients that are processes.
//! - [`counters`]: what injectors count, and how plans call it.
//! - [`latency`]: the one signal that is no counter.
//! - [`needs`]: what has to be in place for it.
//! - [`decoy`]: whom an injector hits that is broken on purpose.
//! - [`rolling`]: restarts one after the other.
//! - [`watch`]: the signals that tell whether it took hold.
//! - [`window`]: one window from beginning to end.

pub mod action;
pub mod again;
mod clients;
pub mod counters;
pub mod decoy;
mod kernel;
pub mod latency;
pub mod needs;
pub mod rolling;
pub mod target;
pub mod watch;
pub mod window;
