//! What this crate promises to its users, through its public face: one program, so that it links
//! once.

mod common;
mod documented;
mod hostile;
mod jepsen;
mod jsonl;
mod porcupine;
mod round_trip;
mod validation;
