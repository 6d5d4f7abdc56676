//! Counters: a read shows a sum, and not who made it.
//!
//! Increments are positive, so the versions of a counter are ordered by their value, and a version
//! holds an increment or does not. Who is in a sum is certain in three cases:
//!
//! - **Pinned.** A transaction that increments and then reads the key saw the version it made, and
//!   so where it stands: it moved the counter from `before` to `after`. Every version of at least
//!   `after` holds it, no other does. (A transaction that read *before* it incremented is pinned
//!   only where `writes_follow_reads` is declared: others may have come in between.)
//! - **Too large without it.** A version larger than all increments that may have committed, less
//!   those of one transaction, holds that transaction.
//! - **Too small with it.** A version smaller than what one transaction added does not hold it.
//!
//! From that follow **wr** (a read of a version that holds a transaction comes after it; also a
//! pinned transaction's, which saw what it built on) and **rw** (a read of a version that does not
//! hold a committed transaction comes before it). There is **no ww**: of two pinned transactions
//! the later one has read what the earlier one left, which is wr already, so that what looks like
//! overwriting in a circle is reported as information that flowed in one (G1c). All this supposes
//! that reads return committed versions; where they do not, read committed is broken, and no cycle
//! of wr and rw edges says anything about a weaker model. And it supposes that an increment adds to
//! the version it replaces: a client that reads, adds and writes has registers, and can lose
//! updates.
//!
//! Without any cycle: sums that nobody's increments make (phantom) or only those of aborted
//! transactions (G1a), values between `before` and `after` of a pinned transaction (G1b), two
//! pinned transactions that moved the counter over the same value (lost update; neither is then
//! pinned), contradictions inside a transaction (internal).
//!
//! What is not seen: an increment that is missing from a sum which other increments could make up.

mod story;

use crate::anomaly::{Because, Evidence, Kind, VersionReason, VersionStep};
use crate::found::Found;
use crate::graph::{Edges, Label};
use assay_history::{Outcome, TxnIndex, TxnKey, Txns, ValueId};
use story::{Pin, Read, Story, stories};

/// What transactions did to counters.
pub(crate) struct Counters<'t> {
    txns: &'t Txns,
    /// By key.
    counters: Vec<Counter>,
    writes_follow_reads: bool,
}

/// Everything about one key.
#[derive(Default, Debug)]
struct Counter {
    /// What each transaction did that may have committed; by transaction.
    stories: Vec<(u32, Story)>,
    /// The sum of all increments that may have committed, and that of those that did not.
    possible: i128,
    aborted: i128,
    /// The first transaction that aborted and had incremented.
    aborted_by: Option<u32>,
    /// The largest version that a committed transaction saw.
    largest: i128,
}

impl<'t> Counters<'t> {
    pub(crate) fn new(txns: &'t Txns, writes_follow_reads: bool) -> Counters<'t> {
        let mut counters = Vec::new();
        counters.resize_with(txns.key_count(), Counter::default);
        for t in 0..txns.len() as u32 {
            let outcome = txns.txn(TxnIndex(t)).outcome;
            for (key, story) in stories(txns, t, writes_follow_reads) {
                let counter: &mut Counter = &mut counters[key.0 as usize];
                if outcome == Outcome::Fail {
                    counter.aborted += story.added;
                    if story.added > 0 {
                        counter.aborted_by.get_or_insert(t);
                    }
                    continue;
                }
                counter.possible += story.added;
                counter.stories.push((t, story));
            }
        }
        let mut counters = Counters { txns, counters, writes_follow_reads };
        for counter in &mut counters.counters {
            counter.forget_impossible();
        }
        counters
    }

    /// Adds all dependencies; joints get numbers from `joint` on. Returns the next free number.
    pub(crate) fn edges(&mut self, edges: &mut Edges, joint: u32, found: &mut Found) -> u32 {
        let mut next = joint;
        for key in 0..self.counters.len() {
            self.look_at_reads(TxnKey(key as u32), found);
            let lost = self.counters[key].unpin_overlapping();
            self.counters[key].note_largest();
            for txns in lost {
                let (key, version) = (TxnKey(key as u32), ValueId::NULL);
                found.add(Kind::LostUpdate, || Evidence::LostUpdate { key, version, txns });
            }
            let committed = |t: u32| self.txns.txn(TxnIndex(t)).outcome == Outcome::Ok;
            next = self.counters[key].add_edges(edges, next, committed);
        }
        next
    }

    /// What is wrong with single reads.
    fn look_at_reads(&self, key: TxnKey, found: &mut Found) {
        let counter = &self.counters[key.0 as usize];
        let mut pins: Vec<(Pin, u32)> =
            counter.stories.iter().filter_map(|(t, story)| Some((story.pin?, *t))).collect();
        pins.sort_unstable_by_key(|(pin, t)| (pin.after, *t));
        for (t, story) in &counter.stories {
            for &mop in &story.contradictions {
                found.add(Kind::Internal, || Evidence::Internal { txn: *t, mop });
            }
            for read in &story.all_reads {
                let evidence =
                    |writer| Evidence::Read { reader: *t, key, value: read.value, writer };
                if read.sum < 0 || read.sum > counter.possible + counter.aborted {
                    found.add(Kind::Phantom, || evidence(None));
                } else if read.sum > counter.possible {
                    found.add(Kind::G1a, || evidence(counter.aborted_by));
                }
            }
            for read in &story.reads {
                // The first transaction whose move ends behind what was read.
                let at = pins.partition_point(|(pin, _)| pin.after <= read.sum);
                if let Some((pin, writer)) = pins.get(at)
                    && pin.before < read.sum
                    && writer != t
                {
                    let evidence = Evidence::Read {
                        reader: *t,
                        key,
                        value: read.value,
                        writer: Some(*writer),
                    };
                    found.add(Kind::G1b, || evidence);
                }
            }
        }
    }

    /// What nothing was concluded about.
    pub(crate) fn not_covered(&self) -> Vec<String> {
        let all = self.counters.iter().flat_map(|counter| &counter.stories);
        let added = all.filter(|(_, story)| story.added > 0);
        let unpinned = added.filter(|(_, story)| story.pin.is_none()).count();
        let mut lines = vec![
            "counters show sums and not who made them: views (monotonic atomic view, read atomic, \
             causal) are judged only by cycles"
                .to_string(),
        ];
        if unpinned > 0 {
            let declare = match self.writes_follow_reads {
                true => "",
                false => " (--wfr-keys also counts reads before)",
            };
            lines.push(format!(
                "{unpinned} times a transaction incremented a counter and did not read it \
                 afterwards{declare}: it is ordered only against reads that are too large without \
                 it or too small with it"
            ));
        }
        lines
    }

    /// What an edge between two transactions rests on.
    pub(crate) fn because(&self, a: u32, b: u32, label: Label) -> Option<Because> {
        let (writer, reader) = if label == Label::Wr { (a, b) } else { (b, a) };
        self.counters.iter().zip(0..).find_map(|(counter, key)| {
            let (writing, reading) = (counter.story(writer)?, counter.story(reader)?);
            let pin = writing.pin;
            let pinned_by = pin.map_or(ValueId::NULL, |pin| pin.read);
            let step = |pin: Pin| VersionStep {
                version: pin.read,
                reason: VersionReason::WritesFollowReads,
                txns: [writer; 2],
            };
            let order = pin.filter(|pin| pin.assumed).map(step).into_iter().collect();
            let key = TxnKey(key);
            if label == Label::Wr {
                let from = counter.held_from(writing)?;
                let seen = counter.views(reading).find(|&(sum, _)| sum >= from)?;
                return Some(Because::Key { key, first: pinned_by, second: seen.1, order });
            }
            let below = writing.held_below()?;
            let read = counter.external(reading).find(|read| read.sum < below)?;
            Some(Because::Key { key, first: read.value, second: pinned_by, order })
        })
    }
}

impl Counter {
    fn story(&self, t: u32) -> Option<&Story> {
        let at = self.stories.binary_search_by_key(&t, |(t, _)| *t).ok()?;
        Some(&self.stories[at].1)
    }

    /// Nothing follows from sums that no committed transactions make.
    fn forget_impossible(&mut self) {
        for (_, story) in &mut self.stories {
            let fits = |pin: &Pin| pin.before >= 0 && pin.after <= self.possible;
            story.pin = story.pin.filter(fits);
        }
    }

    fn note_largest(&mut self) {
        for (_, story) in &self.stories {
            let possible = story.reads.iter().filter(|read| read.sum <= self.possible);
            let pinned = story.pin.map(|pin| pin.after);
            let largest = possible.map(|read| read.sum).chain(pinned).max();
            self.largest = self.largest.max(largest.unwrap_or(0));
        }
    }

    /// The smallest version that certainly holds a transaction.
    fn held_from(&self, story: &Story) -> Option<i128> {
        let unpinned = self.possible - story.added + 1;
        (story.added > 0).then(|| story.pin.map_or(unpinned, |pin| pin.after))
    }

    /// Reads before any increment of their own transaction, of sums that can be.
    fn external<'a>(&'a self, story: &'a Story) -> impl Iterator<Item = &'a Read> {
        story.reads.iter().filter(|read| (0..=self.possible).contains(&read.sum))
    }

    /// The versions a transaction saw, each with what it read: also the one it made, if it looked.
    fn views<'a>(&'a self, story: &'a Story) -> impl Iterator<Item = (i128, ValueId)> + 'a {
        let made = story.pin.filter(|pin| !pin.assumed).map(|pin| (pin.after, pin.read));
        self.external(story).map(|read| (read.sum, read.value)).chain(made)
    }

    /// Takes away the pins of transactions that moved the counter over the same value; returns
    /// those groups.
    fn unpin_overlapping(&mut self) -> Vec<Vec<u32>> {
        let pinned = self.stories.iter().enumerate();
        let mut pinned: Vec<(Pin, usize)> =
            pinned.filter_map(|(i, (_, story))| Some((story.pin?, i))).collect();
        pinned.sort_unstable_by_key(|(pin, i)| (pin.before, pin.after, *i));
        let (mut groups, mut at) = (Vec::new(), 0);
        while at < pinned.len() {
            let (mut end, mut reach) = (at + 1, pinned[at].0.after);
            while end < pinned.len() && pinned[end].0.before < reach {
                reach = reach.max(pinned[end].0.after);
                end += 1;
            }
            if end - at > 1 {
                let group = &pinned[at..end];
                let mut txns: Vec<u32> = group.iter().map(|&(_, i)| self.stories[i].0).collect();
                txns.sort_unstable();
                groups.push(txns);
                for &(_, i) in group {
                    self.stories[i].1.pin = None;
                }
            }
            at = end;
        }
        groups
    }

    /// Two chains of joints along the values, linear in what was done to the key: from every
    /// transaction to the reads of versions that hold it, and from every read to the transactions
    /// that its version does not hold.
    fn add_edges(&self, edges: &mut Edges, joint: u32, ok: impl Fn(u32) -> bool) -> u32 {
        let (mut held, mut missed) = (Vec::new(), Vec::new());
        for (t, story) in &self.stories {
            held.extend(self.held_from(story).map(|from| (from, *t)));
            // A transaction that nobody answered for has committed if somebody saw it.
            let committed = ok(*t) || self.largest > self.possible - story.added;
            missed.extend(story.held_below().filter(|_| committed).map(|below| (below, *t)));
        }
        let held = Chain::new(held, joint);
        let missed = Chain::new(missed, held.end());
        for (i, &(_, t)) in held.items.iter().enumerate() {
            edges.add(t, held.joint(i), Label::Wr);
        }
        for (i, &(_, t)) in missed.items.iter().enumerate() {
            edges.add(missed.joint(i), t, Label::Join);
        }
        for chain in [&held, &missed] {
            (chain.first + 1..chain.end()).for_each(|j| edges.add(j - 1, j, Label::Join));
        }
        for (t, story) in &self.stories {
            for (sum, _) in self.views(story) {
                let seen = held.items.partition_point(|&(from, _)| from <= sum);
                if let Some(last) = seen.checked_sub(1) {
                    edges.add(held.joint(last), *t, Label::Join);
                }
            }
            for read in self.external(story) {
                let next = missed.items.partition_point(|&(below, _)| below <= read.sum);
                if next < missed.items.len() {
                    edges.add(*t, missed.joint(next), Label::Rw);
                }
            }
        }
        missed.end()
    }
}

/// Transactions along the values, each with a joint of its own that leads to the next.
struct Chain {
    items: Vec<(i128, u32)>,
    first: u32,
}

impl Chain {
    fn new(mut items: Vec<(i128, u32)>, first: u32) -> Chain {
        items.sort_unstable();
        Chain { items, first }
    }

    fn joint(&self, i: usize) -> u32 {
        self.first + i as u32
    }

    fn end(&self) -> u32 {
        self.joint(self.items.len())
    }
}
