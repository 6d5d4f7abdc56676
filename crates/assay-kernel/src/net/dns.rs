//! Names of nodes, answered over UDP, and an outage of that for some of those who ask.
//!
//! A server that is silent is what an outage looks like from a node: the question goes out over the
//! wire, and nothing comes back. (A filter in the node itself would fail the call that sends.)

use super::names::Names;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::Duration;

/// Where names are asked for.
pub(super) const DNS_PORT: u16 = 53;
/// How long the server waits for a question before it looks whether it should end.
const LOOK_TIME: Duration = Duration::from_millis(100);
/// A question is not longer than this.
const QUESTION_BYTES_MAX: usize = 512;
/// How long an answer is good: not at all, because an outage must be felt.
const TTL_S: u32 = 0;
const HEADER_BYTES: usize = 12;
const TYPE_A: u16 = 1;
const NO_SUCH_NAME: u8 = 3;

/// Questions for names by one of the network since it was built.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct NameCount {
    /// Answered.
    pub answered: u64,
    /// Met with silence.
    pub unanswered: u64,
}

#[derive(Debug)]
struct State {
    names: Names,
    /// How many outages each of them suffers.
    outages: Vec<u32>,
    counts: Vec<NameCount>,
    stopped: bool,
}

/// The server of names.
#[derive(Debug)]
pub(super) struct NameServer {
    state: Arc<Mutex<State>>,
    thread: Option<JoinHandle<()>>,
}

impl NameServer {
    /// Serves in the namespace of the calling thread.
    pub(super) fn start(names: &Names) -> io::Result<NameServer> {
        let socket = UdpSocket::bind((names.address(names.assay()), DNS_PORT))?;
        socket.set_read_timeout(Some(LOOK_TIME))?;
        let count = names.all().len();
        let state = Arc::new(Mutex::new(State {
            names: names.clone(),
            outages: vec![0; count],
            counts: vec![NameCount::default(); count],
            stopped: false,
        }));
        let shared = Arc::clone(&state);
        let thread = std::thread::Builder::new()
            .name("names".to_string())
            .spawn(move || serve(&socket, &shared))?;
        Ok(NameServer { state, thread: Some(thread) })
    }

    pub(super) fn cut(&self, port: usize) {
        lock(&self.state).outages[port] += 1;
    }

    /// Ends one outage; whether there was one.
    pub(super) fn restore(&self, port: usize) -> bool {
        let outages = &mut lock(&self.state).outages[port];
        let there = *outages > 0;
        *outages = outages.saturating_sub(1);
        there
    }

    pub(super) fn count(&self, port: usize) -> NameCount {
        lock(&self.state).counts[port]
    }
}

impl Drop for NameServer {
    fn drop(&mut self) {
        lock(&self.state).stopped = true;
        if let Some(thread) = self.thread.take() {
            let _ended = thread.join();
        }
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().expect("nothing panics while it holds the names")
}

fn serve(socket: &UdpSocket, shared: &Mutex<State>) {
    let mut buffer = [0; QUESTION_BYTES_MAX];
    loop {
        let received = socket.recv_from(&mut buffer);
        let mut state = lock(shared);
        if state.stopped {
            return;
        }
        let Ok((length, asker)) = received else { continue };
        let answer = state.hear(&buffer[..length], asker);
        drop(state);
        if let Some(answer) = answer {
            let _sent = socket.send_to(&answer, asker);
        }
    }
}

impl State {
    fn hear(&mut self, question: &[u8], asker: SocketAddr) -> Option<Vec<u8>> {
        let ports = 0..self.names.all().len();
        let port = ports.clone().find(|port| self.names.address(*port) == asker.ip());
        if let Some(port) = port
            && self.outages[port] > 0
        {
            self.counts[port].unanswered += 1;
            return None;
        }
        let addresses = |name: &str| {
            let port = self.names.port(name).ok()?;
            Some(self.names.address(port))
        };
        let answer = answer(question, addresses)?;
        if let Some(port) = port {
            self.counts[port].answered += 1;
        }
        Some(answer)
    }
}

/// A question for one name, as it goes over the wire.
pub(super) fn question(name: &str) -> Vec<u8> {
    let mut bytes = vec![0x77, 0x77, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    for label in name.split('.') {
        bytes.push(u8::try_from(label.len()).unwrap_or(0));
        bytes.extend_from_slice(label.as_bytes());
    }
    bytes.extend([0, 0, 1, 0, 1]);
    bytes
}

/// The answer to a question for one name; `None` if it is not such a question.
fn answer(question: &[u8], address: impl Fn(&str) -> Option<Ipv4Addr>) -> Option<Vec<u8>> {
    let header = question.get(..HEADER_BYTES)?;
    let (is_answer, questions) = (header[2] & 0x80 != 0, [header[4], header[5]]);
    if is_answer || questions != [0, 1] {
        return None;
    }
    let mut labels: Vec<&str> = Vec::new();
    let mut at = HEADER_BYTES;
    loop {
        let length = usize::from(*question.get(at)?);
        at += 1;
        if length == 0 {
            break;
        }
        labels.push(std::str::from_utf8(question.get(at..at + length)?).ok()?);
        at += length;
    }
    let kind = u16::from_be_bytes(question.get(at..at + 2)?.try_into().ok()?);
    let found = address(&labels.join("."));
    let code = if found.is_some() { 0 } else { NO_SUCH_NAME };
    let found = found.filter(|_| kind == TYPE_A);
    let mut bytes = vec![header[0], header[1], 0x84 | (header[2] & 1), 0x80 | code];
    bytes.extend([0, 1, 0, u8::from(found.is_some()), 0, 0, 0, 0]);
    bytes.extend_from_slice(question.get(HEADER_BYTES..at + 4)?);
    if let Some(address) = found {
        // The name is the one of the question, which stands after the header.
        bytes.extend([0xc0, HEADER_BYTES as u8, 0, 1, 0, 1]);
        bytes.extend(TTL_S.to_be_bytes());
        bytes.extend([0, 4]);
        bytes.extend(address.octets());
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_that_are_cut_short_or_are_none_get_no_answer() {
        let asked = question("n1");
        let n1 = |name: &str| (name == "n1").then_some(Ipv4Addr::new(10, 77, 0, 1));
        assert!(answer(&asked, n1).is_some_and(|bytes| bytes.ends_with(&[10, 77, 0, 1])));
        assert!(answer(&question("n2"), n1).is_some_and(|bytes| bytes[3] & 0xf == NO_SUCH_NAME));
        for length in 0..asked.len() {
            assert_eq!(answer(&asked[..length], n1), None, "{length} bytes of a question");
        }
        let mut reply = asked.clone();
        reply[2] |= 0x80;
        assert_eq!(answer(&reply, n1), None, "an answer is not answered");
    }
}
