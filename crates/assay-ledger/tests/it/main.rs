//! What a ledger promises: order, durability of what it names, one writer, and that no change goes
//! unnoticed.

mod promises;
mod support;
mod tampering;
