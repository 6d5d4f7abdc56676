//! Mechanisms of the kernel, tried on the kernel.

mod cgroup;
mod limits;
mod support;
mod volume;
