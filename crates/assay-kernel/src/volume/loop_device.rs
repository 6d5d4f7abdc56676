//! A file as a block device.
// The three calls below are not in any safe interface; each stands alone with its reason.
#![allow(unsafe_code)]

use super::error::{VolumeError, at};
use crate::device::Device;
use crate::wait::wait_for;
use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

const LOOP_CONFIGURE: u64 = 0x4C0A;
const LOOP_CTL_GET_FREE: u64 = 0x4C82;
const LOOP_CLR_FD: u64 = 0x4C01;
const EXT4_IOC_SHUTDOWN: u64 = 0x8004_587D;
/// Nothing that is only in memory reaches the disk, not even what the journal holds.
const SHUTDOWN_NO_LOG_FLUSH: u32 = 2;
/// The device goes away by itself with its last user.
const LO_FLAGS_AUTOCLEAR: u32 = 4;
/// Between asking for a free device and taking it somebody else may be faster.
const TAKE_TRIES_MAX: u32 = 64;
/// How long to wait for a device to be free when nobody needs it any more.
const RELEASE_TIME_MAX: Duration = Duration::from_secs(2);
/// What the kernel writes behind the name of a file that was removed.
const DELETED: &[u8] = b" (deleted)";

/// `struct loop_info64` of linux/loop.h.
#[repr(C)]
struct LoopInfo {
    numbers: [u64; 5],
    number: u32,
    encrypt_type: u32,
    encrypt_key_bytes: u32,
    flags: u32,
    file_name: [u8; 64],
    crypt_name: [u8; 64],
    encrypt_key: [u8; 32],
    init: [u64; 2],
}

/// `struct loop_config` of linux/loop.h.
#[repr(C)]
struct LoopConfig {
    file: u32,
    block_bytes: u32,
    info: LoopInfo,
    reserved: [u64; 8],
}

/// A loop device, for as long as this or a mount of it lives.
#[derive(Debug)]
pub(crate) struct LoopDevice {
    /// Held open: without it the device would go away whenever it is not mounted.
    file: Option<File>,
    image: PathBuf,
    pub(crate) path: PathBuf,
    pub(crate) device: Device,
}

impl LoopDevice {
    /// Makes a device of an image.
    pub(crate) fn of(image: &Path) -> Result<LoopDevice, VolumeError> {
        let backing = read_write(image).map_err(at(image, "open"))?;
        let control_path = Path::new("/dev/loop-control");
        let control = read_write(control_path).map_err(at(control_path, "open"))?;
        for _try in 0..TAKE_TRIES_MAX {
            let number = free_number(&control).map_err(at(control_path, "ask"))?;
            let path = PathBuf::from(format!("/dev/loop{number}"));
            let file = match read_write(&path) {
                Ok(file) => file,
                // A new device may get its name a moment later.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    std::thread::yield_now();
                    continue;
                }
                Err(error) => return Err(at(&path, "open")(error)),
            };
            match configure(&file, &backing) {
                Ok(()) => {
                    let device = number_of(&path).map_err(at(&path, "look at"))?;
                    let (file, image) = (Some(file), image.to_path_buf());
                    return Ok(LoopDevice { file, image, path, device });
                }
                Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {}
                Err(error) => return Err(at(&path, "attach the image to")(error)),
            }
        }
        Err(VolumeError::NoLoop { tries: TAKE_TRIES_MAX })
    }
}

impl Drop for LoopDevice {
    /// Lets go of the device, and waits for the kernel to take its image away: that happens a
    /// moment after the last user has closed it, and a process that was just forked is one until
    /// it runs its program. A device that stays in use for longer goes with its last user.
    fn drop(&mut self) {
        drop(self.file.take());
        let _freed =
            wait_for(RELEASE_TIME_MAX, || (!has_image(&self.path, &self.image)).then_some(()));
    }
}

/// The number of a device.
pub(crate) fn number_of(path: &Path) -> io::Result<Device> {
    let rdev = path.metadata()?.rdev();
    Ok(Device { major: rustix::fs::major(rdev), minor: rustix::fs::minor(rdev) })
}

/// The image that a device has now. A path of the kernel's: without links, and of a file that was
/// removed still the name it had.
pub(crate) fn image_of(device: &Path) -> Option<PathBuf> {
    let attribute = Path::new("/sys/block").join(device.file_name()?).join("loop/backing_file");
    // A device without an image has no such file.
    let text = std::fs::read(attribute).ok()?;
    let text = text.strip_suffix(b"\n").unwrap_or(&text);
    Some(PathBuf::from(OsStr::from_bytes(text.strip_suffix(DELETED).unwrap_or(text))))
}

/// Whether a device still has an image.
pub(crate) fn has_image(device: &Path, image: &Path) -> bool {
    image_of(device).is_some_and(|now| now == image)
}

fn read_write(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).open(path)
}

fn free_number(control: &File) -> io::Result<u32> {
    // SAFETY: the descriptor is open, and this request takes no argument.
    let number = unsafe { libc::ioctl(control.as_raw_fd(), LOOP_CTL_GET_FREE as _) };
    u32::try_from(number).map_err(|_negative| io::Error::last_os_error())
}

fn configure(device: &File, backing: &File) -> io::Result<()> {
    let info = LoopInfo {
        numbers: [0; 5],
        number: 0,
        encrypt_type: 0,
        encrypt_key_bytes: 0,
        flags: LO_FLAGS_AUTOCLEAR,
        file_name: [0; 64],
        crypt_name: [0; 64],
        encrypt_key: [0; 32],
        init: [0; 2],
    };
    let file = u32::try_from(backing.as_raw_fd()).expect("open descriptors are not negative");
    let config = LoopConfig { file, block_bytes: 0, info, reserved: [0; 8] };
    // SAFETY: both descriptors are open; the kernel only reads the structure, which lives until
    // the call returns and has the layout of linux/loop.h.
    let result = unsafe {
        libc::ioctl(device.as_raw_fd(), LOOP_CONFIGURE as _, std::ptr::from_ref(&config))
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Takes the image away from a device; one that is in use goes away with its last user.
pub(crate) fn detach(path: &Path) -> io::Result<()> {
    let device = File::open(path)?;
    // SAFETY: the descriptor is open, and this request takes no argument.
    let result = unsafe { libc::ioctl(device.as_raw_fd(), LOOP_CLR_FD as _) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Ends an ext4 at once: what is not on disk now never gets there.
pub(crate) fn shut_down(root: &File) -> io::Result<()> {
    let how = SHUTDOWN_NO_LOG_FLUSH;
    // SAFETY: the descriptor is open; the kernel only reads the number, which lives until the call
    // returns.
    let result =
        unsafe { libc::ioctl(root.as_raw_fd(), EXT4_IOC_SHUTDOWN as _, std::ptr::from_ref(&how)) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_structures_have_the_sizes_of_the_kernel() {
        assert_eq!(size_of::<LoopInfo>(), 232);
        assert_eq!(size_of::<LoopConfig>(), 304);
    }
}
