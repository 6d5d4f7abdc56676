//! Has every process inside ask this network for names.
//!
//! The mount namespace is our own, so files of the system are covered for all in it and for nobody
//! else. They are covered by files without a name: nothing is left when the mounts are.

use rustix::mount::{UnmountFlags, mount_bind, unmount};
use std::fs::Permissions;
use std::io::{self, Write};
use std::net::Ipv4Addr;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

const RESOLV_CONF: &str = "/etc/resolv.conf";
const NSSWITCH_CONF: &str = "/etc/nsswitch.conf";

/// Files that are covered as long as this lives.
#[derive(Debug)]
pub(super) struct Covered(Vec<&'static str>);

impl Covered {
    /// Names are asked for at this address, and nowhere else.
    pub(super) fn asking(server: Ipv4Addr) -> io::Result<Covered> {
        let mut covered = Covered(Vec::new());
        let resolver = format!("nameserver {server}\noptions timeout:1 attempts:1\n");
        covered.cover(RESOLV_CONF, &resolver)?;
        // Other sources of names could go around the network, by a socket of the file system.
        if let Ok(sources) = std::fs::read_to_string(NSSWITCH_CONF) {
            let line = |line: &str| match line.trim_start().starts_with("hosts:") {
                true => "hosts: files dns\n".to_string(),
                false => format!("{line}\n"),
            };
            covered.cover(NSSWITCH_CONF, &sources.lines().map(line).collect::<String>())?;
        }
        Ok(covered)
    }

    fn cover(&mut self, path: &'static str, text: &str) -> io::Result<()> {
        // A link that leads nowhere cannot be covered.
        std::fs::metadata(path)?;
        // Nodes may run as somebody else, and have to read it.
        let readable = Permissions::from_mode(0o644);
        let mut cover = tempfile::Builder::new().permissions(readable).tempfile()?;
        cover.write_all(text.as_bytes())?;
        mount_bind(cover.path(), Path::new(path))?;
        self.0.push(path);
        Ok(())
    }
}

impl Drop for Covered {
    fn drop(&mut self) {
        for path in self.0.iter().rev() {
            // It may be in use; then it goes with the namespace.
            let _uncovered = unmount(*path, UnmountFlags::DETACH);
        }
    }
}
