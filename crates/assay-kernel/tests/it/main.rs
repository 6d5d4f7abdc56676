//! Mechanisms of the kernel, tried on the kernel of this machine.

mod cgroup;
mod forget;
mod limits;
mod notify;
mod support;
mod volume;
