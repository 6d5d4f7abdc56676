//! Faults against real sockets, real processes and real files.

mod clock;
mod datagrams;
mod files;
mod guard;
mod journal;
mod process;
mod proxy;
mod rolling;
mod schedule;
mod shapes;
mod support;
mod system_calls;
