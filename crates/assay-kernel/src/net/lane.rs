//! One direction of one link: decides about packets. Pure: the time is passed in.

use super::rules::{Layer, PacketRule, Packets, SHARE_WHOLE};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::time::{Duration, Instant};

/// How long a packet is kept back so that others overtake it.
const REORDER_HOLD: Duration = Duration::from_millis(20);
/// A queue before a narrow link is never longer than what passes in this time.
const RATE_QUEUE_MAX: Duration = Duration::from_millis(200);

/// What a rate keeps back for less than this nobody notices: it is not counted.
const RATE_FELT_MIN: Duration = Duration::from_millis(1);

/// What a lane does with a packet that passes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Passage {
    /// When.
    pub(super) due: Instant,
    /// How many times.
    pub(super) copies: u32,
    /// Which packet of its lane this is.
    pub(super) number: u64,
}

#[derive(Debug)]
struct Imposed {
    layer: Layer,
    rule: PacketRule,
    /// Until when the narrow link is busy with what it has taken.
    busy_until: Option<Instant>,
}

/// One direction of one link.
#[derive(Debug)]
pub(super) struct Lane {
    imposed: Vec<Imposed>,
    rng: ChaCha8Rng,
    arrived: u64,
    /// When the last one in order goes out.
    due_last: Option<Instant>,
    /// The highest number that went out, and one.
    passed_end: u64,
    pub(super) packets: Packets,
}

impl Lane {
    pub(super) fn new(seed: u64) -> Lane {
        Lane {
            imposed: Vec::new(),
            rng: ChaCha8Rng::seed_from_u64(seed),
            arrived: 0,
            due_last: None,
            passed_end: 0,
            packets: Packets::default(),
        }
    }

    pub(super) fn impose(&mut self, layer: Layer, rule: PacketRule) {
        self.imposed.push(Imposed { layer, rule, busy_until: None });
    }

    /// Whether there was anything to lift. What waits goes out now, so order begins anew.
    pub(super) fn lift(&mut self, layer: Layer) -> bool {
        let before = self.imposed.len();
        self.imposed.retain(|imposed| imposed.layer != layer);
        let lifted = self.imposed.len() < before;
        if lifted {
            self.due_last = None;
        }
        lifted
    }

    /// Decides about a packet: `None` is thrown away, and counted.
    pub(super) fn arrive(&mut self, now: Instant, bytes: usize) -> Option<Passage> {
        let number = self.arrived;
        self.arrived += 1;
        let (mut due, mut copies, mut held) = (now, 1, false);
        for Imposed { rule, busy_until, .. } in &mut self.imposed {
            let mut hits = |share: u32| share > 0 && self.rng.random_range(0..SHARE_WHOLE) < share;
            let lost = !rule.drop && hits(rule.loss_ppm);
            if rule.drop || lost {
                self.packets.dropped += 1;
                self.packets.lost += u64::from(lost);
                return None;
            }
            let (duplicate, reorder) = (hits(rule.duplicate_ppm), hits(rule.reorder_ppm));
            if let Some(rate) = rule.rate_bytes_per_s {
                let takes = Duration::from_secs_f64(bytes as f64 / rate.get() as f64);
                let done = busy_until.unwrap_or(due).max(due) + takes;
                if done.duration_since(due) > RATE_QUEUE_MAX.max(takes) {
                    self.packets.rate_dropped += 1;
                    return None;
                }
                *busy_until = Some(done);
                self.packets.rate_delayed += u64::from(done.duration_since(due) >= RATE_FELT_MIN);
                due = done;
            }
            if rule.delay > Duration::ZERO || rule.jitter > Duration::ZERO {
                due += rule.delay + self.rng.random_range(Duration::ZERO..=rule.jitter);
                self.packets.delayed += 1;
            }
            copies += u32::from(duplicate);
            held |= reorder;
        }
        if held {
            due += REORDER_HOLD;
        } else {
            due = self.due_last.map_or(due, |last| last.max(due));
            self.due_last = Some(due);
        }
        Some(Passage { due, copies, number })
    }

    /// Counts what went out.
    pub(super) fn passed(&mut self, passage: Passage) {
        self.packets.forwarded += 1;
        self.packets.duplicated += u64::from(passage.copies - 1);
        self.packets.reordered += u64::from(passage.number < self.passed_end);
        self.passed_end = self.passed_end.max(passage.number + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lane(rule: PacketRule) -> Lane {
        let mut lane = Lane::new(7);
        lane.impose(Layer(1), rule);
        lane
    }

    #[test]
    fn the_same_seed_decides_the_same_about_every_packet() {
        let now = Instant::now();
        let rule = PacketRule { loss_ppm: 200_000, duplicate_ppm: 100_000, ..Default::default() };
        let fates = || {
            let mut lane = lane(rule);
            (0..1000).map(|_| lane.arrive(now, 100).map(|p| p.copies)).collect::<Vec<_>>()
        };
        assert_eq!(fates(), fates());
        let lost = fates().iter().filter(|fate| fate.is_none()).count();
        assert!((150..250).contains(&lost), "{lost} of 1000 at a share of 200");
    }

    #[test]
    fn jitter_never_lets_a_packet_overtake_another() {
        let jitter = Duration::from_millis(40);
        let mut lane = lane(PacketRule { jitter, ..Default::default() });
        let start = Instant::now();
        let due = |at: u64| start + Duration::from_micros(at);
        let dues: Vec<Instant> =
            (0..500).filter_map(|at| lane.arrive(due(at), 100)).map(|p| p.due).collect();
        assert_eq!(dues.len(), 500);
        assert!(dues.is_sorted());
        assert_eq!(lane.packets.delayed, 500);
    }

    #[test]
    fn a_packet_that_is_held_goes_out_after_later_ones_and_is_counted_only_then() {
        let now = Instant::now();
        let mut lane = lane(PacketRule { reorder_ppm: SHARE_WHOLE, ..Default::default() });
        let held = lane.arrive(now, 100).expect("it passes");
        assert!(lane.lift(Layer(1)));
        let next = lane.arrive(now, 100).expect("it passes");
        assert!(held.due > next.due);
        lane.passed(next);
        assert_eq!(lane.packets.reordered, 0);
        lane.passed(held);
        assert_eq!(lane.packets.reordered, 1);
    }

    #[test]
    fn a_narrow_link_takes_what_fits_its_queue_and_counts_the_rest() {
        let now = Instant::now();
        let rate = std::num::NonZeroU64::new(10_000);
        let mut lane = lane(PacketRule { rate_bytes_per_s: rate, ..Default::default() });
        let passed: Vec<Passage> = (0..30).filter_map(|_| lane.arrive(now, 100)).collect();
        // 100 bytes take 10 ms, and the queue is 200 ms long.
        assert_eq!(passed.len(), 20);
        assert_eq!(passed[19].due, now + Duration::from_millis(200));
        assert_eq!(lane.packets.rate_dropped, 10);
        assert_eq!(lane.packets.rate_delayed, 20);
    }

    #[test]
    fn a_link_as_wide_as_can_be_has_slowed_nothing() {
        let now = Instant::now();
        let rate = std::num::NonZeroU64::new(1_000_000_000);
        let mut lane = lane(PacketRule { rate_bytes_per_s: rate, ..Default::default() });
        lane.arrive(now, 1500).expect("it passes");
        assert_eq!(lane.packets.rate_delayed, 0);
        // What many others are before waits for them all the same.
        (0..1000).for_each(|_| _ = lane.arrive(now, 1500));
        assert!(lane.packets.rate_delayed > 0, "{:?}", lane.packets);
    }
}
