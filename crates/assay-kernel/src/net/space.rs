//! A network namespace, held by a descriptor: it goes when nobody holds it any longer.
#![allow(unsafe_code)] // unshare(2) of a thread.

use crate::aside::aside;
use rustix::thread::{LinkNameSpaceType, UnshareFlags, move_into_link_name_space, unshare_unsafe};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

/// A network namespace.
#[derive(Clone, Debug)]
pub(super) struct Space(Arc<File>);

impl Space {
    /// A new one, with nothing in it but a loopback interface that is down.
    pub(super) fn create() -> io::Result<Space> {
        aside(|| {
            // SAFETY: only this thread moves, and it ends right after; descriptors stay shared.
            unsafe { unshare_unsafe(UnshareFlags::NEWNET) }?;
            Space::current()
        })
    }

    /// The one of this thread.
    pub(super) fn current() -> io::Result<Space> {
        Ok(Space(Arc::new(File::open("/proc/thread-self/ns/net")?)))
    }

    /// Moves the calling thread into it, for good.
    pub(super) fn enter(&self) -> io::Result<()> {
        enter(self.0.as_fd())
    }

    /// Does something in it, in a thread made for that.
    pub(super) fn run<T: Send>(
        &self,
        work: impl FnOnce() -> io::Result<T> + Send,
    ) -> io::Result<T> {
        aside(|| {
            self.enter()?;
            work()
        })
    }

    pub(super) fn file(&self) -> &Arc<File> {
        &self.0
    }
}

/// Moves the calling thread into a network namespace. One system call, fit for a child before exec.
pub(super) fn enter(space: BorrowedFd<'_>) -> io::Result<()> {
    Ok(move_into_link_name_space(space, Some(LinkNameSpaceType::Network))?)
}
