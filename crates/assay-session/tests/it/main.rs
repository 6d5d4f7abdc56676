//! The machine through its one function: stories step by step, all that a small world can do, and
//! random inputs of larger ones, against what must hold after every step.

mod broken;
mod invariants;
mod model;
mod random;
mod stories;
mod support;
mod wire;
