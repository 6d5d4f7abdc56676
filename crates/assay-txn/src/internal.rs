//! Does a transaction contradict itself?

use assay_history::{Does, Mop, TxnKey, Txns, ValueId};
use rustc_hash::FxHashMap;

/// What a transaction did to a key before one of its micro-operations.
#[derive(Clone, Default, Debug)]
pub(crate) struct Before {
    /// The last read of the key: its place in the transaction.
    pub(crate) read: Option<u32>,
    /// The writes to the key, by place.
    writes: Vec<u32>,
    /// How many of them came before that read.
    writes_before_read: usize,
}

impl Before {
    /// Whether the transaction has written the key.
    pub(crate) fn has_written(&self) -> bool {
        !self.writes.is_empty()
    }

    /// Whether it has written the key since it last read it.
    pub(crate) fn has_written_since_read(&self) -> bool {
        self.writes.len() > self.writes_before_read
    }

    fn note(&mut self, place: u32, mop: Mop) {
        if mop.written().is_some() {
            self.writes.push(place);
        } else if is_read(mop) {
            self.read = Some(place);
            self.writes_before_read = self.writes.len();
        }
    }

    fn clear(&mut self) {
        self.read = None;
        self.writes.clear();
        self.writes_before_read = 0;
    }

    /// How many elements at the end of a list are the transaction's own; `None` if they are not
    /// all there.
    pub(crate) fn own_suffix(&self, mops: &[Mop], list: &[ValueId]) -> Option<usize> {
        let start = list.len().checked_sub(self.writes.len())?;
        let own = self.writes.iter().map(|&place| mops[place as usize].written());
        list[start..].iter().copied().map(Some).eq(own).then_some(self.writes.len())
    }
}

fn is_read(mop: Mop) -> bool {
    matches!(mop.does(), Does::ReadList(_) | Does::ReadValue(_))
}

/// Below this many micro-operations, looking back beats remembering.
pub(crate) const FEW_MOPS: usize = 24;

/// Goes through a transaction; `visit` gets each read with what came before it on the same key.
pub(crate) fn for_each_read(mops: &[Mop], mut visit: impl FnMut(u32, Mop, &Before)) {
    if mops.len() <= FEW_MOPS {
        let mut before = Before::default();
        for (i, &mop) in mops.iter().enumerate().filter(|(_, mop)| is_read(**mop)) {
            before.clear();
            for (j, &earlier) in mops[..i].iter().enumerate() {
                if earlier.key() == mop.key() {
                    before.note(j as u32, earlier);
                }
            }
            visit(i as u32, mop, &before);
        }
        return;
    }
    let mut by_key: FxHashMap<TxnKey, Before> = FxHashMap::default();
    for (i, &mop) in mops.iter().enumerate() {
        let before = by_key.entry(mop.key()).or_default();
        if is_read(mop) {
            visit(i as u32, mop, before);
        }
        before.note(i as u32, mop);
    }
}

/// Whether a read returned what the transaction itself makes certain.
pub(crate) fn agrees(txns: &Txns, mops: &[Mop], read: Mop, before: &Before) -> bool {
    let since = &before.writes[before.writes_before_read..];
    let own = |place: &u32| mops[*place as usize].written();
    let earlier = before.read.map(|place| mops[place as usize].does());
    match read.does() {
        Does::ReadValue(value) => match since.last() {
            Some(place) => own(place) == Some(value),
            None => earlier.is_none_or(|earlier| earlier == Does::ReadValue(value)),
        },
        Does::ReadList(list) => {
            let list = txns.list(read.key(), list);
            let Some(start) = list.len().checked_sub(since.len()) else { return false };
            let ends_with_own = list[start..].iter().copied().map(Some).eq(since.iter().map(own));
            let begins_as_before = match earlier {
                Some(Does::ReadList(earlier)) => txns.list(read.key(), earlier) == &list[..start],
                _ => true,
            };
            ends_with_own && begins_as_before
        }
        _ => true,
    }
}
