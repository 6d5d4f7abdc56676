//! Who wrote which value: from a key and a value to the transaction that wrote it.
//!
//! Values are unique per key by construction, so this is a function. Where it is not (a client sent
//! the same value twice), the value has no known writer and nothing is concluded from it.

use crate::internal::FEW_MOPS;
use assay_history::{Mop, Outcome, TxnIndex, TxnKey, Txns, ValueId};
use rustc_hash::FxHashMap;

/// The place of a value in [`Writers`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Slot(pub(crate) u32);

pub(crate) const NONE: u32 = u32::MAX;
const INTERMEDIATE: u32 = 1 << 31;
const ABORTED: u32 = 1 << 30;
const AMBIGUOUS: u32 = 1 << 29;
const TXN: u32 = AMBIGUOUS - 1;

/// What is known about a value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Written {
    /// The transaction in the low bits; [`NONE`] if nobody wrote the value.
    writer: u32,
    /// Its place among the versions of its key, if that is known.
    pub(crate) place: u32,
}

const NOBODY: Written = Written { writer: NONE, place: NONE };

impl Written {
    /// The transaction that wrote it and may have committed, if it is the only one.
    #[inline]
    pub(crate) fn by(self) -> Option<u32> {
        (self.writer & (ABORTED | AMBIGUOUS) == 0).then_some(self.writer & TXN)
    }

    /// The transaction that wrote it and aborted.
    pub(crate) fn aborted_by(self) -> Option<u32> {
        (self.writer != NONE && self.writer & ABORTED != 0).then_some(self.writer & TXN)
    }

    /// Whether its transaction wrote the key again.
    pub(crate) fn is_intermediate(self) -> bool {
        self.writer != NONE && self.writer & INTERMEDIATE != 0
    }

    /// Whether several transactions, or one several times, wrote it.
    pub(crate) fn is_ambiguous(self) -> bool {
        self.writer != NONE && self.writer & AMBIGUOUS != 0
    }
}

/// Values close together have an array of their own.
#[derive(Clone, Copy, Debug)]
struct Dense {
    base: i64,
    first: u32,
    len: u32,
}

#[derive(Debug)]
pub(crate) struct Writers {
    dense: Vec<Dense>,
    sparse: FxHashMap<(u32, ValueId), u32>,
    pub(crate) written: Vec<Written>,
    /// Values with several writers.
    pub(crate) ambiguous: usize,
}

impl Writers {
    pub(crate) fn new(txns: &Txns) -> Writers {
        let mut writers = Writers {
            dense: dense_rows(txns),
            sparse: FxHashMap::default(),
            written: Vec::new(),
            ambiguous: 0,
        };
        let dense: usize = writers.dense.iter().map(|row| row.len as usize).sum();
        writers.written.resize(dense, NOBODY);
        for t in 0..txns.len() as u32 {
            let mops = txns.mops(TxnIndex(t));
            let aborted = txns.txn(TxnIndex(t)).outcome == Outcome::Fail;
            let last = LastWrites::of(mops);
            for (i, mop) in mops.iter().enumerate() {
                let Some(value) = mop.written() else { continue };
                let intermediate = if last.is_last(mops, i) { 0 } else { INTERMEDIATE };
                let flags = intermediate | if aborted { ABORTED } else { 0 };
                writers.add(mop.key(), value, t | flags);
            }
        }
        writers
    }

    fn add(&mut self, key: TxnKey, value: ValueId, writer: u32) {
        let slot = match self.slot(key, value) {
            Some(slot) => slot.0,
            None => {
                let slot = self.written.len() as u32;
                self.sparse.insert((key.0, value), slot);
                self.written.push(NOBODY);
                slot
            }
        };
        let entry = &mut self.written[slot as usize].writer;
        let aborted = writer & ABORTED != 0;
        *entry = match *entry {
            NONE => writer,
            // What aborted does not count beside what may have committed.
            known if aborted && known & ABORTED == 0 => known,
            known if !aborted && known & ABORTED != 0 => writer,
            known if aborted => known,
            known => {
                self.ambiguous += usize::from(known & AMBIGUOUS == 0);
                known | AMBIGUOUS
            }
        };
    }

    #[inline]
    pub(crate) fn slot(&self, key: TxnKey, value: ValueId) -> Option<Slot> {
        let row = self.dense[key.0 as usize];
        if let Some(int) = value.as_inline_int() {
            let offset = int.wrapping_sub(row.base);
            if (0..i64::from(row.len)).contains(&offset) {
                return Some(Slot(row.first + offset as u32));
            }
        }
        if self.sparse.is_empty() {
            return None;
        }
        self.sparse.get(&(key.0, value)).map(|&slot| Slot(slot))
    }

    /// What is known about a value; `None` if nobody wrote it.
    #[inline]
    pub(crate) fn get(&self, key: TxnKey, value: ValueId) -> Option<Written> {
        let slot = self.slot(key, value)?;
        Some(self.written[slot.0 as usize]).filter(|written| written.writer != NONE)
    }

    #[inline]
    pub(crate) fn at(&self, slot: Slot) -> Written {
        self.written[slot.0 as usize]
    }
}

/// An array for every key whose values are integers close together.
fn dense_rows(txns: &Txns) -> Vec<Dense> {
    let mut spans = vec![(i64::MAX, i64::MIN, 0u32); txns.key_count()];
    for t in 0..txns.len() as u32 {
        for mop in txns.mops(TxnIndex(t)) {
            if let Some(int) = mop.written().and_then(ValueId::as_inline_int) {
                let span = &mut spans[mop.key().0 as usize];
                *span = (span.0.min(int), span.1.max(int), span.2 + 1);
            }
        }
    }
    let mut first = 0;
    spans
        .into_iter()
        .map(|(low, high, count)| {
            let spread = if count == 0 { 0 } else { (high - low) as u64 + 1 };
            let len = if spread <= 4 * u64::from(count) + 64 { spread as u32 } else { 0 };
            let row = Dense { base: low, first, len };
            first += len;
            row
        })
        .collect()
}

/// Which write of a key is the last in its transaction.
pub(crate) enum LastWrites {
    /// There are so few micro-operations that looking at the rest is quicker.
    Few,
    ByKey(FxHashMap<TxnKey, usize>),
}

impl LastWrites {
    pub(crate) fn of(mops: &[Mop]) -> LastWrites {
        if mops.len() <= FEW_MOPS {
            return LastWrites::Few;
        }
        let writes = mops.iter().enumerate().filter(|(_, mop)| mop.written().is_some());
        LastWrites::ByKey(writes.map(|(i, mop)| (mop.key(), i)).collect())
    }

    fn is_last(&self, mops: &[Mop], i: usize) -> bool {
        !self.follows(mops, mops[i].key(), i)
    }

    /// Whether the transaction writes the key after its micro-operation `i`.
    pub(crate) fn follows(&self, mops: &[Mop], key: TxnKey, i: usize) -> bool {
        match self {
            LastWrites::Few => {
                mops[i + 1..].iter().any(|mop| mop.key() == key && mop.written().is_some())
            }
            LastWrites::ByKey(last) => last.get(&key).is_some_and(|&place| place > i),
        }
    }
}
