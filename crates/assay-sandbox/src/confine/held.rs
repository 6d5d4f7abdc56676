//! What of the host is given to a call, held: opened once, and found to be what was meant.
//!
//! A descriptor can be mounted only in the namespace of mounts in which it was opened, so this is
//! done by the process inside, before it builds anything.

use crate::host::HostPlace;
use crate::job::Job;
use crate::workspace::open_below;
use rustix::fs::{Mode, OFlags, ResolveFlags, mkdirat, openat};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Component, Path, PathBuf};

/// All of it.
#[derive(Debug)]
pub(super) struct Held {
    /// Where tools work and what they leave, if these are lent.
    pub written: Option<[Place; 2]>,
    /// What can be read.
    pub read: Vec<Place>,
}

/// A place that is held.
#[derive(Debug)]
pub(super) struct Place {
    /// Where it is, outside and inside.
    pub path: PathBuf,
    /// What stands there.
    pub file: File,
}

impl Place {
    fn open(place: &HostPlace) -> io::Result<Place> {
        Ok(Place { path: place.path().to_path_buf(), file: place.open()? })
    }

    pub(super) fn is_dir(&self) -> io::Result<bool> {
        Ok(self.file.metadata()?.is_dir())
    }
}

impl Held {
    pub(super) fn open(job: &Job) -> io::Result<Held> {
        let written = match &job.host.lent {
            Some(lent) => Some([Place::open(&lent.files)?, Place::open(&lent.outputs)?]),
            None => None,
        };
        let read = job.readable.iter().map(Place::open).collect::<io::Result<_>>()?;
        Ok(Held { written, read })
    }

    /// All of them.
    pub(super) fn all(&self) -> impl Iterator<Item = &Place> {
        self.written.iter().flatten().chain(&self.read)
    }
}

/// The name of what is held, for calls that take paths.
pub(super) fn name(held: &File) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", held.as_raw_fd()))
}

/// Makes something to mount on, below a directory, and holds it: no link is followed on the way.
pub(super) fn point(root: &File, path: &Path, is_dir: bool) -> io::Result<File> {
    let names = path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(Path::new(name)),
        _ => None,
    });
    let names: Vec<&Path> = names.collect();
    let mut held = root.try_clone()?;
    for (index, name) in names.iter().enumerate() {
        let flags = OFlags::PATH | OFlags::NOFOLLOW;
        let is_last = index + 1 == names.len();
        let directory = if is_last && !is_dir { OFlags::empty() } else { OFlags::DIRECTORY };
        let open = || open_below(&held, name, flags | directory, ResolveFlags::NO_SYMLINKS);
        // What is there already may be on a mount that can only be read.
        held = match open() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                match is_last && !is_dir {
                    true => drop(make(&held, name)?),
                    false => match mkdirat(&held, *name, Mode::from_raw_mode(0o755)) {
                        Ok(()) | Err(Errno::EXIST) => {}
                        Err(error) => return Err(error.into()),
                    },
                }
                open()?
            }
            opened => opened?,
        };
    }
    Ok(held)
}

fn make(directory: &File, name: &Path) -> io::Result<File> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    Ok(File::from(openat(directory, name, flags, Mode::from_raw_mode(0o644))?))
}
