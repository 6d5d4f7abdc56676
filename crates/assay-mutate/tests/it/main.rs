//! Mutants, questions and engines, on small modules and with real checkers.

mod engines;
mod limits;
mod mutants;
mod probes;
mod support;
