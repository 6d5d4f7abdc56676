//! The embedded store, through the real binary: real processes, real sockets, real `kill -9`.

mod basics;
mod cluster;
mod crashes;
mod defects;
mod flags;
mod histories;
mod http;
