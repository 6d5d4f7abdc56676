//! Starting a process in a group: in it from its first instruction on.
// What runs between fork and exec can only be given by an unsafe call.
#![allow(unsafe_code)]

use super::error::{CgroupError, at};
use super::group::Group;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::Command;

impl Group {
    /// Has a command join the group before its program begins, so that nothing of it, neither
    /// memory nor a child, is ever outside.
    pub fn join_on_exec(&self, command: &mut Command) -> Result<(), CgroupError> {
        let mut doors: Vec<File> = Vec::new();
        for directory in self.directories() {
            let path = directory.join("cgroup.procs");
            let door = OpenOptions::new().write(true).open(&path);
            doors.push(door.map_err(at(&path, "open"))?);
        }
        // "0" is whoever writes it.
        let join = move || doors.iter_mut().try_for_each(|door| door.write_all(b"0"));
        // SAFETY: between fork and exec only system calls that are safe after a fork are made: the
        // files are open already, and writing a constant neither allocates nor takes a lock.
        unsafe { command.pre_exec(join) };
        Ok(())
    }
}
