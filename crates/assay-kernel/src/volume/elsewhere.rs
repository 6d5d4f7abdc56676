//! Copies of a mount that others hold. A new mount namespace begins with a copy of every mount
//! there is, so a container or another run that was started meanwhile keeps a volume alive that
//! we have unmounted: its power could not come back, its loop device never be free. A namespace
//! that no process is in, held by a descriptor or a mount only, is not found.
#![allow(unsafe_code)] // unshare(2) of a thread.

use crate::aside::aside;
use crate::device::Device;
use crate::mountinfo::mounts_of;
use rustix::mount::UnmountFlags;
use rustix::thread::{LinkNameSpaceType, UnshareFlags, move_into_link_name_space, unshare_unsafe};
use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A process in another mount namespace that has copies.
struct Holder {
    process: PathBuf,
    points: Vec<PathBuf>,
}

/// Takes a device away from all other mount namespaces. Who still has it, and why:
/// `812 (sh): Invalid argument`. Namespaces of other users do not let go of what they began with.
pub(super) fn unmount(device: Device) -> Vec<String> {
    let stays = |holder: &Holder| {
        let error = let_go(holder, device).err()?;
        Some(format!("{}: {error}", named(holder)))
    };
    holders(device).iter().filter_map(stays).collect()
}

/// One process of every other mount namespace in which the device is mounted.
fn holders(device: Device) -> Vec<Holder> {
    let device = device.to_string();
    // A process may end while it is looked at: then its namespace is none of our concern.
    let namespace = |process: &Path| Some(process.join("ns/mnt").metadata().ok()?.ino());
    let mut seen: BTreeSet<u64> = namespace(Path::new("/proc/self")).into_iter().collect();
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let process = entry.path();
        let is_new = namespace(&process).is_some_and(|namespace| seen.insert(namespace));
        let Some(mounts) = is_new.then(|| mounts_of(&process).ok()).flatten() else { continue };
        // What was mounted last may cover what was mounted before.
        let ours = mounts.into_iter().rev().filter(|mount| mount.device == device);
        let points: Vec<PathBuf> = ours.map(|mount| mount.point).collect();
        if !points.is_empty() {
            found.push(Holder { process, points });
        }
    }
    found
}

/// Unmounts in the namespace of a process.
fn let_go(holder: &Holder, device: Device) -> io::Result<()> {
    let namespace = File::open(holder.process.join("ns/mnt"))?;
    aside(|| {
        // SAFETY: only this thread gets a working directory of its own, and it ends right after.
        unsafe { unshare_unsafe(UnshareFlags::FS) }?;
        move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Mount))?;
        // All that can be, whatever becomes of one.
        let each: Vec<io::Result<()>> =
            holder.points.iter().map(|point| unmount_one(point, device)).collect();
        each.into_iter().collect()
    })
}

/// Unmounts a point, if it is the device that is seen there: somebody may have laid another mount
/// over it, or the path mean something else to a process with another root.
fn unmount_one(point: &Path, device: Device) -> io::Result<()> {
    let seen = rustix::fs::lstat(point)?.st_dev;
    if (rustix::fs::major(seen), rustix::fs::minor(seen)) != (device.major, device.minor) {
        return Err(io::Error::other(format!("{} is something else there", point.display())));
    }
    Ok(rustix::mount::unmount(point, UnmountFlags::DETACH | UnmountFlags::NOFOLLOW)?)
}

fn named(holder: &Holder) -> String {
    let comm = std::fs::read_to_string(holder.process.join("comm")).unwrap_or_default();
    let pid = holder.process.file_name().unwrap_or_default().to_string_lossy();
    format!("{pid} ({})", comm.trim())
}
