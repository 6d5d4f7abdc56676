//! Telling a call to end, from another thread.

use rustix::pipe::{PipeFlags, pipe_with};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

/// Ends the calls that were given a copy of it, those that run and those to come.
#[derive(Clone, Debug)]
pub struct Interrupt(Arc<(OwnedFd, OwnedFd)>);

impl Interrupt {
    /// One that nobody has used.
    ///
    /// # Errors
    /// If the system has no descriptors left.
    pub fn new() -> io::Result<Interrupt> {
        Ok(Interrupt(Arc::new(pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?)))
    }

    /// Ends them. Can be called more than once.
    pub fn interrupt(&self) {
        // A pipe that is full has been written to, which is all that it is for.
        let _full = rustix::io::write(&self.0.1, b"!");
    }

    /// Something that can be read once it was used.
    pub(crate) fn signal(&self) -> BorrowedFd<'_> {
        self.0.0.as_fd()
    }
}
