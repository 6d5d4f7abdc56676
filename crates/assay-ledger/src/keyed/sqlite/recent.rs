//! What the journal says, in memory: it hides what stands in the table of pairs.

use super::super::{KeyRange, Order, Pair};
use super::feed::{Feed, News};
use super::group::{self, Row, Said};
use std::collections::btree_map::Range;
use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;
use std::sync::Arc;

/// The number of a row of the journal. The first is 1.
pub(super) type Seq = i64;

/// Keys of rows that were forgotten which are taken away with each row that is learned, at least,
/// and for each of its keys: so they are gone before the next rows are forgotten, and nobody waits
/// for all of them at once.
const SWEEP_MIN: usize = 64;
const SWEEP_PER_KEY: usize = 4;
/// What a commit does for a move at least, of the one or of the other, in keys and in bytes: less
/// is not worth a statement.
const LOOKS_MIN: usize = 64;
const MOVED_MIN: usize = 64 << 10;

/// What was written last at a key.
#[derive(Debug)]
struct Entry {
    seq: Seq,
    said: Said,
}

/// Everything in rows that were not moved to the table yet.
#[derive(Default, Debug)]
pub(super) struct Recent {
    /// Also some of rows that were forgotten, which count no more.
    entries: BTreeMap<Arc<str>, Entry>,
    /// The rows of the journal, the oldest first, with their bytes.
    rows: VecDeque<(Seq, usize, Row)>,
    /// Of all rows together.
    bytes: usize,
    seen: Seq,
    /// The last row that was forgotten.
    forgotten: Seq,
    /// Rows that were forgotten and of which entries are left: behind how many of their keys.
    swept: VecDeque<(Row, usize)>,
    /// Who else wants to hear of rows.
    listener: Option<Arc<Feed>>,
}

/// A walk over what is to be moved. What was written after it began is left to the next one.
#[derive(Clone, Debug)]
pub(super) struct Walk {
    /// The last row that counts.
    pub(super) through: Seq,
    /// The last key that was looked at.
    behind: Option<Arc<str>>,
}

/// How far a commit takes a walk: until it has looked at so many keys, and moved so much.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stride {
    /// Keys.
    pub(super) keys: usize,
    /// Bytes of keys and values.
    pub(super) bytes: usize,
}

/// The next steps of a walk.
#[derive(Debug)]
pub(super) struct Steps<'a> {
    /// What is to be moved.
    pub(super) pairs: Vec<(&'a str, &'a [u8])>,
    /// Where the walk stands behind them; nowhere, if it is over.
    pub(super) then: Option<Walk>,
}

impl Recent {
    /// Tells somebody else of every row that it learns.
    pub(super) fn tell(&mut self, listener: Arc<Feed>) {
        self.listener = Some(listener);
    }

    /// The last row that is known.
    pub(super) fn seen(&self) -> Seq {
        self.seen
    }

    /// How long the journal is, in bytes of keys and values: what is written over counts as well.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Takes in a row, which is the latest.
    pub(super) fn learn(&mut self, seq: Seq, row: Row) {
        let after = self.seen;
        self.seen = self.seen.max(seq);
        let bytes = group::size(&row);
        self.bytes += bytes;
        for (key, said) in row.iter() {
            self.entries.insert(key.clone(), Entry { seq, said: said.clone() });
        }
        if let Some(listener) = &self.listener {
            listener.push(News { after, seq, row: row.clone() }, bytes);
        }
        self.sweep(SWEEP_MIN.max(row.len() * SWEEP_PER_KEY));
        self.rows.push_back((seq, bytes, row));
    }

    /// Takes in what somebody else has learned, as far as nothing is missing in between: the
    /// database has the rest.
    pub(super) fn overhear(&mut self, feed: &Feed) {
        for News { after, seq, row } in feed.take() {
            if after > self.seen {
                return;
            }
            if seq > self.seen {
                self.learn(seq, row);
            }
        }
    }

    /// Forgets rows that were moved: from now on the table says what they said.
    pub(super) fn forget(&mut self, through: Seq) {
        // Everybody who reads is told how far it is, and almost always nothing is new.
        if through <= self.forgotten {
            return;
        }
        self.forgotten = through;
        self.seen = self.seen.max(through);
        let moved = self.rows.partition_point(|(seq, ..)| *seq <= through);
        for (_, bytes, row) in self.rows.drain(..moved) {
            self.bytes -= bytes;
            self.swept.push_back((row, 0));
        }
    }

    /// Takes entries away that count no more, at most so many.
    fn sweep(&mut self, keys: usize) {
        for _ in 0..keys {
            let Some((row, swept)) = self.swept.front_mut() else { return };
            let Some((key, _)) = row.get(*swept) else {
                self.swept.pop_front();
                continue;
            };
            *swept += 1;
            if self.entries.get(key).is_some_and(|entry| entry.seq <= self.forgotten) {
                self.entries.remove(key);
            }
        }
    }

    /// What it knows of a key, if it does.
    pub(super) fn get(&self, key: &str) -> Option<&Said> {
        let entry = self.entries.get(key).filter(|entry| entry.seq > self.forgotten);
        entry.map(|entry| &entry.said)
    }

    /// What stands at a key of which the table says this.
    pub(super) fn over(&self, key: &str, stored: Option<Vec<u8>>) -> Option<Vec<u8>> {
        match self.get(key) {
            Some(Said::Value(value)) => Some(value.to_vec()),
            Some(Said::Gone) => None,
            Some(Said::InTable) | None => stored,
        }
    }

    /// The first pairs of a range, given as many of the table. None of those was taken away: what
    /// is taken away leaves the table at once.
    pub(super) fn merged(&self, range: &KeyRange, stored: Vec<Pair>, limit: usize) -> Vec<Pair> {
        let counts = |key: &str| matches!(self.get(key), None | Some(Said::InTable));
        let mut pairs: Vec<Pair> = stored.into_iter().filter(|(key, _)| counts(key)).collect();
        let pair = |(key, entry): (&Arc<str>, &Entry)| match &entry.said {
            Said::Value(value) if entry.seq > self.forgotten => {
                Some((key.to_string(), value.to_vec()))
            }
            _ => None,
        };
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

    fn range(&self, range: &KeyRange) -> Range<'_, Arc<str>, Entry> {
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

    /// The next steps of a walk. What `is_written` now need not be moved before.
    pub(super) fn steps(
        &self,
        walk: &Walk,
        stride: Stride,
        is_written: impl Fn(&str) -> bool,
    ) -> Steps<'_> {
        let from = walk.behind.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
        let ahead = self.entries.range::<str, _>((from, Bound::Unbounded));
        let mut live = ahead.filter(|(_, entry)| entry.seq > self.forgotten);
        let (mut pairs, mut looked, mut bytes) = (Vec::new(), 0, 0);
        while let Some((key, entry)) = live.next() {
            match &entry.said {
                Said::Value(value) if entry.seq <= walk.through && !is_written(key) => {
                    bytes += key.len() + value.len();
                    pairs.push((&**key, &**value));
                }
                _ => {}
            }
            looked += 1;
            let is_worth_it = looked >= LOOKS_MIN || bytes >= MOVED_MIN;
            if is_worth_it && looked >= stride.keys && bytes >= stride.bytes {
                let then = Walk { through: walk.through, behind: Some(key.clone()) };
                let is_over = live.next().is_none();
                return Steps { pairs, then: (!is_over).then_some(then) };
            }
        }
        Steps { pairs, then: None }
    }
}
