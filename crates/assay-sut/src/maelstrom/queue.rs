//! A queue of lines that never makes the sender wait: when it is full, the oldest line goes.
//!
//! A network that is slower than its senders loses messages. A relay that blocked its node instead
//! would turn a slow link into a stopped process, which is another fault than the one injected.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Lines that may wait in one queue.
pub(crate) const QUEUE_LINES_MAX: usize = 4096;
/// And bytes.
pub(crate) const QUEUE_BYTES_MAX: usize = 64 << 20;

/// Lines from many to one.
#[derive(Default, Debug)]
pub(crate) struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default, Debug)]
struct State {
    lines: VecDeque<Vec<u8>>,
    bytes: usize,
    closed: bool,
}

impl Queue {
    /// Adds a line, and says how many had to go for it.
    pub(crate) fn push(&self, line: Vec<u8>) -> u64 {
        let mut state = self.lock();
        if state.closed {
            return 1;
        }
        state.bytes += line.len();
        state.lines.push_back(line);
        let mut dropped = 0;
        while state.lines.len() > QUEUE_LINES_MAX
            || (state.bytes > QUEUE_BYTES_MAX && state.lines.len() > 1)
        {
            let oldest = state.lines.pop_front().expect("a queue that is too full is not empty");
            state.bytes -= oldest.len();
            dropped += 1;
        }
        self.changed.notify_one();
        dropped
    }

    /// Waits for the next line; `None` once the queue is closed.
    pub(crate) fn pop(&self) -> Option<Vec<u8>> {
        let mut state = self.lock();
        loop {
            if state.closed {
                return None;
            }
            if let Some(line) = state.lines.pop_front() {
                state.bytes -= line.len();
                return Some(line);
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Throws away what waits, and lets nothing in any more.
    pub(crate) fn close(&self) {
        let mut state = self.lock();
        *state = State { closed: true, ..State::default() };
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_queue_drops_the_oldest_and_counts_it() {
        let queue = Queue::default();
        let line = |i: usize| i.to_string().into_bytes();
        let dropped: u64 = (0..QUEUE_LINES_MAX + 3).map(|i| queue.push(line(i))).sum();
        assert_eq!(dropped, 3);
        assert_eq!(queue.pop(), Some(line(3)));
        queue.close();
        assert_eq!((queue.pop(), queue.push(line(0))), (None, 1));
    }

    #[test]
    fn bytes_are_bounded_as_well_and_one_line_always_fits() {
        let queue = Queue::default();
        assert_eq!(queue.push(vec![0; QUEUE_BYTES_MAX + 1]), 0);
        assert_eq!(queue.push(vec![1]), 1);
        assert_eq!(queue.pop(), Some(vec![1]));
    }
}
