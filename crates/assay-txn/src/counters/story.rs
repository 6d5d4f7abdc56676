//! What one transaction did to one counter.

use crate::internal::FEW_MOPS;
use assay_history::{Does, Mop, TxnIndex, TxnKey, Txns, ValueId, View};
use rustc_hash::FxHashMap;

/// A read and the sum it returned.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Read {
    pub(crate) value: ValueId,
    pub(crate) sum: i128,
}

/// Where a transaction moved a counter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Pin {
    pub(crate) before: i128,
    pub(crate) after: i128,
    /// The read that shows it.
    pub(crate) read: ValueId,
    /// Whether it rests on the declared promise that writes follow reads.
    pub(crate) assumed: bool,
}

/// What a transaction did to a key, in its order.
#[derive(Clone, Default, Debug)]
pub(crate) struct Story {
    /// The sum of its increments.
    pub(crate) added: i128,
    /// Reads before its first increment, without repetitions.
    pub(crate) reads: Vec<Read>,
    /// All its reads, without repetitions.
    pub(crate) all_reads: Vec<Read>,
    /// Reads that contradict what came before them: their places in the transaction.
    pub(crate) contradictions: Vec<u32>,
    pub(crate) pin: Option<Pin>,
    /// What the counter must hold now, as far as the transaction can tell.
    known: Option<i128>,
    /// Two of its reads place it differently.
    unclear: bool,
}

impl Story {
    /// Versions below this one certainly do not hold the transaction.
    pub(crate) fn held_below(&self) -> Option<i128> {
        (self.added > 0).then(|| self.pin.map_or(self.added, |pin| pin.after))
    }

    fn read(&mut self, mop: u32, value: ValueId, sum: i128) {
        let agrees = match self.known {
            Some(known) => known == sum,
            // Less than nothing is nobody's contradiction, but a sum that nobody made.
            None => self.added == 0 || sum >= self.added,
        };
        if !agrees {
            self.contradictions.push(mop);
        }
        let again = self.known == Some(sum) && self.all_reads.last().is_some_and(|r| r.sum == sum);
        self.known = Some(sum);
        let read = Read { value, sum };
        if !again {
            self.all_reads.push(read);
        }
        if self.added == 0 {
            if !again {
                self.reads.push(read);
            }
            return;
        }
        let before = sum - self.added;
        match self.pin {
            Some(pin) => self.unclear |= pin.before != before,
            None => self.pin = Some(Pin { before, after: sum, read: value, assumed: false }),
        }
    }

    fn finish(&mut self, writes_follow_reads: bool) {
        if self.pin.is_none()
            && writes_follow_reads
            && self.added > 0
            && let Some(&Read { value, sum }) = self.reads.last()
        {
            self.pin = Some(Pin { before: sum, after: 0, read: value, assumed: true });
        }
        self.pin = self.pin.filter(|_| !self.unclear);
        if let Some(pin) = &mut self.pin {
            pin.after = pin.before + self.added;
        }
    }
}

/// A number as a counter holds it; null is 0.
pub(crate) fn number(txns: &Txns, value: ValueId) -> i128 {
    match txns.values.view(value) {
        View::Int(int) => i128::from(int),
        _ => 0,
    }
}

/// What a transaction did, by key, in order of appearance.
pub(crate) fn stories(txns: &Txns, t: u32, writes_follow_reads: bool) -> Vec<(TxnKey, Story)> {
    let mops = txns.mops(TxnIndex(t));
    let mut stories: Vec<(TxnKey, Story)> = Vec::new();
    let mut places: FxHashMap<TxnKey, usize> = FxHashMap::default();
    for (i, mop) in mops.iter().enumerate() {
        let known = match mops.len() <= FEW_MOPS {
            true => stories.iter().position(|(key, _)| *key == mop.key()),
            false => places.get(&mop.key()).copied(),
        };
        let at = known.unwrap_or_else(|| {
            if mops.len() > FEW_MOPS {
                places.insert(mop.key(), stories.len());
            }
            stories.push((mop.key(), Story::default()));
            stories.len() - 1
        });
        tell(txns, &mut stories[at].1, i as u32, *mop);
    }
    stories.iter_mut().for_each(|(_, story)| story.finish(writes_follow_reads));
    stories
}

fn tell(txns: &Txns, story: &mut Story, i: u32, mop: Mop) {
    match mop.does() {
        Does::Append(value) => {
            let by = number(txns, value);
            story.added += by;
            story.known = story.known.map(|known| known + by);
        }
        Does::ReadValue(value) => story.read(i, value, number(txns, value)),
        _ => {}
    }
}
