//! A small disk of a node's own, which can lose power, fill up or turn read-only.
//!
//! A [`Volume`] is an ext4 in a file, on a loop device, mounted where a node keeps its data. What a
//! node has synced survives [`Volume::cut_power`], what it has only written does not: that is what
//! a kill of the process cannot show, because the kernel keeps what it was given. Nothing but root
//! is needed, no device mapper and no file system of our own.
//!
//! ```no_run
//! use assay_kernel::volume::Volume;
//! use std::path::Path;
//!
//! let volume = Volume::make(Path::new("run/n1.img"), Path::new("run/n1"), 64 << 20)?;
//! // ... a node writes below run/n1, is stopped ...
//! volume.cut_power()?;
//! // ... and killed: what it had not synced is gone.
//! volume.power_up()?;
//! # Ok::<(), assay_kernel::volume::VolumeError>(())
//! ```
//!
//! Somebody without root gets the same from [`Volume::forgetful`], where FUSE is to be had: a
//! directory that notes how to take back what was not synced (`forget`).
//!
//! An ext4 commits every five seconds by itself, so a cut loses what is younger than that, and data
//! that the kernel has not yet written of older files: as on a real machine. What the disk itself
//! would have kept in a cache is not lost: the image is not flushed and not torn.
//!
//! What a killed process left is found without a record of it, by where it lies: [`leftovers`] and
//! [`clear`] go through the mounts and the loop devices below a directory. So keep the image and
//! the mount point below the directory of the run.

mod elsewhere;
mod error;
mod leftovers;
mod loop_device;
mod make;
mod probe;

pub use error::VolumeError;
pub use leftovers::{Leftover, clear, leftovers};
pub use probe::{clear_probes, is_probe, probe, probe_forgetful, with_one};

use crate::device::Device;
use crate::forget::{Forgetful, Health};
use crate::mountinfo::Mount;
use crate::wait::wait_for;
use error::at;
use leftovers::{holders, uses};
use loop_device::LoopDevice;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::mount::UnmountFlags;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The smallest volume: below it mkfs.ext4 makes no journal, and a cut would lose synced data.
pub const VOLUME_BYTES_MIN: u64 = 16 << 20;
/// How long to wait for the last user of a mount to be gone.
pub const UNMOUNT_TIME_MAX: Duration = Duration::from_secs(10);
/// How long dropping waits for the same before the mount is only taken out of sight.
const DROP_TIME_MAX: Duration = Duration::from_secs(2);
/// How long a volume may go on refusing writes after it is mounted again.
const REVIVE_TIME_MAX: Duration = Duration::from_secs(10);
/// What the proof of a working disk writes.
const PROOF_BYTES: usize = 4096;

/// What a volume says to somebody who wants to write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    /// A new file can be made.
    Writable,
    /// No room is left (ENOSPC).
    Full,
    /// Nothing can be changed (EROFS).
    ReadOnly,
    /// Nothing works any more (EIO): its power is cut.
    Cut,
    /// It is not mounted.
    NotMounted,
}

/// What a volume is made of.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum VolumeKind {
    /// A directory that forgets what was not synced.
    Forgetful,
    /// An ext4 on a block device, which can do everything the other can.
    Block,
}

impl VolumeKind {
    /// What it is called in reports.
    pub fn words(self) -> &'static str {
        match self {
            VolumeKind::Forgetful => "a directory by FUSE that forgets",
            VolumeKind::Block => "an ext4 on a loop device",
        }
    }
}

#[derive(Debug)]
enum Medium {
    Block(LoopDevice),
    Forgetful(Forgetful),
}

/// A disk of a node's own. It is unmounted when this is dropped; what it holds stays.
#[derive(Debug)]
pub struct Volume {
    mount_point: PathBuf,
    medium: Medium,
    /// Mounting and unmounting are several steps, and one at a time.
    turn: Mutex<()>,
}

impl Volume {
    /// Makes an image with an empty file system and mounts it. Both paths should lie below the
    /// directory of a run, and the image must not exist. The file system has a `lost+found`; a node
    /// that wants an empty directory gets one inside.
    pub fn make(image: &Path, mount_point: &Path, bytes: u64) -> Result<Volume, VolumeError> {
        make::image(image, bytes)?;
        let made = Volume::attach(image, mount_point);
        if made.is_err() {
            // Half a volume is of no use, and would be in the way of the next attempt.
            let _unremoved = std::fs::remove_file(image);
        }
        made
    }

    fn attach(image: &Path, mount_point: &Path) -> Result<Volume, VolumeError> {
        let image = image.canonicalize().map_err(at(image, "find"))?;
        let mount_point = point(mount_point)?;
        let loop_device = LoopDevice::of(&image)?;
        make::mount(&loop_device.path, &mount_point)?;
        Ok(Volume { mount_point, medium: Medium::Block(loop_device), turn: Mutex::new(()) })
    }

    /// Makes a directory that forgets and mounts it. What is written lies in `store`, which must
    /// not exist; both should lie below the directory of a run. It is as large as what `store` lies
    /// on.
    pub fn forgetful(store: &Path, mount_point: &Path) -> Result<Volume, VolumeError> {
        std::fs::create_dir(store).map_err(at(store, "make"))?;
        let mount_point = point(mount_point)?;
        let mounted = Forgetful::mount(store, &mount_point);
        let medium = Medium::Forgetful(mounted.map_err(VolumeError::forgetful(&mount_point))?);
        Ok(Volume { mount_point, medium, turn: Mutex::new(()) })
    }

    /// Where it is mounted.
    pub fn mount_point(&self) -> &Path {
        &self.mount_point
    }

    /// What it is made of.
    pub fn kind(&self) -> VolumeKind {
        match self.medium {
            Medium::Block(_) => VolumeKind::Block,
            Medium::Forgetful(_) => VolumeKind::Forgetful,
        }
    }

    /// The block device, for limits of control groups, if it is on one.
    pub fn device(&self) -> Option<Device> {
        match &self.medium {
            Medium::Block(device) => Some(device.device),
            Medium::Forgetful(_) => None,
        }
    }

    /// Whether a process has something of it open, or stands in it.
    pub fn is_used_by(&self, pid: u32) -> bool {
        uses(&PathBuf::from(format!("/proc/{pid}")), &self.mount_point)
    }

    /// How many bytes can still be written.
    pub fn free_bytes(&self) -> Result<u64, VolumeError> {
        let stat = rustix::fs::statvfs(&self.mount_point);
        let stat = stat.map_err(at(&self.mount_point, "ask for free space"))?;
        Ok(stat.f_bavail.saturating_mul(stat.f_frsize))
    }

    /// What somebody who wants to write would be told. Asks with a file that never has a name, and
    /// syncs nothing: a sync would save what a cut is to lose.
    pub fn answer(&self) -> Result<Answer, VolumeError> {
        if !self.is_mounted()? {
            return Ok(Answer::NotMounted);
        }
        let asked = match &self.medium {
            Medium::Block(_) => self.nameless_file().map(drop),
            // Such files cannot be had there; who may write is asked of whoever serves.
            Medium::Forgetful(_) => {
                rustix::fs::access(&self.mount_point, rustix::fs::Access::WRITE_OK)
            }
        };
        match asked {
            Ok(()) => Ok(Answer::Writable),
            Err(Errno::NOSPC) => Ok(Answer::Full),
            Err(Errno::ROFS) => Ok(Answer::ReadOnly),
            Err(Errno::IO) => Ok(Answer::Cut),
            Err(error) => Err(at(&self.mount_point, "make a file in")(error)),
        }
    }

    /// Cuts the power: at once nothing more reaches the disk, and every call gets EIO. Stop whoever
    /// writes here first, so that nobody acknowledges what only a cut disk has refused; kill them
    /// before [`Volume::power_up`].
    pub fn cut_power(&self) -> Result<(), VolumeError> {
        let _turn = self.turn();
        let point = &self.mount_point;
        let cut = match &self.medium {
            Medium::Block(_) => {
                let root = File::open(point).map_err(at(point, "open"))?;
                loop_device::shut_down(&root)
            }
            Medium::Forgetful(directory) => directory.cut(),
        };
        cut.map_err(at(point, "cut the power of"))
    }

    /// Brings it back: unmounts, mounts, so that the journal is replayed, and proves by a synced
    /// write that it works. Nobody may have files open there. Does nothing if it works already.
    pub fn power_up(&self) -> Result<(), VolumeError> {
        let _turn = self.turn();
        let mut trouble = None;
        let revived = wait_for(REVIVE_TIME_MAX, || {
            if matches!(self.answer(), Ok(Answer::Writable | Answer::Full)) {
                return Some(Ok(()));
            }
            match self.mount_again().map(|()| self.prove()) {
                Ok(Ok(())) => Some(Ok(())),
                // The old mount lives on elsewhere, for instance in a mount namespace that was
                // just made: then this has mounted the same broken one again.
                Ok(Err(source)) => {
                    trouble = Some(source);
                    None
                }
                Err(error) => Some(Err(error)),
            }
        });
        let broken = || VolumeError::StillBroken {
            path: self.mount_point.clone(),
            source: trouble.unwrap_or_else(|| io::ErrorKind::TimedOut.into()),
            holders: self.device().map(elsewhere::unmount).unwrap_or_default().join(", "),
        };
        revived.unwrap_or_else(|| Err(broken()))
    }

    /// Turns it read-only, as ext4 does by itself when it finds an error: every attempt to write,
    /// also by those who have files open, gets EROFS.
    pub fn turn_read_only(&self) -> Result<(), VolumeError> {
        let _turn = self.turn();
        match &self.medium {
            Medium::Block(device) => {
                let name = device.path.file_name().expect("devices have names");
                let trigger = Path::new("/sys/fs/ext4").join(name).join("trigger_fs_error");
                std::fs::write(&trigger, "1").map_err(at(&trigger, "write to"))
            }
            Medium::Forgetful(directory) => {
                directory.turn(Health::ReadOnly);
                Ok(())
            }
        }
    }

    /// Makes it writable again. The only way back is to unmount it, so the node has to be stopped.
    pub fn turn_writable(&self) -> Result<(), VolumeError> {
        self.power_up()
    }

    fn mount_again(&self) -> Result<(), VolumeError> {
        let device = match &self.medium {
            Medium::Block(device) => device,
            // Nothing of it was lost with the power but what it has forgotten.
            Medium::Forgetful(directory) => {
                directory.turn(Health::Working);
                return Ok(());
            }
        };
        while self.is_mounted()? {
            self.unmount()?;
        }
        // Who does not let go is named if it turns out to matter.
        let _held = elsewhere::unmount(device.device);
        make::mount(&device.path, &self.mount_point)
    }

    fn unmount(&self) -> Result<(), VolumeError> {
        let path = &self.mount_point;
        let done = wait_for(UNMOUNT_TIME_MAX, || {
            match rustix::mount::unmount(path, UnmountFlags::NOFOLLOW) {
                Err(Errno::BUSY) => None,
                result => Some(result.map_err(at(path, "unmount"))),
            }
        });
        let busy = || VolumeError::Busy { path: path.clone(), holders: holders(path) };
        done.unwrap_or_else(|| Err(busy()))
    }

    fn is_mounted(&self) -> Result<bool, VolumeError> {
        let mounts =
            crate::mountinfo::mounts().map_err(at(&self.mount_point, "list mounts for"))?;
        let ours = |mount: &Mount| match &self.medium {
            Medium::Block(device) => mount.device == device.device.to_string(),
            Medium::Forgetful(_) => crate::forget::is_ours(&mount.kind),
        };
        Ok(mounts.iter().any(|mount| mount.point == self.mount_point && ours(mount)))
    }

    fn nameless_file(&self) -> Result<File, Errno> {
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        rustix::fs::open(&self.mount_point, flags, Mode::RUSR | Mode::WUSR).map(File::from)
    }

    /// A file whose name is gone before anybody else could mind it.
    fn short_lived_file(&self) -> Result<File, Errno> {
        let path = self.mount_point.join(".assay-proof");
        let flags = OFlags::CREATE | OFlags::RDWR | OFlags::CLOEXEC;
        let file = rustix::fs::open(&path, flags, Mode::RUSR | Mode::WUSR)?;
        rustix::fs::unlink(&path)?;
        Ok(File::from(file))
    }

    fn prove(&self) -> io::Result<()> {
        let file = match &self.medium {
            Medium::Block(_) => self.nameless_file(),
            Medium::Forgetful(_) => self.short_lived_file(),
        };
        let mut file = match file {
            // It works, and what fills it is not our concern.
            Err(Errno::NOSPC) => return Ok(()),
            file => file?,
        };
        match file.write_all(&[0xA5; PROOF_BYTES]).and_then(|()| file.sync_all()) {
            Err(error) if error.kind() == io::ErrorKind::StorageFull => Ok(()),
            result => result,
        }
    }

    fn turn(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where to mount, made if need be: the kernel says paths without links and dots, and they are
/// compared with what it says.
fn point(path: &Path) -> Result<PathBuf, VolumeError> {
    std::fs::create_dir_all(path).map_err(at(path, "make"))?;
    path.canonicalize().map_err(at(path, "find"))
}

impl Drop for Volume {
    /// Unmounts; the loop device goes with it. If somebody still uses it, it is taken out of sight
    /// and goes with its last user.
    fn drop(&mut self) {
        if let Medium::Block(device) = &self.medium {
            let _undone = leftovers::unmount(&self.mount_point, DROP_TIME_MAX);
            let _held = elsewhere::unmount(device.device);
        }
    }
}
