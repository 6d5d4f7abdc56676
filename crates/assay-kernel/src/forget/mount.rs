//! Mounting and unmounting by FUSE: as root by the kernel itself, otherwise by `fusermount3`, which
//! may do it for everybody.

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::mount::{MountFlags, UnmountFlags};
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags};
use std::ffi::CString;
use std::io::{self, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Stdio};

/// What `/proc/self/mountinfo` calls such a mount, by which it is found again.
pub(super) const KIND: &str = "fuse.assay";
/// Older systems have the second name only.
const HELPERS: [&str; 2] = ["fusermount3", "fusermount"];
const NO_HELPER: &str = "there is no fusermount3: install fuse3 (apt-get install fuse3), or run as \
                         root";

/// Mounts, and returns the end on which the kernel asks.
pub(super) fn mount(point: &Path) -> io::Result<OwnedFd> {
    match mount_directly(point) {
        Err(Errno::PERM | Errno::ACCESS) => mount_by_helper(point),
        mounted => Ok(mounted?),
    }
}

fn mount_directly(point: &Path) -> Result<OwnedFd, Errno> {
    let device = rustix::fs::open("/dev/fuse", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
    let (uid, gid) = (rustix::process::geteuid(), rustix::process::getegid());
    let options = format!(
        "fd={},rootmode=40000,user_id={},group_id={}",
        device.as_raw_fd(),
        uid.as_raw(),
        gid.as_raw()
    );
    let options = CString::new(options).expect("numbers have no zero byte");
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    rustix::mount::mount(c"assay", point, KIND, flags, options.as_c_str())?;
    Ok(device)
}

fn mount_by_helper(point: &Path) -> io::Result<OwnedFd> {
    let mut trouble = io::Error::new(io::ErrorKind::NotFound, NO_HELPER);
    for helper in HELPERS {
        let (ours, theirs) = UnixStream::pair()?;
        // It looks for the socket under a number; as its input it has one without leaking it.
        let child = Command::new(helper)
            .args(["-o", "nosuid,nodev,subtype=assay,fsname=assay", "--"])
            .arg(point)
            .env("_FUSE_COMMFD", "0")
            .stdin(OwnedFd::from(theirs))
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn();
        let child = match child {
            Ok(child) => child,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        let received = receive(&ours);
        let said = child.wait_with_output()?;
        match received? {
            Some(device) => return Ok(device),
            None => {
                let said = String::from_utf8_lossy(&said.stderr).trim().to_string();
                trouble = io::Error::new(io::ErrorKind::PermissionDenied, said);
            }
        }
    }
    Err(trouble)
}

/// The descriptor that was sent; `None` if the other end was closed without one.
fn receive(socket: &UnixStream) -> io::Result<Option<OwnedFd>> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    let mut buffers = [IoSliceMut::new(&mut byte)];
    let flags = RecvFlags::CMSG_CLOEXEC;
    rustix::io::retry_on_intr(|| {
        rustix::net::recvmsg(socket, &mut buffers, &mut ancillary, flags)
    })?;
    let descriptors = ancillary.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(descriptors) => Some(descriptors),
        _ => None,
    });
    Ok(descriptors.flatten().next())
}

/// Takes a mount away, at the latest with its last user.
pub(super) fn unmount(point: &Path) -> io::Result<()> {
    let flags = UnmountFlags::DETACH | UnmountFlags::NOFOLLOW;
    match rustix::mount::unmount(point, flags) {
        // It is not mounted.
        Ok(()) | Err(Errno::INVAL | Errno::NOENT) => Ok(()),
        Err(Errno::PERM) => unmount_by_helper(point),
        Err(error) => Err(error.into()),
    }
}

fn unmount_by_helper(point: &Path) -> io::Result<()> {
    for helper in HELPERS {
        let ended = Command::new(helper).args(["-u", "-z", "--"]).arg(point).output();
        match ended {
            Ok(ended) if ended.status.success() => return Ok(()),
            Ok(ended) => {
                let said = String::from_utf8_lossy(&ended.stderr).trim().to_string();
                return Err(io::Error::other(said));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::new(io::ErrorKind::NotFound, NO_HELPER))
}
