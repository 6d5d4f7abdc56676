//! From values to dense numbers: an array where the values are integers close together, a hash map
//! where they are not.

use assay_history::ValueId;
use rustc_hash::{FxBuildHasher, FxHashMap};

pub(super) const NONE: u32 = u32::MAX;

pub(super) struct ValueIndex {
    /// How many values it was made for.
    pub(super) count: usize,
    base: i64,
    near: Vec<u32>,
    far: FxHashMap<ValueId, u32>,
}

impl ValueIndex {
    /// An index that will hold `values`.
    pub(super) fn for_values(values: impl Iterator<Item = ValueId>) -> ValueIndex {
        let (mut low, mut high, mut count) = (i64::MAX, i64::MIN, 0u64);
        for value in values {
            count += 1;
            if let Some(int) = value.as_inline_int() {
                low = low.min(int);
                high = high.max(int);
            }
        }
        // Integers spread over more than four times their number would waste the array.
        let near = match high.checked_sub(low) {
            Some(spread) if high >= low && spread as u64 <= 4 * count + 64 => spread as usize + 1,
            _ => 0,
        };
        // A map that grows is filled twice over.
        let far = if near == 0 { count as usize } else { 0 };
        ValueIndex {
            count: count as usize,
            base: low,
            near: vec![NONE; near],
            far: FxHashMap::with_capacity_and_hasher(far, FxBuildHasher),
        }
    }

    fn near_place(&self, value: ValueId) -> Option<usize> {
        let place = usize::try_from(value.as_inline_int()?.checked_sub(self.base)?).ok()?;
        (place < self.near.len()).then_some(place)
    }

    pub(super) fn get(&self, value: ValueId) -> Option<u32> {
        match self.near_place(value) {
            Some(place) => Some(self.near[place]).filter(|&id| id != NONE),
            None => self.far.get(&value).copied(),
        }
    }

    /// Gives `value` the number `id`; false if it has one already.
    pub(super) fn insert(&mut self, value: ValueId, id: u32) -> bool {
        match self.near_place(value) {
            Some(place) => {
                let free = self.near[place] == NONE;
                if free {
                    self.near[place] = id;
                }
                free
            }
            None => match self.far.entry(value) {
                std::collections::hash_map::Entry::Vacant(entry) => {
                    entry.insert(id);
                    true
                }
                std::collections::hash_map::Entry::Occupied(_) => false,
            },
        }
    }
}
