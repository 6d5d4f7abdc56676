//! Faults against real sockets, real processes and real files.

mod clock;
mod datagrams;
mod disks;
mod files;
mod guard;
mod journal;
mod machine;
mod process;
mod proxy;
mod resources;
mod schedule;
mod shapes;
mod support;
mod system_calls;
