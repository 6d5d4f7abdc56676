//! A client that waits for its answers, small enough to be believed.

use serde_json::Value;
use std::io::{BufRead, BufReader, Error, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// Longer than any answer of a node takes.
const ANSWER_MAX: Duration = Duration::from_secs(5);

/// What a request came to.
#[derive(Clone, PartialEq, Debug)]
pub enum Answer {
    Ok(Value),
    Fail(String),
    Unknown(String),
    Bad(u16, String),
}

/// A kept connection to one node, made again when it breaks.
pub struct Client {
    address: SocketAddr,
    stream: Option<BufReader<TcpStream>>,
}

impl Client {
    pub fn new(port: u16) -> Client {
        Client { address: SocketAddr::from(([127, 0, 0, 1], port)), stream: None }
    }

    /// `POST /op`, with the outcome classes a careful client uses: what was not sent is a fail,
    /// what was sent and not answered is unknown.
    pub fn op(&mut self, body: &Value) -> Answer {
        if let Err(error) = self.connect() {
            return Answer::Fail(format!("not sent: {error}"));
        }
        let (status, text) = match self.exchange("POST", "/op", &body.to_string()) {
            Ok(answer) => answer,
            Err(error) => return Answer::Unknown(error.to_string()),
        };
        let answer: Value = serde_json::from_str(&text).unwrap_or_default();
        let reason = |field: &str| answer[field].as_str().unwrap_or(&text).to_string();
        match status {
            200 => Answer::Ok(answer["ok"].clone()),
            409 => Answer::Fail(reason("fail")),
            503 => Answer::Unknown(reason("unknown")),
            _ => Answer::Bad(status, text),
        }
    }

    /// A whole exchange; the body is JSON in all answers of a node that are not errors.
    pub fn get(&mut self, path: &str) -> Result<Value, Error> {
        self.connect()?;
        let (_, text) = self.exchange("GET", path, "")?;
        serde_json::from_str(&text).map_err(Error::other)
    }

    /// Sends any body to any path; gives status and text.
    pub fn raw(&mut self, method: &str, path: &str, body: &str) -> Result<(u16, String), Error> {
        self.connect()?;
        self.exchange(method, path, body)
    }

    fn connect(&mut self) -> Result<(), Error> {
        if self.stream.is_none() {
            let stream = TcpStream::connect_timeout(&self.address, ANSWER_MAX)?;
            stream.set_nodelay(true)?;
            stream.set_read_timeout(Some(ANSWER_MAX))?;
            stream.set_write_timeout(Some(ANSWER_MAX))?;
            self.stream = Some(BufReader::new(stream));
        }
        Ok(())
    }

    fn exchange(&mut self, method: &str, path: &str, body: &str) -> Result<(u16, String), Error> {
        let mut stream = self.stream.take().expect("connected above");
        let length = body.len();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: n\r\ncontent-length: {length}\r\n\r\n{body}"
        );
        stream.get_mut().write_all(request.as_bytes())?;
        let answer = read_answer(&mut stream)?;
        self.stream = Some(stream);
        Ok(answer)
    }
}

fn read_answer(stream: &mut BufReader<TcpStream>) -> Result<(u16, String), Error> {
    let (mut status, mut length, mut line) = (0, 0, String::new());
    loop {
        line.clear();
        if stream.read_line(&mut line)? == 0 {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        if status == 0 {
            let code = line.split(' ').nth(1).and_then(|code| code.parse().ok());
            status = code.ok_or(ErrorKind::InvalidData)?;
        } else if line == "\r\n" {
            break;
        } else if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().map_err(Error::other)?;
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body)?;
    String::from_utf8(body).map(|text| (status, text)).map_err(Error::other)
}
