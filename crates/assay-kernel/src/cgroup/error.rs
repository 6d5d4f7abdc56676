//! Why a control group cannot be had or does not do what it is told.

use super::Controller;
use std::io;
use std::path::{Path, PathBuf};

/// What went wrong with a control group.
#[derive(Debug, thiserror::Error)]
pub enum CgroupError {
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
        "{}: cannot {doing}: {source}. Control groups need root, or a part of the hierarchy that \
         was handed to this user",
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
    /// This machine has no such controller, or does not let us use it.
    #[error("no control group can limit {controller} here: {why}")]
    Absent {
        /// What it would limit.
        controller: Controller,
        /// Why not.
        why: String,
    },
    /// A name that is not one directory below another.
    #[error("{name:?} cannot be the name of a group: letters, digits, '.', '_' and '-' only")]
    BadName {
        /// The name.
        name: String,
    },
    /// A file of the kernel says something unexpected.
    #[error("{}: does not say {wanted}: {text:?}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What was looked for.
        wanted: &'static str,
        /// What it says.
        text: String,
    },
    /// It was told to freeze or to thaw and did not.
    #[error("{}: did not become {wanted} in {:?}", path.display(), super::FREEZE_TIME_MAX)]
    Stuck {
        /// The group.
        path: PathBuf,
        /// What it was to become.
        wanted: &'static str,
    },
    /// Processes are still in it.
    #[error("{}: cannot be removed, processes {pids:?} are in it: end them first", path.display())]
    InUse {
        /// The group.
        path: PathBuf,
        /// Who.
        pids: Vec<u32>,
    },
}

/// An error of the operating system at a path, with what to do about it if that is known.
pub(super) fn at(path: &Path, doing: &'static str) -> impl FnOnce(io::Error) -> CgroupError {
    let path = path.to_path_buf();
    move |source| match source.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            CgroupError::NotAllowed { path, doing, source }
        }
        _ => CgroupError::Io { path, doing, source },
    }
}
