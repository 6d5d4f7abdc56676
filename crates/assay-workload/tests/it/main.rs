//! What generators promise, tried against the checkers that will judge their histories.

mod judge;
mod promises;
mod twin;
mod verdicts;
