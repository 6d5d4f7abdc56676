//! A client of Maelstrom nodes: one message for each operation, over the client's link.

use super::message::{Message, in_reply_to};
use super::workload::Workload;
use crate::json_lines::{LINE_BYTES_MAX, LineBuffer, READ_BYTES_MAX};
use crate::{Client, ClientError};
use assay_workload::{Call, Reply};
use serde_json::Value;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// Who a client is and where its nodes are.
#[derive(Clone, PartialEq, Debug)]
pub struct MaelstromConfig {
    /// The number of the client, from 0; to the nodes it is `c` and this number.
    pub client: usize,
    /// The names of the nodes.
    pub names: Vec<String>,
    /// Where this client reaches them, in the same order.
    pub addresses: Vec<SocketAddr>,
    /// Which of them is the client's own, from 0.
    pub own: usize,
    /// What the nodes do.
    pub workload: Workload,
    /// The one key of a workload that has a single object. Calls with another key are refused:
    /// two objects must not become one.
    pub object: Option<Value>,
}

/// A client whose operations are done by Maelstrom nodes.
#[derive(Debug)]
pub struct MaelstromClient {
    config: MaelstromConfig,
    id_last: u64,
    late: u64,
    /// One for each node, opened when it is needed.
    connections: Vec<Option<(TcpStream, LineBuffer)>>,
}

impl MaelstromClient {
    /// A client that is not connected yet.
    pub fn new(config: MaelstromConfig) -> Result<MaelstromClient, ClientError> {
        if config.names.len() != config.addresses.len() || config.own >= config.names.len() {
            let message = format!(
                "a client needs an address for each node and one of them as its own: {} names, \
                 {} addresses, own node number {}",
                config.names.len(),
                config.addresses.len(),
                config.own
            );
            return Err(ClientError { message });
        }
        let connections = config.names.iter().map(|_| None).collect();
        Ok(MaelstromClient { config, id_last: 0, late: 0, connections })
    }

    /// Answers that came when nobody waited for them any more, and were dropped.
    pub fn late(&self) -> u64 {
        self.late
    }

    /// The message for a call. The error says why there is none.
    fn message(&mut self, call: &Call, node: usize) -> Result<Message, String> {
        let workload = self.config.workload;
        let null_is_none = |key: &Option<Value>| key.clone().filter(|key| !key.is_null());
        if !workload.has_keys() && null_is_none(&call.key) != null_is_none(&self.config.object) {
            let key = call.key.clone().unwrap_or_default();
            return Err(format!("{workload:?} has a single object, and {key} is another"));
        }
        let mut body = workload.request(call)?;
        self.id_last += 1;
        body.insert("msg_id".to_string(), self.id_last.into());
        let dest = self.config.names[node].clone();
        Ok(Message { src: format!("c{}", self.config.client), dest, body })
    }

    fn connect(&mut self, node: usize, deadline: Instant) -> io::Result<()> {
        let open = self.connections[node].take().filter(|(stream, _)| is_usable(stream));
        self.connections[node] = Some(match open {
            Some(connection) => connection,
            None => {
                let address = &self.config.addresses[node];
                let stream = TcpStream::connect_timeout(address, time_left(deadline)?)?;
                stream.set_nodelay(true)?;
                (stream, LineBuffer::default())
            }
        });
        Ok(())
    }

    /// Sends, and reads until the answer comes. On an error the connection is given up: half a
    /// line may have gone either way.
    fn exchange(&mut self, node: usize, line: &[u8], deadline: Instant) -> io::Result<Message> {
        let Some((mut stream, mut buffer)) = self.connections[node].take() else {
            return Err(io::ErrorKind::NotConnected.into());
        };
        stream.set_write_timeout(Some(time_left(deadline)?))?;
        stream.write_all(line)?;
        let mut chunk = [0; READ_BYTES_MAX];
        loop {
            while let Some(line) = buffer.take() {
                let line = line.map_err(io::Error::other)?;
                let message = Message::parse(&line).map_err(io::Error::other)?;
                if in_reply_to(&message.body) == Some(self.id_last) {
                    self.connections[node] = Some((stream, buffer));
                    return Ok(message);
                }
                self.late += 1;
            }
            stream.set_read_timeout(Some(time_left(deadline)?))?;
            match stream.read(&mut chunk)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                count => buffer.push(&chunk[..count]),
            }
        }
    }
}

impl Client for MaelstromClient {
    fn call(&mut self, call: &Call, time_max: Duration) -> Reply {
        let deadline = Instant::now() + time_max;
        let not_sent =
            |error: String| Reply::Fail { error: format!("not sent: {error}"), node: None };
        let node = call.node.unwrap_or(self.config.own);
        let Some(name) = self.config.names.get(node).cloned() else {
            return not_sent(format!("there is no node with number {node}"));
        };
        let message = match self.message(call, node) {
            Ok(message) => message,
            Err(error) => return not_sent(error),
        };
        let line = message.line();
        if line.len() > LINE_BYTES_MAX {
            return not_sent(format!("the call has more than {LINE_BYTES_MAX} bytes"));
        }
        if let Err(error) = self.connect(node, deadline) {
            return not_sent(error.to_string());
        }
        match self.exchange(node, &line, deadline) {
            Ok(answer) => {
                self.config.workload.reply(call, &message.body, &answer.body, &answer.src)
            }
            Err(error) => {
                let error = match error.kind() {
                    // What a socket says when its time is up.
                    io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
                        format!("no answer within {} ms", time_max.as_millis())
                    }
                    _ => format!("no answer: {error}"),
                };
                Reply::Unknown { error, node: Some(name) }
            }
        }
    }
}

/// Whether the other side has not closed the connection while nobody used it. Late answers may lie
/// there: they are read, and dropped, by the next call.
fn is_usable(stream: &TcpStream) -> bool {
    if stream.set_nonblocking(true).is_err() {
        return false;
    }
    let usable = match stream.peek(&mut [0]) {
        Ok(count) => count > 0,
        Err(error) => error.kind() == io::ErrorKind::WouldBlock,
    };
    usable && stream.set_nonblocking(false).is_ok()
}

fn time_left(deadline: Instant) -> io::Result<Duration> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(left) }
}
