//! Counters, looked at again: what a sum must hold, and what it cannot hold.

use super::{Checked, Verifier, must};
use crate::anomaly::{Kind, VersionReason, VersionStep};
use crate::graph::Label;
use assay_history::{Does, Outcome, TxnIndex, TxnKey, ValueId, View};

/// Where a transaction moved a counter: from, to.
type Move = (i128, i128);

impl Verifier<'_> {
    fn int(&self, value: ValueId) -> i128 {
        match self.txns.values.view(value) {
            View::Int(int) => i128::from(int),
            _ => 0,
        }
    }

    /// What a transaction adds to a key, in all.
    fn added(&self, t: u32, key: TxnKey) -> i128 {
        self.writes(t, key).into_iter().map(|value| self.int(value)).sum()
    }

    /// What all transactions of some outcomes add.
    fn sum(&self, key: TxnKey, counts: impl Fn(Outcome) -> bool) -> i128 {
        self.all().filter(|&t| counts(self.txn(t).outcome)).map(|t| self.added(t, key)).sum()
    }

    fn possible(&self, key: TxnKey) -> i128 {
        self.sum(key, |outcome| outcome != Outcome::Fail)
    }

    /// The reads of a committed transaction: what it had added before, and what it saw.
    fn counter_reads(&self, t: u32, key: TxnKey) -> Vec<(i128, i128)> {
        let (mut own, mut reads) = (0, Vec::new());
        for mop in self.txns.mops(TxnIndex(t)).iter().filter(|mop| mop.key() == key) {
            match mop.does() {
                Does::Append(value) => own += self.int(value),
                Does::ReadValue(value) => reads.push((own, self.int(value))),
                _ => {}
            }
        }
        if self.is_ok(t) { reads } else { Vec::new() }
    }

    /// Where a transaction that read after it had incremented moved the counter.
    fn moved(&self, t: u32, key: TxnKey) -> Option<Move> {
        let reads = self.counter_reads(t, key);
        let &(own, seen) = reads.iter().find(|(own, _)| *own > 0)?;
        Some((seen - own, seen - own + self.added(t, key)))
    }

    /// Where a transaction that read before it incremented moved it, if that was declared.
    fn moved_as_declared(&self, t: u32, key: TxnKey) -> Option<Move> {
        let reads = self.counter_reads(t, key);
        let &(_, seen) = reads.iter().rfind(|(own, _)| *own == 0)?;
        self.assume.writes_follow_reads.then(|| (seen, seen + self.added(t, key)))
    }

    /// Whether a transaction committed: it said so, or a sum is too large without it.
    fn counter_committed(&self, t: u32) -> bool {
        let needed = |key: TxnKey| {
            let (possible, added) = (self.possible(key), self.added(t, key));
            let version = |r: u32, (own, seen): (i128, i128)| match own {
                0 => seen,
                own => seen - own + self.added(r, key),
            };
            let fits = |sum: i128| sum <= possible && sum > possible - added;
            let mut readers = self.all();
            readers.any(|r| self.counter_reads(r, key).iter().any(|&read| fits(version(r, read))))
        };
        match self.txn(t).outcome {
            Outcome::Ok => true,
            Outcome::Fail => false,
            Outcome::Unknown => self.txns.mops(TxnIndex(t)).iter().any(|mop| needed(mop.key())),
        }
    }

    pub(super) fn counter_read(
        &self,
        kind: Kind,
        reader: u32,
        key: TxnKey,
        value: ValueId,
        writer: Option<u32>,
    ) -> Checked {
        let seen = self.int(value);
        let reads = self.counter_reads(reader, key);
        must(reads.iter().any(|&(_, sum)| sum == seen), "the reader did not see it")?;
        let all = self.sum(key, |_| true);
        match (kind, writer) {
            (Kind::Phantom, None) => must(seen < 0 || seen > all, "increments make this sum"),
            (Kind::G1a, Some(writer)) => {
                must(seen > self.possible(key), "increments that may have committed make it")?;
                let aborted = self.txn(writer).outcome == Outcome::Fail;
                must(aborted && self.added(writer, key) > 0, "that one did not abort")
            }
            (Kind::G1b, Some(writer)) => {
                must(reads.contains(&(0, seen)) && reader != writer, "it had incremented itself")?;
                let moves = [self.moved(writer, key), self.moved_as_declared(writer, key)];
                let between = |&(from, to): &Move| from < seen && seen < to;
                must(moves.iter().flatten().any(between), "it is not between two versions")
            }
            _ => Err("the evidence does not fit".to_string()),
        }
    }

    pub(super) fn counter_internal(&self, t: u32, at: u32) -> Checked {
        let mops = self.txns.mops(TxnIndex(t));
        let read = *mops.get(at as usize).ok_or("there is no such micro-operation")?;
        let Does::ReadValue(value) = read.does() else { return Err("it is no read".to_string()) };
        let (mut own, mut known) = (0, None);
        for mop in mops[..at as usize].iter().filter(|mop| mop.key() == read.key()) {
            match mop.does() {
                Does::Append(by) => {
                    own += self.int(by);
                    known = known.map(|sum| sum + self.int(by));
                }
                Does::ReadValue(value) => known = Some(self.int(value)),
                _ => {}
            }
        }
        let holds_own = own == 0 || self.int(value) >= own;
        let agrees = known.map_or(holds_own, |sum| sum == self.int(value));
        must(self.is_ok(t) && !agrees, "it agrees with what came before")
    }

    /// Each of them moved the counter over a value that another one moved it over, too.
    pub(super) fn counter_lost_update(&self, key: TxnKey, txns: &[u32]) -> Checked {
        must(txns.len() > 1, "one transaction alone loses nothing")?;
        let moved = |t: u32| self.moved(t, key).or_else(|| self.moved_as_declared(t, key));
        let moves: Option<Vec<Move>> = txns.iter().map(|&t| moved(t)).collect();
        let mut moves = moves.ok_or("nobody knows where it moved the counter")?;
        moves.sort_unstable();
        // By where they begin: the next one begins inside, or an earlier one ends inside.
        let mut reach = i128::MIN;
        for (i, &(from, to)) in moves.iter().enumerate() {
            let next = moves.get(i + 1).is_some_and(|next| next.0 < to);
            must(next || reach > from, "they did not move it over the same value")?;
            reach = reach.max(to);
        }
        must(txns.iter().all(|&t| self.is_ok(t)), "one of them did not commit")
    }

    /// `read` is what the reader saw; `pinned` what the writer saw of its own move, null if it did
    /// not look.
    pub(super) fn counter_dependency(
        &self,
        a: u32,
        b: u32,
        label: Label,
        key: TxnKey,
        [first, second]: [ValueId; 2],
        order: &[VersionStep],
    ) -> Checked {
        must(label != Label::Ww, "counters show no overwriting")?;
        let (writer, reader) = if label == Label::Wr { (a, b) } else { (b, a) };
        let (pinned, read) = if label == Label::Wr { (first, second) } else { (second, first) };
        must(self.counter_committed(writer) && self.is_ok(reader), "one did not commit")?;
        let added = self.added(writer, key);
        must(added > 0, "the writer added nothing")?;
        let pin = match order {
            [] if pinned.is_null() => None,
            [] => Some(self.moved(writer, key).ok_or("the writer did not look")?),
            [step] => {
                let declared = step.reason == VersionReason::WritesFollowReads;
                must(declared, "another promise was declared")?;
                Some(self.moved_as_declared(writer, key).ok_or("that was not declared")?)
            }
            _ => return Err("the order has too many steps".to_string()),
        };
        let (sum, possible) = (self.int(read), self.possible(key));
        let reads = self.counter_reads(reader, key);
        must((0..=possible).contains(&sum), "nothing follows from such a sum")?;
        if label == Label::Rw {
            must(reads.contains(&(0, sum)), "the reader did not see that before it incremented")?;
            return must(sum < pin.map_or(added, |(_, to)| to), "the sum may hold the increment");
        }
        let own = reads.iter().find(|&&(_, seen)| seen == sum).ok_or("it did not read that")?.0;
        // What it built on, and what it left.
        let (before, after) = match own {
            0 => (sum, sum),
            own => (sum - own, sum - own + self.added(reader, key)),
        };
        let held = pin.map_or(after > possible - added, |(_, to)| to <= before);
        must(held, "the sum need not hold the increment")
    }
}
