//! Agent sessions through the real binary: official clients, raw requests, and `kill -9`.

mod acp;
mod checks;
mod client;
mod conformance;
mod crash;
#[path = "../../../assay-ledger/tests/stores/database.rs"]
mod database;
mod disk;
mod endpoint;
mod fetch;
mod files;
mod keyring;
mod keys;
mod limits;
mod malformed;
mod mcp;
mod model;
mod oauth;
mod openapi;
mod order;
mod outputs;
mod postgres;
mod requests;
mod resources;
mod results;
mod seats;
mod server;
mod sizes;
mod skills;
mod startup;
mod streams;
mod tools;
mod troubles;
mod typescript;
mod validate;
mod vaults;
