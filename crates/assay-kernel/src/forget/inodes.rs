//! Which file or directory the kernel means by a number.

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::sync::Arc;

/// The number the kernel has for the root of every file system.
pub(super) const ROOT: u64 = 1;

/// Device and number of a file on the file system below. As long as somebody holds the file they
/// are not given to another one; the kernel's number for it is given up and made anew at will.
pub(super) type Below = (u64, u64);

/// A file or directory, held by a descriptor that reads nothing: it means the same one under any
/// name, and without any.
#[derive(Debug)]
pub(super) struct Inode {
    pub(super) number: u64,
    /// By which it is known again after the kernel forgot its number.
    pub(super) below: Below,
    descriptor: OwnedFd,
}

impl Inode {
    /// What is known of it.
    pub(super) fn stat(&self) -> Result<Stat, Errno> {
        rustix::fs::statat(&self.descriptor, c"", AtFlags::EMPTY_PATH)
    }

    /// Opens what it stands for.
    pub(super) fn open(&self, flags: OFlags) -> Result<File, Errno> {
        let flags = flags.difference(OFlags::NOFOLLOW) | OFlags::CLOEXEC;
        rustix::fs::open(self.path(), flags, Mode::empty()).map(File::from)
    }

    /// A name for calls that take nothing else.
    pub(super) fn path(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.descriptor.as_raw_fd()))
    }
}

impl AsFd for Inode {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

/// What the kernel knows at present.
#[derive(Debug)]
pub(super) struct Inodes {
    /// By number, with how often the kernel was told of it.
    known: HashMap<u64, (Arc<Inode>, u64)>,
    /// Two names of one file are one number.
    numbers: HashMap<Below, u64>,
    next: u64,
}

impl Inodes {
    /// With the root only.
    pub(super) fn new(root: OwnedFd) -> Result<Inodes, Errno> {
        let root = Arc::new(Inode { number: ROOT, below: below(&root)?, descriptor: root });
        Ok(Inodes {
            known: HashMap::from([(ROOT, (root, 1))]),
            numbers: HashMap::new(),
            next: ROOT + 1,
        })
    }

    /// By number.
    pub(super) fn get(&self, number: u64) -> Result<Arc<Inode>, Errno> {
        self.known.get(&number).map(|(inode, _)| inode.clone()).ok_or(Errno::NOENT)
    }

    /// By name, for the kernel to remember.
    pub(super) fn look_up(&mut self, parent: &Inode, name: &OsStr) -> Result<Arc<Inode>, Errno> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let descriptor = rustix::fs::openat(parent, name, flags, Mode::empty())?;
        let below = below(&descriptor)?;
        if let Some((inode, times)) =
            self.numbers.get(&below).and_then(|number| self.known.get_mut(number))
        {
            *times += 1;
            return Ok(inode.clone());
        }
        let number = self.next;
        self.next += 1;
        let inode = Arc::new(Inode { number, below, descriptor });
        self.numbers.insert(below, number);
        self.known.insert(number, (inode.clone(), 1));
        Ok(inode)
    }

    /// The kernel no longer knows it, so many times.
    pub(super) fn forget(&mut self, number: u64, times: u64) {
        let Some((inode, known)) = self.known.get_mut(&number) else { return };
        *known = known.saturating_sub(times);
        if *known > 0 || number == ROOT {
            return;
        }
        self.numbers.remove(&inode.below);
        self.known.remove(&number);
    }
}

fn below(descriptor: &OwnedFd) -> Result<Below, Errno> {
    let stat = rustix::fs::statat(descriptor, c"", AtFlags::EMPTY_PATH)?;
    Ok((stat.st_dev, stat.st_ino))
}

/// Whether a directory has nothing in it.
pub(super) fn is_empty(parent: &Inode, name: &OsStr) -> Result<bool, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let directory = rustix::fs::openat(parent, name, flags, Mode::empty())?;
    let entries = rustix::fs::Dir::new(directory)?;
    Ok(entries.flatten().all(|entry| matches!(entry.file_name().to_bytes(), b"." | b"..")))
}

/// Whether something is there, and whether it is a directory.
pub(super) fn is_directory(parent: &Inode, name: &OsStr) -> Result<bool, Errno> {
    let stat = rustix::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW)?;
    Ok(FileType::from_raw_mode(stat.st_mode) == FileType::Directory)
}
