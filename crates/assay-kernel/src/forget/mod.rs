//! A directory that forgets what was not synced, for whoever has no disk to cut off.
//!
//! A file system in user space (FUSE) hands everything through to a directory of the run and notes
//! how to take it back (`undo`). [`Forgetful::cut`] does that: what was synced stays, what was
//! only written is gone, as after a power failure on ext4. Where `fusermount3` is installed, nobody
//! needs to be root for it.
//!
//! Rights, owners and times of files are safe at once, `sync(2)` of a whole system is not seen, and
//! a file opened only for writing has to be readable by its owner.

mod attributes;
mod files;
mod inodes;
mod mount;
mod requests;
mod undo;

use files::{Served, Table};
use inodes::Inodes;
use rustix::fs::{Mode, OFlags};
use std::fmt;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// How a directory answers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Health {
    /// As asked.
    Working,
    /// Changes get EROFS.
    ReadOnly,
    /// Everything gets EIO.
    Cut,
}

/// What the thread that serves has in common with us.
#[derive(Debug)]
struct Shared {
    table: Mutex<Table>,
}

/// Such a directory, mounted. It is unmounted when this is dropped; what it holds stays.
pub(crate) struct Forgetful {
    point: PathBuf,
    shared: Arc<Shared>,
    session: Option<fuser::BackgroundSession>,
}

impl fmt::Debug for Forgetful {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Forgetful").field("point", &self.point).finish_non_exhaustive()
    }
}

impl Forgetful {
    /// Mounts at `point`; everything lies in `store`, an empty directory.
    pub(crate) fn mount(store: &Path, point: &Path) -> io::Result<Forgetful> {
        let [tree, graves] = ["tree", "graves"].map(|part| store.join(part));
        std::fs::create_dir(&tree)?;
        std::fs::create_dir(&graves)?;
        let table = Table::new(Inodes::new(held(&tree)?)?, undo::Log::new(held(&graves)?));
        let shared = Arc::new(Shared { table: Mutex::new(table) });
        let device = mount::mount(point)?;
        let served = Served { shared: shared.clone() };
        let acl = fuser::SessionACL::Owner;
        let session = fuser::Session::from_fd(served, device, acl, fuser::Config::default())
            .and_then(fuser::Session::spawn);
        match session {
            Ok(session) => {
                Ok(Forgetful { point: point.to_path_buf(), shared, session: Some(session) })
            }
            Err(error) => {
                let _still_mounted = mount::unmount(point);
                Err(error)
            }
        }
    }

    /// Takes everything back that is not safe; from now on every call gets EIO.
    pub(crate) fn cut(&self) -> io::Result<()> {
        self.with(|table| {
            table.health = Health::Cut;
            Ok(table.log.play_back(Instant::now())?)
        })
    }

    /// Answers so from now on.
    pub(crate) fn turn(&self, health: Health) {
        self.with(|table| table.health = health);
    }

    fn with<T>(&self, work: impl FnOnce(&mut Table) -> T) -> T {
        work(&mut self.shared.table.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for Forgetful {
    fn drop(&mut self) {
        // Out of sight at once; who still has files open there can go on with them to the end.
        if mount::unmount(&self.point).is_ok()
            && let Some(session) = self.session.take()
            && session.guard.is_finished()
        {
            let _ended = session.join();
        }
    }
}

/// Whether a mount is one of these.
pub(crate) fn is_ours(kind: &str) -> bool {
    kind == mount::KIND
}

/// Takes the mount of somebody who was killed away.
pub(crate) fn unmount(point: &Path) -> io::Result<()> {
    mount::unmount(point)
}

fn held(directory: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(rustix::fs::open(directory, flags, Mode::empty())?)
}
