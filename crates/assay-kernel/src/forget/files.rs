//! What is done for the kernel: to the directory below at once, and into the log first.

use super::attributes::{attributes, kind};
use super::inodes::{Inode, Inodes, is_directory, is_empty};
use super::undo::{Log, Place};
use super::{Health, Shared};
use fuser::{FileAttr, FileHandle, FileType, INodeNo, RenameFlags};
use rustix::fs::{AtFlags, FallocateFlags, Gid, Mode, OFlags, SeekFrom, Timespec, Timestamps, Uid};
use rustix::io::Errno;
use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::FileExt;
use std::sync::{Arc, MutexGuard, PoisonError};

/// What changes while it serves.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) inodes: Inodes,
    pub(super) log: Log,
    pub(super) health: Health,
    open: HashMap<u64, Arc<Open>>,
    listed: HashMap<u64, Arc<Vec<Entry>>>,
    next_handle: u64,
}

impl Table {
    pub(super) fn new(inodes: Inodes, log: Log) -> Table {
        let (open, listed) = (HashMap::new(), HashMap::new());
        Table { inodes, log, health: Health::Working, open, listed, next_handle: 1 }
    }

    fn handle(&mut self) -> u64 {
        self.next_handle += 1;
        self.next_handle
    }
}

/// An open file.
#[derive(Debug)]
struct Open {
    inode: Arc<Inode>,
    file: File,
    /// Each write is to be safe when it returns.
    synchronous: bool,
}

/// A name in a directory that is being listed.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) number: u64,
    pub(super) kind: FileType,
    pub(super) name: OsString,
}

/// The file system as the kernel sees it.
pub(super) struct Served {
    pub(super) shared: Arc<Shared>,
}

/// What an errno of ours is for the kernel.
pub(super) fn said(error: Errno) -> fuser::Errno {
    fuser::Errno::from_i32(error.raw_os_error())
}

fn of_io(error: &io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}

impl Served {
    pub(super) fn table(&self) -> MutexGuard<'_, Table> {
        self.shared.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// For whoever only looks.
    fn readable(&self) -> Result<MutexGuard<'_, Table>, Errno> {
        let table = self.table();
        match table.health {
            Health::Cut => Err(Errno::IO),
            Health::Working | Health::ReadOnly => Ok(table),
        }
    }

    /// For whoever changes something.
    pub(super) fn writable(&self) -> Result<MutexGuard<'_, Table>, Errno> {
        let table = self.table();
        match table.health {
            Health::Working => Ok(table),
            Health::ReadOnly => Err(Errno::ROFS),
            Health::Cut => Err(Errno::IO),
        }
    }

    fn opened(&self, handle: FileHandle) -> Result<Arc<Open>, Errno> {
        self.readable()?.open.get(&handle.0).cloned().ok_or(Errno::BADF)
    }

    /// Makes something under a new name and tells the kernel of it. What is made gets exactly the
    /// rights it is to have, whatever this process would hold back.
    pub(super) fn make(
        &self,
        parent: INodeNo,
        name: &OsStr,
        mode: Option<u32>,
        make: impl FnOnce(&Inode) -> Result<(), Errno>,
    ) -> Result<FileAttr, Errno> {
        let mut table = self.writable()?;
        let parent = table.inodes.get(parent.0)?;
        make(&parent)?;
        table.log.made((parent.clone(), name.to_os_string()));
        let inode = table.inodes.look_up(&parent, name)?;
        if let Some(mode) = mode {
            rustix::fs::chmod(inode.path(), Mode::from_raw_mode(mode))?;
        }
        attributes(&inode)
    }

    pub(super) fn remove(
        &self,
        parent: INodeNo,
        name: &OsStr,
        directory: bool,
    ) -> Result<(), Errno> {
        let mut table = self.writable()?;
        let parent = table.inodes.get(parent.0)?;
        if directory && !is_empty(&parent, name)? {
            return Err(Errno::NOTEMPTY);
        }
        table.log.remove((parent, name.to_os_string()))
    }

    pub(super) fn rename_one(
        &self,
        from: (INodeNo, &OsStr),
        to: (INodeNo, &OsStr),
        flags: RenameFlags,
    ) -> Result<(), Errno> {
        let mut table = self.writable()?;
        let place = |table: &Table, (parent, name): (INodeNo, &OsStr)| -> Result<Place, Errno> {
            Ok((table.inodes.get(parent.0)?, name.to_os_string()))
        };
        let (from, to) = (place(&table, from)?, place(&table, to)?);
        if flags.contains(RenameFlags::RENAME_EXCHANGE) {
            return table.log.swap(from, to);
        }
        let over = match is_directory(&to.0, &to.1) {
            Err(Errno::NOENT) => false,
            Err(error) => return Err(error),
            Ok(_) if flags.contains(RenameFlags::RENAME_NOREPLACE) => return Err(Errno::EXIST),
            Ok(true) if !is_empty(&to.0, &to.1)? => return Err(Errno::NOTEMPTY),
            Ok(_) => true,
        };
        table.log.rename(from, to, over)
    }

    pub(super) fn create_file(
        &self,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        flags: i32,
    ) -> Result<(FileAttr, u64), Errno> {
        let made = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
        let make = |parent: &Inode| {
            rustix::fs::openat(parent, name, made, Mode::from_raw_mode(mode)).map(drop)
        };
        let attributes = self.make(parent, name, Some(mode), make)?;
        let handle = self.open_one(attributes.ino, flags)?;
        Ok((attributes, handle))
    }

    pub(super) fn open_one(&self, inode: INodeNo, flags: i32) -> Result<u64, Errno> {
        let mut table = self.readable()?;
        let open = open_file(table.inodes.get(inode.0)?, flags)?;
        let handle = table.handle();
        table.open.insert(handle, Arc::new(open));
        Ok(handle)
    }

    pub(super) fn close(&self, handle: FileHandle) {
        let mut table = self.table();
        table.open.remove(&handle.0);
        table.listed.remove(&handle.0);
    }

    pub(super) fn inode(&self, number: INodeNo) -> Result<Arc<Inode>, Errno> {
        self.readable()?.inodes.get(number.0)
    }

    pub(super) fn look_up(&self, parent: INodeNo, name: &OsStr) -> Result<FileAttr, Errno> {
        let mut table = self.readable()?;
        let parent = table.inodes.get(parent.0)?;
        attributes(&*table.inodes.look_up(&parent, name)?)
    }

    /// Whether it could be changed now; whose it is, is said by the directory below.
    pub(super) fn allows(&self, inode: INodeNo, to_write: bool) -> Result<(), Errno> {
        let table = if to_write { self.writable()? } else { self.readable()? };
        table.inodes.get(inode.0).map(drop)
    }

    pub(super) fn read_some(&self, file: FileHandle, at: u64, size: u32) -> Result<Vec<u8>, Errno> {
        let open = self.opened(file)?;
        let mut bytes = vec![0; size as usize];
        let mut read = 0;
        while read < bytes.len() {
            match open.file.read_at(&mut bytes[read..], at + read as u64) {
                Ok(0) => break,
                Ok(some) => read += some,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(of_io(&error)),
            }
        }
        bytes.truncate(read);
        Ok(bytes)
    }

    pub(super) fn seek(&self, file: FileHandle, offset: i64, whence: i32) -> Result<i64, Errno> {
        let open = self.opened(file)?;
        let offset = u64::try_from(offset).map_err(|_| Errno::INVAL)?;
        let position = match whence {
            libc::SEEK_DATA => SeekFrom::Data(offset),
            libc::SEEK_HOLE => SeekFrom::Hole(offset),
            _ => return Err(Errno::INVAL),
        };
        let at = rustix::fs::seek(&open.file, position)?;
        i64::try_from(at).map_err(|_| Errno::OVERFLOW)
    }

    /// Rights, owners, length and times. All but the length are safe at once.
    pub(super) fn set(
        &self,
        inode: INodeNo,
        mode: Option<u32>,
        owner: (Option<u32>, Option<u32>),
        size: Option<u64>,
        times: Option<(Timespec, Timespec)>,
    ) -> Result<FileAttr, Errno> {
        let inode = self.inode(inode)?;
        if let Some(size) = size {
            self.resize(&inode, size)?;
        }
        let _table = self.writable()?;
        if let Some(mode) = mode {
            rustix::fs::chmod(inode.path(), Mode::from_raw_mode(mode & 0o7777))?;
        }
        if owner != (None, None) {
            let (uid, gid) = (owner.0.map(Uid::from_raw), owner.1.map(Gid::from_raw));
            rustix::fs::chownat(&*inode, c"", uid, gid, AtFlags::EMPTY_PATH)?;
        }
        if let Some((last_access, last_modification)) = times {
            let times = Timestamps { last_access, last_modification };
            rustix::fs::utimensat(&*inode, c"", &times, AtFlags::EMPTY_PATH)?;
        }
        attributes(&inode)
    }

    pub(super) fn write_some(
        &self,
        handle: FileHandle,
        at: u64,
        data: &[u8],
    ) -> Result<u32, Errno> {
        let open = self.opened(handle)?;
        let mut table = self.writable()?;
        let noted = table.log.before_change(&open.inode, &open.file, at, data.len() as u64);
        noted.and_then(|()| open.file.write_all_at(data, at)).map_err(|error| of_io(&error))?;
        if open.synchronous {
            table.log.sync_file(open.inode.below);
        }
        u32::try_from(data.len()).map_err(|_| Errno::INVAL)
    }

    pub(super) fn sync_one(&self, handle: FileHandle) -> Result<(), Errno> {
        let open = self.opened(handle)?;
        self.writable()?.log.sync_file(open.inode.below);
        Ok(())
    }

    fn resize(&self, inode: &Arc<Inode>, length: u64) -> Result<(), Errno> {
        let mut table = self.writable()?;
        let file = inode.open(OFlags::RDWR)?;
        let noted = table.log.before_change(inode, &file, length, u64::MAX);
        noted.and_then(|()| file.set_len(length)).map_err(|error| of_io(&error))
    }

    pub(super) fn allocate(
        &self,
        handle: FileHandle,
        at: u64,
        bytes: u64,
        mode: i32,
    ) -> Result<(), Errno> {
        let mode = FallocateFlags::from_bits_retain(mode.cast_unsigned());
        if !FallocateFlags::KEEP_SIZE.contains(mode) {
            // Holes and zeros would have to be noted; programs write them if they cannot be had.
            return Err(Errno::OPNOTSUPP);
        }
        let open = self.opened(handle)?;
        let mut table = self.writable()?;
        let length = open.file.metadata().map_err(|error| of_io(&error))?.len();
        let noted = table.log.before_change(&open.inode, &open.file, length, 0);
        noted.map_err(|error| of_io(&error))?;
        rustix::fs::fallocate(&open.file, mode, at, bytes)
    }

    pub(super) fn list(&self, directory: INodeNo) -> Result<u64, Errno> {
        let mut table = self.readable()?;
        let inode = table.inodes.get(directory.0)?;
        let entries = rustix::fs::Dir::new(inode.open(OFlags::RDONLY | OFlags::DIRECTORY)?)?;
        let row = |entry: rustix::fs::DirEntry| Entry {
            number: entry.ino(),
            kind: kind(entry.file_type()),
            name: OsString::from_vec(entry.file_name().to_bytes().to_vec()),
        };
        let listed: Result<Vec<Entry>, Errno> = entries.map(|entry| entry.map(row)).collect();
        let handle = table.handle();
        table.listed.insert(handle, Arc::new(listed?));
        Ok(handle)
    }

    pub(super) fn listed(&self, directory: FileHandle) -> Result<Arc<Vec<Entry>>, Errno> {
        self.readable()?.listed.get(&directory.0).cloned().ok_or(Errno::BADF)
    }
}

fn open_file(inode: Arc<Inode>, flags: i32) -> Result<Open, Errno> {
    let asked = OFlags::from_bits_retain(flags.cast_unsigned());
    // What is overwritten has to be read first. The kernel minds the rest: where a write goes that
    // appends, and that a file is emptied.
    let access = match asked & OFlags::RWMODE {
        OFlags::RDONLY => OFlags::RDONLY,
        _ => OFlags::RDWR,
    };
    let file = inode.open(access)?;
    let synchronous = asked.intersects(OFlags::DSYNC | OFlags::SYNC);
    Ok(Open { inode, file, synchronous })
}
