//! The kernel's requests, each answered with what [`Served`] did or why it did not.

use super::attributes::{attributes, moment};
use super::files::{Served, said};
use super::inodes::Inode;
use fuser::{
    AccessFlags, BsdFileFlags, FileAttr, FileHandle, Filesystem, FopenFlags, Generation, INodeNo,
    LockOwner, OpenFlags, RenameFlags, ReplyAttr, ReplyCreate, ReplyData, ReplyDirectory,
    ReplyEmpty, ReplyEntry, ReplyLseek, ReplyOpen, ReplyStatfs, ReplyWrite, Request, TimeOrNow,
    WriteFlags,
};
use rustix::fs::{AtFlags, Mode};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// The kernel asks again each time: after a cut, what it remembers is wrong.
const REMEMBER: Duration = Duration::ZERO;

fn entry(reply: ReplyEntry, found: Result<FileAttr, Errno>) {
    match found {
        Ok(attributes) => reply.entry(&REMEMBER, &attributes, Generation(0)),
        Err(error) => reply.error(said(error)),
    }
}

fn empty(reply: ReplyEmpty, done: Result<(), Errno>) {
    match done {
        Ok(()) => reply.ok(),
        Err(error) => reply.error(said(error)),
    }
}

fn handle(reply: ReplyOpen, opened: Result<u64, Errno>) {
    match opened {
        Ok(handle) => reply.opened(FileHandle(handle), FopenFlags::empty()),
        Err(error) => reply.error(said(error)),
    }
}

// Arguments are the kernel's.
#[allow(clippy::too_many_arguments)]
impl Filesystem for Served {
    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        entry(reply, self.look_up(parent, name));
    }

    fn forget(&self, _: &Request, inode: INodeNo, times: u64) {
        self.table().inodes.forget(inode.0, times);
    }

    fn getattr(&self, _: &Request, inode: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        match self.inode(inode).and_then(|inode| attributes(&inode)) {
            Ok(attributes) => reply.attr(&REMEMBER, &attributes),
            Err(error) => reply.error(said(error)),
        }
    }

    fn setattr(
        &self,
        _: &Request,
        inode: INodeNo,
        mode: Option<u32>,
        uid: Option<u32>,
        gid: Option<u32>,
        size: Option<u64>,
        atime: Option<TimeOrNow>,
        mtime: Option<TimeOrNow>,
        _: Option<SystemTime>,
        _: Option<FileHandle>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        let times = (atime.is_some() || mtime.is_some()).then(|| (moment(atime), moment(mtime)));
        match self.set(inode, mode, (uid, gid), size, times) {
            Ok(attributes) => reply.attr(&REMEMBER, &attributes),
            Err(error) => reply.error(said(error)),
        }
    }

    fn readlink(&self, _: &Request, inode: INodeNo, reply: ReplyData) {
        let read = |inode: &Inode| rustix::fs::readlinkat(inode, c"", Vec::new());
        match self.inode(inode).and_then(|inode| read(&inode)) {
            Ok(target) => reply.data(target.as_bytes()),
            Err(error) => reply.error(said(error)),
        }
    }

    fn mknod(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _: u32,
        _: u32,
        reply: ReplyEntry,
    ) {
        let (kind, rights) = (rustix::fs::FileType::from_raw_mode(mode), mode & 0o7777);
        let make = |parent: &Inode| {
            rustix::fs::mknodat(parent, name, kind, Mode::from_raw_mode(rights), 0)
        };
        entry(reply, self.make(parent, name, Some(rights), make));
    }

    fn mkdir(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _: u32,
        reply: ReplyEntry,
    ) {
        let rights = Mode::from_raw_mode(mode & 0o7777);
        let make = |parent: &Inode| rustix::fs::mkdirat(parent, name, rights);
        entry(reply, self.make(parent, name, Some(mode & 0o7777), make));
    }

    fn unlink(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        empty(reply, self.remove(parent, name, false));
    }

    fn rmdir(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        empty(reply, self.remove(parent, name, true));
    }

    fn symlink(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        target: &Path,
        reply: ReplyEntry,
    ) {
        let make = |parent: &Inode| rustix::fs::symlinkat(target, parent, name);
        entry(reply, self.make(parent, name, None, make));
    }

    fn rename(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        new_parent: INodeNo,
        new_name: &OsStr,
        flags: RenameFlags,
        reply: ReplyEmpty,
    ) {
        empty(reply, self.rename_one((parent, name), (new_parent, new_name), flags));
    }

    fn link(&self, _: &Request, inode: INodeNo, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let linked = self.inode(inode).and_then(|inode| {
            let make = |parent: &Inode| {
                let follow = AtFlags::SYMLINK_FOLLOW;
                rustix::fs::linkat(rustix::fs::CWD, inode.path(), parent, name, follow)
            };
            self.make(parent, name, None, make)
        });
        entry(reply, linked);
    }

    fn open(&self, _: &Request, inode: INodeNo, flags: OpenFlags, reply: ReplyOpen) {
        handle(reply, self.open_one(inode, flags.0));
    }

    fn create(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _: u32,
        flags: i32,
        reply: ReplyCreate,
    ) {
        match self.create_file(parent, name, mode & 0o7777, flags) {
            Ok((attributes, handle)) => {
                let (handle, flags) = (FileHandle(handle), FopenFlags::empty());
                reply.created(&REMEMBER, &attributes, Generation(0), handle, flags);
            }
            Err(error) => reply.error(said(error)),
        }
    }

    fn read(
        &self,
        _: &Request,
        _: INodeNo,
        file: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        match self.read_some(file, offset, size) {
            Ok(bytes) => reply.data(&bytes),
            Err(error) => reply.error(said(error)),
        }
    }

    fn write(
        &self,
        _: &Request,
        _: INodeNo,
        file: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        match self.write_some(file, offset, data) {
            Ok(bytes) => reply.written(bytes),
            Err(error) => reply.error(said(error)),
        }
    }

    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        // Closing a file saves nothing.
        reply.ok();
    }

    fn release(
        &self,
        _: &Request,
        _: INodeNo,
        file: FileHandle,
        _: OpenFlags,
        _: Option<LockOwner>,
        _: bool,
        reply: ReplyEmpty,
    ) {
        self.close(file);
        reply.ok();
    }

    fn fsync(&self, _: &Request, _: INodeNo, file: FileHandle, _: bool, reply: ReplyEmpty) {
        empty(reply, self.sync_one(file));
    }

    fn opendir(&self, _: &Request, inode: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        handle(reply, self.list(inode));
    }

    fn readdir(
        &self,
        _: &Request,
        _: INodeNo,
        directory: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        let listed = match self.listed(directory) {
            Ok(listed) => listed,
            Err(error) => return reply.error(said(error)),
        };
        let from = usize::try_from(offset).unwrap_or(usize::MAX);
        for (index, entry) in listed.iter().enumerate().skip(from) {
            // The offset is where the next one is.
            let (number, next) = (INodeNo(entry.number), index as u64 + 1);
            if reply.add(number, next, entry.kind, &entry.name) {
                break;
            }
        }
        reply.ok();
    }

    fn releasedir(
        &self,
        _: &Request,
        _: INodeNo,
        directory: FileHandle,
        _: OpenFlags,
        reply: ReplyEmpty,
    ) {
        self.close(directory);
        reply.ok();
    }

    fn fsyncdir(&self, _: &Request, _: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        empty(reply, self.writable().map(|mut table| table.log.sync_names()));
    }

    fn statfs(&self, _: &Request, _: INodeNo, reply: ReplyStatfs) {
        let root = self.inode(INodeNo::ROOT);
        match root.and_then(|root| rustix::fs::statvfs(root.path())) {
            Ok(of) => {
                let (blocks, free, available) = (of.f_blocks, of.f_bfree, of.f_bavail);
                let block = of.f_frsize as u32;
                reply.statfs(blocks, free, available, of.f_files, of.f_ffree, block, 255, block);
            }
            Err(error) => reply.error(said(error)),
        }
    }

    fn access(&self, _: &Request, inode: INodeNo, asked: AccessFlags, reply: ReplyEmpty) {
        empty(reply, self.allows(inode, asked.contains(AccessFlags::W_OK)));
    }

    fn fallocate(
        &self,
        _: &Request,
        _: INodeNo,
        file: FileHandle,
        offset: u64,
        length: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        empty(reply, self.allocate(file, offset, length, mode));
    }

    fn lseek(
        &self,
        _: &Request,
        _: INodeNo,
        file: FileHandle,
        offset: i64,
        whence: i32,
        reply: ReplyLseek,
    ) {
        match self.seek(file, offset, whence) {
            Ok(at) => reply.offset(at),
            Err(error) => reply.error(said(error)),
        }
    }
}
