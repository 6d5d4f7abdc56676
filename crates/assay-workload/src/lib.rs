//! What clients do: operations made from a seed, and what becomes of them.
//!
//! Pure: no clock, no network, no threads. A [`Script`] is what one client does; whoever drives it
//! asks for the next [`Call`], has it done, and tells the script the [`Reply`].

mod call;

pub use call::{Call, Reply, Script};
