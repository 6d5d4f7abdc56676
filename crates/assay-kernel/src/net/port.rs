//! A port of the switch: a socket that sees every frame of one interface, and can send any.
#![allow(unsafe_code)] // sockaddr_ll, packet options and ethtool have no safe wrapper.

use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// What a port may keep until the switch reads it. Only root gets it; others get what the system
/// allows, and what does not fit is counted.
const RECEIVE_BYTES: libc::c_int = 16 << 20;

const SIOCETHTOOL: libc::Ioctl = 0x8946;
/// ethtool: checksums, scatter and gather, segmentation of TCP, of anything, merging on receipt.
const OFFLOADS: [u32; 5] = [0x17, 0x19, 0x1f, 0x24, 0x2c];

/// A port.
#[derive(Debug)]
pub(super) struct Port(File);

impl Port {
    /// Opens an interface of this namespace by its number.
    pub(super) fn open(index: u32) -> io::Result<Port> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let port = socket_with(AddressFamily::PACKET, SocketType::RAW, flags, None)?;
        let port = Port(File::from(port));
        // Frames that go out here must not come in again.
        port.option(libc::SOL_PACKET, libc::PACKET_IGNORE_OUTGOING, 1)?;
        if port.option(libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, RECEIVE_BYTES).is_err() {
            port.option(libc::SOL_SOCKET, libc::SO_RCVBUF, RECEIVE_BYTES)?;
        }
        port.bind(index)?;
        Ok(port)
    }

    fn option(&self, level: i32, name: i32, value: libc::c_int) -> io::Result<()> {
        let length = size_of::<libc::c_int>() as libc::socklen_t;
        // SAFETY: the value outlives the call, and its length is given.
        let done = unsafe {
            libc::setsockopt(self.0.as_raw_fd(), level, name, (&raw const value).cast(), length)
        };
        if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    fn bind(&self, index: u32) -> io::Result<()> {
        // SAFETY: zeros are a valid address of this kind.
        let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
        address.sll_family = libc::AF_PACKET as u16;
        address.sll_protocol = (libc::ETH_P_ALL as u16).to_be();
        address.sll_ifindex = index.cast_signed();
        let length = size_of_val(&address) as libc::socklen_t;
        // SAFETY: the address outlives the call, and its length is given.
        let done = unsafe { libc::bind(self.0.as_raw_fd(), (&raw const address).cast(), length) };
        if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    /// Another descriptor of the same port.
    pub(super) fn duplicate(&self) -> io::Result<OwnedFd> {
        self.0.as_fd().try_clone_to_owned()
    }

    /// The next frame, if there is one.
    pub(super) fn receive(&self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        match (&self.0).read(buffer) {
            Ok(length) => Ok(Some(length)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Sends a frame; `false` if there was no room for it.
    pub(super) fn send(&self, frame: &[u8]) -> bool {
        (&self.0).write(frame).is_ok_and(|length| length == frame.len())
    }

    /// How many frames did not fit since this was asked last.
    pub(super) fn overruns(&self) -> u64 {
        let mut stats = [0_u32; 2];
        let mut length = size_of_val(&stats) as libc::socklen_t;
        // SAFETY: packets and drops, two numbers of 32 bits, are written to where there is room.
        let done = unsafe {
            libc::getsockopt(
                self.0.as_raw_fd(),
                libc::SOL_PACKET,
                libc::PACKET_STATISTICS,
                stats.as_mut_ptr().cast(),
                &mut length,
            )
        };
        if done == 0 { u64::from(stats[1]) } else { 0 }
    }
}

impl AsFd for Port {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Has an interface of this namespace do by itself, for each packet, what hardware would do for
/// many: whoever reads it gets packets as they would be on a wire, with their checksums.
pub(super) fn without_offloads(name: &str) -> io::Result<()> {
    let kind = SocketType::DGRAM;
    let socket = socket_with(AddressFamily::INET, kind, SocketFlags::CLOEXEC, None)?;
    for command in OFFLOADS {
        let mut value = [command, 0];
        // SAFETY: zeros are a valid request; the name is shorter than its field; ethtool reads two
        // numbers from where `ifru_data` points, which outlive the call.
        let done = unsafe {
            let mut request: libc::ifreq = std::mem::zeroed();
            let room = request.ifr_name.iter_mut().take(libc::IFNAMSIZ - 1);
            room.zip(name.bytes()).for_each(|(to, byte)| *to = byte as libc::c_char);
            request.ifr_ifru.ifru_data = value.as_mut_ptr().cast();
            libc::ioctl(socket.as_raw_fd(), SIOCETHTOOL, &raw mut request)
        };
        if done != 0 {
            let error = io::Error::last_os_error();
            // What an interface cannot do it need not stop doing.
            if error.raw_os_error() != Some(libc::EOPNOTSUPP) {
                return Err(error);
            }
        }
    }
    Ok(())
}
