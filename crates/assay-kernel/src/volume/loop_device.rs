//! A file as a block device.
// The three calls below are not in any safe interface; each stands alone with its reason.
#![allow(unsafe_code)]

use super::error::{VolumeError, at};
use crate::device::Device;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

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
    _file: File,
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
                    let rdev = file.metadata().map_err(at(&path, "look at"))?.rdev();
                    let (major, minor) = (rustix::fs::major(rdev), rustix::fs::minor(rdev));
                    return Ok(LoopDevice { _file: file, path, device: Device { major, minor } });
                }
                Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {}
                Err(error) => return Err(at(&path, "attach the image to")(error)),
            }
        }
        Err(VolumeError::NoLoop { tries: TAKE_TRIES_MAX })
    }
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
