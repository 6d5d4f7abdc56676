//! Mechanisms of the kernel, tried on the kernel of this machine.

mod cgroup;
mod limits;
mod notify;
mod support;
mod volume;
