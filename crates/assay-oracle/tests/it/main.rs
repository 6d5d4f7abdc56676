//! The promises of this crate, as tests: what each oracle passes, refutes and refuses.

mod certificates;
mod expressions;
mod merging;
mod picking;
mod self_tests;
mod support;
mod table;
mod traps;
mod twins;
