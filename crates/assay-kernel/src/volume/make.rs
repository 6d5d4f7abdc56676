//! Making an image and mounting it.

use super::VOLUME_BYTES_MIN;
use super::error::{VolumeError, at};
use rustix::mount::MountFlags;
use std::ffi::CStr;
use std::fs::OpenOptions;
use std::io;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Paths of unprivileged users often lack the last two.
const MKFS_PLACES: [&str; 3] = ["mkfs.ext4", "/usr/sbin/mkfs.ext4", "/sbin/mkfs.ext4"];
/// Blocks of one page, or small volumes would get smaller ones; no room kept for root, so that a
/// full disk is full for everybody; nothing left to be initialised by the kernel later, which would
/// be writes that nobody asked for.
const MKFS_OPTIONS: [&str; 8] =
    ["-q", "-F", "-b", "4096", "-m", "0", "-E", "lazy_itable_init=0,lazy_journal_init=0"];
/// An error turns it read-only: that is how it is turned so on purpose.
const MOUNT_OPTIONS: &CStr = c"errors=remount-ro";

/// Makes an image of zeros that takes no room yet, with an empty file system in it.
pub(super) fn image(image: &Path, bytes: u64) -> Result<(), VolumeError> {
    if bytes < VOLUME_BYTES_MIN {
        return Err(VolumeError::TooSmall { path: image.to_path_buf(), bytes });
    }
    let file = OpenOptions::new().write(true).create_new(true).open(image);
    let file = file.map_err(at(image, "make"))?;
    let made = file.set_len(bytes).map_err(at(image, "enlarge")).and_then(|()| file_system(image));
    if made.is_err() {
        let _unremoved = std::fs::remove_file(image);
    }
    made
}

fn file_system(image: &Path) -> Result<(), VolumeError> {
    for program in MKFS_PLACES {
        match mkfs(program, image) {
            Ok(output) if output.status.success() => return Ok(()),
            Ok(output) => {
                let message = String::from_utf8_lossy(&output.stderr).trim().to_string();
                return Err(VolumeError::Mkfs { path: image.to_path_buf(), message });
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(at(Path::new(program), "run")(error)),
        }
    }
    Err(VolumeError::NoMkfs)
}

fn mkfs(program: &str, image: &Path) -> io::Result<Output> {
    // A path that begins with a hyphen is no option.
    Command::new(program).args(MKFS_OPTIONS).arg("--").arg(image).stdin(Stdio::null()).output()
}

/// Mounts a device.
pub(super) fn mount(device: &Path, mount_point: &Path) -> Result<(), VolumeError> {
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    let mounted = rustix::mount::mount(device, mount_point, c"ext4", flags, MOUNT_OPTIONS);
    mounted.map_err(at(mount_point, "mount a volume at"))
}
