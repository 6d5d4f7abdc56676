//! Agent sessions through the real binary: official clients, raw requests, and `kill -9`.

mod checks;
mod client;
mod conformance;
mod crash;
mod keys;
mod requests;
mod server;
mod streams;
