//! Starting a process in the namespace of a node.
#![allow(unsafe_code)] // A hook between fork and exec.

use super::space::{Space, enter};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::Arc;

/// Has the process that `command` starts run in this namespace.
pub(super) fn enter_on_exec(space: &Space, command: &mut Command) {
    let file = Arc::clone(space.file());
    // SAFETY: the hook makes one system call on a descriptor that it owns; it does not allocate.
    unsafe { command.pre_exec(move || enter(file.as_fd())) };
}
