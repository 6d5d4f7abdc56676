//! What Assay asks of the Linux kernel.
//!
//! Each module is one mechanism, with its own errors and its own numbers to read back. They know
//! how something is done and undone, not what it is called as a fault, nor when it is a good idea.
//! This is the only crate here with `unsafe` code, in single functions whose comments say why they
//! are sound: everything that calls it has none.

pub mod inside;
pub mod net;
