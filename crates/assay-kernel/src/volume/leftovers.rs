//! What somebody who was killed left mounted: found by where it lies, and removed.

use super::elsewhere;
use super::error::{VolumeError, at};
use super::loop_device::{detach, has_image, image_of, number_of};
use crate::mountinfo::{Mount, mounts};
use crate::paths::whole;
use crate::wait::wait_for;
use rustix::io::Errno;
use rustix::mount::UnmountFlags;
use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a mount may stay in use, and a loop device take to go with its last mount.
const CLEAR_TIME_MAX: Duration = Duration::from_secs(5);
/// How many processes a message names.
const HOLDERS_NAMED_MAX: usize = 5;

/// Something of a volume that is still there.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Leftover {
    /// A volume is mounted.
    Mount {
        /// Where.
        point: PathBuf,
        /// Its loop device.
        device: PathBuf,
    },
    /// A directory that forgets is mounted, and nobody serves it any more.
    Forgetful {
        /// Where.
        point: PathBuf,
    },
    /// A loop device has an image.
    Loop {
        /// The device.
        device: PathBuf,
        /// The image.
        image: PathBuf,
    },
}

/// Mounts of volumes and loop devices whose mount point or image lies below a directory, in the
/// order in which they can be removed. Mounts of anything else are not ours and not listed.
pub fn leftovers(directory: &Path) -> Result<Vec<Leftover>, VolumeError> {
    let directory = whole(directory);
    let loops: Vec<(PathBuf, PathBuf)> =
        loops()?.into_iter().filter(|(_, image)| image.starts_with(&directory)).collect();
    let ours = |mount: &Mount| {
        let number = mount.source.as_os_str().as_bytes().strip_prefix(b"/dev/loop");
        let by_image = loops.iter().any(|(device, _)| *device == mount.source);
        number.is_some() && (by_image || mount.point.starts_with(&directory))
    };
    let mounts = mounts().map_err(at(Path::new("/proc/self/mountinfo"), "read"))?;
    // What was mounted last may cover what was mounted before.
    let forgets =
        |mount: &Mount| crate::forget::is_ours(&mount.kind) && mount.point.starts_with(&directory);
    let mounts = mounts.into_iter().rev().filter(|mount| ours(mount) || forgets(mount));
    let mount = |mount: Mount| match forgets(&mount) {
        true => Leftover::Forgetful { point: mount.point },
        false => Leftover::Mount { point: mount.point, device: mount.source },
    };
    let mut found: Vec<Leftover> = mounts.map(mount).collect();
    found.extend(loops.into_iter().map(|(device, image)| Leftover::Loop { device, image }));
    Ok(found)
}

/// Removes what [`leftovers`] finds and says line by line what became of it. Files stay; processes
/// are not ended: a mount in use is taken out of sight and goes with its last user.
pub fn clear(directory: &Path) -> Vec<Result<String, String>> {
    let mut lines = Vec::new();
    let found = match leftovers(directory) {
        Ok(found) => found,
        Err(error) => return vec![Err(error.to_string())],
    };
    for left in &found {
        lines.push(match left {
            Leftover::Mount { point, .. } => unmount(point, CLEAR_TIME_MAX),
            Leftover::Forgetful { point } => match crate::forget::unmount(point) {
                Ok(()) => Ok(format!("{}: unmounted", point.display())),
                Err(error) => Err(at(point, "unmount")(error).to_string()),
            },
            Leftover::Loop { device, image } => release(device, image),
        });
    }
    lines
}

/// Unmounts, and if it stays in use for too long only takes it out of sight.
pub(super) fn unmount(point: &Path, time_max: Duration) -> Result<String, String> {
    let shown = point.display();
    let result =
        wait_for(time_max, || match rustix::mount::unmount(point, UnmountFlags::NOFOLLOW) {
            Err(Errno::BUSY) => None,
            result => Some(result),
        });
    match result {
        Some(Ok(())) => Ok(format!("{shown}: unmounted")),
        Some(Err(Errno::INVAL | Errno::NOENT)) => Ok(format!("{shown}: is unmounted already")),
        Some(Err(error)) => Err(at(point, "unmount")(error).to_string()),
        None => {
            let holders = holders(point);
            let flags = UnmountFlags::DETACH | UnmountFlags::NOFOLLOW;
            match rustix::mount::unmount(point, flags) {
                Ok(()) => Ok(format!("{shown}: taken out of sight, still in use by {holders}")),
                Err(error) => Err(at(point, "unmount")(error).to_string()),
            }
        }
    }
}

/// Waits until a loop device has gone with its mount, and takes the image away if it does not go.
fn release(device: &Path, image: &Path) -> Result<String, String> {
    let shown = device.display();
    let free = || (!has_image(device, image)).then_some(());
    if wait_for(Duration::ZERO, free).is_none() {
        let number = number_of(device).map_err(|error| at(device, "look at")(error).to_string())?;
        let _held = elsewhere::unmount(number);
        match detach(device) {
            Ok(()) => {}
            // ENXIO: it had no image any more.
            Err(error) if error.raw_os_error() == Some(Errno::NXIO.raw_os_error()) => {}
            Err(error) => return Err(at(device, "free")(error).to_string()),
        }
    }
    match wait_for(CLEAR_TIME_MAX, free) {
        Some(()) => Ok(format!("{shown}: free, was {}", image.display())),
        None => {
            let held = number_of(device).map(elsewhere::unmount).unwrap_or_default().join(", ");
            let held = if held.is_empty() { "whoever uses it".to_string() } else { held };
            Err(format!("{shown}: still has {}: end {held}", image.display()))
        }
    }
}

/// All loop devices that have an image, by name.
fn loops() -> Result<Vec<(PathBuf, PathBuf)>, VolumeError> {
    let blocks = Path::new("/sys/block");
    let mut found = BTreeSet::new();
    for entry in std::fs::read_dir(blocks).map_err(at(blocks, "list"))?.flatten() {
        let device = Path::new("/dev").join(entry.file_name());
        found.extend(image_of(&device).map(|image| (device, image)));
    }
    Ok(found.into_iter().collect())
}

/// Who has something open below a directory: `812 (redis-server), 813 (sh)`.
pub(super) fn holders(directory: &Path) -> String {
    let mut names = Vec::new();
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    for process in processes {
        let name = process.file_name();
        let Some(pid) = name.to_str().filter(|name| name.bytes().all(|b| b.is_ascii_digit()))
        else {
            continue;
        };
        let path = process.path();
        if uses(&path, directory) {
            let comm = std::fs::read_to_string(path.join("comm")).unwrap_or_default();
            names.push(format!("{pid} ({})", comm.trim()));
        }
    }
    match names.len() {
        0 => "nobody that can be seen from here".to_string(),
        count if count > HOLDERS_NAMED_MAX => {
            let more = count - HOLDERS_NAMED_MAX;
            format!("{} and {more} more", names[..HOLDERS_NAMED_MAX].join(", "))
        }
        _ => names.join(", "),
    }
}

/// Whether a process, by its directory in /proc, has something open below a directory.
pub(super) fn uses(process: &Path, directory: &Path) -> bool {
    let files = std::fs::read_dir(process.join("fd")).into_iter().flatten().flatten();
    let links = files.map(|file| file.path());
    let mut links = links.chain(["cwd", "root", "exe"].map(|link| process.join(link)));
    links.any(|link| std::fs::read_link(link).is_ok_and(|to| to.starts_with(directory)))
}
