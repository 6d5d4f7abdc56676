//! What the kernel is told of a file: its kind, length, rights and times.

use super::inodes::Inode;
use fuser::{FileAttr, FileType, INodeNo, TimeOrNow};
use rustix::fs::{Stat, Timespec};
use rustix::io::Errno;
use std::time::{Duration, UNIX_EPOCH};

pub(super) fn kind(of: rustix::fs::FileType) -> FileType {
    match of {
        rustix::fs::FileType::Directory => FileType::Directory,
        rustix::fs::FileType::Symlink => FileType::Symlink,
        rustix::fs::FileType::Fifo => FileType::NamedPipe,
        rustix::fs::FileType::Socket => FileType::Socket,
        rustix::fs::FileType::CharacterDevice => FileType::CharDevice,
        rustix::fs::FileType::BlockDevice => FileType::BlockDevice,
        _ => FileType::RegularFile,
    }
}

pub(super) fn attributes(inode: &Inode) -> Result<FileAttr, Errno> {
    inode.stat().map(|stat| described(inode.number, &stat))
}

fn described(number: u64, stat: &Stat) -> FileAttr {
    let time = |seconds: i64, nanos: u64| {
        let whole = Duration::from_secs(seconds.unsigned_abs());
        let base = match seconds {
            0.. => UNIX_EPOCH.checked_add(whole),
            _ => UNIX_EPOCH.checked_sub(whole),
        };
        base.unwrap_or(UNIX_EPOCH) + Duration::from_nanos(nanos)
    };
    FileAttr {
        ino: INodeNo(number),
        size: stat.st_size.unsigned_abs(),
        blocks: stat.st_blocks.unsigned_abs(),
        atime: time(stat.st_atime, stat.st_atime_nsec),
        mtime: time(stat.st_mtime, stat.st_mtime_nsec),
        ctime: time(stat.st_ctime, stat.st_ctime_nsec),
        crtime: UNIX_EPOCH,
        kind: kind(rustix::fs::FileType::from_raw_mode(stat.st_mode)),
        perm: (stat.st_mode & 0o7777) as u16,
        nlink: u32::try_from(stat.st_nlink).unwrap_or(u32::MAX),
        uid: stat.st_uid,
        gid: stat.st_gid,
        rdev: 0,
        blksize: 4096,
        flags: 0,
    }
}

pub(super) fn moment(time: Option<TimeOrNow>) -> Timespec {
    let special = |tv_nsec| Timespec { tv_sec: 0, tv_nsec };
    match time {
        None => special(rustix::fs::UTIME_OMIT),
        Some(TimeOrNow::Now) => special(rustix::fs::UTIME_NOW),
        Some(TimeOrNow::SpecificTime(time)) => {
            // What is said to be older than 1970 is as old as 1970.
            let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
            let tv_sec = i64::try_from(since.as_secs()).unwrap_or(i64::MAX);
            Timespec { tv_sec, tv_nsec: i64::from(since.subsec_nanos()) }
        }
    }
}
