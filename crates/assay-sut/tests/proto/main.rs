//! Clients that are processes, and nodes that speak Maelstrom: real processes, real links.

mod adapter;
mod adapter_trouble;
mod nodes;
mod relay;
mod relay_trouble;
mod support;
mod worked;
