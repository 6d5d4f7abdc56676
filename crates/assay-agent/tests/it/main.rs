//! Agents as processes.
fn main() {}
