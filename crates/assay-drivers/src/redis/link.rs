//! One connection to a Redis, with a deadline for every wait.
//!
//! Commands and answers are packed and parsed by the `redis` crate; the socket is ours, because
//! only then it is certain whether a command was sent.

use crate::http::{idle, time_left};
use crate::trouble::Trouble;
use redis::{Cmd, Parser, Value};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Instant;

/// Why there is no answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum LinkError {
    /// Nothing was sent.
    NotSent(String),
    /// Redis has refused it, and keeps listening.
    Refused(String),
    /// It was sent, at least in part, and no answer came.
    NoAnswer(String),
}

impl LinkError {
    /// Whether the node is no longer the one to ask: it is gone, or has become a replica.
    pub(super) fn is_change(&self) -> bool {
        match self {
            LinkError::NotSent(_) | LinkError::NoAnswer(_) => true,
            LinkError::Refused(why) => why.starts_with("READONLY"),
        }
    }
}

impl From<LinkError> for Trouble {
    fn from(error: LinkError) -> Trouble {
        match error {
            LinkError::NotSent(why) => Trouble::Fail(format!("not sent: {why}")),
            LinkError::Refused(why) => Trouble::Fail(why),
            LinkError::NoAnswer(why) => Trouble::Unknown(format!("no answer: {why}")),
        }
    }
}

/// A connection that is opened when it is needed and given up when anything goes wrong.
pub(super) struct Link {
    pub(super) address: SocketAddr,
    open: Option<(TcpStream, Parser)>,
}

impl Link {
    /// To an address, when the first command is sent.
    pub(super) fn new(address: SocketAddr) -> Link {
        Link { address, open: None }
    }

    /// Sends one command and waits for its answer. After an error other than a refusal the
    /// connection is closed: a late answer is never taken for that of another command.
    pub(super) fn ask(&mut self, command: &Cmd, deadline: Instant) -> Result<Value, LinkError> {
        let open = match self.open.take().filter(|(stream, _)| idle(stream)) {
            Some(open) => open,
            None => (self.connect(deadline).map_err(not_sent)?, Parser::new()),
        };
        self.exchange(open, command, deadline)
    }

    /// The same for a command that speaks of the one before it: it is sent over the same
    /// connection or not at all.
    pub(super) fn ask_next(
        &mut self,
        command: &Cmd,
        deadline: Instant,
    ) -> Result<Value, LinkError> {
        match self.open.take().filter(|(stream, _)| idle(stream)) {
            Some(open) => self.exchange(open, command, deadline),
            None => Err(LinkError::NotSent("the connection has been closed".to_string())),
        }
    }

    fn exchange(
        &mut self,
        (mut stream, mut parser): (TcpStream, Parser),
        command: &Cmd,
        deadline: Instant,
    ) -> Result<Value, LinkError> {
        stream.set_write_timeout(Some(time_left(deadline).map_err(not_sent)?)).map_err(not_sent)?;
        let sent = stream.write_all(&command.get_packed_command());
        sent.map_err(|error| LinkError::NoAnswer(error.to_string()))?;
        let answer = parser.parse_value(Timed { stream: &stream, deadline });
        let answer = answer.map_err(|error| LinkError::NoAnswer(error.to_string()))?;
        self.open = Some((stream, parser));
        match answer {
            Value::ServerError(error) => Err(LinkError::Refused(refusal(&error))),
            answer => Ok(answer),
        }
    }

    /// Closes the connection; the next command opens another.
    pub(super) fn close(&mut self) {
        self.open = None;
    }

    fn connect(&self, deadline: Instant) -> io::Result<TcpStream> {
        let stream = TcpStream::connect_timeout(&self.address, time_left(deadline)?)?;
        stream.set_nodelay(true)?;
        Ok(stream)
    }
}

fn not_sent(error: io::Error) -> LinkError {
    LinkError::NotSent(error.to_string())
}

/// The words of a refusal, as Redis writes them: the code first.
fn refusal(error: &redis::ServerError) -> String {
    format!("{} {}", error.code(), error.details().unwrap_or_default())
}

/// A socket whose reads end at the deadline.
struct Timed<'a> {
    stream: &'a TcpStream,
    deadline: Instant,
}

impl Read for Timed<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(Some(time_left(self.deadline)?))?;
        match self.stream.read(bytes) {
            Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
            // What sockets call a timeout; the crate would take it for "try again".
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                Err(io::ErrorKind::TimedOut.into())
            }
            read => read,
        }
    }
}
