//! Where the messages of one node meet: what it says is sent on, what is said to it is handed in.
//!
//! Nothing here waits. Every way out is a queue, and whoever empties it has a thread of its own.

use super::message::{Body, Head, Message};
use super::queue::Queue;
use super::relay::RelayConfig;
use super::service::Services;
use super::streams::{Streams, shut};
use std::collections::BTreeMap;
use std::net::TcpStream;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Who the relay is when it speaks to its own node.
pub(crate) const SETUP_CLIENT: &str = "c-init";
/// Clients whose way back is remembered.
const CLIENTS_MAX: usize = 10_000;

/// What a relay has counted.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RelayCounts {
    /// Messages the node wrote.
    pub from_node: u64,
    /// Messages handed in to the node: from peers, clients, services and itself.
    pub to_node: u64,
    /// Messages that came from each other node: what a fault on a link keeps away.
    pub from_peer: BTreeMap<String, u64>,
    /// Messages written to the link to each other node.
    pub to_peer: BTreeMap<String, u64>,
    /// Messages that a full queue dropped, the oldest first.
    pub dropped: u64,
    /// Messages that were lost because a connection could not be opened or was lost.
    pub lost: u64,
    /// Messages to nobody: to a client that has gone, or to a name that does not exist.
    pub unroutable: u64,
    /// Lines that were no messages, or not this node's.
    pub malformed: u64,
}

#[derive(Debug)]
pub(crate) struct Hub {
    pub(crate) name: String,
    pub(crate) to_node: Queue,
    pub(crate) peers: BTreeMap<String, Arc<Queue>>,
    pub(crate) streams: Streams,
    services: Services,
    listener: TcpStream,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    counts: RelayCounts,
    /// The way back to each client: that of the connection it spoke on last.
    clients: BTreeMap<String, Arc<Queue>>,
    /// Who waits for the node's answers to the relay itself.
    setup: Option<Sender<Body>>,
    trouble: Option<String>,
}

impl Hub {
    pub(crate) fn new(config: &RelayConfig, listener: TcpStream, setup: Sender<Body>) -> Hub {
        Hub {
            name: config.name.clone(),
            to_node: Queue::default(),
            peers: config.peers.keys().map(|peer| (peer.clone(), Arc::default())).collect(),
            streams: Streams::default(),
            services: config.services.clone(),
            listener,
            state: Mutex::new(State { setup: Some(setup), ..State::default() }),
        }
    }

    /// Sends on a line that the node wrote.
    pub(crate) fn said_by_node(&self, line: Vec<u8>) {
        let head = match Head::parse(&line) {
            Ok(head) if head.src == self.name => head,
            Ok(head) => return self.malformed(&format!("{} spoke as {}", self.name, head.src)),
            Err(error) => {
                return self.malformed(&format!("{} wrote no message: {error}", self.name));
            }
        };
        self.count(|counts| counts.from_node += 1);
        let dest = head.dest.as_str();
        if dest == self.name {
            self.hand_in(line);
        } else if let Some(queue) = self.peers.get(dest) {
            let dropped = queue.push(ended(line));
            self.count(|counts| counts.dropped += dropped);
        } else if Services::has(dest) {
            self.ask_service(dest, &line);
        } else if dest == SETUP_CLIENT {
            self.answer_setup(&line);
        } else {
            self.answer_client(dest, line);
        }
    }

    /// Hands in a line that came over a connection, and remembers the way back to a client.
    pub(crate) fn said_to_node(&self, line: Vec<u8>, way_back: &Arc<Queue>) {
        let head = match Head::parse(&line) {
            Ok(head) if head.dest == self.name => head,
            Ok(head) => {
                let what = format!("a message for {} came to {}", head.dest, self.name);
                return self.malformed(&what);
            }
            Err(error) => return self.malformed(&format!("a line to {}: {error}", self.name)),
        };
        if self.peers.contains_key(&head.src) {
            self.count(|counts| *counts.from_peer.entry(head.src).or_default() += 1);
        } else {
            let clients = &mut self.lock().clients;
            if clients.len() < CLIENTS_MAX || clients.contains_key(&head.src) {
                clients.insert(head.src, Arc::clone(way_back));
            }
        }
        self.hand_in(line);
    }

    /// Forgets the clients that spoke over a connection that is gone.
    pub(crate) fn forget(&self, way_back: &Arc<Queue>) {
        way_back.close();
        self.lock().clients.retain(|_, queue| !Arc::ptr_eq(queue, way_back));
    }

    /// Puts a line into the queue to the node.
    pub(crate) fn hand_in(&self, line: Vec<u8>) {
        let dropped = self.to_node.push(ended(line));
        self.count(|counts| {
            counts.to_node += 1;
            counts.dropped += dropped;
        });
    }

    pub(crate) fn malformed(&self, what: &str) {
        let mut state = self.lock();
        state.counts.malformed += 1;
        state.trouble.get_or_insert_with(|| what.to_string());
    }

    pub(crate) fn count(&self, change: impl FnOnce(&mut RelayCounts)) {
        change(&mut self.lock().counts);
    }

    pub(crate) fn counts(&self) -> RelayCounts {
        self.lock().counts.clone()
    }

    pub(crate) fn trouble(&self) -> Option<String> {
        self.lock().trouble.clone()
    }

    /// Ends the time in which the relay itself asks the node.
    pub(crate) fn end_setup(&self) {
        self.lock().setup = None;
    }

    /// Ends everything that waits: to the outside the node is gone.
    pub(crate) fn stop(&self) {
        // Shutting a listening socket wakes whoever waits for a connection.
        shut(&self.listener);
        self.to_node.close();
        self.peers.values().for_each(|queue| queue.close());
        self.streams.close();
        let mut state = self.lock();
        state.clients.values().for_each(|queue| queue.close());
        state.clients.clear();
        state.setup = None;
    }

    fn ask_service(&self, service: &str, line: &[u8]) {
        let answer = Message::parse(line)
            .map(|message| self.services.answer(service, &message.body))
            .map_err(|error| self.malformed(&format!("{} wrote no message: {error}", self.name)));
        if let Ok(Some(body)) = answer {
            let answer = Message { src: service.to_string(), dest: self.name.clone(), body };
            self.hand_in(answer.line());
        }
    }

    fn answer_setup(&self, line: &[u8]) {
        match (Message::parse(line), &self.lock().setup) {
            // Nobody waits any more: then the answer came too late to matter.
            (Ok(message), Some(waiting)) => drop(waiting.send(message.body)),
            (Ok(_), None) | (Err(_), _) => {}
        }
    }

    fn answer_client(&self, client: &str, line: Vec<u8>) {
        let mut state = self.lock();
        match state.clients.get(client) {
            Some(queue) => state.counts.dropped += queue.push(ended(line)),
            None => state.counts.unroutable += 1,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A line with its line feed.
fn ended(mut line: Vec<u8>) -> Vec<u8> {
    if line.last() != Some(&b'\n') {
        line.push(b'\n');
    }
    line
}
