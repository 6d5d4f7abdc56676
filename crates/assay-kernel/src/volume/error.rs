//! Why a volume cannot be had, and what to do about it.

use std::io;
use std::path::{Path, PathBuf};

/// What went wrong with a volume.
#[derive(Debug, thiserror::Error)]
pub enum VolumeError {
    /// The operating system said no.
    #[error("{}: cannot {doing}: {source}", path.display())]
    Io {
        /// Where.
        path: PathBuf,
        /// What was tried.
        doing: &'static str,
        /// Why not.
        source: io::Error,
    },
    /// This user may not.
    #[error(
        "{}: cannot {doing}: {source}. Volumes need loop devices and mounts: run as root, outside \
         of a container or in a privileged one",
        path.display()
    )]
    NotAllowed {
        /// Where.
        path: PathBuf,
        /// What was tried.
        doing: &'static str,
        /// Why not.
        source: io::Error,
    },
    /// There is no file system in user space here.
    #[error(
        "{}: cannot mount a directory that forgets: {source}. Without root it takes /dev/fuse and \
         fusermount3: install fuse3 (apt-get install fuse3)",
        path.display()
    )]
    NoFuse {
        /// The mount point.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// It would have no journal, or no room beside it.
    #[error("{}: a volume of {bytes} bytes is too small: {min} at least", path.display(),
            min = super::VOLUME_BYTES_MIN)]
    TooSmall {
        /// The image.
        path: PathBuf,
        /// What was asked for.
        bytes: u64,
    },
    /// There is no program that makes file systems.
    #[error("there is no mkfs.ext4: install e2fsprogs (apt-get install e2fsprogs)")]
    NoMkfs,
    /// The program that makes file systems failed.
    #[error("{}: mkfs.ext4 failed: {message}", path.display())]
    Mkfs {
        /// The image.
        path: PathBuf,
        /// What it said.
        message: String,
    },
    /// Every loop device was taken by somebody else first.
    #[error("no free loop device after {tries} tries: `losetup -a` shows who has them")]
    NoLoop {
        /// How often it was tried.
        tries: u32,
    },
    /// Somebody still uses what is to be unmounted.
    #[error("{}: cannot be unmounted, it is in use by {holders}: stop that first", path.display())]
    Busy {
        /// The mount point.
        path: PathBuf,
        /// Processes by number and name.
        holders: String,
    },
    /// It was mounted again and does not take what is written.
    #[error(
        "{}: is mounted again and still cannot be written: {source}. {} in another mount \
         namespace: end that and heal again",
        path.display(),
        if holders.is_empty() { "Something may hold the old mount" } else { holders }
    )]
    StillBroken {
        /// The mount point.
        path: PathBuf,
        /// What a write got.
        source: io::Error,
        /// Who keeps the old mount, as far as that can be seen.
        holders: String,
    },
}

impl VolumeError {
    pub(super) fn forgetful(point: &Path) -> impl FnOnce(io::Error) -> VolumeError {
        let path = point.to_path_buf();
        move |source| VolumeError::NoFuse { path, source }
    }
}

/// An error of the operating system at a path, with what to do about it if that is known.
pub(crate) fn at<E: Into<io::Error>>(
    path: &Path,
    doing: &'static str,
) -> impl FnOnce(E) -> VolumeError {
    let path = path.to_path_buf();
    move |error| {
        let source: io::Error = error.into();
        match source.kind() {
            io::ErrorKind::PermissionDenied => VolumeError::NotAllowed { path, doing, source },
            _ => VolumeError::Io { path, doing, source },
        }
    }
}
