//! As much of HTTP/1.1 as probes and the built-in client need: one request at a time over one
//! connection, every wait with a deadline.
//!
//! What matters here is what most libraries hide: whether a request may have been sent. One that
//! was not is a *fail*; one that was, and was not answered, is *unknown*. So nothing is ever sent
//! twice behind the caller's back.

use assay_nemesis::{DialPort, DialPorts};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// Bytes of an answer's head.
const HEAD_BYTES_MAX: usize = 64 << 10;
/// Bytes of an answer's body.
const BODY_BYTES_MAX: usize = 256 << 20;

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    /// Nothing was sent: nothing can have happened.
    #[error("not sent: {0}")]
    NotSent(io::Error),
    /// It was sent, at least in part, and no answer came.
    #[error("no answer: {0}")]
    NoAnswer(io::Error),
    /// What came is no answer.
    #[error("not HTTP: {0}")]
    Malformed(&'static str),
}

/// An answer.
#[derive(Debug)]
pub struct Answer {
    /// Its status.
    pub status: u16,
    /// Its body.
    pub body: Vec<u8>,
}

/// A connection that is opened when it is needed and given up when anything goes wrong.
#[derive(Debug)]
pub struct Connection {
    address: SocketAddr,
    stream: Option<Dialed>,
    /// Where connections are entered that go to a node without a proxy, on purpose.
    ports: Option<DialPorts>,
}

/// An open connection. It is closed before its entry is crossed out.
type Dialed = (TcpStream, Option<DialPort>);

impl Connection {
    /// To an address, when the first request is sent.
    pub fn new(address: SocketAddr) -> Connection {
        Connection { address, stream: None, ports: None }
    }

    /// A connection of a probe, which may go around the proxies and says so.
    pub fn of_probe(address: SocketAddr, ports: DialPorts) -> Connection {
        Connection { ports: Some(ports), ..Connection::new(address) }
    }

    /// Sends one request and waits for its answer until the deadline. After an error the connection
    /// is closed: a late answer can never be taken for that of the next request.
    pub fn request(
        &mut self,
        method: &str,
        path: &str,
        body: &[u8],
        deadline: Instant,
    ) -> Result<Answer, HttpError> {
        let (mut stream, entry) = match self.stream.take() {
            Some(dialed) if idle(&dialed.0) => dialed,
            _ => self.connect(deadline).map_err(HttpError::NotSent)?,
        };
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n",
            self.address,
            body.len()
        );
        let mut request = head.into_bytes();
        request.extend_from_slice(body);
        let wait = time_left(deadline).map_err(HttpError::NotSent)?;
        stream.set_write_timeout(Some(wait)).map_err(HttpError::NotSent)?;
        stream.write_all(&request).map_err(HttpError::NoAnswer)?;
        let (answer, keep) = read_answer(&mut stream, deadline)?;
        if keep {
            self.stream = Some((stream, entry));
        }
        Ok(answer)
    }

    /// Closes the connection; the next request opens another.
    pub fn close(&mut self) {
        self.stream = None;
    }

    fn connect(&self, deadline: Instant) -> io::Result<Dialed> {
        let stream = TcpStream::connect_timeout(&self.address, time_left(deadline)?)?;
        let port = stream.local_addr()?.port();
        let entry = self.ports.as_ref().map(|ports| ports.enter(port));
        stream.set_nodelay(true)?;
        Ok((stream, entry))
    }
}

pub(crate) fn time_left(deadline: Instant) -> io::Result<Duration> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(left) }
}

/// Whether an idle connection is still open. Without this look, a server that has closed it in the
/// meantime would turn a request that was never taken into one of unknown outcome.
pub(crate) fn idle(stream: &TcpStream) -> bool {
    if stream.set_nonblocking(true).is_err() {
        return false;
    }
    let peeked = stream.peek(&mut [0]);
    let open = matches!(&peeked, Err(error) if error.kind() == io::ErrorKind::WouldBlock);
    open && stream.set_nonblocking(false).is_ok()
}

fn read_answer(stream: &mut TcpStream, deadline: Instant) -> Result<(Answer, bool), HttpError> {
    let mut bytes = Vec::with_capacity(1024);
    let head_end = loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break end + 4;
        }
        if bytes.len() > HEAD_BYTES_MAX {
            return Err(HttpError::Malformed("the head of the answer is too long"));
        }
        read_some(stream, &mut bytes, deadline)?;
    };
    let (status, length, keep) = parse_head(&bytes[..head_end])?;
    let mut at = head_end;
    let body = match length {
        Length::Known(length) => take(stream, &mut bytes, &mut at, length, deadline)?,
        Length::Chunked => read_chunks(stream, &mut bytes, &mut at, deadline)?,
    };
    Ok((Answer { status, body }, keep && bytes.len() == at))
}

/// The next bytes of an answer, from what was read or is still to come.
fn take(
    stream: &mut TcpStream,
    bytes: &mut Vec<u8>,
    at: &mut usize,
    length: usize,
    deadline: Instant,
) -> Result<Vec<u8>, HttpError> {
    while bytes.len() < *at + length {
        read_some(stream, bytes, deadline)?;
    }
    let taken = bytes[*at..*at + length].to_vec();
    *at += length;
    Ok(taken)
}

/// A body in pieces, each with its length in front, the last of length 0.
fn read_chunks(
    stream: &mut TcpStream,
    bytes: &mut Vec<u8>,
    at: &mut usize,
    deadline: Instant,
) -> Result<Vec<u8>, HttpError> {
    let mut body = Vec::new();
    loop {
        let line_end = loop {
            if let Some(end) = bytes[*at..].windows(2).position(|two| two == b"\r\n") {
                break *at + end;
            }
            if bytes.len() - *at > HEAD_BYTES_MAX {
                return Err(HttpError::Malformed("a chunk without a length"));
            }
            read_some(stream, bytes, deadline)?;
        };
        let line = std::str::from_utf8(&bytes[*at..line_end]).unwrap_or_default();
        let digits = line.split(';').next().unwrap_or_default().trim();
        let length = usize::from_str_radix(digits, 16)
            .map_err(|_| HttpError::Malformed("a chunk without a length"))?;
        *at = line_end + 2;
        if length > BODY_BYTES_MAX - body.len() {
            return Err(HttpError::Malformed("the answer is too long"));
        }
        body.extend(take(stream, bytes, at, length, deadline)?);
        if take(stream, bytes, at, 2, deadline)? != b"\r\n" {
            return Err(HttpError::Malformed("a chunk of another length than it says"));
        }
        if length == 0 {
            return Ok(body);
        }
    }
}

fn read_some(
    stream: &mut TcpStream,
    bytes: &mut Vec<u8>,
    deadline: Instant,
) -> Result<(), HttpError> {
    let wait = time_left(deadline).map_err(HttpError::NoAnswer)?;
    stream.set_read_timeout(Some(wait)).map_err(HttpError::NoAnswer)?;
    let mut chunk = [0; 16 << 10];
    match stream.read(&mut chunk).map_err(HttpError::NoAnswer)? {
        0 => Err(HttpError::NoAnswer(io::ErrorKind::UnexpectedEof.into())),
        n => {
            bytes.extend_from_slice(&chunk[..n]);
            Ok(())
        }
    }
}

/// How long a body is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Length {
    Known(usize),
    Chunked,
}

/// Status, length of the body, and whether the connection stays open.
fn parse_head(head: &[u8]) -> Result<(u16, Length, bool), HttpError> {
    let text = std::str::from_utf8(head).map_err(|_| HttpError::Malformed("a head of no UTF-8"))?;
    let mut lines = text.split("\r\n");
    let first = lines.next().unwrap_or_default();
    let status = first.strip_prefix("HTTP/1.").and_then(|rest| rest.split(' ').nth(1));
    let status = status.and_then(|status| status.parse().ok());
    let status = status.ok_or(HttpError::Malformed("no status line"))?;
    let (mut length, mut keep) = (None, first.starts_with("HTTP/1.1"));
    for (name, value) in lines.filter_map(|line| line.split_once(':')) {
        let value = value.trim();
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.parse().ok().map(Length::Known),
            "transfer-encoding" if value.eq_ignore_ascii_case("chunked") => {
                length = Some(Length::Chunked);
            }
            "transfer-encoding" => return Err(HttpError::Malformed("an unknown encoding")),
            "connection" if value.eq_ignore_ascii_case("close") => keep = false,
            _ => {}
        }
    }
    match length.ok_or(HttpError::Malformed("an answer without content-length"))? {
        Length::Known(length) if length > BODY_BYTES_MAX => {
            Err(HttpError::Malformed("the answer is too long"))
        }
        length => Ok((status, length, keep)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_read_and_bad_ones_refused() {
        let cases = [
            ("HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n", Some((200, Length::Known(12), true))),
            (
                "HTTP/1.1 503 x\r\ncontent-length:0\r\nConnection: close\r\n\r\n",
                Some((503, Length::Known(0), false)),
            ),
            ("HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\n", Some((200, Length::Known(1), false))),
            ("HTTP/1.1 200 OK\r\n\r\n", None),
            (
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
                Some((200, Length::Chunked, true)),
            ),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", None),
            ("HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n", None),
            ("SSH-2.0\r\n\r\n", None),
        ];
        for (head, expected) in cases {
            assert_eq!(parse_head(head.as_bytes()).ok(), expected, "{head}");
        }
    }

    #[test]
    fn a_body_in_pieces_is_put_together_and_the_next_answer_is_its_own() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("bound");
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        let answers = [
            (format!("{head}3\r\nabc\r\n2;x=1\r\nde\r\n0\r\n\r\n"), Some("abcde")),
            (format!("{head}0\r\n\r\n"), Some("")),
            (format!("{head}zz\r\n"), None),
        ];
        let texts: Vec<String> = answers.iter().map(|(text, _)| text.clone()).collect();
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("a connection");
            for text in texts {
                let asked = stream.read(&mut [0; 4096]).expect("a request");
                assert!(asked > 0, "the connection stays open");
                for part in text.as_bytes().chunks(7) {
                    stream.write_all(part).and_then(|()| stream.flush()).expect("an answer");
                }
            }
        });
        let mut connection = Connection::new(address);
        for (text, expected) in &answers {
            let deadline = Instant::now() + Duration::from_secs(60);
            let answer = connection.request("GET", "/", b"", deadline).ok();
            let body = answer.map(|answer| String::from_utf8_lossy(&answer.body).into_owned());
            assert_eq!(body.as_deref(), *expected, "{text}");
        }
        server.join().expect("no panic");
    }
}
