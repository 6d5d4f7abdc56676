//! A switch in user space: a thread that reads frames from the hub's end of every cable and passes
//! them on, or not, or later, as the rules of the lane say.

use super::lane::{Lane, Passage};
use super::port::Port;
use super::rules::{DirectedRule, Layer, PacketRule, Packets};
use super::space::Space;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Frames are at most this long; cables carry 1500 bytes and a header.
const FRAME_BYTES_MAX: usize = 2048;
/// So many frames of one port before others have their turn.
const BURST_FRAMES: usize = 64;
/// What all frames that wait may take together.
const WAITING_BYTES_MAX: usize = 256 << 20;
/// The last bytes of hardware addresses are numbers of ports; this one is everybody.
const EVERYBODY: u8 = 0xff;

/// A frame that waits.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Waiting {
    due: Instant,
    /// Keeps the order of those that are due together.
    order: u64,
    from: usize,
    to: usize,
    number: u64,
    copies: u32,
    frame: Vec<u8>,
}

struct State {
    ports: Vec<Port>,
    lanes: Vec<Lane>,
    waiting: BinaryHeap<Reverse<Waiting>>,
    waiting_bytes: usize,
    order: u64,
    stopped: bool,
}

/// The switch; its thread ends with it.
pub(super) struct Switch {
    state: Arc<Mutex<State>>,
    wake: UnixStream,
    thread: Option<JoinHandle<()>>,
}

impl Switch {
    /// Opens the interfaces with these numbers in the namespace of the hub.
    pub(super) fn start(hub: &Space, indexes: &[u32], seed: u64) -> io::Result<Switch> {
        let ports = hub.run(|| indexes.iter().map(|index| Port::open(*index)).collect())?;
        let count = indexes.len() as u64;
        let lane = |at: u64| Lane::new(seed ^ (at + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let state = State {
            ports,
            lanes: (0..count * count).map(lane).collect(),
            waiting: BinaryHeap::new(),
            waiting_bytes: 0,
            order: 0,
            stopped: false,
        };
        let state = Arc::new(Mutex::new(state));
        let (wake, woken) = UnixStream::pair()?;
        woken.set_nonblocking(true)?;
        let shared = Arc::clone(&state);
        let thread = std::thread::Builder::new()
            .name("switch".to_string())
            .spawn(move || serve(&shared, &woken))?;
        Ok(Switch { state, wake, thread: Some(thread) })
    }

    /// Imposes rules between ports, all at the same instant.
    pub(super) fn impose(&self, layer: Layer, rules: &[(usize, usize, PacketRule)]) {
        let mut state = lock(&self.state);
        for (from, to, rule) in rules {
            state.lane(*from, *to).impose(layer, *rule);
        }
    }

    /// Lifts them; what they kept back goes out at once, in its order.
    pub(super) fn lift(&self, layer: Layer) {
        let mut state = lock(&self.state);
        let lifted: Vec<bool> = state.lanes.iter_mut().map(|lane| lane.lift(layer)).collect();
        let (now, count) = (Instant::now(), state.ports.len());
        let waiting = std::mem::take(&mut state.waiting);
        let let_go = |mut one: Waiting| {
            if lifted[one.from * count + one.to] {
                one.due = one.due.min(now);
            }
            one
        };
        state.waiting = waiting.into_iter().map(|one| Reverse(let_go(one.0))).collect();
        drop(state);
        self.wake();
    }

    pub(super) fn packets(&self, from: usize, to: usize) -> Packets {
        lock(&self.state).lane(from, to).packets
    }

    /// Frames of each port that never reached the switch.
    pub(super) fn overruns(&self) -> Vec<u64> {
        lock(&self.state).ports.iter().map(Port::overruns).collect()
    }

    /// Begins to count.
    pub(super) fn forget(&self) {
        let mut state = lock(&self.state);
        state.lanes.iter_mut().for_each(|lane| lane.packets = Packets::default());
        state.ports.iter().for_each(|port| _ = port.overruns());
    }

    fn wake(&self) {
        // A full pipe wakes as well.
        let _woken = (&self.wake).write(&[1]);
    }
}

impl Drop for Switch {
    fn drop(&mut self) {
        lock(&self.state).stopped = true;
        self.wake();
        if let Some(thread) = self.thread.take() {
            let _ended = thread.join();
        }
    }
}

impl std::fmt::Debug for Switch {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Switch").finish_non_exhaustive()
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().expect("nothing panics while it holds the switch")
}

/// Which rules go from which port to which.
pub(super) fn by_port(
    rules: &[DirectedRule],
    port: impl Fn(&str) -> usize,
) -> Vec<(usize, usize, PacketRule)> {
    rules.iter().map(|rule| (port(&rule.from), port(&rule.to), rule.rule)).collect()
}

impl State {
    fn lane(&mut self, from: usize, to: usize) -> &mut Lane {
        let count = self.ports.len();
        &mut self.lanes[from * count + to]
    }

    /// Reads what has come to a port and passes it on.
    fn relay(&mut self, from: usize, buffer: &mut [u8]) {
        for _ in 0..BURST_FRAMES {
            let Ok(Some(length)) = self.ports[from].receive(buffer) else { return };
            let frame = &buffer[..length];
            let Some(to) = frame.get(5) else { continue };
            let count = self.ports.len();
            let to = match usize::from(*to) {
                _ if *to == EVERYBODY || frame[0] & 1 == 1 => 0..count,
                to if to < count => to..to + 1,
                _ => continue,
            };
            to.filter(|to| *to != from).for_each(|to| self.pass(from, to, frame));
        }
    }

    fn pass(&mut self, from: usize, to: usize, frame: &[u8]) {
        let now = Instant::now();
        let Some(passage) = self.lane(from, to).arrive(now, frame.len()) else { return };
        if passage.due <= now {
            return self.emit(from, to, passage, frame);
        }
        if self.waiting_bytes + frame.len() > WAITING_BYTES_MAX {
            self.lane(from, to).packets.overrun += 1;
            return;
        }
        self.order += 1;
        self.waiting_bytes += frame.len();
        let Passage { due, copies, number } = passage;
        let (order, frame) = (self.order, frame.to_vec());
        self.waiting.push(Reverse(Waiting { due, order, from, to, number, copies, frame }));
    }

    fn emit(&mut self, from: usize, to: usize, passage: Passage, frame: &[u8]) {
        let sent = (0..passage.copies).filter(|_| self.ports[to].send(frame)).count();
        let lane = self.lane(from, to);
        if sent == passage.copies as usize {
            lane.passed(passage);
        } else {
            lane.packets.overrun += 1;
        }
    }

    /// Sends what is due; how long until the next one is.
    fn release(&mut self) -> Option<Duration> {
        while let Some(Reverse(next)) = self.waiting.peek() {
            let now = Instant::now();
            if next.due > now {
                return Some(next.due - now);
            }
            let Some(Reverse(next)) = self.waiting.pop() else { break };
            self.waiting_bytes -= next.frame.len();
            let Waiting { due, from, to, number, copies, frame, .. } = next;
            self.emit(from, to, Passage { due, copies, number }, &frame);
        }
        None
    }
}

fn serve(shared: &Mutex<State>, mut woken: &UnixStream) {
    let mut buffer = [0; FRAME_BYTES_MAX];
    // The ports outlive the loop, but are behind the lock: they are polled by copies.
    let copies: Vec<_> = lock(shared).ports.iter().map(Port::duplicate).collect();
    let Ok(ports) = copies.into_iter().collect::<io::Result<Vec<_>>>() else { return };
    loop {
        let wait = {
            let mut state = lock(shared);
            if state.stopped {
                return;
            }
            state.release()
        };
        let wait = wait.and_then(|wait| Timespec::try_from(wait).ok());
        let mut polled: Vec<PollFd<'_>> =
            ports.iter().map(|port| PollFd::new(port, PollFlags::IN)).collect();
        polled.push(PollFd::new(&woken, PollFlags::IN));
        if poll(&mut polled, wait.as_ref()).is_err() {
            continue;
        }
        let ready: Vec<bool> = polled.iter().map(|one| !one.revents().is_empty()).collect();
        if ready.last() == Some(&true) {
            while woken.read(&mut buffer).is_ok_and(|length| length > 0) {}
        }
        let mut state = lock(shared);
        let ports = ready.iter().take(ports.len()).enumerate();
        ports.filter(|(_, ready)| **ready).for_each(|(port, _)| state.relay(port, &mut buffer));
    }
}
