//! Netlink: messages to the kernel about links, addresses and packet filters.
//!
//! Small enough to be our own: both families that are needed (links, nftables) are spoken
//! synchronously, by threads that are for a moment in another namespace, where a runtime with
//! threads of its own could not follow; and no program has to be installed for it.

use rustix::net::{AddressFamily, SocketFlags, SocketType, netlink, socket_with};
use std::fs::File;
use std::io::{self, Read, Write};

/// The longest answer that is read at once.
const ANSWER_BYTES_MAX: usize = 64 << 10;

const NLM_F_REQUEST: u16 = 1;
const NLM_F_ACK: u16 = 4;
/// All objects instead of one.
pub(super) const DUMP: u16 = 0x300;
/// The object is made, and must not be there.
pub(super) const CREATE: u16 = 0x600;
/// The object is made, or changed if it is there.
pub(super) const REPLACE: u16 = 0x500;
const NLMSG_ERROR: u16 = 2;
const NLMSG_DONE: u16 = 3;
const HEADER_BYTES: usize = 16;
const NLA_F_NESTED: u16 = 0x8000;
const NLA_TYPE_MASK: u16 = 0x3fff;

/// Which part of the kernel is spoken to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Family {
    Route,
    Netfilter,
}

/// A message that is being written.
#[derive(Clone, Debug)]
pub(super) struct Message(Vec<u8>);

impl Message {
    /// Begins with the header of the family.
    pub(super) fn new(kind: u16, flags: u16, header: &[u8]) -> Message {
        let mut bytes = vec![0; HEADER_BYTES];
        bytes[4..6].copy_from_slice(&kind.to_ne_bytes());
        bytes[6..8].copy_from_slice(&(flags | NLM_F_REQUEST).to_ne_bytes());
        bytes.extend_from_slice(header);
        Message(bytes)
    }

    /// Adds an attribute.
    pub(super) fn attr(mut self, kind: u16, value: &[u8]) -> Message {
        self.begin(kind, value);
        let padding = self.0.len().next_multiple_of(4);
        self.0.resize(padding, 0);
        self
    }

    fn begin(&mut self, kind: u16, value: &[u8]) {
        let length = u16::try_from(4 + value.len()).expect("attributes are short");
        self.0.extend_from_slice(&length.to_ne_bytes());
        self.0.extend_from_slice(&kind.to_ne_bytes());
        self.0.extend_from_slice(value);
    }

    /// Adds a text that ends with a zero byte.
    pub(super) fn text(self, kind: u16, text: &str) -> Message {
        self.attr(kind, &[text.as_bytes(), &[0]].concat())
    }

    /// Adds a number the way nftables wants it.
    pub(super) fn be32(self, kind: u16, number: u32) -> Message {
        self.attr(kind, &number.to_be_bytes())
    }

    /// Adds an attribute made of others.
    pub(super) fn nest(self, kind: u16, fill: impl FnOnce(Message) -> Message) -> Message {
        self.nest_after(kind, &[], fill)
    }

    /// Adds an attribute made of a header and others.
    pub(super) fn nest_after(
        mut self,
        kind: u16,
        header: &[u8],
        fill: impl FnOnce(Message) -> Message,
    ) -> Message {
        let start = self.0.len();
        self.begin(kind | NLA_F_NESTED, header);
        let mut filled = fill(self);
        let length = u16::try_from(filled.0.len() - start).expect("attributes are short");
        filled.0[start..start + 2].copy_from_slice(&length.to_ne_bytes());
        filled
    }

    fn finish(mut self, sequence: u32, more_flags: u16) -> Vec<u8> {
        let length = u32::try_from(self.0.len()).expect("messages are short");
        self.0[..4].copy_from_slice(&length.to_ne_bytes());
        let flags = u16::from_ne_bytes([self.0[6], self.0[7]]) | more_flags;
        self.0[6..8].copy_from_slice(&flags.to_ne_bytes());
        self.0[8..12].copy_from_slice(&sequence.to_ne_bytes());
        self.0
    }
}

/// A socket to the kernel, in the namespace of the thread that opened it.
#[derive(Debug)]
pub(super) struct Netlink {
    socket: File,
    sequence: u32,
}

impl Netlink {
    pub(super) fn open(family: Family) -> io::Result<Netlink> {
        let protocol = match family {
            // Number 0, which is the one that is meant where none is given.
            Family::Route => None,
            Family::Netfilter => Some(netlink::NETFILTER),
        };
        let (domain, kind) = (AddressFamily::NETLINK, SocketType::RAW);
        let socket = socket_with(domain, kind, SocketFlags::CLOEXEC, protocol)?;
        Ok(Netlink { socket: File::from(socket), sequence: 0 })
    }

    /// Has something done, or hears why not.
    pub(super) fn request(&mut self, message: Message) -> io::Result<()> {
        self.sequence += 1;
        let bytes = message.finish(self.sequence, NLM_F_ACK);
        self.socket.write_all(&bytes)?;
        self.answers(|_, _| ())
    }

    /// Has several things done at once or none of them, between a beginning and an end.
    pub(super) fn batch(
        &mut self,
        begin: Message,
        messages: Vec<Message>,
        end: Message,
    ) -> io::Result<()> {
        let count = messages.len();
        self.sequence += 1;
        // A kernel that takes no batch at all says so to its beginning.
        let mut bytes = begin.finish(self.sequence, 0);
        for (at, message) in messages.into_iter().enumerate() {
            // Errors are told for every message, what went well only where it is asked for.
            let (sequence, ack) = if at + 1 == count { (self.sequence, NLM_F_ACK) } else { (0, 0) };
            bytes.extend(message.finish(sequence, ack));
        }
        bytes.extend(end.finish(0, 0));
        self.socket.write_all(&bytes)?;
        self.answers(|_, _| ())
    }

    /// Asks for objects; `each` gets the kind and the body of every one.
    pub(super) fn dump(
        &mut self,
        message: Message,
        each: impl FnMut(u16, &[u8]),
    ) -> io::Result<()> {
        self.sequence += 1;
        let bytes = message.finish(self.sequence, DUMP);
        self.socket.write_all(&bytes)?;
        self.answers(each)
    }

    /// Reads until the last request is answered; the first error counts.
    fn answers(&mut self, mut each: impl FnMut(u16, &[u8])) -> io::Result<()> {
        let mut buffer = vec![0; ANSWER_BYTES_MAX];
        let mut first_error = None;
        loop {
            let length = self.socket.read(&mut buffer)?;
            let mut rest = &buffer[..length];
            while let Some((header, body, after)) = split(rest) {
                rest = after;
                match header.kind {
                    NLMSG_ERROR | NLMSG_DONE => {
                        let code = number(body).unwrap_or(0);
                        if code != 0 && first_error.is_none() {
                            first_error = Some(io::Error::from_raw_os_error(-code));
                        }
                        if header.sequence == self.sequence {
                            return first_error.map_or(Ok(()), Err);
                        }
                    }
                    kind if header.sequence == self.sequence => each(kind, body),
                    _ => {}
                }
            }
        }
    }
}

struct Header {
    kind: u16,
    sequence: u32,
}

fn number(body: &[u8]) -> Option<i32> {
    Some(i32::from_ne_bytes(body.get(..4)?.try_into().ok()?))
}

/// The header and the body of the first message, and what comes after it.
fn split(bytes: &[u8]) -> Option<(Header, &[u8], &[u8])> {
    let length = u32::from_ne_bytes(bytes.get(..4)?.try_into().ok()?) as usize;
    let kind = u16::from_ne_bytes(bytes.get(4..6)?.try_into().ok()?);
    let sequence = u32::from_ne_bytes(bytes.get(8..12)?.try_into().ok()?);
    let body = bytes.get(HEADER_BYTES..length)?;
    let after = bytes.get(length.next_multiple_of(4)..).unwrap_or(&[]);
    Some((Header { kind, sequence }, body, after))
}

/// The value of an attribute among others.
pub(super) fn attribute(mut bytes: &[u8], wanted: u16) -> Option<&[u8]> {
    loop {
        let length = usize::from(u16::from_ne_bytes(bytes.get(..2)?.try_into().ok()?));
        let kind = u16::from_ne_bytes(bytes.get(2..4)?.try_into().ok()?) & NLA_TYPE_MASK;
        let value = bytes.get(4..length)?;
        if kind == wanted {
            return Some(value);
        }
        bytes = bytes.get(length.next_multiple_of(4)..)?;
    }
}
