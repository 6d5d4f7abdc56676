//! Micro-operations, eight bytes each.

use super::TxnKey;
use crate::value::ValueId;

/// A list that a read saw: a prefix of its key's trunk, or one that is kept apart.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ListId(u32);

const ODD: u32 = 1 << 31;

impl ListId {
    pub(crate) fn prefix(len: usize) -> ListId {
        assert!(len < ODD as usize, "lists have fewer than 2^31 items");
        ListId(len as u32)
    }

    pub(crate) fn odd_at(index: usize) -> ListId {
        assert!(index < ODD as usize, "fewer than 2^31 lists are kept apart");
        ListId(ODD | index as u32)
    }

    /// Where the list is kept, if it is no prefix of the trunk.
    #[inline]
    pub fn odd(self) -> Option<usize> {
        (self.0 & ODD != 0).then_some((self.0 & !ODD) as usize)
    }

    /// How many items of the trunk it has, if it is a prefix of it.
    #[inline]
    pub fn prefix_len(self) -> Option<usize> {
        (self.0 & ODD == 0).then_some(self.0 as usize)
    }

    pub(super) fn len_of_prefix(self) -> usize {
        self.0 as usize
    }
}

/// What a micro-operation does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Does {
    /// Adds a value: to the end of the key's list, to its set, or to its counter.
    Append(ValueId),
    /// Replaces the key's value.
    Write(ValueId),
    /// Read this list; if it is a set, in any order and each element once.
    ReadList(ListId),
    /// Read this value; null before the first write.
    ReadValue(ValueId),
    /// Reads, and nobody knows what it saw: the transaction did not answer.
    ReadUnknown,
}

/// One micro-operation of a transaction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mop {
    /// The key, and what is done to it in the three highest bits.
    head: u32,
    arg: u32,
}

const KIND_SHIFT: u32 = 29;

/// The most keys that transactions of one history can touch.
pub(crate) const KEYS_MAX: u32 = 1 << KIND_SHIFT;

impl Mop {
    pub(crate) fn new(key: u32, does: Does) -> Mop {
        let (kind, arg) = match does {
            Does::Append(value) => (0, value.bits()),
            Does::Write(value) => (1, value.bits()),
            Does::ReadList(list) => (2, list.0),
            Does::ReadValue(value) => (3, value.bits()),
            Does::ReadUnknown => (4, 0),
        };
        Mop { head: kind << KIND_SHIFT | key, arg }
    }

    /// Which key.
    #[inline]
    pub fn key(self) -> TxnKey {
        TxnKey(self.head & (KEYS_MAX - 1))
    }

    /// What is done to it.
    #[inline]
    pub fn does(self) -> Does {
        match self.head >> KIND_SHIFT {
            0 => Does::Append(ValueId::from_bits(self.arg)),
            1 => Does::Write(ValueId::from_bits(self.arg)),
            2 => Does::ReadList(ListId(self.arg)),
            3 => Does::ReadValue(ValueId::from_bits(self.arg)),
            _ => Does::ReadUnknown,
        }
    }

    /// The value that is appended or written.
    #[inline]
    pub fn written(self) -> Option<ValueId> {
        (self.head >> KIND_SHIFT < 2).then(|| ValueId::from_bits(self.arg))
    }
}
