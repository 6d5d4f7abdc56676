//! The machine through its one function: stories step by step, and random inputs against what
//! must hold after every step.

mod invariants;
mod random;
mod stories;
mod support;
mod wire;
