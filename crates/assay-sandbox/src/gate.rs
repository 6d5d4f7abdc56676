//! The one address that a limited network leads to.
//!
//! The keeper has left the network of the machine, raised loopback in a new one and listens there.
//! A socket that listens belongs to the network in which it was made, whoever has it: so the keeper
//! hands it to the asker over the line between them, and the asker accepts what programs inside
//! connect to. Nothing else leads out, and no process stands in between.

use assay_kernel::jail::raise_loopback;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use std::any::Any;
use std::fmt;
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;

/// Where it is, seen from inside.
const ADDRESS: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 3128);
/// What comes with it over the line. Words are JSON, and never begin so.
const MARK: u8 = b'+';

/// Decides who gets through a gate: a proxy of HTTP, as programs inside are told.
pub trait Porter: Send + Sync + fmt::Debug {
    /// Takes what connects, until what is given back is dropped: then the call is over, and nobody
    /// may be left.
    ///
    /// # Errors
    /// If it cannot.
    fn open(&self, listener: TcpListener) -> io::Result<Box<dyn Any>>;
}

/// A gate, and who stands there.
#[derive(Clone, Debug)]
pub struct Gate(Arc<dyn Porter>);

impl Gate {
    /// A gate that this one keeps.
    pub fn new(porter: Arc<dyn Porter>) -> Gate {
        Gate(porter)
    }

    pub(crate) fn open(&self, listener: TcpListener) -> io::Result<Box<dyn Any>> {
        self.0.open(listener)
    }
}

impl PartialEq for Gate {
    fn eq(&self, other: &Gate) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Gate {}

/// What programs are told of it, in their environment: some look for small letters, some for large
/// ones.
pub(crate) fn variables() -> [(&'static str, String); 6] {
    let proxy = format!("http://{ADDRESS}");
    let near = "localhost,127.0.0.1,::1";
    [
        ("http_proxy", proxy.clone()),
        ("https_proxy", proxy.clone()),
        ("no_proxy", near.to_string()),
        ("HTTP_PROXY", proxy.clone()),
        ("HTTPS_PROXY", proxy),
        ("NO_PROXY", near.to_string()),
    ]
}

/// Builds it in the network this process is in, which has to be a new one, and hands it over.
pub(crate) fn build(line: &UnixStream) -> io::Result<()> {
    raise_loopback()?;
    let listener = TcpListener::bind(ADDRESS)?;
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    let descriptors = [listener.as_fd()];
    if !control.push(SendAncillaryMessage::ScmRights(&descriptors)) {
        return Err(io::Error::other("no room for a descriptor"));
    }
    sendmsg(line, &[IoSlice::new(&[MARK])], &mut control, SendFlags::empty())?;
    Ok(())
}

/// What came over a line first.
pub(crate) enum Taken {
    /// The gate.
    Listener(TcpListener),
    /// The beginning of a word; nothing if the line has hung up.
    Word(Vec<u8>),
}

/// Takes what [`build`] hands over, or the beginning of what is said instead.
pub(crate) fn take(line: &UnixStream) -> io::Result<Taken> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    let mut buffers = [IoSliceMut::new(&mut byte)];
    let flags = RecvFlags::CMSG_CLOEXEC;
    let taken = rustix::io::retry_on_intr(|| recvmsg(line, &mut buffers, &mut control, flags))?;
    let mut descriptors = control.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(descriptors) => Some(descriptors),
        _ => None,
    });
    match descriptors.next().and_then(|mut descriptors| descriptors.next()) {
        Some(listener) if byte == [MARK] => Ok(Taken::Listener(TcpListener::from(listener))),
        _ => Ok(Taken::Word(byte[..taken.bytes].to_vec())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_word_instead_of_a_gate_is_heard_from_its_first_byte() {
        let (mut theirs, ours) = UnixStream::pair().expect("a line");
        theirs.write_all(b"{}\n").expect("room");
        match take(&ours).expect("it came") {
            Taken::Word(begin) => assert_eq!(begin, b"{"),
            Taken::Listener(_) => panic!("there was none"),
        }
        drop(theirs);
    }
}
