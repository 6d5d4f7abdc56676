//! The descriptor on which stopped calls are told and answered.
#![allow(unsafe_code)] // Requests of a device that no safe crate has.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// Ask the kernel to run the caller where we ran: answers arrive sooner (Linux 6.6).
const SYNC_WAKE_UP: u64 = 1;

/// A call that waits for an answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stopped {
    /// The number by which it is answered.
    pub(super) id: u64,
    /// The thread that made it.
    pub(super) thread: u32,
    /// The number of the call.
    pub(super) call: i32,
    /// Its arguments.
    pub(super) arguments: [u64; 6],
}

/// What a stopped call gets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Answer {
    /// It is done as if nobody had asked.
    Continue,
    /// It is not done, and returns this.
    Return(i64),
    /// It is not done, and fails with this error.
    Fail(i32),
}

/// The end of the one who answers.
#[derive(Debug)]
pub(super) struct Listener(OwnedFd);

impl Listener {
    pub(super) fn new(descriptor: OwnedFd) -> Listener {
        let listener = Listener(descriptor);
        // Older kernels do not know it; then answers take a little longer.
        // SAFETY: the request takes a number, no pointer.
        let _unknown = unsafe {
            libc::ioctl(listener.0.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_SET_FLAGS, SYNC_WAKE_UP)
        };
        listener
    }

    /// The next call that waits. `None` if it went away meanwhile.
    pub(super) fn receive(&self) -> io::Result<Option<Stopped>> {
        // SAFETY: all fields are numbers, for which zero is a value.
        let mut told: libc::seccomp_notif = unsafe { std::mem::zeroed() };
        // SAFETY: the size of what is written is part of the request, and is that of `told`.
        let result = unsafe {
            libc::ioctl(self.0.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_RECV, &raw mut told)
        };
        if result != 0 {
            let error = io::Error::last_os_error();
            return match error.raw_os_error() {
                Some(libc::ENOENT | libc::EINTR | libc::EAGAIN) => Ok(None),
                _ => Err(error),
            };
        }
        let (id, thread, call) = (told.id, told.pid, told.data.nr);
        Ok(Some(Stopped { id, thread, call, arguments: told.data.args }))
    }

    /// Answers; `false` if nobody waits for it any more.
    pub(super) fn reply(&self, id: u64, answer: Answer) -> bool {
        let (val, error, flags) = match answer {
            Answer::Continue => (0, 0, libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32),
            Answer::Return(value) => (value, 0, 0),
            Answer::Fail(code) => (0, -code, 0),
        };
        let mut response = libc::seccomp_notif_resp { id, val, error, flags };
        // SAFETY: the size of what is read is part of the request, and is that of `response`.
        let result = unsafe {
            libc::ioctl(self.0.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_SEND, &raw mut response)
        };
        result == 0
    }

    /// Whether the call still waits: then its thread has not been replaced by another of the same
    /// number, and what was read about that thread was about the right one.
    pub(super) fn is_valid(&self, id: u64) -> bool {
        // SAFETY: the request reads one number.
        let result = unsafe {
            libc::ioctl(self.0.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_ID_VALID, &raw const id)
        };
        result == 0
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
