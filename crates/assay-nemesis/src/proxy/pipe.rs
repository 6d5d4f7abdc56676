//! One direction of one connection.
//!
//! A pipe reads from one socket and writes to another, and obeys the rules of its direction, which
//! may change at any time. Bytes under a delay or a rate wait in a queue with the time they are
//! due; what is due is written in order, because a stream has no other.
//!
//! ```text
//!   read ──► rules ──┬─► (nothing in the way) ─────────────► write
//!                    ├─► queue: bytes, due ──► when due ───► write
//!                    └─► thrown away, counted
//! ```

use super::counters::FlowCounters;
use super::rules::{Direction, Flow, RATE_FELT_MIN, Rules};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::VecDeque;
use std::io;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{ReadHalf, WriteHalf};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

/// One read: more than most requests, little enough for a thousand connections.
const READ_BYTES_MAX: usize = 16 << 10;
/// What may wait in a queue. Beyond it nothing more is read, and the sender feels it.
const QUEUE_BYTES_MAX: usize = 1 << 20;
/// The same under a rate: the queue must not hide the slowness.
const QUEUE_BYTES_MAX_RATED: usize = 64 << 10;
/// Under a rate, pieces are cut so that one passes about so often per second.
const RATED_PIECES_PER_SECOND: u64 = 50;
/// Between the pieces of a sliced chunk, so that the receiver has a chance to read them apart.
const SLICE_GAP: Duration = Duration::from_micros(200);

/// The rules of both directions, as connections watch them.
pub(crate) type LinkRules = [Rules; 2];

/// Why a pipe ended before its stream did.
#[derive(Debug)]
pub(crate) enum Broken {
    /// A socket failed: the other side learns of it by a reset as well.
    Socket,
    /// Bytes were lost and the rule that lost them is gone: the stream cannot go on.
    Lossy,
}

struct Chunk {
    bytes: Vec<u8>,
    written: usize,
    due: Instant,
}

/// What of the source is still to come.
#[derive(PartialEq)]
enum Source {
    Open,
    /// It ended, and the end is still to be handed on.
    Ended,
}

/// How to attend to the source.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Ear {
    /// Not at all.
    Closed,
    /// Notice that there is something to read, and leave it there.
    Notice,
    /// Read it.
    Read,
}

/// What was read; `None` if something was only noticed. Nothing is lost if this is cancelled.
pub(crate) async fn listen(
    from: &mut ReadHalf<'_>,
    buffer: &mut [u8],
    ear: Ear,
) -> Option<io::Result<usize>> {
    match ear {
        Ear::Read => Some(from.read(buffer).await),
        // An error will be met again by whoever reads.
        Ear::Notice | Ear::Closed => from.readable().await.err().and(None),
    }
}

pub(crate) struct Pipe<'a> {
    direction: Direction,
    from: ReadHalf<'a>,
    to: WriteHalf<'a>,
    watch: watch::Receiver<LinkRules>,
    counters: &'a FlowCounters,
    rng: ChaCha8Rng,
    rules: Rules,
    queue: VecDeque<Chunk>,
    queued_bytes: usize,
    due_last: Instant,
    source: Source,
    /// Bytes were thrown away: this stream must not deliver another one.
    lossy: bool,
    /// Readiness under a hold has been counted.
    held: bool,
}

impl<'a> Pipe<'a> {
    pub(crate) fn new(
        direction: Direction,
        from: ReadHalf<'a>,
        to: WriteHalf<'a>,
        mut watch: watch::Receiver<LinkRules>,
        counters: &'a FlowCounters,
        seed: u64,
    ) -> Pipe<'a> {
        let rules = watch.borrow_and_update()[direction.index()];
        Pipe {
            direction,
            from,
            to,
            watch,
            counters,
            rng: ChaCha8Rng::seed_from_u64(seed),
            rules,
            queue: VecDeque::new(),
            queued_bytes: 0,
            due_last: Instant::now(),
            source: Source::Open,
            lossy: false,
            held: false,
        }
    }

    /// Runs until the stream has ended and its end was handed on.
    pub(crate) async fn run(mut self) -> Result<(), Broken> {
        let mut buffer = vec![0; READ_BYTES_MAX];
        loop {
            if self.source == Source::Ended && self.queue.is_empty() && !self.lossy {
                if self.rules.flow == Flow::Pass {
                    return self.to.shutdown().await.map_err(|_| Broken::Socket);
                }
                // An end that is held or dropped is not seen by the other side.
                if self.rules.flow == Flow::Drop {
                    self.lose(0);
                }
            }
            let ear = self.ear();
            let front_due = self.queue.front().map(|chunk| chunk.due);
            let writes = front_due.is_some() && self.rules.flow != Flow::Hold;
            let due = front_due.unwrap_or(self.due_last);
            let is_due = writes && due <= Instant::now();
            let front = self.queue.front();
            let unwritten = front.map_or(&[][..], |chunk| &chunk.bytes[chunk.written..]);
            tokio::select! {
                biased;
                changed = self.watch.changed() => {
                    changed.map_err(|_| Broken::Socket)?;
                    self.obey()?;
                }
                written = self.to.write(unwritten), if is_due => match written {
                    Ok(count) => self.wrote(count),
                    Err(_) => return self.write_failed().await,
                },
                () = sleep_until(due), if writes && !is_due => {}
                heard = listen(&mut self.from, &mut buffer, ear), if ear != Ear::Closed => {
                    match heard {
                        Some(read) => self.arrived(read, &buffer)?,
                        None => {
                            self.held = true;
                            self.counters.chunks_held.add(1);
                        }
                    }
                }
            }
        }
    }

    fn ear(&self) -> Ear {
        let room = match self.rules.rate {
            Some(_) => QUEUE_BYTES_MAX_RATED,
            None => QUEUE_BYTES_MAX,
        };
        match self.rules.flow {
            _ if self.source == Source::Ended => Ear::Closed,
            Flow::Hold if self.held => Ear::Closed,
            Flow::Hold => Ear::Notice,
            Flow::Pass if self.queued_bytes >= room => Ear::Closed,
            Flow::Pass | Flow::Drop => Ear::Read,
        }
    }

    /// The rules have changed: what is on its way is treated as if it had just come.
    fn obey(&mut self) -> Result<(), Broken> {
        self.rules = self.watch.borrow_and_update()[self.direction.index()];
        self.held = false;
        if self.rules.flow == Flow::Drop {
            let (chunks, bytes) = (self.queue.len() as u64, self.queued_bytes as u64);
            if chunks > 0 {
                self.lossy = true;
                self.counters.chunks_dropped.add(chunks);
                self.counters.bytes_dropped.add(bytes);
            }
            self.queue.clear();
            self.queued_bytes = 0;
            return Ok(());
        }
        if self.lossy && self.rules.flow == Flow::Pass {
            return Err(Broken::Lossy);
        }
        self.due_last = Instant::now();
        let waiting = std::mem::take(&mut self.queue);
        self.queued_bytes = 0;
        for chunk in waiting {
            self.enqueue(&chunk.bytes[chunk.written..]);
        }
        Ok(())
    }

    /// Something was read: bytes, the end, or an error.
    fn arrived(&mut self, read: io::Result<usize>, buffer: &[u8]) -> Result<(), Broken> {
        match read {
            Ok(0) => self.source = Source::Ended,
            Ok(count) if self.rules.flow == Flow::Drop => self.lose(count),
            Ok(count) if self.rules.is_plain() && self.queue.is_empty() => {
                let written = self.to.try_write(&buffer[..count]).unwrap_or(0);
                if written > 0 {
                    self.counters.bytes_passed.add(written as u64);
                    self.counters.chunks_passed.add(1);
                }
                if written < count {
                    self.enqueue(&buffer[written..count]);
                }
            }
            Ok(count) => self.enqueue(&buffer[..count]),
            // A reset does not get through a black hole either.
            Err(_) if self.rules.flow == Flow::Drop => {
                self.source = Source::Ended;
                self.lose(0);
            }
            Err(_) => return Err(Broken::Socket),
        }
        Ok(())
    }

    fn lose(&mut self, bytes: usize) {
        self.lossy = true;
        self.counters.chunks_dropped.add(1);
        self.counters.bytes_dropped.add(bytes as u64);
    }

    /// Gives bytes their time, in pieces as the rules want them.
    fn enqueue(&mut self, bytes: &[u8]) {
        let now = Instant::now();
        let (mut due, mut unlimited) = (now, now);
        if let Some(delay) = self.rules.delay {
            let delay = delay.base + self.rng.random_range(Duration::ZERO..=delay.jitter);
            due += delay;
            unlimited = due;
            self.counters.chunks_delayed.add(1);
            self.counters.delay_us.add(u64::try_from(delay.as_micros()).unwrap_or(u64::MAX));
        }
        due = due.max(self.due_last);
        let pieces = self.piece_bytes_max(bytes.len());
        let sliced = self.rules.slice.is_some() && bytes.len() > pieces;
        for piece in bytes.chunks(pieces) {
            if let Some(rate) = self.rules.rate {
                let ns = (piece.len() as u128 * 1_000_000_000) / u128::from(rate.get());
                due += Duration::from_nanos(u64::try_from(ns).unwrap_or(u64::MAX));
                let felt = due.duration_since(unlimited) >= RATE_FELT_MIN;
                self.counters.chunks_limited.add(u64::from(felt));
            }
            if sliced {
                self.counters.chunks_sliced.add(1);
                due += SLICE_GAP;
            }
            self.queued_bytes += piece.len();
            self.queue.push_back(Chunk { bytes: piece.to_vec(), written: 0, due });
        }
        self.due_last = due;
    }

    fn piece_bytes_max(&self, all: usize) -> usize {
        let sliced = self.rules.slice.map_or(all, |slice| slice.get() as usize);
        let per_tick = |rate: u64| (rate / RATED_PIECES_PER_SECOND).clamp(1, 1 << 20) as usize;
        let rated = self.rules.rate.map_or(all, |rate| per_tick(rate.get()));
        sliced.min(rated).max(1)
    }

    fn wrote(&mut self, count: usize) {
        self.counters.bytes_passed.add(count as u64);
        self.counters.chunks_passed.add(1);
        self.queued_bytes -= count;
        let front = self.queue.front_mut().expect("what was written was the front of the queue");
        front.written += count;
        if front.written == front.bytes.len() {
            self.queue.pop_front();
        }
    }

    /// The receiver is gone. The sender may learn of it only if the way back is free.
    async fn write_failed(&mut self) -> Result<(), Broken> {
        let back = self.direction.other().index();
        let free = |rules: &LinkRules| rules[back].flow == Flow::Pass;
        // An error means that the link itself is gone, which ends the connection as well.
        let _gone = self.watch.wait_for(free).await;
        Err(Broken::Socket)
    }
}
