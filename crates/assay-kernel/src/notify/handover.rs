//! From the new process to this one: the descriptor that its calls are answered on.
#![allow(unsafe_code)] // Installs the filter, which no safe crate does with a listener.

use super::error::NotifyError;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
};
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd};

/// What the new process does before it becomes the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Step {
    Promise,
    Filter,
}

/// What arrived from the new process.
#[derive(Debug)]
pub(super) enum Handed {
    /// The listener.
    Listener(OwnedFd),
    /// The kernel refused a step.
    Refused(NotifyError),
    /// Nothing: it never came so far.
    Nothing,
}

/// A pair of sockets, one for each process.
pub(super) fn pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let flags = SocketFlags::CLOEXEC;
    Ok(socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?)
}

/// Runs in the new process between fork and exec: nothing here allocates or takes a lock.
pub(super) fn hand_over(
    socket: BorrowedFd<'_>,
    program: &[libc::sock_filter],
    needs_patience: bool,
) -> io::Result<()> {
    let step = |step: Step, error: io::Error| {
        let code = error.raw_os_error().unwrap_or(0);
        let [a, b, c, d] = code.to_ne_bytes();
        let message = [step as u8, a, b, c, d];
        let _nobody_listens = send(socket, &message, &[]);
        error
    };
    rustix::thread::set_no_new_privs(true).map_err(|error| step(Step::Promise, error.into()))?;
    let listener = install(program, needs_patience).map_err(|error| step(Step::Filter, error))?;
    if send(socket, &[0], &[listener.as_fd()]).is_err() {
        // Every watched call would wait for ever, even that which reports this error.
        // SAFETY: ends the process and nothing else.
        unsafe { libc::_exit(127) };
    }
    Ok(())
}

fn send(socket: BorrowedFd<'_>, bytes: &[u8], descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() {
        control.push(SendAncillaryMessage::ScmRights(descriptors));
    }
    sendmsg(socket, &[IoSlice::new(bytes)], &mut control, SendFlags::NOSIGNAL)?;
    Ok(())
}

/// Puts the filter on this process, for good. Calls that have been told wait for their answer
/// whatever signals arrive, where the kernel can do that (Linux 5.19): a program that uses signals
/// to interrupt itself, as Go does, would repeat a slow call again and again.
fn install(program: &[libc::sock_filter], needs_patience: bool) -> io::Result<OwnedFd> {
    let patient = libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
    let listener = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER;
    match install_with(program, listener | patient) {
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) && !needs_patience => {
            install_with(program, listener)
        }
        installed => installed,
    }
}

fn install_with(program: &[libc::sock_filter], flags: libc::c_ulong) -> io::Result<OwnedFd> {
    let length = u16::try_from(program.len()).expect("a filter has a hundred instructions");
    let program = libc::sock_fprog { len: length, filter: program.as_ptr().cast_mut() };
    // SAFETY: the kernel reads `len` instructions from `filter`, which has as many.
    let result = unsafe {
        libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &raw const program)
    };
    match i32::try_from(result) {
        // SAFETY: the kernel has just made this descriptor, and nobody else knows it.
        Ok(descriptor @ 0..) => Ok(unsafe { OwnedFd::from_raw_fd(descriptor) }),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Waits for what the new process sends; ends when the socket is shut down.
pub(super) fn receive(socket: &OwnedFd) -> Handed {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut bytes = [0; 5];
    let received = loop {
        let mut parts = [IoSliceMut::new(&mut bytes)];
        match recvmsg(socket, &mut parts, &mut control, RecvFlags::CMSG_CLOEXEC) {
            Err(rustix::io::Errno::INTR) => {}
            received => break received,
        }
    };
    let length = received.map_or(0, |message| message.bytes);
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(mut descriptors) = message
            && let Some(listener) = descriptors.next()
        {
            return Handed::Listener(listener);
        }
    }
    let [step, a, b, c, d] = bytes;
    if length != bytes.len() {
        return Handed::Nothing;
    }
    Handed::Refused(refused(step, i32::from_ne_bytes([a, b, c, d])))
}

fn refused(step: u8, code: i32) -> NotifyError {
    let refused = if step == Step::Promise as u8 {
        "the promise not to gain privileges"
    } else {
        "a filter of system calls with a listener"
    };
    let remedy = match code {
        libc::EINVAL | libc::ENOSYS => {
            "needs Linux 5.5 with CONFIG_SECCOMP_FILTER, and 5.19 to move clocks"
        }
        libc::EBUSY => "this process is under such a filter itself: start it outside of that",
        libc::EPERM | libc::EACCES => {
            "the profile of this container may forbid the call seccomp: allow it"
        }
        _ => "see seccomp(2)",
    };
    NotifyError::Refused { refused, source: io::Error::from_raw_os_error(code), remedy }
}
