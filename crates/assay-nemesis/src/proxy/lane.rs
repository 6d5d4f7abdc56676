//! One direction of datagrams between one sender and the other side. Pure: it is told the time.
//!
//! ```text
//!   arrived ──► lots ──┬─► queue: datagram, due ──► take ──► sent, counted
//!                      ├─► kept back ──► when overtaken, or after a while ──► queue
//!                      └─► thrown away, counted
//! ```
//!
//! Each datagram draws its lots whatever the rules are, so that which ones are hit depends on the
//! seed and their number, not on when a rule came. Counters move when the deed is done: a datagram
//! counts as reordered when it is sent after one that came later.

use super::counters::FlowCounters;
use super::odds::Share;
use super::rules::{Flow, RATE_FELT_MIN, Rules};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::VecDeque;
use std::time::Duration;
use tokio::time::Instant;

/// What may wait in a lane. Beyond it datagrams are thrown away, as routers do.
const QUEUE_BYTES_MAX: usize = 1 << 20;
/// And how many: small ones cost more than their bytes.
const QUEUE_DATAGRAMS_MAX: usize = 4096;
/// How long a datagram waits to be overtaken before it goes on as it is: nothing may follow it.
const KEPT_BACK_MAX: Duration = Duration::from_millis(50);

/// A datagram to be sent.
#[derive(Debug, PartialEq)]
pub(super) struct Outgoing {
    pub(super) bytes: Vec<u8>,
    number: u64,
    due: Instant,
    fate: Fate,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Fate {
    /// Nothing special.
    Plain,
    /// Sent a second time.
    Copy,
    /// Sent after one that came later.
    Overtaken,
}

pub(super) struct Lane<'l> {
    counters: &'l FlowCounters,
    rules: Rules,
    rng: ChaCha8Rng,
    queue: VecDeque<Outgoing>,
    queued_bytes: usize,
    /// Kept back; due when nobody has overtaken it.
    back: Option<Outgoing>,
    due_last: Instant,
    number: u64,
}

impl<'l> Lane<'l> {
    pub(super) fn new(
        counters: &'l FlowCounters,
        rules: Rules,
        seed: u64,
        now: Instant,
    ) -> Lane<'l> {
        Lane {
            counters,
            rules,
            rng: ChaCha8Rng::seed_from_u64(seed),
            queue: VecDeque::new(),
            queued_bytes: 0,
            back: None,
            due_last: now,
            number: 0,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty() && self.back.is_none()
    }

    /// A datagram has come.
    pub(super) fn arrived(&mut self, bytes: &[u8], now: Instant) {
        self.number += 1;
        let mut lot = || self.rng.random_range(0..Share::LOTS);
        let (lose, duplicate, reorder) = (lot(), lot(), lot());
        if self.rules.flow == Flow::Drop {
            return self.drop_one(bytes.len());
        }
        if self.rules.odds.lose.hits(lose) {
            self.counters.chunks_lost.add(1);
            return self.drop_one(bytes.len());
        }
        let full = self.queue.len() >= QUEUE_DATAGRAMS_MAX
            || self.queued_bytes + bytes.len() > QUEUE_BYTES_MAX;
        if full {
            return self.counters.chunks_overflowed.add(1);
        }
        if self.rules.flow == Flow::Hold {
            self.counters.chunks_held.add(1);
        }
        let due = self.due(bytes.len(), now);
        let one = |fate| Outgoing { bytes: bytes.to_vec(), number: self.number, due, fate };
        if self.rules.odds.reorder.hits(reorder) && self.back.is_none() {
            self.back = Some(Outgoing { due: due + KEPT_BACK_MAX, ..one(Fate::Plain) });
            return;
        }
        let copy = self.rules.odds.duplicate.hits(duplicate).then(|| one(Fate::Copy));
        let first = one(Fate::Plain);
        self.push(first);
        copy.into_iter().for_each(|copy| self.push(copy));
    }

    fn push(&mut self, datagram: Outgoing) {
        self.queued_bytes += datagram.bytes.len();
        self.queue.push_back(datagram);
    }

    fn drop_one(&self, bytes: usize) {
        self.counters.chunks_dropped.add(1);
        self.counters.bytes_dropped.add(bytes as u64);
    }

    /// When a datagram of so many bytes may go. A delay keeps the order: only a rule that says so
    /// may change it.
    fn due(&mut self, bytes: usize, now: Instant) -> Instant {
        let mut due = now;
        if let Some(delay) = self.rules.delay {
            let delay = delay.base + self.rng.random_range(Duration::ZERO..=delay.jitter);
            due += delay;
            self.counters.chunks_delayed.add(1);
            self.counters.delay_us.add(u64::try_from(delay.as_micros()).unwrap_or(u64::MAX));
        }
        let unlimited = due;
        due = due.max(self.due_last);
        if let Some(rate) = self.rules.rate {
            let ns = (bytes as u128 * 1_000_000_000) / u128::from(rate.get());
            due += Duration::from_nanos(u64::try_from(ns).unwrap_or(u64::MAX));
            let felt = due.duration_since(unlimited) >= RATE_FELT_MIN;
            self.counters.chunks_limited.add(u64::from(felt));
        }
        self.due_last = due;
        due
    }

    /// The rules have changed: what waits is treated as if it had just come, but for its lots.
    pub(super) fn obey(&mut self, rules: Rules, now: Instant) {
        if rules == self.rules {
            return;
        }
        self.rules = rules;
        self.due_last = now;
        let waiting: Vec<Outgoing> = self.queue.drain(..).chain(self.back.take()).collect();
        self.queued_bytes = 0;
        for datagram in waiting {
            if rules.flow == Flow::Drop {
                self.drop_one(datagram.bytes.len());
                continue;
            }
            let due = self.due(datagram.bytes.len(), now);
            self.push(Outgoing { due, ..datagram });
        }
    }

    /// When something is to be sent; `None` if nothing is.
    pub(super) fn next_due(&self) -> Option<Instant> {
        if self.rules.flow == Flow::Hold {
            return None;
        }
        self.queue.front().into_iter().chain(&self.back).map(|datagram| datagram.due).min()
    }

    /// What is to be sent now.
    pub(super) fn take(&mut self, now: Instant) -> Option<Outgoing> {
        if self.next_due()? > now {
            return None;
        }
        if self.queue.front().is_some_and(|front| front.due <= now) {
            let front = self.queue.pop_front().expect("there is a front");
            self.queued_bytes -= front.bytes.len();
            if let Some(back) = self.back.take_if(|back| back.number < front.number) {
                self.queued_bytes += back.bytes.len();
                let due = now.max(front.due);
                self.queue.push_front(Outgoing { due, fate: Fate::Overtaken, ..back });
            }
            return Some(front);
        }
        self.back.take()
    }

    /// It was sent.
    pub(super) fn sent(&self, datagram: &Outgoing) {
        self.counters.bytes_passed.add(datagram.bytes.len() as u64);
        self.counters.chunks_passed.add(1);
        match datagram.fate {
            Fate::Plain => {}
            Fate::Copy => self.counters.chunks_duplicated.add(1),
            Fate::Overtaken => self.counters.chunks_reordered.add(1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::odds::Odds;
    use super::*;

    /// What comes out at once and what after a while, when datagrams of one byte go in.
    fn through(rules: Rules, count: u8) -> (Vec<u8>, FlowCounters) {
        let counters = FlowCounters::default();
        let now = Instant::now();
        let mut lane = Lane::new(&counters, rules, 1, now);
        let mut out = Vec::new();
        for n in 0..count {
            lane.arrived(&[n], now);
            while let Some(sent) = lane.take(now) {
                lane.sent(&sent);
                out.push(sent.bytes[0]);
            }
        }
        let later = now + Duration::from_secs(3600);
        while let Some(sent) = lane.take(later) {
            lane.sent(&sent);
            out.push(sent.bytes[0]);
        }
        drop(lane);
        (out, counters)
    }

    fn odds(lose: Share, duplicate: Share, reorder: Share) -> Rules {
        Rules::odds(Odds { lose, duplicate, reorder })
    }

    #[test]
    fn a_rate_that_nobody_feels_has_limited_nothing() {
        for (bytes_per_s, limited) in [(1_000_000_000, 0), (100, 4)] {
            let rate = std::num::NonZeroU64::new(bytes_per_s).expect("not zero");
            let (out, counters) = through(Rules::rate(rate), 4);
            assert_eq!((out.len() as u64, counters.chunks_limited.get()), (4, limited));
        }
    }

    #[test]
    fn each_chance_does_what_it_says_and_is_counted() {
        const NONE: Share = Share::NONE;
        const ALL: Share = Share::ALL;
        let cases: [(Rules, &[u8], [u64; 3]); 6] = [
            (Rules::default(), &[0, 1, 2, 3], [0, 0, 0]),
            (odds(ALL, NONE, NONE), &[], [4, 0, 0]),
            (odds(NONE, ALL, NONE), &[0, 0, 1, 1, 2, 2, 3, 3], [0, 4, 0]),
            // The second overtakes the first, then the fourth the third.
            (odds(NONE, NONE, ALL), &[1, 0, 3, 2], [0, 0, 2]),
            (odds(NONE, ALL, ALL), &[1, 0, 1, 3, 2, 3], [0, 2, 2]),
            (Rules::flow(Flow::Hold), &[], [0, 0, 0]),
        ];
        for (rules, expected, [dropped, duplicated, reordered]) in cases {
            let (out, counters) = through(rules, 4);
            assert_eq!(out, expected, "{rules:?}");
            assert_eq!(counters.chunks_dropped.get(), dropped, "{rules:?}");
            assert_eq!(counters.chunks_duplicated.get(), duplicated, "{rules:?}");
            assert_eq!(counters.chunks_reordered.get(), reordered, "{rules:?}");
        }
    }

    #[test]
    fn what_a_cut_throws_away_was_not_lost_by_chance() {
        let cut = Rules::flow(Flow::Drop);
        let loss = odds(Share::ALL, Share::NONE, Share::NONE);
        for (rules, expected) in [(cut, [4, 0]), (loss, [4, 4]), (cut.over(loss), [4, 0])] {
            let (_, counters) = through(rules, 4);
            let counted = [counters.chunks_dropped.get(), counters.chunks_lost.get()];
            assert_eq!(counted, expected, "{rules:?}");
        }
    }

    #[test]
    fn the_last_datagram_is_not_kept_for_ever_and_not_called_reordered() {
        let (out, counters) = through(odds(Share::NONE, Share::NONE, Share::ALL), 3);
        assert_eq!(out, [1, 0, 2]);
        assert_eq!(counters.chunks_reordered.get(), 1);
    }

    #[test]
    fn a_full_lane_throws_away_and_says_so() {
        let counters = FlowCounters::default();
        let now = Instant::now();
        let mut lane = Lane::new(&counters, Rules::flow(Flow::Hold), 1, now);
        for _ in 0..QUEUE_DATAGRAMS_MAX + 3 {
            lane.arrived(b"x", now);
        }
        assert_eq!(counters.chunks_overflowed.get(), 3);
        lane.obey(Rules::default(), now);
        let mut out = 0;
        while lane.take(now).is_some() {
            out += 1;
        }
        assert_eq!((out, lane.is_empty()), (QUEUE_DATAGRAMS_MAX, true));
    }

    #[test]
    fn delays_keep_the_order_and_a_cut_drops_what_waits() {
        let counters = FlowCounters::default();
        let now = Instant::now();
        let slow = Rules::delay(Duration::from_secs(1), Duration::from_secs(9));
        let mut lane = Lane::new(&counters, slow, 7, now);
        (0..50).for_each(|n| lane.arrived(&[n], now));
        assert!(lane.take(now).is_none(), "nothing is due");
        let later = now + Duration::from_secs(5);
        let mut seen = Vec::new();
        while let Some(sent) = lane.take(later) {
            seen.push(sent.bytes[0]);
        }
        assert!(seen.is_sorted(), "{seen:?}");
        lane.obey(Rules::flow(Flow::Drop), later);
        assert!(lane.is_empty());
        assert_eq!(counters.chunks_dropped.get(), 50 - seen.len() as u64);
    }
}
