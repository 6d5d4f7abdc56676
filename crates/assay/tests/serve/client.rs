//! A client of HTTP that does exactly what it is told, small enough to be believed.

use serde_json::Value;
use std::io::{BufRead, BufReader, Error, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// Longer than any answer takes, and than two heartbeats of a stream.
pub const ANSWER_MAX: Duration = Duration::from_secs(60);

pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|e| panic!("{e}: {}", self.body))
    }

    /// The message of an error, which must have its envelope.
    pub fn message(&self) -> String {
        let json = self.json();
        assert_eq!(json["type"], "error", "{json}");
        assert_eq!(json["request_id"].as_str(), self.header("request-id"), "{json}");
        json["error"]["message"].as_str().expect("a message").to_string()
    }
}

/// One request on a connection of its own.
pub fn request(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Result<Answer, Error> {
    send(address, method, path, headers, body)?.answer()
}

/// The same, for an answer that is no text.
pub fn request_bytes(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
) -> Result<Vec<u8>, Error> {
    let mut connection = send(address, method, path, headers, "")?;
    let (_, headers) = connection.answer_head()?;
    connection.rest(&headers)
}

fn send(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Result<Connection, Error> {
    let mut connection = Connection::open(address)?;
    connection.head(method, path, headers, body.len())?;
    connection.write(body.as_bytes())?;
    Ok(connection)
}

/// A connection on which anything can be said.
pub struct Connection {
    stream: BufReader<TcpStream>,
}

impl Connection {
    pub fn open(address: SocketAddr) -> Result<Connection, Error> {
        let stream = TcpStream::connect_timeout(&address, ANSWER_MAX)?;
        stream.set_read_timeout(Some(ANSWER_MAX))?;
        stream.set_nodelay(true)?;
        Ok(Connection { stream: BufReader::new(stream) })
    }

    /// The head of a request whose body has this length.
    pub fn head(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        length: usize,
    ) -> Result<(), Error> {
        let lines: String = headers.iter().map(|(n, v)| format!("{n}: {v}\r\n")).collect();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: t\r\ncontent-length: {length}\r\n\
             connection: close\r\n{lines}\r\n"
        );
        self.write(head.as_bytes())
    }

    pub fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.stream.get_mut().write_all(bytes)
    }

    /// Says that nothing more comes.
    pub fn finish(&mut self) -> Result<(), Error> {
        self.stream.get_mut().shutdown(std::net::Shutdown::Write)
    }

    pub fn answer(&mut self) -> Result<Answer, Error> {
        let head = read_head(&mut self.stream)?;
        self.answer_to(head)
    }

    /// The beginning of an answer, and no more of it than fits into a buffer.
    pub fn answer_head(&mut self) -> Result<Head, Error> {
        read_head(&mut self.stream)
    }

    /// The rest of it.
    pub fn answer_to(&mut self, (status, headers): Head) -> Result<Answer, Error> {
        let bytes = self.rest(&headers)?;
        let body = String::from_utf8(bytes).map_err(Error::other)?;
        Ok(Answer { status, headers, body })
    }

    /// The next piece of an answer that has no end; nothing at its end.
    pub fn piece(&mut self) -> Result<Option<String>, Error> {
        let chunk = read_chunk(&mut self.stream)?;
        chunk.map(|chunk| String::from_utf8(chunk).map_err(Error::other)).transpose()
    }

    fn rest(&mut self, headers: &[(String, String)]) -> Result<Vec<u8>, Error> {
        let stream = &mut self.stream;
        let mut rest = Vec::new();
        let is_chunked = headers.iter().any(|(n, v)| n == "transfer-encoding" && v == "chunked");
        let length = headers.iter().find(|(n, _)| n == "content-length");
        if is_chunked {
            while let Some(chunk) = read_chunk(stream)? {
                rest.extend(chunk);
            }
        } else {
            let length = length.and_then(|(_, v)| v.parse().ok()).unwrap_or(0);
            rest.resize(length, 0);
            stream.read_exact(&mut rest)?;
        }
        Ok(rest)
    }
}

fn read_line(stream: &mut impl BufRead) -> Result<String, Error> {
    let mut line = String::new();
    match stream.read_line(&mut line)? {
        0 => Err(ErrorKind::UnexpectedEof.into()),
        _ => Ok(line.trim_end().to_string()),
    }
}

/// A status, and headers.
pub type Head = (u16, Vec<(String, String)>);

fn read_head(stream: &mut impl BufRead) -> Result<Head, Error> {
    let first = read_line(stream)?;
    let status = first.split(' ').nth(1).and_then(|status| status.parse().ok());
    let status = status.ok_or_else(|| Error::other(format!("no status: {first}")))?;
    let mut headers = Vec::new();
    loop {
        let line = read_line(stream)?;
        let Some((name, value)) = line.split_once(':') else { return Ok((status, headers)) };
        headers.push((name.to_ascii_lowercase(), value.trim().to_string()));
    }
}

fn read_chunk(stream: &mut impl BufRead) -> Result<Option<Vec<u8>>, Error> {
    let size = usize::from_str_radix(&read_line(stream)?, 16).map_err(Error::other)?;
    let mut chunk = vec![0; size + 2];
    stream.read_exact(&mut chunk)?;
    chunk.truncate(size);
    Ok((size > 0).then_some(chunk))
}

/// A stream that has nothing to say for longer is one too many.
const SILENCE_MAX: Duration = Duration::from_secs(120);

/// An open stream of events.
pub struct Events {
    heard: Instant,
    stream: BufReader<TcpStream>,
    pub headers: Vec<(String, String)>,
    text: String,
}

/// One frame, as its lines say.
#[derive(Clone, PartialEq, Debug)]
pub struct Frame {
    pub id: String,
    pub event: String,
    pub data: Value,
}

impl Events {
    pub fn open(
        address: SocketAddr,
        path: &str,
        headers: &[(&str, &str)],
    ) -> Result<Events, Error> {
        let mut stream = send(address, "GET", path, headers, "")?.stream;
        let (status, headers) = read_head(&mut stream)?;
        match status {
            200 => Ok(Events { heard: Instant::now(), stream, headers, text: String::new() }),
            other => Err(Error::other(format!("status {other}"))),
        }
    }

    /// The next frame; `None` when the server has closed the stream in good order.
    pub fn next(&mut self) -> Result<Option<Frame>, Error> {
        loop {
            if let Some((frame, rest)) = self.text.split_once("\n\n") {
                let lines: Vec<String> = frame.lines().map(str::to_string).collect();
                self.text = rest.to_string();
                if lines.iter().all(|line| line.starts_with(':')) {
                    if self.heard.elapsed() > SILENCE_MAX {
                        return Err(ErrorKind::TimedOut.into());
                    }
                    continue;
                }
                self.heard = Instant::now();
                let field = |index: usize, name: &str| {
                    let line = lines.get(index).unwrap_or_else(|| panic!("{lines:?}"));
                    let value = line.strip_prefix(name);
                    value.unwrap_or_else(|| panic!("{name} expected: {lines:?}")).to_string()
                };
                assert_eq!(lines.len(), 3, "{lines:?}");
                let data = serde_json::from_str(&field(2, "data: ")).map_err(Error::other)?;
                return Ok(Some(Frame { id: field(0, "id: "), event: field(1, "event: "), data }));
            }
            match read_chunk(&mut self.stream)? {
                Some(chunk) => self.text += &String::from_utf8(chunk).map_err(Error::other)?,
                None => return Ok(None),
            }
        }
    }

    /// Frames up to the first that is wanted, with it.
    pub fn until(&mut self, is_wanted: impl Fn(&Frame) -> bool) -> Vec<Frame> {
        let mut frames = Vec::new();
        while let Some(frame) = self.next().expect("an open stream") {
            frames.push(frame);
            if is_wanted(&frames[frames.len() - 1]) {
                return frames;
            }
        }
        panic!("the stream has ended: {frames:?}")
    }
}
