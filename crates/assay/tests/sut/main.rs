//! Systems under test, with real processes: the embedded store, started from its description.

mod canaries;
mod faults;
mod orphans;
mod running;
mod starting;
mod support;
