//! Special cases that need no search: decided in O(n log n) time and linear memory.
//!
//! Each function answers `None` where its conditions do not hold; the search then decides. Each is
//! exact, not a heuristic: the agreement tests hold them against brute force.

mod fifo_queue;
mod grow_set;
mod unique_register;
mod value_index;

pub(crate) use fifo_queue::decide as fifo_queue;
pub(crate) use grow_set::decide as grow_set;
pub(crate) use unique_register::decide as unique_register;
