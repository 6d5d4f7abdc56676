//! Faults against real sockets, real processes and real files.

mod files;
mod guard;
mod journal;
mod process;
mod proxy;
mod schedule;
mod shapes;
mod support;
