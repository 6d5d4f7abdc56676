//! Sets that only grow, kept as prefixes although their elements come in any order.
//!
//! Reads of a set mostly form a chain: each holds all that an earlier one held. So the elements of
//! a key stand in one row, its *trunk*, cut into levels where a read ended. Within a level the
//! order means nothing yet, so a read that ends inside of one may put its elements first and cut
//! there. Whatever the order in which a database lists its elements, a read of the chain costs a
//! number; a read that is not in the chain is kept as it came.

use crate::value::ValueId;
use rustc_hash::{FxHashMap, FxHashSet};

/// Where the elements of all keys stand, and where their levels end.
#[derive(Debug, Default)]
pub(super) struct Levels {
    place: FxHashMap<(u32, ValueId), u32>,
    /// By key: where levels end, ascending. The last one is the length of the trunk.
    ends: Vec<Vec<u32>>,
    /// Places and new elements of the read at hand.
    places: Vec<u32>,
    fresh: Vec<ValueId>,
    seen: FxHashSet<ValueId>,
}

impl Levels {
    /// How many elements of the trunk a read saw, once the trunk has grown or a level was cut;
    /// `None` if the read is not in the chain.
    pub(super) fn keep(
        &mut self,
        key: u32,
        trunk: &mut Vec<ValueId>,
        read: &[ValueId],
    ) -> Option<usize> {
        if self.ends.len() <= key as usize {
            self.ends.resize_with(key as usize + 1, Vec::new);
        }
        if trunk.starts_with(read) {
            self.cut(key, read.len());
            return Some(read.len());
        }
        let rest = read.strip_prefix(&trunk[..]);
        self.look_up(key, rest.unwrap_or(read));
        if rest.is_none() && !self.fresh.is_empty() && self.places.len() < trunk.len() {
            return None;
        }
        if rest.is_some() || !self.fresh.is_empty() {
            for &value in &self.fresh {
                self.place.insert((key, value), trunk.len() as u32);
                trunk.push(value);
            }
        } else if !self.fits_between_levels(key, trunk) {
            return None;
        }
        let length =
            if rest.is_some() { trunk.len() } else { self.places.len() + self.fresh.len() };
        self.cut(key, length);
        Some(length)
    }

    /// Notes the places of known elements, ascending, and the unknown elements, each once.
    fn look_up(&mut self, key: u32, read: &[ValueId]) {
        self.places.clear();
        self.fresh.clear();
        self.seen.clear();
        for &value in read {
            match self.place.get(&(key, value)) {
                Some(&place) => self.places.push(place),
                None if self.seen.insert(value) => self.fresh.push(value),
                None => {}
            }
        }
        self.places.sort_unstable();
        self.places.dedup();
    }

    /// Whether the elements at `places` are all of some levels and part of the next one; then they
    /// are put first in it.
    fn fits_between_levels(&mut self, key: u32, trunk: &mut [ValueId]) -> bool {
        let length = self.places.len() as u32;
        let Some(&last) = self.places.last() else { return true };
        let ends = &self.ends[key as usize];
        let next = ends.partition_point(|&end| end < length);
        let begin = if next == 0 { 0 } else { ends[next - 1] };
        let whole = begin == 0 || self.places[begin as usize - 1] == begin - 1;
        if !whole || ends.get(next).is_none_or(|&end| last >= end) {
            return false;
        }
        for (slot, &place) in (begin..).zip(&self.places[begin as usize..]) {
            // Places ascend, so what stands at `place` has not been moved.
            trunk.swap(slot as usize, place as usize);
            for at in [slot, place] {
                self.place.insert((key, trunk[at as usize]), at);
            }
        }
        true
    }

    fn cut(&mut self, key: u32, length: usize) {
        let (ends, length) = (&mut self.ends[key as usize], length as u32);
        if let (Err(at), true) = (ends.binary_search(&length), length > 0) {
            ends.insert(at, length);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(n: u32) -> ValueId {
        ValueId::inline_int(i64::from(n)).expect("small")
    }

    /// Keeps all reads; then every one that was kept as a length must be that part of the trunk.
    fn kept(reads: &[&[u32]]) -> Vec<Option<usize>> {
        let (mut levels, mut trunk) = (Levels::default(), Vec::new());
        let as_values = |read: &[u32]| read.iter().map(|&n| value(n)).collect::<Vec<_>>();
        let kept: Vec<Option<usize>> =
            reads.iter().map(|read| levels.keep(0, &mut trunk, &as_values(read))).collect();
        for (read, length) in reads.iter().zip(&kept) {
            let set = |values: &[ValueId]| values.iter().copied().collect::<FxHashSet<_>>();
            if let &Some(length) = length {
                assert_eq!(set(&trunk[..length]), set(&as_values(read)), "{reads:?}");
                assert_eq!(set(&trunk[..length]).len(), length, "{reads:?}");
            }
        }
        kept
    }

    #[test]
    fn a_chain_is_kept_as_lengths_whatever_the_order() {
        let chain: [&[u32]; 5] = [&[3, 1], &[1, 2, 3], &[3, 2, 4, 1], &[], &[1, 3]];
        assert_eq!(kept(&chain), [Some(2), Some(3), Some(4), Some(0), Some(2)]);
        assert_eq!(kept(&[&[1, 2, 3, 4], &[4, 2], &[2], &[4, 2, 3]]), [4, 2, 1, 3].map(Some));
        assert_eq!(kept(&[&[1, 1, 2], &[2, 1, 1, 3, 3]]), [Some(2), Some(3)]);
    }

    #[test]
    fn what_is_not_in_the_chain_is_kept_apart() {
        assert_eq!(kept(&[&[1], &[2], &[2, 1], &[2]]), [Some(1), None, Some(2), None]);
        assert_eq!(kept(&[&[1, 2], &[1, 2, 3, 4], &[1, 3], &[4, 2, 1]])[2..], [None, Some(3)]);
        assert_eq!(kept(&[&[1, 2], &[1, 3]]), [Some(2), None]);
    }

    #[test]
    fn all_short_sequences_of_reads_are_kept_as_what_they_are() {
        let subsets: Vec<Vec<u32>> = (0..16u32)
            .map(|bits| (0..4).rev().filter(|n| bits & (1 << n) != 0).collect())
            .collect();
        for code in 0..16usize.pow(4) {
            let reads = [0, 4, 8, 12].map(|shift| &subsets[(code >> shift) & 15][..]);
            kept(&reads);
        }
    }
}
