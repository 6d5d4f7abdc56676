//! Bridges a node's standard input and output to TCP.

use super::hub::{Hub, RelayCounts, SETUP_CLIENT};
use super::message::{Body, Message, body, in_reply_to, kind};
use super::queue::Queue;
use super::service::Services;
use super::streams::shut;
use crate::json_lines::{LineBuffer, READ_BYTES_MAX, TooLong};
use serde_json::json;
use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

/// How long a node may take to answer `init` and what follows it.
pub const INIT_TIME_MAX: Duration = Duration::from_secs(30);
/// How long a connection to another node may take.
const CONNECT_TIME_MAX: Duration = Duration::from_secs(2);
/// How long a message may take to be written to a link that does not move.
const WRITE_TIME_MAX: Duration = Duration::from_secs(10);
/// The pause after a connection could not be taken, for want of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(10);

/// A node and its ways out.
#[derive(Clone, Debug)]
pub struct RelayConfig {
    /// The node's name.
    pub name: String,
    /// The names of all nodes, its own among them.
    pub node_names: Vec<String>,
    /// Where this node reaches each of the others.
    pub peers: BTreeMap<String, SocketAddr>,
    /// The services; all nodes of a cluster share them.
    pub services: Services,
    /// What to ask the node after `init`: each body must be answered by its type with `_ok`.
    pub setup: Vec<Body>,
    /// How long all of that may take.
    pub init_time_max: Duration,
}

/// Why a relay could not be attached.
#[derive(Debug, thiserror::Error)]
pub enum RelayError {
    /// No thread, or no listener.
    #[error("cannot start the relay of {node}: {source}")]
    NotStarted {
        /// The node.
        node: String,
        /// Why.
        source: io::Error,
    },
    /// The node did not answer in time.
    #[error("{node} did not answer `{kind}` within {waited:?}")]
    NoAnswer {
        /// The node.
        node: String,
        /// What it was asked.
        kind: String,
        /// How long it had.
        waited: Duration,
    },
    /// The node ended.
    #[error("{node} closed its output before it answered `{kind}`; look into its log")]
    Ended {
        /// The node.
        node: String,
        /// What it was asked.
        kind: String,
    },
    /// The node answered something else.
    #[error("{node} did not accept `{kind}`: {answer}")]
    Refused {
        /// The node.
        node: String,
        /// What it was asked.
        kind: String,
        /// What it answered.
        answer: String,
    },
}

/// A running bridge. It ends with the node's output, or when it is dropped: then all connections
/// are closed and its port is free.
#[derive(Debug)]
pub struct Relay {
    hub: Arc<Hub>,
    accepting: Option<JoinHandle<()>>,
}

impl Relay {
    /// Attaches a relay to a node that has just been started: tells it who it is, and once it has
    /// answered takes the connections that arrive at `listener`. Connections that were made before
    /// wait, with what they carry.
    pub fn attach(
        config: RelayConfig,
        stdin: impl Write + Send + 'static,
        stdout: impl Read + Send + 'static,
        listener: TcpListener,
    ) -> Result<Relay, RelayError> {
        let not_started = |source| RelayError::NotStarted { node: config.name.clone(), source };
        let (answers, heard) = channel();
        // Another handle on the listening socket, to shut it: as a stream, which can be.
        let shutter = TcpStream::from(OwnedFd::from(listener.try_clone().map_err(not_started)?));
        let hub = Arc::new(Hub::new(&config, shutter, answers));
        // From here on dropping stops the threads that were started.
        let mut relay = Relay { hub: Arc::clone(&hub), accepting: None };
        let writing = Arc::clone(&hub);
        spawn("stdin", move || write_lines(stdin, &writing.to_node)).map_err(not_started)?;
        let reading = Arc::clone(&hub);
        spawn("stdout", move || read_node(stdout, &reading)).map_err(not_started)?;
        for (peer, address) in config.peers.clone() {
            let carrying = Arc::clone(&hub);
            spawn("link", move || carry(&carrying, &peer, address)).map_err(not_started)?;
        }
        set_up(&config, &hub, &heard)?;
        hub.end_setup();
        let accepting = spawn("accept", move || accept(&listener, &hub)).map_err(not_started)?;
        relay.accepting = Some(accepting);
        Ok(relay)
    }

    /// What has been counted so far.
    pub fn counts(&self) -> RelayCounts {
        self.hub.counts()
    }

    /// The first line that was no message, or came from or to somebody it should not: the node, or
    /// whatever speaks to it, is wrong.
    pub fn trouble(&self) -> Option<String> {
        self.hub.trouble()
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.hub.stop();
        if let Some(accepting) = self.accepting.take() {
            // It ends at once, and its port is free only afterwards. Its panic would be a bug of
            // ours, but a second panic here would hide the first.
            let _panicked = accepting.join();
        }
    }
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    Builder::new().name(format!("relay-{name}")).spawn(work)
}

/// Sends `init` and whatever is to follow, one after the other.
fn set_up(config: &RelayConfig, hub: &Hub, heard: &Receiver<Body>) -> Result<(), RelayError> {
    let init = body(json!({
        "type": "init", "node_id": config.name, "node_ids": config.node_names,
    }));
    let deadline = Instant::now() + config.init_time_max;
    for (msg_id, mut body) in (1u64..).zip([&[init], config.setup.as_slice()].concat()) {
        body.insert("msg_id".to_string(), msg_id.into());
        let (node, asked) = (config.name.clone(), kind(&body).to_string());
        let message = Message { src: SETUP_CLIENT.to_string(), dest: node.clone(), body };
        hub.hand_in(message.line());
        let answer = loop {
            let wait = deadline.saturating_duration_since(Instant::now());
            match heard.recv_timeout(wait) {
                Ok(answer) if in_reply_to(&answer) == Some(msg_id) => break answer,
                Ok(_another) => {}
                Err(RecvTimeoutError::Timeout) => {
                    let waited = config.init_time_max;
                    return Err(RelayError::NoAnswer { node, kind: asked, waited });
                }
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(RelayError::Ended { node, kind: asked });
                }
            }
        };
        if kind(&answer) != format!("{asked}_ok") {
            let answer = serde_json::Value::from(answer).to_string();
            return Err(RelayError::Refused { node, kind: asked, answer });
        }
    }
    Ok(())
}

fn write_lines(mut to: impl Write, queue: &Queue) {
    while let Some(line) = queue.pop() {
        if to.write_all(&line).and_then(|()| to.flush()).is_err() {
            return;
        }
    }
}

/// Sends on what the node writes, until it ends. A line that is too long ends it, too: what follows
/// could be taken for something it is not.
fn read_node(stdout: impl Read, hub: &Hub) {
    if let Err(error) = read_lines(stdout, |line| hub.said_by_node(line)) {
        hub.malformed(&format!("{}: {error}", hub.name));
    }
    hub.stop();
}

fn read_lines(mut from: impl Read, mut each: impl FnMut(Vec<u8>)) -> Result<(), TooLong> {
    let mut buffer = LineBuffer::default();
    let mut chunk = [0; READ_BYTES_MAX];
    loop {
        match from.read(&mut chunk) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Ok(0) | Err(_) => return Ok(()),
            Ok(count) => buffer.push(&chunk[..count]),
        }
        while let Some(line) = buffer.take() {
            each(line?);
        }
    }
}

/// Carries messages over the link to another node. A connection is opened for the first message
/// and again after it was lost; what could not be carried is lost, as in any network.
fn carry(hub: &Hub, peer: &str, address: SocketAddr) {
    let Some(queue) = hub.peers.get(peer) else { return };
    let mut connection = None;
    while let Some(line) = queue.pop() {
        if connection.as_ref().is_some_and(|(stream, _)| !is_open(stream)) {
            connection = None;
        }
        if connection.is_none() {
            let listed = |stream| {
                let listed = hub.streams.list(&stream)?;
                Ok((stream, listed))
            };
            connection = connect(address).and_then(listed).ok();
        }
        let written = connection.as_mut().map(|(stream, _)| stream.write_all(&line));
        if let Some(Ok(())) = written {
            hub.count(|counts| *counts.to_peer.entry(peer.to_string()).or_default() += 1);
        } else {
            connection = None;
            hub.count(|counts| counts.lost += 1);
        }
    }
}

fn connect(address: SocketAddr) -> io::Result<TcpStream> {
    let stream = TcpStream::connect_timeout(&address, CONNECT_TIME_MAX)?;
    stream.set_nodelay(true)?;
    stream.set_write_timeout(Some(WRITE_TIME_MAX))?;
    Ok(stream)
}

/// Whether the other side has not closed the connection. Without this look the first message after
/// it did would be lost, although it could have gone over a new one.
fn is_open(stream: &TcpStream) -> bool {
    if stream.set_nonblocking(true).is_err() {
        return false;
    }
    let peeked = stream.peek(&mut [0]);
    let open = matches!(&peeked, Err(error) if error.kind() == io::ErrorKind::WouldBlock);
    open && stream.set_nonblocking(false).is_ok()
}

fn accept(listener: &TcpListener, hub: &Arc<Hub>) {
    loop {
        match listener.accept() {
            Ok((stream, _)) => {
                let hub = Arc::clone(hub);
                // No thread, no connection: it is closed, and the other side sees it.
                let _closed = spawn("client", move || serve(stream, &hub));
            }
            // The listening socket was shut: the relay has stopped.
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => return,
            Err(_) => std::thread::sleep(ACCEPT_PAUSE),
        }
    }
}

/// Takes messages from a connection, and sends answers back over it if a client is at its end.
fn serve(stream: TcpStream, hub: &Arc<Hub>) {
    let Ok(_listed) = hub.streams.list(&stream) else { return };
    let way_back = Arc::new(Queue::default());
    if let (Ok(mut back), Ok(())) = (stream.try_clone(), stream.set_nodelay(true)) {
        let queue = Arc::clone(&way_back);
        let answering = spawn("answers", move || {
            let _set = back.set_write_timeout(Some(WRITE_TIME_MAX));
            write_lines(&mut back, &queue);
            // A half-written answer must not be followed by another.
            shut(&back);
        });
        if answering.is_ok() {
            let read = read_lines(stream, |line| hub.said_to_node(line, &way_back));
            if let Err(error) = read {
                hub.malformed(&format!("a line to {}: {error}", hub.name));
            }
        }
    }
    hub.forget(&way_back);
}
