//! The kernel's mechanisms, on the kernel of this machine.

mod notify;
