//! What the journal says, in memory: it hides what stands in the table of pairs.

use super::super::{KeyRange, Order, Pair};
use std::collections::btree_map::Range;
use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;

/// The number of a row of the journal. The first is 1.
pub(super) type Seq = i64;

/// What was written last at a key.
#[derive(Debug)]
struct Entry {
    seq: Seq,
    /// Nothing, if the key was taken away.
    value: Option<Vec<u8>>,
}

/// Everything in rows that were not moved to the table yet.
#[derive(Default, Debug)]
pub(super) struct Recent {
    entries: BTreeMap<String, Entry>,
    /// The rows of the journal, the oldest first, with their bytes.
    rows: VecDeque<(Seq, usize)>,
    /// Of all rows together.
    bytes: usize,
    seen: Seq,
    /// The last row that was forgotten.
    forgotten: Seq,
}

/// A walk over what is to be moved. What was written after it began is left to the next one.
#[derive(Clone, Debug)]
pub(super) struct Walk {
    /// The last row that counts.
    pub(super) through: Seq,
    /// The last key that was looked at.
    behind: Option<String>,
}

/// The next steps of a walk.
#[derive(Debug)]
pub(super) struct Steps<'a> {
    /// What is to be moved.
    pub(super) pairs: Vec<(&'a String, &'a Vec<u8>)>,
    /// Where the walk stands behind them; nowhere, if it is over.
    pub(super) then: Option<Walk>,
}

impl Recent {
    /// The last row that is known.
    pub(super) fn seen(&self) -> Seq {
        self.seen
    }

    /// How long the journal is, in bytes of keys and values: what is written over counts as well.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Takes in a row, which is the latest.
    pub(super) fn learn(
        &mut self,
        seq: Seq,
        writes: impl IntoIterator<Item = (String, Option<Vec<u8>>)>,
    ) {
        self.seen = self.seen.max(seq);
        let before = self.bytes;
        for (key, value) in writes {
            self.bytes += key.len() + value.as_ref().map_or(0, Vec::len);
            self.entries.insert(key, Entry { seq, value });
        }
        self.rows.push_back((seq, self.bytes - before));
    }

    /// Forgets rows that were moved: from now on the table says what they said.
    pub(super) fn forget(&mut self, through: Seq) {
        // Everybody who reads is told how far it is, and almost always nothing is new.
        if through <= self.forgotten {
            return;
        }
        self.forgotten = through;
        self.seen = self.seen.max(through);
        let moved = self.rows.partition_point(|(seq, _)| *seq <= through);
        self.bytes -= self.rows.drain(..moved).map(|(_, bytes)| bytes).sum::<usize>();
        self.entries.retain(|_, entry| entry.seq > through);
    }

    /// What it knows of a key: nothing, or what stands there, if anything does.
    pub(super) fn get(&self, key: &str) -> Option<Option<&Vec<u8>>> {
        self.entries.get(key).map(|entry| entry.value.as_ref())
    }

    /// The first pairs of a range, given as many of the table. None of those was taken away: what
    /// is taken away leaves the table at once.
    pub(super) fn merged(&self, range: &KeyRange, stored: Vec<Pair>, limit: usize) -> Vec<Pair> {
        let mut pairs: Vec<Pair> =
            stored.into_iter().filter(|(key, _)| !self.entries.contains_key(key)).collect();
        let pair = |(key, entry): (&String, &Entry)| Some((key.clone(), entry.value.clone()?));
        let own = self.range(range);
        match range.order {
            Order::Ascending => pairs.extend(own.filter_map(pair).take(limit)),
            Order::Descending => pairs.extend(own.rev().filter_map(pair).take(limit)),
        }
        pairs.sort_by(|a, b| match range.order {
            Order::Ascending => a.0.cmp(&b.0),
            Order::Descending => b.0.cmp(&a.0),
        });
        pairs.truncate(limit);
        pairs
    }

    fn range(&self, range: &KeyRange) -> Range<'_, String, Entry> {
        if range.from >= range.to {
            return Range::default();
        }
        let (from, to) = (Bound::Included(range.from.as_str()), Bound::Excluded(range.to.as_str()));
        self.entries.range::<str, _>((from, to))
    }

    /// Begins to move all that is here now.
    pub(super) fn walk(&self) -> Walk {
        Walk { through: self.seen, behind: None }
    }

    /// The next steps of a walk, over so many keys.
    pub(super) fn steps(&self, walk: &Walk, count: usize) -> Steps<'_> {
        let from = walk.behind.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
        let mut ahead = self.entries.range::<str, _>((from, Bound::Unbounded));
        let (mut pairs, mut behind) = (Vec::new(), None);
        for (key, entry) in ahead.by_ref().take(count) {
            if let Some(value) = entry.value.as_ref().filter(|_| entry.seq <= walk.through) {
                pairs.push((key, value));
            }
            behind = Some(key);
        }
        let is_over = ahead.next().is_none();
        let behind = behind.cloned().or_else(|| walk.behind.clone());
        let then = (!is_over).then_some(Walk { through: walk.through, behind });
        Steps { pairs, then }
    }
}
