//! The configurations already visited, in one flat array.
//!
//! When the memory budget is used up the table is emptied and filled again: the search stays right
//! (it may visit a configuration twice), and its memory stays where it is.

use crate::budget::Budget;
use hashbrown::HashTable;
use rustc_hash::FxHasher;
use std::hash::Hasher;

pub(super) struct Table<'b> {
    words: Vec<u64>,
    stride: usize,
    index: HashTable<u32>,
    budget: &'b Budget,
    /// Entries the charged memory has room for.
    room: usize,
    charged: usize,
}

const GROWTH_MIN: usize = 64;

impl<'b> Table<'b> {
    pub(super) fn new(stride: usize, budget: &'b Budget) -> Table<'b> {
        Table { words: Vec::new(), stride, index: HashTable::new(), budget, room: 0, charged: 0 }
    }

    /// Remembers a configuration; false if it was known.
    pub(super) fn insert(&mut self, key: &[u64]) -> bool {
        debug_assert_eq!(key.len(), self.stride);
        let hash = hash_of(key);
        let stride = self.stride;
        let words = &self.words;
        let same = |&at: &u32| &words[at as usize * stride..(at as usize + 1) * stride] == key;
        if self.index.find(hash, same).is_some() {
            return false;
        }
        if self.index.len() >= self.room && !self.grow() {
            self.words.clear();
            self.index.clear();
        }
        if self.room == 0 {
            return true;
        }
        let at = self.index.len() as u32;
        self.words.extend_from_slice(key);
        let words = &self.words;
        self.index.insert_unique(hash, at, |&other| {
            hash_of(&words[other as usize * stride..(other as usize + 1) * stride])
        });
        true
    }

    /// Makes room for twice as many entries, if the budget allows.
    fn grow(&mut self) -> bool {
        let more = self.room.max(GROWTH_MIN);
        // The words, and a hash table that is half empty just after it grew, and beside its old
        // self.
        let bytes = more * (self.stride * 8 + 20);
        if self.room + more > u32::MAX as usize || !self.budget.grow(bytes) {
            return false;
        }
        self.words.reserve_exact(more * self.stride);
        self.charged += bytes;
        self.room += more;
        true
    }
}

impl Drop for Table<'_> {
    fn drop(&mut self) {
        self.budget.shrink(self.charged);
    }
}

fn hash_of(key: &[u64]) -> u64 {
    let mut hasher = FxHasher::default();
    for &word in key {
        hasher.write_u64(word);
    }
    hasher.finish()
}
